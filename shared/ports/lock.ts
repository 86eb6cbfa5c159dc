import type { AbsPath } from "../base/paths.ts";

export interface LockHolder {
  readonly run?: string;
  readonly pid: number;
  readonly startTime: string;
  readonly host: string;
  readonly what: string;
}

export type LockTry =
  /** `dead`: who held it and never gave it back. What that process had started may still run. */
  | { readonly kind: "held"; readonly lock: HeldLock; readonly dead?: LockHolder }
  | { readonly kind: "busy"; readonly holder?: LockHolder };

/** Freed by dispose or by the death of the process, never by time: a sleeping owner keeps it. */
export interface HeldLock extends Disposable {
  readonly path: AbsPath;
}

/**
 * OS locks over `node:sqlite` files. Nothing else in the process may open a lock file: closing any other descriptor of
 * it frees the lock on POSIX. The holder is written beside the file for people and is never the lock itself.
 */
export interface Locks {
  try(path: AbsPath, holder: Omit<LockHolder, "pid" | "startTime">): LockTry;
  /** True when nobody holds it; takes and frees it to find out. */
  isFree(path: AbsPath): boolean;
}
