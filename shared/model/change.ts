/**
 * What an attempt did to the tree, read from git's machine formats and never from what a worker says. Paths are
 * repository paths; a name that is not UTF-8 is kept by replacing its bad bytes and `rawPath` holds it as base64.
 */
export interface ChangedFile {
  readonly status: "added" | "modified" | "deleted" | "renamed" | "copied" | "type-changed";
  readonly path: string;
  readonly oldPath?: string;
  readonly rawPath?: string;
  /** Git file modes as octal text (`100644`, `100755`, `120000`, `160000`); `000000` where that side does not exist. */
  readonly oldMode: string;
  readonly newMode: string;
  /** undefined for a binary file. */
  readonly added?: number;
  readonly removed?: number;
  readonly binary: boolean;
  readonly hunks: readonly DiffHunk[];
}

export interface DiffHunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** Lines without their ends. `oldStart`/`newStart` count the first removed and added line. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface Change {
  /** The tree or commit the change is measured against. */
  readonly base: string;
  /** The tree that holds the result. */
  readonly tree: string;
  readonly files: readonly ChangedFile[];
  /** sha256 of the patch bytes, hex. */
  readonly diffHash: string;
  /** The whole patch (`git diff --binary`), fit for `git apply`. */
  readonly patch: Uint8Array;
}

export const emptyChange = (base: string): Change => ({
  base,
  tree: base,
  files: [],
  diffHash: "",
  patch: new Uint8Array(),
});
