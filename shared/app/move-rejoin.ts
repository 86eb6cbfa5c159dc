import { createHash } from "node:crypto";
import { inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { OrchError } from "../model/error.ts";
import type { FileReplacement, Standing } from "../ports/tree-writes.ts";
import type { TrashItem } from "../ports/trash.ts";
import type { RepoContext } from "./context.ts";

type RejoinContext = Pick<RepoContext, "files" | "root" | "git" | "trash">;

export interface Rejoined {
  /** Saved at the old place while the slice was away; they stand there as they were saved. */
  readonly kept: readonly RepoPath[];
  /** The slice's own files of those names. */
  readonly stored?: TrashItem;
}

/**
 * The slice goes back to a place where somebody saved meanwhile: each file to its own name where that is free. One that
 * is taken is stored for `restore`, which brings it back beside the newer one.
 *
 * @throws OrchError `tree.changed` when a file is saved right then; all is where it was
 */
export async function rejoin(context: RejoinContext, to: RepoPath, from: RepoPath): Promise<Rejoined> {
  const { files, root, git, trash } = context;
  const { leaves, folders } = await listed(context, to);
  const kept = new Set((await listed(context, from)).leaves.map((name) => at(from, name)));
  const replacements: FileReplacement[] = [];
  const taken: RepoPath[] = [];
  for (const name of leaves) {
    const [here, there] = [at(to, name), at(from, name)];
    const [own, met] = [await lookAt(context, here), await lookAt(context, there)];
    if (own === undefined) continue;
    if (met === undefined) replacements.push({ path: there, old: { kind: "absent" }, next: own.next });
    else if (sameText(own.standing, met.standing)) kept.delete(there);
    else taken.push(name);
    replacements.push({ path: here, old: own.standing, next: undefined });
  }
  const stored =
    taken.length === 0
      ? undefined
      : await trash.store({
          by: "move",
          what: `${nameSome(taken.map((name) => at(from, name)))}, as it was when the move began`,
          paths: taken,
          from: { folder: inRoot(root, to), under: from },
        });
  for (const { path, mode } of folders) await files.makeDir(inRoot(root, at(from, path)), { mode });
  const replaced = await git.replaceFiles("move", replacements);
  if (replaced.kind !== "written") {
    const paths = replaced.kind === "changed" ? replaced.paths : [to];
    throw new OrchError("tree.changed", `${nameSome(paths)} was saved while the move was taken back`, {
      data: { paths },
    });
  }
  for (const { path } of folders.toReversed()) await files.removeEmptyDir(inRoot(root, at(to, path)));
  await files.removeEmptyDir(inRoot(root, to));
  return { kept: [...kept].toSorted(), ...(stored === undefined ? {} : { stored }) };
}

interface Listed {
  readonly leaves: readonly RepoPath[];
  /** Outermost first. */
  readonly folders: readonly { readonly path: RepoPath; readonly mode: number }[];
}

async function listed({ files, root }: RejoinContext, dir: RepoPath): Promise<Listed> {
  const found = { leaves: [] as RepoPath[], folders: [] as { path: RepoPath; mode: number }[] };
  const visit = async (below: string): Promise<void> => {
    for (const { name, kind } of (await files.list(inRoot(root, dir, below))) ?? []) {
      const own = repoPath(below === "" ? name : `${below}/${name}`);
      if (own === undefined) continue;
      if (kind !== "directory") {
        found.leaves.push(own);
        continue;
      }
      const mode = (await files.stat(inRoot(root, dir, own)))?.mode;
      found.folders.push({ path: own, mode: mode ?? 0o755 });
      await visit(own);
    }
  };
  await visit("");
  return found;
}

/** Undefined where there is no file and no link. */
async function lookAt(
  { files, root }: RejoinContext,
  path: RepoPath,
): Promise<{ readonly standing: Standing; readonly next: FileReplacement["next"] } | undefined> {
  const place = inRoot(root, path);
  const stat = await files.stat(place);
  if (stat?.kind === "symlink") {
    const target = await files.readLink(place);
    if (target === undefined) return undefined;
    return { standing: { kind: "symlink", target }, next: { kind: "symlink", target } };
  }
  const data = stat?.kind === "file" ? await files.read(place) : undefined;
  if (stat === undefined || data === undefined) return undefined;
  return { standing: standingOf(data), next: { kind: "file", data, mode: stat.mode } };
}

export function standingOf(data: Uint8Array): Standing {
  return { kind: "file", sha256: createHash("sha256").update(data).digest("hex") };
}

const sameText = (a: Standing, b: Standing): boolean => JSON.stringify(a) === JSON.stringify(b);

function at(dir: RepoPath, name: RepoPath): RepoPath {
  return `${dir}/${name}` as RepoPath;
}
