import type { ContractPhase } from "../model/run.ts";
import { contractLedger, type ContractRow, working } from "./contract-ledger.ts";
import type { RunState } from "./run-state.ts";

/**
 * Whether the work of a run that stopped went on without it, so that it waits for nobody: to go on with it would do work
 * twice, or look for what is gone. `all` are the runs that are known, newest first, `rows` their contracts.
 */
export function isLeftBehind(
  run: RunState,
  all: readonly RunState[],
  rows: readonly ContractRow[] = contractLedger(all),
): boolean {
  return working.has(run.command) ? contractsWentOn(run, rows) : featureWentOnIn(run, all) !== undefined;
}

/** Each merged, taken over by a lead, or brought to an end by a later run. */
function contractsWentOn(run: RunState, rows: readonly ContractRow[]): boolean {
  if (run.contracts.length === 0) return false;
  return run.contracts.every(({ id, feature }) => {
    const row = feature === undefined ? rows.find((one) => one.id === id) : undefined;
    if (row === undefined) return false;
    return row.merged || row.review?.verb === "take-over" || (row.run > run.run && came.has(row.phase));
  });
}

/** How a contract's work can end; a later run that is still at it, or was cancelled, took nothing over. */
const came: ReadonlySet<ContractPhase> = new Set(["accepted", "awaiting-review", "failed", "blocked", "needs-lead"]);

/** The newest later run that did the same with that feature, or what leaves nothing of this one to go on with. */
export function featureWentOnIn(run: RunState, all: readonly RunState[]): RunState | undefined {
  if (run.feature === undefined) return undefined;
  return all.find(
    (later) =>
      later.run > run.run &&
      later.feature === run.feature &&
      later.result?.ok === true &&
      (later.command === run.command ||
        closing.has(later.command) ||
        follows[run.command]?.has(later.command) === true),
  );
}

/** After these the branch that an earlier run was about is another one, or gone. */
const closing: ReadonlySet<string> = new Set(["new", "merge", "undo", "delete", "move"]);

/** What can only be done once the first is done, or once nobody wants it any more. */
const follows: Readonly<Record<string, ReadonlySet<string>>> = {
  new: new Set(["do", "modify"]),
  undo: new Set(["do", "modify"]),
};
