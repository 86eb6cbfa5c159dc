import { dirName, inRoot, type RepoPath } from "../base/paths.ts";
import type { RepoContext } from "./context.ts";

/**
 * Files of the person's that going from one commit to another would overwrite or refuse over: uncommitted changes of
 * files that differ between the two, and files on disk, ignored ones included, where the other commit has one. Asked
 * before anything is changed, so that a command refuses while everything is still as it was.
 */
export async function overwrittenBy(
  context: Pick<RepoContext, "git" | "files" | "root">,
  from: string,
  to: string,
): Promise<readonly RepoPath[]> {
  const { git, files, root } = context;
  if (from === to) return [];
  const changed = new Set<string>();
  const added = new Set<string>();
  for (const file of await git.changedPaths(from, to)) {
    changed.add(file.path);
    if (file.added) added.add(file.path);
  }
  const blocked = new Set<RepoPath>();
  for (const entry of await git.status()) {
    for (const path of entry.oldPath === undefined ? [entry.path] : [entry.path, entry.oldPath]) {
      if (changed.has(path)) blocked.add(path);
    }
  }
  for (const path of added as Set<RepoPath>) {
    if ((await files.stat(inRoot(root, path))) !== undefined) blocked.add(path);
    else {
      const parent = await blockingParent(context, path);
      if (parent !== undefined && !changed.has(parent)) blocked.add(parent);
    }
  }
  return [...blocked].toSorted();
}

/** A file that stands where a folder is needed. */
async function blockingParent(
  context: Pick<RepoContext, "files" | "root">,
  path: RepoPath,
): Promise<RepoPath | undefined> {
  for (let at = dirName(path); at !== "."; at = dirName(at)) {
    const stat = await context.files.stat(inRoot(context.root, at));
    if (stat !== undefined) return stat.kind === "directory" ? undefined : (at as RepoPath);
  }
  return undefined;
}
