import picomatch from "picomatch";
import { type AbsPath, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";

/**
 * Where a workspace may write: inside the root after every link is followed, `allowed`, not `protected`, never git's
 * own.
 */
export interface Reach {
  /**
   * The path with the links inside the root followed (with `keepLast` all but the last part).
   *
   * @throws OrchError `path.refused`
   */
  resolve(path: RepoPath, options?: { readonly keepLast?: boolean }): Promise<RepoPath>;
  /** @throws OrchError `path.refused` when a write there is not the contract's business. */
  check(path: RepoPath): void;
}

export interface ReachScope {
  readonly allowed: readonly string[];
  readonly protected: readonly string[];
}

const maxLinks = 40;

export function createReach(files: Files, root: AbsPath, scope: ReachScope): Reach {
  const options = { dot: true };
  const isAllowed = picomatch([...scope.allowed], options);
  const isProtected = scope.protected.length === 0 ? () => false : picomatch([...scope.protected], options);

  return {
    check(path) {
      // Windows takes trailing dots and spaces and 8.3 names for `.git`, too.
      const git = path.split("/").some((part) => /^(\.git|git~1)[. ]*$/i.test(part));
      if (git || !isAllowed(path) || isProtected(path)) throw refused(path, "is outside what this work may change");
    },
    async resolve(path, resolving = {}) {
      if (repoPath(path) !== path) throw refused(path, "is not a path inside the repository");
      const realRoot = (await files.realPath(root)) ?? root;
      let rest = path.split("/");
      let done: string[] = [];
      for (let links = 0; rest.length > 0;) {
        const [part = "", ...tail] = rest;
        const here = [...done, part];
        const at = inRoot(root, ...here);
        const stat = await files.stat(at);
        if (stat?.kind === "symlink" && !(resolving.keepLast === true && tail.length === 0)) {
          links += 1;
          const real = await files.realPath(at);
          const inside = real === undefined ? undefined : insideOf(real, realRoot);
          if (inside === undefined || links > maxLinks)
            throw refused(path, "is a symbolic link that leaves the repository");
          done = [];
          rest = [...inside, ...tail];
          continue;
        }
        if (stat?.kind === "other") throw refused(path, "is no ordinary file");
        if (stat?.kind === "file" && tail.length > 0) throw refused(path, `lies below the file ${here.join("/")}`);
        done = here;
        rest = tail;
      }
      const resolved = repoPath(done.join("/"));
      if (resolved === undefined) throw refused(path, "is the repository's root");
      return resolved;
    },
  };
}

function insideOf(real: string, root: string): string[] | undefined {
  const a = real.replaceAll("\\", "/");
  const b = root.replaceAll("\\", "/").replace(/\/$/, "");
  if (a === b) return [];
  return a.startsWith(`${b}/`) ? a.slice(b.length + 1).split("/") : undefined;
}

function refused(path: string, why: string): OrchError {
  return new OrchError("path.refused", `${path} ${why}`, { data: { path } });
}
