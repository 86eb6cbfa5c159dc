import type { RunState } from "./run-state.ts";

/**
 * How a run stands. Only its result ends it: a runner that died between `run.finished` and `command.finished` told
 * nobody what came of it, and resuming finds out. `interrupted` is nobody's event: the log has no end and no runner
 * holds the lock, since the dead write nothing. `alive` says whether the lock is held.
 */
export type Standing = "running" | "waiting" | "parked" | "interrupted" | "ok" | "failed" | "cancelled";

export function standingOf(state: RunState, alive: boolean): Standing {
  if (state.phase === "cancelled") return "cancelled";
  if (state.result !== undefined) return state.result.ok ? "ok" : "failed";
  if (state.phase === "parked") return "parked";
  if (!alive) return "interrupted";
  return state.pending.length > 0 ? "waiting" : "running";
}

/** Nothing more will happen to it. */
export function isOver(standing: Standing): boolean {
  return standing === "ok" || standing === "failed" || standing === "cancelled";
}

/** `resume` can go on with it. */
export function isResumable(standing: Standing): boolean {
  return standing === "parked" || standing === "interrupted";
}
