import { type AbsPath, below, inRoot, isInside, type RepoPath, repoPath, typedPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { RepoContext } from "./context.ts";

type Reader = Pick<RepoContext, "files" | "root" | "git">;

/**
 * The repository's files below the paths a person typed, relative to where they stand. A folder or file that git ignores
 * is looked at when it is named. Links are never followed.
 *
 * @throws OrchError `path.refused` for a path that is not there or outside of the repository
 */
export async function filesUnder(
  context: Reader,
  words: readonly string[],
  cwd: AbsPath,
): Promise<readonly RepoPath[]> {
  const all = await context.git.listFiles();
  const found = new Set<RepoPath>();
  for (const word of words) {
    const path = await insideRoot(context, word, cwd);
    const listed = path === undefined ? all : all.filter((file) => isInside(file, path));
    for (const file of listed) found.add(file);
    if (path !== undefined && listed.length === 0) for (const file of await walk(context, path)) found.add(file);
  }
  return [...found].toSorted();
}

/** The repository path of what was typed; undefined for the root itself. */
async function insideRoot({ files, root }: Reader, word: string, cwd: AbsPath): Promise<RepoPath | undefined> {
  const at = typedPath(cwd, word);
  const real = await files.realPath(at);
  if (real === undefined) throw new OrchError("path.refused", `there is no ${word}`, { data: { path: word } });
  const top = (await files.realPath(root)) ?? root;
  if (real === top) return undefined;
  const path = repoPath(below(real.replaceAll("\\", "/"), top.replaceAll("\\", "/")) ?? "");
  if (path === undefined) {
    throw new OrchError("path.refused", `${word} is outside of this repository (${root})`, { data: { path: word } });
  }
  return path;
}

async function walk({ files, root }: Reader, start: RepoPath): Promise<readonly RepoPath[]> {
  const stat = await files.stat(inRoot(root, start));
  if (stat?.kind !== "directory") return stat === undefined ? [] : [start];
  const found: RepoPath[] = [];
  const pending: RepoPath[] = [start];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const { name, kind } of (await files.list(inRoot(root, folder))) ?? []) {
      const path = repoPath(`${folder}/${name}`);
      if (path === undefined || name === ".git") continue;
      if (kind === "directory") pending.push(path);
      else if (kind === "file" || kind === "symlink") found.push(path);
    }
  }
  return found;
}

export interface ChangedPaths {
  readonly touched: ReadonlySet<string>;
  readonly deleted: ReadonlySet<string>;
}

/**
 * What differs from `ref` (the default branch when empty): commits since they parted, and everything not committed.
 *
 * @throws OrchError `usage.invalid` for a ref that does not exist
 */
export async function changedPaths({ git }: Pick<RepoContext, "git">, ref: string): Promise<ChangedPaths> {
  const touched = new Set<string>();
  const deleted = new Set<string>();
  const head = await git.head();
  const name = ref === "" ? await git.defaultBranch() : ref;
  const commit = await git.resolve(name);
  if (commit === undefined && !(ref === "" && head.kind === "unborn")) {
    throw new OrchError("usage.invalid", `there is no commit ${name}`, { data: { command: "qa" } });
  }
  if (commit !== undefined && head.kind !== "unborn") {
    const base = (await git.mergeBase(commit, head.commit)) ?? commit;
    const { files } = await git.diff(base, head.commit);
    for (const { path, newMode, oldPath } of files) {
      (newMode === "000000" ? deleted : touched).add(path);
      if (oldPath !== undefined && oldPath !== path) deleted.add(oldPath);
    }
  }
  for (const { path, oldPath, index, worktree } of await git.status()) {
    const gone = worktree === "D" || (index === "D" && worktree === ".");
    (gone ? deleted : touched).add(path);
    (gone ? touched : deleted).delete(path);
    if (oldPath !== undefined) deleted.add(oldPath);
  }
  return { touched, deleted };
}
