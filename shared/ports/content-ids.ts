import type { AbsPath } from "../base/paths.ts";

/**
 * Identity of file contents, as they are now in the working tree: equal ids mean equal bytes. Times and sizes are not
 * believed (a checkout within a second, a tool that restores times), and neither is the index (filters, line ends).
 */
export interface ContentIds {
  /** One id for each path, in order; undefined for what is no plain readable file. */
  of(paths: readonly AbsPath[], signal: AbortSignal): Promise<readonly (string | undefined)[]>;
}
