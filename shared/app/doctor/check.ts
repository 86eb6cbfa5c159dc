import { isOrchError } from "../../model/error.ts";
import type { AnywhereContext } from "../anywhere.ts";
import type { WorkerRow } from "../worker-row.ts";

export type CheckState = "ok" | "warn" | "fail";

/** One line of `doctor`: what was found, and the next keystroke where something is to be done. */
export interface CheckRow {
  readonly title: string;
  readonly state: CheckState;
  readonly what: string;
  readonly next?: string;
  /** The things behind the line, one each. */
  readonly list?: readonly string[];
  /** What `--verbose` adds: too much for a look at the whole. */
  readonly details?: readonly string[];
  /** The table of workers, for hosts that offer them. */
  readonly workers?: readonly WorkerRow[];
  readonly mend?: Mend;
}

/** `safe` can be undone and touches nothing a person made; `ask` waits for a person's yes. */
export interface Mend {
  readonly how: "safe" | "ask";
  /** As a question would say it: `Remove 3 private folders of calls that ended`. */
  readonly what: string;
  /** What was done, for the line. */
  apply(): Promise<string>;
}

/** Looks at one thing and changes nothing; runs nothing of a repository that is not trusted. */
export interface Check {
  readonly id: string;
  look(context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]>;
}

export const ok = (title: string, what: string, list?: readonly string[]): CheckRow => ({
  title,
  state: "ok",
  what,
  ...(list === undefined || list.length === 0 ? {} : { list }),
});

/** A refusal as a line; what is no refusal is a bug and stays one. */
export function refusedRow(title: string, state: "warn" | "fail", error: unknown): CheckRow {
  if (!isOrchError(error)) throw error;
  return { title, state, what: error.message, next: error.hint };
}
