/**
 * A change that no diff shows, found by comparing before and after one attempt. `traced` ones are the worker's and were
 * taken back where that is possible (their bytes are stored for `restore` first); the others may be a person's and were
 * left alone.
 */
export interface StateChange {
  readonly kind: "config" | "hooks" | "head" | "index-flag" | "linked";
  /** For people: `core.hooksPath`, `hooks/pre-commit`, `HEAD`, `node_modules/left-pad/index.js`. */
  readonly what: string;
  readonly change: "added" | "changed" | "removed";
  readonly traced: boolean;
  /** Why it is the worker's, or why nobody can say. */
  readonly why: string;
}
