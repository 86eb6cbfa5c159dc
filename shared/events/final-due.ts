import type { ContractRow } from "./contract-ledger.ts";
import type { RunState } from "./run-state.ts";

/** Merged, and not yet seen green together by a `final`. `rows` are the ledger of `runs`, which are newest first. */
export function finalDue(rows: readonly ContractRow[], runs: readonly RunState[]): readonly ContractRow[] {
  const at = runs.findIndex(isGreenFinal);
  const since = runs.slice(0, at === -1 ? undefined : at);
  return rows.filter(
    (row) =>
      row.merged &&
      since.some(({ contracts }) => contracts.some(({ id, merged }) => id === row.id && merged?.work === row.run)),
  );
}

/** What was merged before such a run needs no other. */
export function isGreenFinal({ final }: RunState): boolean {
  return final !== undefined && final.checks.every(({ ok }) => ok);
}
