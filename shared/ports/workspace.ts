import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { Change, ChangedFile } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Observed } from "../model/observed.ts";

export type WriteResult =
  | { readonly kind: "written" }
  | { readonly kind: "person-edited"; readonly paths: readonly RepoPath[] };

/** What was accepted and was about to be committed onto a commit. */
export interface Accepted {
  readonly change: Change;
  readonly onto: string;
}

/** Nothing was taken back: HEAD holds the change already (`committed`), or somebody else works in it (`left`). */
export type Rollback =
  | { readonly kind: "rolled-back"; readonly trash?: string }
  | { readonly kind: "person-edited"; readonly paths: readonly RepoPath[] }
  | { readonly kind: "committed" }
  | { readonly kind: "left" };

/**
 * Where the attempts of one contract may write. It lives from the first attempt to the decision: attempt 2 mends what
 * attempt 1 left. Every file is compared with the bytes last seen before it is written or rolled back; a difference is
 * a person's edit, which is never overwritten.
 */
export interface Workspace extends AsyncDisposable {
  readonly kind: "in-place" | "worktree";
  readonly root: AbsPath;
  /**
   * Outside the root and read by what works in it: its git dir, git's objects, what links lead to. A sandbox that hides the
   * rest must leave them readable. Worktrees only.
   */
  readonly reads?: readonly AbsPath[];
  /** Commit or tree the change is measured against. */
  readonly base: string;
  /** Current bytes, symlinks not followed out of the root; undefined when absent. */
  read(path: RepoPath, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Bytes at the base. */
  readBase(path: RepoPath, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** `data: undefined` deletes. All or none: on `person-edited` nothing is written. */
  write(
    files: readonly { readonly path: RepoPath; readonly data: Uint8Array | undefined }[],
    signal: AbortSignal,
  ): Promise<WriteResult>;
  /** What differs from the base inside the contract's reach, read by git. */
  collect(signal: AbortSignal): Promise<Change>;
  /** What differs by now from a tree that was collected. Worktrees only: elsewhere a person may have changed it. */
  changedSince?(tree: string, signal: AbortSignal): Promise<readonly ChangedFile[]>;
  /** What was seen outside the diff of the last collected attempt, for the gates. Worktrees only. */
  observed?(): Observed;
  /** Puts the tree back as it was before the first attempt; what goes is stored for `restore` first. */
  rollback(signal: AbortSignal): Promise<Rollback>;
  /** Accepted in an earlier life of the run, which was killed before it told the commit: to be finished, not made again. In place only. */
  readonly accepted?: Accepted;
  /** Notes what is about to be committed, so that a kill from here on finds it as `accepted`. In place only. */
  accept?(accepted: Accepted): Promise<void>;
  /** Forgets what the way back would need: the change was accepted and committed. In place only. */
  settle?(): Promise<void>;
}

export interface Workspaces {
  open(contract: Contract, signal: AbortSignal): Promise<Workspace>;
}
