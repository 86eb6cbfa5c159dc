/**
 * States, and who may leave them (the reducer in events/reduce.ts follows this table, engine/run-contract.ts makes it true).
 *
 * Run:      running -> parked (a decision is needed, or a person's edit was met) -> running (resume)
 *           running -> finished | cancelled; "interrupted" is a projection: no end, lock free.
 * Contract: queued -> running -> accepted | awaiting-review | failed | blocked | needs-lead | cancelled; queued -> skipped.
 *           A tree that only gates look at (`merge`) is never queued: running while they do, judged at the end.
 * Attempt:  working (the worker types) -> judging (gates run) -> decided.
 */
/** Errors that leave a run parked, so that `resume` can go on: a person must answer or mend something first. */
export const parkingCodes: ReadonlySet<string> = new Set([
  "run.pending",
  "tree.changed",
  "env.disk-full",
  "env.no-key",
  "contract.needs-lead",
]);

export type RunPhase = "running" | "parked" | "finished" | "cancelled";
export type ContractPhase =
  | "queued"
  | "running"
  | "accepted"
  | "awaiting-review"
  | "failed"
  | "blocked"
  | "needs-lead"
  | "cancelled"
  | "skipped"
  | "judged";
export type AttemptPhase = "working" | "judging" | "decided";

/** Workers alive on a machine at once, over all hosts, repositories and processes. */
export const maxWorkers = 3;

/** Numbers policy may use; thresholds are never literals in code or prompts. */
export interface Limits {
  readonly maxAttempts: number;
  readonly maxMinutes?: number;
  readonly maxCostUsd?: number;
  readonly maxRevisions: number;
  readonly acceptRevise: number;
  readonly acceptWarn: number;
}

/** Carried by what the sandbox starts beside a program (its proxies), so that a killed runner's are found and ended. */
export function sandboxMarker(run: string): string {
  return `sandbox-${run}`;
}
