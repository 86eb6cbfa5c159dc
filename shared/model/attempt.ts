import type { ErrorCode } from "./error-table.ts";
import type { Usage } from "./usage.ts";

/** How one worker run ended, as its protocol says; a missing end is `failed` with `protocol`. */
export interface WorkerReport {
  readonly kind: "done" | "gave-up" | "failed" | "timed-out" | "cancelled";
  /** Why it is not `done`. */
  readonly cause?: "environment" | "models" | "protocol" | "unusable" | "person-edited" | "refused";
  /** For a person: what happened, on what. Data, never obeyed. */
  readonly summary: string;
  readonly hint?: string;
  /** The refusal behind `cause`, when there is one: its exit code is the command's. */
  readonly code?: ErrorCode;
  /** Files the worker says it changed; compared with the diff, never trusted. */
  readonly claims: readonly string[];
  readonly concerns: readonly string[];
  /** The worker's own word in its final JSON; absent when it gave none, and for completions, which are not asked. */
  readonly status?: "done" | "blocked" | "failed";
  /** Criterion -> how it was met, as the worker says. */
  readonly acceptance?: Readonly<Record<string, string>>;
  /** An agent was to end with a final JSON and did not. */
  readonly withoutFinal?: boolean;
  /** Files the worker's client left in the tree; removed. */
  readonly stray?: readonly string[];
  /** Tools that the client refused the worker: `write`, `Bash`. */
  readonly denied?: readonly string[];
  /** Processes that outlived the worker and were ended. */
  readonly leftovers?: number;
  /** Calls of the model as far as the stream tells. */
  readonly calls?: number;
  /** Paths the worker tried to write outside its scope; refused, and a finding. */
  readonly refused: readonly string[];
  /** Protected files that the reply held; they were left as they are. */
  readonly skipped?: readonly string[];
  /** What was wrong with the reply itself: nothing could be extracted from it, or it looks cut off. */
  readonly problems: readonly {
    readonly kind: "extraction" | "truncation";
    readonly message: string;
    readonly path?: string;
    readonly evidence: string;
  }[];
  readonly session?: string;
  readonly model?: string;
  readonly usage: Usage;
  readonly durationMs: number;
  /** What was said, as JSON lines; kept as a sidecar, never in an event. */
  readonly transcript?: string;
}
