import type { GitCall } from "../adapters/git-call.ts";
import { createSlots } from "../adapters/slots.ts";
import { createWorktreeWorkspaces } from "../adapters/workspace-worktree.ts";
import type { WorktreeOptions } from "../adapters/worktree-hold.ts";
import { maxWorkers } from "../model/run.ts";
import type { Slots } from "../ports/slots.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import type { RepoContext } from "./context.ts";
import type { RunsContext } from "./run-look.ts";

type WorktreesContext = Pick<
  RepoContext & RunsContext,
  "config" | "files" | "machine" | "runs" | "sink" | "trash" | "trust"
>;

/** Worktrees of a run: also one that is over, whose work is reviewed or goes on. */
export function openWorktrees(
  context: WorktreesContext,
  { call, kept }: { readonly call: GitCall; readonly kept: KeptResults },
  run: string,
  more: Pick<WorktreeOptions, "startFrom" | "below" | "confined"> = {},
): RunWorktrees {
  const { config, files, machine, runs, sink, trash, trust } = context;
  return createWorktreeWorkspaces(
    { call, files, trash, kept, runs, env: machine.env, hooks: trust },
    {
      run,
      stateDir: machine.stateDir,
      ...(config.worktree_root === undefined ? {} : { worktreeRoot: config.worktree_root }),
      links: config.worktree_links,
      ...more,
      onStored: ({ id, what, files: entries, bytes }) =>
        sink.append({ type: "trash.stored", id, what, entries, bytes }),
      onNote: (text) => sink.append({ type: "progress.noted", text }),
    },
  );
}

export function createSlotsOf(context: Pick<RunsContext, "locks" | "process" | "files" | "clock" | "machine">): Slots {
  const { locks, process, files, clock, machine } = context;
  return createSlots({ locks, sweep: process, files, clock, stateDir: machine.stateDir, count: maxWorkers });
}
