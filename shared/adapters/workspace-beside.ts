import type { AbsPath, RepoPath } from "../base/paths.ts";
import { repoPath } from "../base/paths.ts";
import type { Change } from "../model/change.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";
import type { Finisher } from "../ports/finisher.ts";
import type { Git } from "../ports/git.ts";
import type { Workspace, Workspaces } from "../ports/workspace.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import { headOf } from "./finish-commit-push.ts";
import { type BaseGround, differing, expectSlice, type Marks, markSlice, rememberSlice } from "./slice-seen.ts";
import {
  type BranchWorkspaceDeps,
  type BranchWorkspaceOptions,
  createBranchWorkspaces,
  reopenWorkspace,
} from "./workspace-branch.ts";
import { absent, type FileMark } from "./workspace-state.ts";
import { type FileWrite, intended } from "./workspace-write.ts";

export interface BesideDeps extends BranchWorkspaceDeps {
  readonly git: BranchWorkspaceDeps["git"] & BesideGround["git"];
  readonly worktrees: Pick<RunWorktrees, "open" | "release">;
  readonly kept: Pick<KeptResults, "keep" | "drop">;
}

export interface BesideOptions extends BranchWorkspaceOptions {
  readonly run: string;
  /** The feature's branch. */
  readonly branch: string;
  /** In the run folder; one per contract. */
  readonly seenFile: AbsPath;
  /** Tools in the checkout that the worker may read: of those that are there. */
  readonly tools?: readonly AbsPath[];
  /** A worktree was opened here, made of this commit. */
  readonly onOpen?: (root: AbsPath, base: string) => void;
}

interface BesideGround extends BaseGround {
  readonly git: BaseGround["git"] & Pick<Git, "head">;
}

export interface Beside extends Workspaces {
  /** Brings what was accepted into the checkout, then does what acceptance means there. */
  finisher(then: Finisher): Finisher;
}

const never = new AbortController().signal;

/**
 * A feature's work beside the checkout, for agents: the attempts are made in a worktree, and the checkout is only looked at
 * until the change is accepted. Then it becomes an in-place workspace that is written at once: each file is compared with
 * the hash seen when the worktree was made, and a difference anywhere in the slice is a person's edit, for which nothing is
 * written at all. Killed at any step, `open` and `finish` go on from the files of both.
 */
export function createBesideWorkspaces(deps: BesideDeps, options: BesideOptions): Beside {
  const ground: BesideGround = { ...deps, slice: options.slice, registry: options.registry };
  const checkouts = createBranchWorkspaces(deps, options);
  const seen = new Map<string, Marks>();
  const done = new Set<string>();

  return {
    async open(contract, signal) {
      const { id } = contract;
      // Looked at before the snapshot: a save in between is met as an edit, never overwritten.
      const earlier = await expectSlice(deps.files, options.seenFile);
      const marks = await markSlice(ground);
      const worktree = await deps.worktrees.open(contract, signal);
      try {
        seen.set(id, await rememberSlice(ground, options.seenFile, { base: worktree.base, marks, earlier }));
        const accepted = (await reopenWorkspace(deps, options.stateFile, id))?.workspace.accepted;
        const reads = [...(worktree.reads ?? []), ...(await existing(deps.files, options.tools ?? []))];
        options.onOpen?.(worktree.root, worktree.base);
        return {
          ...worktree,
          reads,
          ...(accepted === undefined ? {} : { accepted }),
          async rollback(stop) {
            const left = await reopenWorkspace(deps, options.stateFile, id);
            const back = await left?.workspace.rollback(stop);
            if (back !== undefined && back.kind !== "rolled-back") return back;
            await deps.kept.drop(options.run, id);
            return worktree.rollback(stop);
          },
          async [Symbol.asyncDispose]() {
            await worktree[Symbol.asyncDispose]();
            if (done.has(id)) await giveBackWorktree(deps, options.run, id);
          },
        };
      } catch (error) {
        await worktree[Symbol.asyncDispose]();
        throw error;
      }
    },
    finisher: (then) => ({
      async finish(contract, _worktree, change, signal) {
        const { id, title } = contract;
        // Before a file is written: what lies there may be another branch's.
        await headOf(deps.git, options.branch, options.run);
        const checkout = await checkouts.open(contract, signal);
        try {
          if (checkout.accepted === undefined) {
            // From here on the worktree is not needed for what was judged: it is kept like any accepted result.
            await deps.kept.keep({ run: options.run, contract: id, title, base: change.base, tree: change.tree });
          }
          const sides = { checkout, seen: seen.get(id) ?? {}, run: options.run };
          const judged = checkout.accepted?.change ?? (await bringIn(ground, sides, change));
          const finished = await then.finish(contract, checkout, judged, signal);
          done.add(id);
          return finished;
        } catch (error) {
          await checkout.rollback(never);
          throw error;
        } finally {
          await checkout[Symbol.asyncDispose]();
        }
      },
    }),
  };
}

async function existing(files: Pick<Files, "stat">, places: readonly AbsPath[]): Promise<readonly AbsPath[]> {
  const found: AbsPath[] = [];
  for (const place of places) if ((await files.stat(place)) !== undefined) found.push(place);
  return found;
}

/** What is in a commit needs no worktree any more. One that holds something else is stored for `restore`. */
export async function giveBackWorktree(
  { worktrees, kept }: { readonly worktrees: Pick<RunWorktrees, "release">; readonly kept: Pick<KeptResults, "drop"> },
  run: string,
  contract: string,
): Promise<void> {
  await worktrees.release(contract, never);
  await kept.drop(run, contract);
}

interface Sides {
  readonly checkout: Workspace;
  readonly seen: Marks;
  readonly run: string;
}

/** Checks everything first, then writes all or nothing. @throws OrchError `tree.changed`, `path.refused` */
async function bringIn(ground: BesideGround, sides: Sides, change: Change): Promise<Change> {
  const { checkout, seen } = sides;
  const writes = await writesOf(ground, change);
  const meant: Record<string, FileMark> = {};
  for (const { path, data } of writes) meant[path] = intended(data, absent);
  // A file at its new content already was written by a runner that was killed, or is the same edit.
  refuseEdited(sides, await differing(ground, seen, meant));
  const wrote = await checkout.write(writes, never);
  if (wrote.kind === "person-edited") refuseEdited(sides, wrote.paths);
  const applied = await checkout.collect(never);
  refuseEdited(sides, await differing(ground, { ...seen, ...meant }), true);
  await refuseOther(ground, change);
  return applied;
}

/**
 * The files of the change as they were judged, whole: a patch could fit somewhere else, and the worktree may have been
 * written since, by the very tests.
 */
async function writesOf({ git }: BesideGround, change: Change): Promise<readonly FileWrite[]> {
  const writes = new Map<RepoPath, Uint8Array | undefined>();
  for (const { path, oldPath, status, newMode } of change.files) {
    const [to, from] = [repoPath(path), repoPath(oldPath ?? path)];
    if (to === undefined || from === undefined) throw unfit(path, "is not a path inside the repository");
    const plain = newMode.startsWith("100") && status !== "type-changed";
    if (status === "renamed") writes.set(from, undefined);
    if (newMode === "000000") writes.set(to, undefined);
    else if (plain) writes.set(to, await git.checkedOut(change.tree, to));
    else throw unfit(path, "is no ordinary file");
  }
  return [...writes].map(([path, data]) => ({ path, data }));
}

/** A filter that does not give back what it took would commit what nobody judged. */
async function refuseOther({ git }: BesideGround, judged: Change): Promise<void> {
  for (const { path, newMode } of judged.files) {
    const own = repoPath(path);
    if (own === undefined || newMode === "000000") continue;
    if (await git.wouldCommit(judged.tree, own)) continue;
    const why = "would be committed otherwise than it was judged (a filter or an encoding of .gitattributes)";
    throw unfit(path, why, { attributes: true });
  }
}

function unfit(path: string, why: string, data: { readonly attributes?: true } = {}): OrchError {
  return new OrchError("path.refused", `${path} ${why}, so it was not brought into the checkout`, {
    data: { path, ...data },
  });
}

/** `written`: the edit came after the files of the change, which stay where they are then. */
function refuseEdited({ run }: Sides, paths: readonly RepoPath[], written = false): void {
  if (paths.length === 0) return;
  const names = paths.join(", ");
  throw new OrchError(
    "tree.changed",
    written
      ? `edited while the change was brought in, so it is not committed and its other files stay as they were written: ${names}. What they replaced is in orch restore`
      : `edited since the work began, so the change was not brought in: ${names}`,
    {
      data: { paths, run, beside: true },
    },
  );
}
