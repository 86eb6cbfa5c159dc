import { throwIfAborted } from "../base/abort.ts";
import { inRoot, isInside, type RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { FileReplacement } from "../ports/tree-writes.ts";
import type { Rollback } from "../ports/workspace.ts";
import { parentsOf, removeTornWrites } from "./slice-files.ts";
import type { BranchWorkspaceDeps, BranchWorkspaceOptions } from "./workspace-branch.ts";
import { markAt, readMark, sameMark, sha256, type WorkspaceState } from "./workspace-state.ts";

/**
 * The way back: every file that the attempts changed gets its bytes and mode from before, what they made goes, and all
 * that goes is stored for `restore` first. A file that is neither as last seen nor as before is a person's edit: then
 * nothing is changed. Files that nobody here wrote are left alone. Killed at any step, the next call goes on.
 */
interface Held {
  readonly state: WorkspaceState;
  readonly save: (next: WorkspaceState) => Promise<void>;
  readonly title: string;
}

export async function rollbackSlice(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
  held: Held,
  signal: AbortSignal,
): Promise<Rollback> {
  let { state } = held;
  const save = async (next: WorkspaceState): Promise<void> => {
    await held.save(next);
    state = next;
  };
  if (state.phase === "rolled-back") return rolledBack(state);
  const { edited, changed } = await compare(deps, state);
  if (edited.length > 0) return { kind: "person-edited", paths: edited };
  if (changed.length > 0) {
    // What an attempt deleted is not there to be stored; its bytes come back from the base.
    const paths = changed.filter((path) => markAt(state.seen, path).kind !== "absent");
    if (state.trash === undefined && paths.length > 0) {
      const item = await deps.trash.store({ by: "do", what: `${held.title}: last attempt`, paths });
      await save({ ...state, phase: "rolling-back", trash: item.id });
    }
    throwIfAborted(signal);
    const met = await putAllBefore(deps, state, changed);
    if (met.length > 0) return { kind: "person-edited", paths: met };
  }
  await removeMadeFolders(deps, options, state);
  await save({ ...state, phase: "rolled-back", intent: {} });
  return rolledBack(state);
}

function rolledBack(state: WorkspaceState): Rollback {
  return { kind: "rolled-back", ...(state.trash === undefined ? {} : { trash: state.trash }) };
}

async function compare(
  deps: BranchWorkspaceDeps,
  state: WorkspaceState,
): Promise<{ readonly edited: readonly RepoPath[]; readonly changed: readonly RepoPath[] }> {
  const edited: RepoPath[] = [];
  const changed: RepoPath[] = [];
  for (const path of new Set([...Object.keys(state.before), ...Object.keys(state.seen)]) as Set<RepoPath>) {
    const now = await readMark(deps.files, inRoot(deps.git.place.root, path));
    if (now === undefined) edited.push(path);
    else if (sameMark(now, markAt(state.before, path))) continue;
    else if (sameMark(now, markAt(state.seen, path))) changed.push(path);
    else edited.push(path);
  }
  return { edited, changed };
}

/** All or none: a person may have saved while the rest was stored, or saves now. What they saved is named then. */
async function putAllBefore(
  deps: BranchWorkspaceDeps,
  state: WorkspaceState,
  paths: readonly RepoPath[],
): Promise<readonly RepoPath[]> {
  const { git, files } = deps;
  const { root } = git.place;
  const replacements: FileReplacement[] = [];
  for (const path of paths) {
    await removeTornWrites(files, root, path);
    replacements.push({ path, old: markAt(state.seen, path), next: await nextOf(deps, state, path) });
  }
  const replaced = await git.replaceFiles("do", replacements);
  switch (replaced.kind) {
    case "written":
      return [];
    case "changed":
      return replaced.paths as readonly RepoPath[];
    case "elsewhere":
      return await putEachBefore(deps, state, replacements);
  }
}

async function nextOf(
  deps: BranchWorkspaceDeps,
  state: WorkspaceState,
  path: RepoPath,
): Promise<FileReplacement["next"]> {
  const before = markAt(state.before, path);
  switch (before.kind) {
    case "absent":
      return undefined;
    case "symlink":
      return before;
    case "file": {
      const data = await deps.git.fileAt(state.base, path);
      if (data !== undefined && sha256(data) === before.sha256) return { kind: "file", data, mode: before.mode };
      throw new OrchError("trash.damaged", `${path}: its content from before is not in the repository any more`, {
        data: { id: state.base },
      });
    }
  }
}

/** On a folder mounted from another disk: compared right before each write, which is all that can be had there. */
async function putEachBefore(
  { git, files }: BranchWorkspaceDeps,
  state: WorkspaceState,
  replacements: readonly FileReplacement[],
): Promise<readonly RepoPath[]> {
  const { root } = git.place;
  for (const { path, next } of replacements) {
    const at = inRoot(root, path);
    const now = await readMark(files, at);
    if (now === undefined || !sameMark(now, markAt(state.seen, path))) return [path];
    if (next?.kind !== "file") await files.remove(at);
    if (next === undefined) continue;
    await files.makeDir(inRoot(root, parentsOf(path)[0] ?? ""));
    if (next.kind === "symlink") await files.symlink(next.target, at);
    else await files.write(at, next.data, next.mode === undefined ? {} : { mode: next.mode });
  }
  return [];
}

/** Folders that the attempts made, when they are empty now. */
async function removeMadeFolders(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
  state: WorkspaceState,
): Promise<void> {
  const folders = new Set(Object.keys(state.seen).flatMap((path) => parentsOf(path)));
  const made = [...folders].filter((folder) => isInside(folder, options.slice) && !state.folders.includes(folder));
  for (const folder of made.toSorted((a, b) => b.length - a.length)) {
    await deps.files.removeEmptyDir(inRoot(deps.git.place.root, folder));
  }
}
