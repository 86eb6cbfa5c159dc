import type { RepoPath } from "../base/paths.ts";
import type { Trash, TrashItem } from "./trash.ts";

/** What lies at a path, as far as a write must know it. */
export type Standing =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly sha256: string }
  | { readonly kind: "symlink"; readonly target: string };

export interface FileReplacement {
  readonly path: RepoPath;
  /** What is replaced: anything else is a person's. */
  readonly old: Standing;
  /** Undefined deletes. Without a mode a file keeps the one it has. */
  readonly next:
    | { readonly kind: "file"; readonly data: Uint8Array; readonly mode?: number }
    | { readonly kind: "symlink"; readonly target: string }
    | undefined;
}

export type Replaced =
  | { readonly kind: "written" }
  /** A person saved meanwhile; all is as it was, and their save stands. */
  | { readonly kind: "changed"; readonly paths: readonly string[] }
  /** The path is on another file system than the repository: nothing can be moved aside in one step. */
  | { readonly kind: "elsewhere" };

/** What `settleWrites` did. */
export interface SettledWrites {
  /** Paths that are as they were before a command that was ended in the middle of writing. */
  readonly putBack: readonly string[];
  /** What could not go back, as something newer stands there. */
  readonly stored: readonly TrashItem[];
}

/**
 * Writes into the person's tree. A file that is replaced is moved aside and not written over, and a new one is linked in
 * where nothing stands: a save at any moment is seen, and whatever it is, it keeps a name. A journal in git's own folder
 * tells of it from before the first move; what a killed command left is put back by the next that holds the repository's
 * lock.
 */
export interface TreeWrites {
  /** All or none. */
  replaceFiles(by: "do" | "move", files: readonly FileReplacement[]): Promise<Replaced>;
  /** Paths that a command which is no more was writing. Reads only; asked while nobody holds the repository's lock. */
  unfinishedWrites(): Promise<readonly string[]>;
  /** The caller holds the repository's lock. Killed at any step, the next call goes on. */
  settleWrites(trash: Pick<Trash, "store">): Promise<SettledWrites>;
}
