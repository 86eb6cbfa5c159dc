import type { BrokenRule } from "../model/rule.ts";
import type { AuditFile, FileAnswer, RuleSettings } from "../ports/pool.ts";

/** What goes between the pool and its threads; plain data. */
export interface PoolStart {
  readonly installRoot: string;
}

export interface PoolOrder {
  readonly id: number;
  /** Sent once for each thread and settings; later orders name it. */
  readonly settings?: RuleSettings;
  readonly files: readonly AuditFile[];
}

/** One answer for each file, in order: the first file without one is where a thread crashed or stalled. */
export interface PoolReport {
  readonly id: number;
  readonly answer: FileAnswer;
  /** With the last answer of an order. */
  readonly broken?: readonly BrokenRule[];
}
