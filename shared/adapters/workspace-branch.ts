import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import type { Change } from "../model/change.ts";
import { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";
import type { Git } from "../ports/git.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import type { Accepted, Workspace, Workspaces, WriteResult } from "../ports/workspace.ts";
import { removeNewCaches, removeTornWrites } from "./slice-files.ts";
import { beginWorkspace } from "./workspace-begin.ts";
import { createReach, type Reach } from "./workspace-reach.ts";
import { rollbackSlice } from "./workspace-rollback.ts";
import { type FileWrite, intended, writeAll } from "./workspace-write.ts";
import {
  type FileMark,
  loadState,
  markAt,
  readMark,
  sameMark,
  saveState,
  type WorkspaceState,
} from "./workspace-state.ts";

/**
 * The person's own checkout as a workspace, for completions only: Orch itself writes the files. Before the first
 * attempt the slice and the registry are kept as a raw tree; every write and the way back compare each file with the
 * hash last seen. All that is needed for the way back lies in `stateFile`, so `open` after a crash goes on where it
 * was. Long because the ways there and back must be read beside each other.
 */
export interface BranchWorkspaceOptions {
  readonly slice: RepoPath;
  readonly registry: RepoPath;
  /** In the run folder; one per contract. */
  readonly stateFile: AbsPath;
  /** True for uncommitted bytes that nobody would miss: a scaffold as it was made. */
  readonly disposable?: (path: RepoPath, bytes: Uint8Array) => boolean;
  /** Told what of a person's uncommitted work was stored before an attempt replaced it. */
  readonly onStored?: (item: TrashItem) => void;
}

export interface BranchWorkspaceDeps {
  readonly git: Pick<
    Git,
    "place" | "head" | "snapshot" | "diff" | "fileAt" | "updateRef" | "deleteRef" | "changedPaths" | "replaceFiles"
  >;
  readonly files: Files;
  readonly trash: Pick<Trash, "store">;
}

export function createBranchWorkspaces(deps: BranchWorkspaceDeps, options: BranchWorkspaceOptions): Workspaces {
  return {
    async open(contract, signal) {
      throwIfAborted(signal);
      let saved = await loadState(deps.files, options.stateFile);
      if (saved?.phase === "rolling-back") saved = await finishRollback(deps, options, contract, saved, signal);
      const state =
        saved === undefined || isOver(saved)
          ? await beginWorkspace(deps, options, contract, signal)
          : await resume(deps, options, saved);
      return workspaceOf(deps, options, contract, state, await acceptedIn(deps, state));
    },
  };
}

/** A way back that a kill cut short is walked to its end before anything new begins. */
async function finishRollback(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
  contract: Contract,
  saved: WorkspaceState,
  signal: AbortSignal,
): Promise<undefined> {
  const result = await workspaceOf(deps, options, contract, saved, undefined).rollback(signal);
  if (result.kind !== "person-edited") return undefined;
  throw new OrchError("tree.changed", `edited while the last attempt was taken back: ${result.paths.join(", ")}`, {
    data: { paths: result.paths },
  });
}

/**
 * After a crash or a pause: writes that were under way are found at their old or their new content; anything else is
 * a person's.
 */
async function resume(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
  saved: WorkspaceState,
): Promise<WorkspaceState> {
  const head = await deps.git.head();
  if (head.kind !== "branch" || head.branch !== saved.head.branch) {
    throw new OrchError("branch.wrong", `this work began on ${saved.head.branch}`, {
      data: { branch: saved.head.branch },
    });
  }
  const under = Object.keys(saved.intent) as RepoPath[];
  if (under.length === 0) return saved;
  const seen = { ...saved.seen };
  for (const path of under) {
    await removeTornWrites(deps.files, deps.git.place.root, path);
    const now = await readMark(deps.files, inRoot(deps.git.place.root, path));
    const meant = markAt(saved.intent, path);
    if (now !== undefined && sameMark(now, meant)) seen[path] = now;
  }
  const state: WorkspaceState = { ...saved, seen, intent: {} };
  await saveState(deps.files, options.stateFile, state);
  return state;
}

/**
 * The workspace that a killed run left, or undefined when nothing of it is in the tree any more: for a run that is to be
 * ended and not to go on. All that is needed lies in the state file.
 *
 * @throws OrchError `branch.wrong`, `file.invalid`
 */
export async function reopenWorkspace(
  deps: BranchWorkspaceDeps,
  stateFile: AbsPath,
  id: string,
): Promise<
  { readonly contract: Contract; readonly workspace: Workspace; readonly options: BranchWorkspaceOptions } | undefined
> {
  const saved = await loadState(deps.files, stateFile);
  if (saved === undefined || isOver(saved)) return undefined;
  const [slice, registry] = [repoPath(saved.slice), repoPath(saved.registry)];
  if (slice === undefined || registry === undefined) {
    throw new OrchError("file.invalid", `${stateFile}: its paths leave the repository`, { data: { path: stateFile } });
  }
  const options = { slice, registry, stateFile };
  const contract = Contract.parse({ id, title: saved.title, goal: saved.title, allowed: [slice] });
  const state = await resume(deps, options, saved);
  const workspace = workspaceOf(deps, options, contract, state, await acceptedIn(deps, state));
  return { contract, workspace, options };
}

function isOver({ phase, accepted }: WorkspaceState): boolean {
  return phase === "rolled-back" || (phase === "settled" && accepted === undefined);
}

async function acceptedIn(
  deps: BranchWorkspaceDeps,
  { base, accepted }: WorkspaceState,
): Promise<Accepted | undefined> {
  if (accepted === undefined) return undefined;
  return { change: await deps.git.diff(base, accepted.tree), onto: accepted.onto };
}

function workspaceOf(
  deps: BranchWorkspaceDeps,
  options: BranchWorkspaceOptions,
  contract: Contract,
  opened: WorkspaceState,
  accepted: Accepted | undefined,
): Workspace {
  const { files, git } = deps;
  const root = git.place.root;
  const reach = createReach(files, root, contract);
  let state = opened;
  const save = async (next: WorkspaceState): Promise<void> => {
    await saveState(files, options.stateFile, next);
    state = next;
  };
  const cleanCaches = (): Promise<void> => removeNewCaches(files, root, options.slice, opened.caches);
  const unpin = async (): Promise<void> => {
    await git.deleteRef(opened.pin, opened.base);
  };

  return {
    kind: "in-place",
    root,
    base: opened.base,
    ...(accepted === undefined ? {} : { accepted }),
    async read(path, signal) {
      throwIfAborted(signal);
      return await files.read(inRoot(root, await reach.resolve(path)));
    },
    async readBase(path, signal) {
      throwIfAborted(signal);
      return await git.fileAt(opened.base, path);
    },
    async write(wanted, signal) {
      throwIfAborted(signal);
      if (state.phase !== "open") throw new Error(`the workspace is ${state.phase}`);
      const writes = await resolved(reach, wanted);
      const edited = await editedOf(writes);
      if (edited.length > 0) return { kind: "person-edited", paths: edited };
      await keepUncommitted(writes);
      const intent: Record<string, FileMark> = {};
      const seen = { ...state.seen };
      for (const { path, data } of writes) {
        seen[path] = markAt(seen, path); // named from now on: the way back also takes folders that were made for it
        intent[path] = intended(data, markAt(seen, path));
      }
      await save({ ...state, seen, intent });
      const result = await replaceAll(seen, writes);
      await save({ ...state, seen: result.kind === "written" ? { ...seen, ...intent } : seen, intent: {} });
      return result;
    },
    async collect(signal) {
      throwIfAborted(signal);
      await cleanCaches();
      const tree = await git.snapshot([options.slice, options.registry]);
      throwIfAborted(signal);
      const change = await git.diff(opened.base, tree);
      refuseForeign(change, options);
      return change;
    },
    async rollback(signal) {
      throwIfAborted(signal);
      if (state.phase === "settled" || (await isCommitted())) return { kind: "committed" };
      await cleanCaches();
      const result = await rollbackSlice(deps, options, { state, save, title: contract.title }, signal);
      if (result.kind === "rolled-back") await unpin();
      return result;
    },
    async accept({ change, onto }) {
      await save({ ...state, phase: "accepted", accepted: { tree: change.tree, onto } });
    },
    async settle() {
      await cleanCaches();
      await save({ ...state, phase: "settled", intent: {} });
      await unpin();
    },
    async [Symbol.asyncDispose]() {
      await cleanCaches();
    },
  };

  /** HEAD holds something new of the slice: taking the files back would leave the checkout behind its own commit. */
  async function isCommitted(): Promise<boolean> {
    if (state.accepted === undefined) return false;
    const head = await git.head();
    if (head.kind !== "branch" || head.commit === state.accepted.onto) return false;
    const changed = await git.changedPaths(state.accepted.onto, head.commit);
    return changed.some(({ path }) => path === options.registry || isInside(path, options.slice));
  }

  /** An accepted change replaces what a person had not committed: until the first write of a file it exists nowhere else. */
  async function keepUncommitted(writes: readonly FileWrite[]): Promise<void> {
    const paths: RepoPath[] = [];
    for (const { path, data } of writes) {
      const before = markAt(state.before, path);
      if (before.kind !== "file" || !sameMark(before, markAt(state.seen, path))) continue;
      const bytes = await files.read(inRoot(root, path));
      if (bytes === undefined || sameBytes(bytes, data) || options.disposable?.(path, bytes) === true) continue;
      if (!sameBytes(bytes, await git.fileAt(opened.head.commit, path))) paths.push(path);
    }
    if (paths.length === 0) return;
    const what = `${contract.title}, uncommitted files that an attempt replaced`;
    options.onStored?.(await deps.trash.store({ by: "do", what, paths }));
  }

  async function replaceAll(
    seen: Readonly<Record<string, FileMark>>,
    writes: readonly FileWrite[],
  ): Promise<WriteResult> {
    const replaced = await git.replaceFiles(
      "do",
      writes.map(({ path, data }) => ({
        path,
        old: markAt(seen, path),
        next: data === undefined ? undefined : { kind: "file", data },
      })),
    );
    switch (replaced.kind) {
      case "written":
        return replaced;
      case "changed":
        return { kind: "person-edited", paths: replaced.paths as readonly RepoPath[] };
      case "elsewhere":
        // A folder mounted from another disk: compared right before each write, which is all that can be had there.
        return await writeAll({ files, root, seen }, writes);
    }
  }

  async function editedOf(writes: readonly FileWrite[]): Promise<RepoPath[]> {
    const edited: RepoPath[] = [];
    for (const { path } of writes) {
      const now = await readMark(files, inRoot(root, path));
      if (now === undefined) throw new OrchError("path.refused", `${path} is a folder`, { data: { path } });
      if (!sameMark(now, markAt(state.seen, path))) edited.push(path);
    }
    return edited;
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Paths with links followed and checked, each once: the last write of a path counts. */
async function resolved(reach: Reach, wanted: readonly FileWrite[]): Promise<FileWrite[]> {
  const writes = new Map<RepoPath, FileWrite>();
  for (const { path, data } of wanted) {
    reach.check(path);
    const real = await reach.resolve(path, { keepLast: data === undefined });
    reach.check(real);
    writes.set(real, { path: real, data });
  }
  return [...writes.values()];
}

/** Commits that a person made on the branch meanwhile would be judged as the worker's. */
function refuseForeign(change: Change, options: BranchWorkspaceOptions): void {
  const foreign = change.files.filter((file) => file.path !== options.registry && !isInside(file.path, options.slice));
  if (foreign.length === 0) return;
  const paths = foreign.map((file) => file.path);
  throw new OrchError("tree.changed", `the branch got commits that change ${paths.join(", ")}`, { data: { paths } });
}
