import type { Worker } from "../ports/worker.ts";
import type { AttemptOutcome } from "./policy.ts";

/**
 * The workers tried between attempts when the work is not good enough: one rung per escalation that was decided. It is
 * not the chain, which tries models inside one attempt when one gives nothing usable.
 */
export interface Rung {
  readonly worker: Worker;
  /** The rung above; absent on the last. */
  readonly next?: Worker;
}

/** Where the attempts so far have led. A ladder that lost rungs since then ends on its last. */
export function rungOf(ladder: readonly Worker[], history: readonly AttemptOutcome[]): Rung {
  const steps = history.filter(({ decision }) => decision?.kind === "escalate").length;
  const at = Math.min(steps, ladder.length - 1);
  const worker = ladder[at];
  if (worker === undefined) throw new TypeError("a ladder needs at least one worker");
  const next = ladder[at + 1];
  return next === undefined ? { worker } : { worker, next };
}
