import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { Change } from "../model/change.ts";
import type { Confirmed } from "../model/confirmed.ts";
import type { TreeWrites } from "./tree-writes.ts";

/** Verbs of this product, not argv. Split so that each caller takes only what it needs. Object ids are full hex. */
export interface RepoPlace {
  /** Top of the working tree. */
  readonly root: AbsPath;
  /** This checkout's git dir, and the common dir that linked worktrees share (real paths). */
  readonly gitDir: AbsPath;
  readonly commonDir: AbsPath;
  readonly shallow: boolean;
}

export type Head =
  | { readonly kind: "branch"; readonly branch: string; readonly commit: string }
  | { readonly kind: "unborn"; readonly branch: string }
  | { readonly kind: "detached"; readonly commit: string };

export interface StatusEntry {
  readonly path: RepoPath;
  readonly oldPath?: RepoPath;
  /** Letter in the index and in the working tree (`.` for none); `??` untracked is `{index: "?", worktree: "?"}`, ignored is `!`. */
  readonly index: string;
  readonly worktree: string;
  /** An untracked repository of its own, of which git tells the folder only. */
  readonly folder?: true;
}

/** What no commit holds, also where `status` does not look. */
export interface Uncommitted {
  /**
   * As `status` tells it, with tracked files that git was told not to look at (`skip-worktree`, `assume-unchanged`), and
   * with what the repositories and submodules that lie in the checkout tell of theirs.
   */
  readonly entries: readonly StatusEntry[];
  readonly repositories: readonly NestedRepository[];
  /** The same look at the same repositories, once more. */
  again(): Promise<readonly StatusEntry[]>;
}

/** Another repository in a folder of the checkout: a submodule, or one that this repository does not know. */
export interface NestedRepository {
  readonly path: RepoPath;
  /** False where git does not tell what it holds (broken, somebody else's), and beyond a number of them. */
  readonly seen: boolean;
}

export interface BranchInfo {
  readonly name: string;
  readonly commit: string;
  /** Value of `branch.<name>.orch`: the target it was made for. */
  readonly orch?: string;
  readonly upstream?: string;
}

export interface GitRead {
  readonly place: RepoPlace;
  head(): Promise<Head>;
  /** Exactly the repository's default branch: the remote's HEAD, else `init.defaultBranch` if it exists here, else `main`, else `master`. */
  defaultBranch(): Promise<string>;
  /** `merge`, `rebase`, `cherry-pick`, `revert` or `bisect` when one is unfinished. */
  operation(): Promise<string | undefined>;
  /** The lock of the index, when another git holds it for longer than is waited for, or a killed one left it. */
  indexLock(): Promise<AbsPath | undefined>;
  /** Tracked changes and untracked files (each file, not folders); `ignoredIn` adds ignored files below that folder. */
  status(options?: { readonly ignoredIn?: RepoPath }): Promise<readonly StatusEntry[]>;
  branches(): Promise<readonly BranchInfo[]>;
  resolve(ref: string): Promise<string | undefined>;
  isAncestor(a: string, b: string): Promise<boolean>;
  /** How `branch` is contained in `into`: by ancestry, or squash-, rebase- or cherry-merged (same tree or patch ids). */
  mergedHow(branch: string, into: string): Promise<"ancestor" | "equivalent" | undefined>;
  /**
   * The remote of a branch, without a name of the one checked out: `origin`, else the one git was told (what the branch
   * follows, what main follows, `checkout.defaultRemote`), else the only one.
   */
  remote(branch?: string): Promise<string | undefined>;
  /** All of them by name, for a person to choose from when `remote` has no answer. */
  remotes(): Promise<readonly string[]>;
  identity(): Promise<{ readonly name: string; readonly email: string } | undefined>;
  /** Raw bytes of a file at a commit or tree, no filters. */
  fileAt(treeish: string, path: RepoPath): Promise<Uint8Array | undefined>;
  /** What a checkout of that file would write here: line ends, encodings and the person's filters applied. */
  checkedOut(treeish: string, path: RepoPath): Promise<Uint8Array>;
  /** Whether a commit of the file as it lies here would hold what it is there. */
  wouldCommit(treeish: string, path: RepoPath): Promise<boolean>;
  filesAt(treeish: string, under?: RepoPath): Promise<readonly RepoPath[]>;
  /** Tracked and untracked-but-not-ignored files of the working tree. */
  listFiles(under?: RepoPath): Promise<readonly RepoPath[]>;
  /** Local configuration keys that could run a program: `filter.*.clean`, `merge.*.driver`, `core.fsmonitor`, ... with their values. */
  programKeys(): Promise<readonly { readonly key: string; readonly value: string }[]>;
  subject(commit: string): Promise<string>;
  /** Best common ancestor; undefined when the histories share none, or (shallow clone) when the part that does is missing. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /** Commits reachable from `tip` and not from `without`, newest first. */
  commitsOnly(tip: string, without: string): Promise<readonly string[]>;
  /** Folder of another worktree of this repository that has `branch` checked out (also one in the middle of a rebase of it). */
  checkedOutElsewhere(branch: string): Promise<AbsPath | undefined>;
}

export interface GitUncommitted {
  /** No program of a nested repository's configuration runs, whatever a person approved. `skip`: untracked ones of no interest. */
  uncommitted(skip: (folder: RepoPath) => boolean): Promise<Uncommitted>;
}

export interface GitTrees {
  /** A tree of the working tree's raw bytes (no filters) for `paths` over HEAD's tree; folders mean all files below. Touches no index of the person's. */
  snapshot(paths: readonly RepoPath[]): Promise<string>;
  /** Machine formats only; right on renames, modes, binaries, symlinks, quoted names. */
  diff(base: string, tree: string): Promise<Change>;
  /** Paths whose content or mode differs between two commits or trees, renames as both paths; `added`: only `to` has it. */
  changedPaths(from: string, to: string): Promise<readonly { readonly path: RepoPath; readonly added: boolean }[]>;
  /** Merges two commits off-tree. */
  mergeTree(
    ours: string,
    theirs: string,
  ): Promise<
    | { readonly kind: "merged"; readonly tree: string }
    | { readonly kind: "conflict"; readonly paths: readonly RepoPath[] }
  >;
  /** A commit by the person's identity, on no branch. Signed when they sign their commits and `trusted`. */
  commitTree(
    tree: string,
    parents: readonly string[],
    message: string,
    options?: { readonly trusted?: boolean },
  ): Promise<string>;
  /** `old: undefined` creates only. False when the ref moved meanwhile. */
  updateRef(ref: string, to: string, old: string | undefined): Promise<boolean>;
  /** Removes a ref of Orch's own (below `refs/orch/`) when it still is at `expected`. False when it moved or is not there. */
  deleteRef(ref: string, expected: string): Promise<boolean>;
  /** Writes a tree's files into a folder outside the repository, raw, for gates to look at. */
  checkoutTo(tree: string, folder: AbsPath): Promise<void>;
}

export interface GitBranches {
  /** Creates and records `branch.<name>.orch = target`. Refuses (`branch.taken`) when it exists. */
  create(name: string, at: string, target: string): Promise<void>;
  /** Never discards a change of the person's, ignored files included: git's own refusal becomes `tree.dirty`. */
  switch(name: string): Promise<void>;
  /** Deletes only when the branch still is at `expected`. */
  delete(name: string, expected: string): Promise<void>;
  /** Its `branch.<name>.*` go along; `target` is recorded as what it is for from now on, `""` forgets that. */
  rename(from: string, to: string, target?: string): Promise<void>;
  /** Fast-forwards a branch (checked out or not) to `to`; false when that is no fast-forward. */
  fastForward(name: string, to: string): Promise<boolean>;
  /**
   * Sets index and working tree of the tracked files under `paths` to what `commit` holds; what it does not hold goes from
   * the index and, when it was tracked, from the tree. Untracked and ignored files stay. The caller stored it all first.
   */
  discard(paths: readonly RepoPath[], commit: string, confirmed: Confirmed): Promise<void>;
}

export type PushResult =
  | { readonly kind: "pushed" }
  | { readonly kind: "rejected"; readonly output: string }
  | { readonly kind: "failed"; readonly output: string };

export interface GitPublish {
  /**
   * Commits exactly `paths` (as they are in the working tree; `paths` gone from it are deleted) on the current branch through a
   * temporary index; the person's other staged and unstaged work stays as it was. Hooks and signing run when `trusted`.
   */
  commitPaths(commit: {
    readonly paths: readonly RepoPath[];
    readonly message: string;
    readonly trusted: boolean;
  }): Promise<string>;
  /**
   * The person's index learns of `commit`, made on `before` by a process that was killed before it could: lines of
   * `paths`, and other lines that are still as `before` had them.
   */
  followCommit(made: {
    readonly paths: readonly RepoPath[];
    readonly before: string;
    readonly commit: string;
  }): Promise<void>;
  fetch(remote: string): Promise<{ readonly kind: "fetched" } | { readonly kind: "failed"; readonly output: string }>;
  push(push: {
    readonly remote: string;
    readonly from: string;
    readonly to: string;
    readonly setUpstream: boolean;
    readonly trusted: boolean;
  }): Promise<PushResult>;
  /** Deletes the remote branch only when it still is at `expected`. */
  deleteRemote(remote: string, branch: string, expected: string): Promise<PushResult>;
  /**
   * Applies a patch to the working tree, unstaged; refuses as a whole when one hunk does not fit. `paths` are the files it
   * touches. With `checkOnly` nothing is written.
   */
  applyPatch(
    patch: Uint8Array,
    options?: { readonly checkOnly?: boolean; readonly by?: "merge" | "apply" },
  ): Promise<
    | { readonly kind: "applied"; readonly paths?: readonly RepoPath[] }
    | { readonly kind: "refused"; readonly output: string }
  >;
}

export interface Git extends GitRead, GitUncommitted, GitTrees, GitBranches, GitPublish, TreeWrites {}
