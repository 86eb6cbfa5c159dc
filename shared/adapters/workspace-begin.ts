import { throwIfAborted } from "../base/abort.ts";
import { hasWildcard, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import { removeTornWrites, walkSlice } from "./slice-files.ts";
import type { BranchWorkspaceDeps, BranchWorkspaceOptions } from "./workspace-branch.ts";
import {
  type FileMark,
  markAt,
  readMark,
  sameMark,
  saveState,
  sha256,
  type WorkspaceState,
} from "./workspace-state.ts";

/** Snapshots while a person saves are taken again; one who saves this often is typing into the slice. */
const maxSnapshots = 5;

/**
 * Takes the snapshot that a branch workspace begins with, and pins it. Nothing of the tree is touched; a kill before the
 * state is saved leaves a ref nobody needs.
 */
export async function beginWorkspace(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
  contract: Contract,
  signal: AbortSignal,
): Promise<WorkspaceState> {
  const head = await deps.git.head();
  if (head.kind !== "branch") {
    throw new OrchError(
      head.kind === "unborn" ? "tree.unborn" : "tree.detached",
      "no branch with a commit is checked out",
    );
  }
  // What a killed run left beside files that it wrote would be committed as the person's own.
  for (const path of contract.allowed.flatMap((glob) => (hasWildcard(glob) ? [] : (repoPath(glob) ?? [])))) {
    await removeTornWrites(deps.files, deps.git.place.root, path);
  }
  let marks = await marksOf(deps, options);
  for (let tries = 1; ; tries += 1) {
    throwIfAborted(signal);
    const base = await deps.git.snapshot([options.slice, options.registry]);
    const again = await marksOf(deps, options);
    if (!sameMarks(marks.before, again.before)) {
      if (tries === maxSnapshots) {
        throw new OrchError("tree.changed", `${options.slice} keeps changing`, { data: { paths: [options.slice] } });
      }
      marks = again;
      continue;
    }
    const key = sha256(new TextEncoder().encode(options.stateFile)).slice(0, 24);
    const pin = `refs/orch/base/${key}-${base.slice(0, 16)}`;
    // Garbage collection must not take the only copy of a person's uncommitted text while a run is parked. False means
    // that a killed run pinned the same tree under the same name.
    await deps.git.updateRef(pin, base, undefined);
    const state: WorkspaceState = {
      v: 1,
      phase: "open",
      title: contract.title,
      slice: options.slice,
      registry: options.registry,
      head: { branch: head.branch, commit: head.commit },
      base,
      pin,
      ...marks,
      seen: marks.before,
      intent: {},
    };
    await saveState(deps.files, options.stateFile, state);
    return state;
  }
}

async function marksOf(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
): Promise<Pick<WorkspaceState, "before" | "folders" | "caches">> {
  const root = deps.git.place.root;
  const found = await walkSlice(deps.files, root, options.slice);
  const before: Record<string, FileMark> = {};
  for (const path of [...found.files, options.registry]) {
    const mark = await readMark(deps.files, inRoot(root, path));
    if (mark !== undefined && mark.kind !== "absent") before[path] = mark;
  }
  return { before, folders: [...found.folders], caches: [...found.caches] };
}

function sameMarks(a: Readonly<Record<string, FileMark>>, b: Readonly<Record<string, FileMark>>): boolean {
  const names = Object.keys(a) as RepoPath[];
  return names.length === Object.keys(b).length && names.every((path) => sameMark(markAt(a, path), markAt(b, path)));
}
