import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";
import type { Observed } from "../model/observed.ts";
import type { StateChange } from "../model/state-change.ts";
import type { Worker } from "./worker.ts";
import type { Workspaces } from "./workspace.ts";

/** What a worktree starts from: HEAD with the uncommitted tracked changes and what was carried over. */
export interface Snapshot {
  /** A commit on no branch; its tree is what every attempt is measured against. */
  readonly commit: string;
  readonly carried: readonly RepoPath[];
  /** Untracked and not carried: the worker does not see them. */
  readonly leftBehind: readonly RepoPath[];
}

export type WorktreeUse =
  | { readonly kind: "used"; readonly run: string; readonly contract: string }
  | { readonly kind: "pooled" }
  /** Its run is over or its runner died. */
  | { readonly kind: "leftover"; readonly run?: string; readonly contract?: string };

export interface WorktreeRow {
  readonly folder: AbsPath;
  readonly use: WorktreeUse;
  readonly changed: readonly RepoPath[];
}

/** For `clean` and `doctor`. Removal is by rename, what goes is stored for `restore` first. */
export interface Worktrees {
  list(signal: AbortSignal): Promise<readonly WorktreeRow[]>;
  /** Ids of what was stored for `restore`, if there was anything that is not in a commit. */
  remove(row: WorktreeRow, signal: AbortSignal): Promise<{ readonly trash?: string }>;
  /** Deletes what earlier removals renamed away; the number of folders that went. */
  sweep(signal: AbortSignal): Promise<number>;
}

/** The worktrees of one run: what the wave, its workers and its gates take. */
export interface RunWorktrees extends Workspaces, Worktrees {
  /** The worker between two looks at what it must not touch: see `changes`. Every rung of a ladder is wrapped. */
  watched(worker: Worker): Worker;
  /** Around the last attempt of the contract in this process; what is traced is in `observed`, too. */
  changes(contract: Contract["id"]): readonly StateChange[];
  /** The same as the open workspace's own: for the gates. */
  observed(contract: Contract["id"]): Observed;
  /** What the worktree started from, once it is open. */
  snapshot(contract: Contract["id"]): Snapshot | undefined;
  /** Whether a worktree of that contract is there, as this run left it. */
  holds(contract: Contract["id"]): Promise<boolean>;
  /**
   * The review is over: the worktree goes to the pool, after anything that is in no kept result was stored. `keptBy` is the
   * run that kept it, where that is another one.
   */
  release(contract: Contract["id"], signal: AbortSignal, keptBy?: string): Promise<{ readonly trash?: string }>;
}

/** An accepted change that outlives its worktree, under `refs/orch/kept/`; the ref names a tree, so that no log shows it. */
export interface KeptResult {
  readonly run: string;
  readonly contract: string;
  readonly title: string;
  /** Commit the change was measured against, and one that holds the result on top of it. Both are remade when pruned. */
  readonly base: string;
  readonly commit: string;
  readonly tree: string;
}

export interface KeptResults {
  /** Replaces an earlier result of the same run and contract. */
  keep(result: Omit<KeptResult, "commit">): Promise<KeptResult>;
  find(run: string, contract: string): Promise<KeptResult | undefined>;
  list(): Promise<readonly KeptResult[]>;
  drop(run: string, contract: string): Promise<boolean>;
}
