import { contractLedger } from "./contract-ledger.ts";
import { isLeftBehind } from "./left-behind.ts";
import type { PendingAsk, RunState } from "./run-state.ts";
import { isOver, type Standing } from "./standing.ts";

/** A run as somebody looks at it now: its log, and whether a runner holds it. */
export interface SeenRun {
  readonly state: RunState;
  readonly alive: boolean;
  readonly standing: Standing;
}

/**
 * The runs that are not over, in their order: those that somebody has to do with, and those whose work went on
 * without them. The latter wait for nobody, can only be cancelled, and no host counts them. `all` are the runs
 * of the repository, newest first.
 */
export function openRuns<Run extends SeenRun>(
  all: readonly Run[],
): { readonly open: readonly Run[]; readonly left: readonly Run[] } {
  const going = all.filter(({ standing }) => !isOver(standing));
  // Only a run without a runner can have been left behind, and most of the time there is none.
  if (going.every(({ alive }) => alive)) return { open: going, left: [] };
  const states = all.map(({ state }) => state);
  const rows = contractLedger(states);
  const left = going.filter(({ alive, state }) => !alive && isLeftBehind(state, states, rows));
  return { open: going.filter((run) => !left.includes(run)), left };
}

/** What of an open run waits for an answer. A question lives with its runner; a decision waits for whoever answers it. */
export function openAsks({ state, alive, standing }: SeenRun): readonly PendingAsk[] {
  if (isOver(standing) || standing === "interrupted") return [];
  return state.pending.filter(({ weight }) => alive || weight === "decision");
}

/** Whether an open run waits for a person: with something to answer, or parked until something is mended. */
export function waitsForPerson(run: SeenRun): boolean {
  return run.standing === "parked" || openAsks(run).length > 0;
}
