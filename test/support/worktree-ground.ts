import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { openGit } from "../../shared/adapters/git.ts";
import type { GitCall } from "../../shared/adapters/git-call.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createKeptResults } from "../../shared/adapters/kept-results.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTrash } from "../../shared/adapters/trash.ts";
import { createWorktreeWorkspaces } from "../../shared/adapters/workspace-worktree.ts";
import type { WorktreeDeps, WorktreeOptions } from "../../shared/adapters/worktree-hold.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import { Contract, type ContractInput } from "../../shared/model/contract.ts";
import type { Trash, TrashItem } from "../../shared/ports/trash.ts";
import type { KeptResults, RunWorktrees } from "../../shared/ports/worktrees.ts";
import { makeTempRepo, type TempRepo, type TempRepoOptions } from "./temp-repo.ts";

const firstRun = "r-20260131-101500-ab12";
export const secondRun = "r-20260131-101501-cd34";

/** A repository, the real adapters on it, and a state folder beside it. */
export interface WorktreeGround extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly call: GitCall;
  readonly trash: Trash;
  readonly kept: KeptResults;
  readonly stateDir: AbsPath;
  readonly deps: WorktreeDeps;
  readonly stored: TrashItem[];
  readonly notes: string[];
  /** Runs that are alive; a run's own worktrees are always in use for it. */
  readonly alive: Set<string>;
  worktrees(options?: Partial<WorktreeOptions>, deps?: Partial<WorktreeDeps>): RunWorktrees;
}

export async function worktreeGround(options: TempRepoOptions = {}): Promise<WorktreeGround> {
  const repo = await makeTempRepo(options);
  const { call } = await openGit({ folder: repo.root, process: createProcess(), env: repo.env });
  const clock = createClock();
  const trash = createTrash({ call, clock, ids: createIds(clock) });
  const kept = createKeptResults(call);
  const stateDir = absPath(join(repo.base, "state"));
  await mkdir(stateDir);
  const alive = new Set<string>();
  const stored: TrashItem[] = [];
  const notes: string[] = [];
  const deps: WorktreeDeps = {
    call,
    files: createFiles(),
    trash,
    kept,
    runs: {
      find: (run) => Promise.resolve({ run, dir: absPath(join(repo.base, "runs", run)) }),
      isAlive: (dir) => [...alive].some((run) => dir.endsWith(run)),
    },
    env: repo.env,
  };
  return {
    repo,
    call,
    trash,
    kept,
    stateDir,
    deps,
    stored,
    notes,
    alive,
    worktrees: (other = {}, more = {}) =>
      createWorktreeWorkspaces(
        { ...deps, ...more },
        {
          run: firstRun,
          stateDir,
          links: [],
          onStored: (item) => void stored.push(item),
          onNote: (text) => void notes.push(text),
          ...other,
        },
      ),
    [Symbol.asyncDispose]: () => repo.cleanup(),
  };
}

export function contractOf(id: string, more: Partial<ContractInput> = {}): Contract {
  return Contract.parse({ id, title: `work ${id}`, goal: "x", allowed: ["**"], ...more });
}
