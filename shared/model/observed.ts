/** What Orch saw outside the diff around one attempt: facts of the supervisor, never words of the worker. Names are for people. */
export interface Observed {
  /** Files outside the workspace, also ones that a link in it leads to. */
  readonly writesOutside?: readonly string[];
  /** HEAD of the worktree is not where it was. */
  readonly headMoved?: boolean;
  /** Files that git was told not to look at (skip-worktree, assume-unchanged). */
  readonly skipWorktree?: readonly string[];
  /** Keys of the configuration, hooks, attributes and exclude files that changed. */
  readonly gitConfigChanged?: readonly string[];
  /** Written, and hidden by the base's ignore rules. */
  readonly ignoredFiles?: readonly string[];
  /** Left by an agent's program, and removed. */
  readonly strayFiles?: readonly string[];
  /** What the supervisor had to refuse or end. */
  readonly supervision?: readonly string[];
}
