import type { ContractRow } from "../events/contract-ledger.ts";
import { finalDue, isGreenFinal } from "../events/final-due.ts";
import { featureWentOnIn, isLeftBehind } from "../events/left-behind.ts";
import { isOver } from "../events/standing.ts";
import type { RunLook } from "./run-look.ts";

/**
 * Of the runs that would go, those that say something about work that stays, and why: reviews and merges are runs of
 * their own, and without them accepted work would await a review again, and merged work a merge. `runs` are newest first, `rows` their contracts.
 */
export function neededRuns(
  runs: readonly RunLook[],
  rows: readonly ContractRow[],
  going: ReadonlySet<string>,
  all: boolean,
): ReadonlyMap<string, string> {
  const needed = new Map<string, string>();
  const known = new Set(runs.map(({ run }) => run));
  const goes = (run: string): boolean => going.has(run) && !needed.has(run);
  const stays = (run: string): boolean => known.has(run) && !goes(run);
  const states = runs.map(({ state }) => state);
  if (!all) for (const { run } of finalDue(rows, states)) if (goes(run)) needed.set(run, "waits for orch final");
  // A parked run that waits for nobody would wait again.
  for (const { state, standing } of runs) {
    if (isOver(standing) || !isLeftBehind(state, states, rows)) continue;
    const later = featureWentOnIn(state, states);
    if (later?.feature !== undefined && goes(later.run)) needed.set(later.run, becameOf([later.feature]));
    for (const { run, id } of rows)
      if (goes(run) && state.contracts.some((one) => one.id === id)) needed.set(run, becameOf([id]));
  }
  const newestFinal = runs.findIndex(({ state }) => isGreenFinal(state));
  for (let before = -1; before !== needed.size;) {
    before = needed.size;
    runs.forEach((look, at) => {
      if (!goes(look.run)) return;
      const about = saidOf(look).filter(({ work }) => work !== look.run && stays(work));
      if (about.length > 0) needed.set(look.run, becameOf(about.map(({ id }) => id)));
      else if (at === newestFinal && runs.slice(at).some((older) => hasMerged(older) && stays(older.run)))
        needed.set(look.run, "says what orch final has seen");
    });
  }
  return needed;
}

const becameOf = (ids: readonly string[]): string => `says what became of ${[...new Set(ids)].join(", ")}`;

/** The work that a run reviewed or merged. */
function saidOf({ state }: RunLook): readonly { readonly id: string; readonly work: string }[] {
  return state.contracts.flatMap(({ id, merged, reviews = [] }) => [
    ...reviews.flatMap(({ work }) => (work === undefined ? [] : [{ id, work }])),
    ...(merged === undefined ? [] : [{ id, work: merged.work }]),
  ]);
}

function hasMerged({ state }: RunLook): boolean {
  return state.contracts.some(({ merged }) => merged !== undefined);
}
