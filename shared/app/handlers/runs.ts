import { count } from "../../base/lines.ts";
import { type LedgerRow, ledgerRow } from "../../events/ledger.ts";
import { durationText, usageText } from "../../events/words.ts";
import type { Handler } from "../context.ts";
import { lookAtAll, type RunsContext } from "../run-look.ts";

/** Every run of this repository, newest first. */
export const runs: Handler<RunsContext> = async ({ runs: store }) => {
  const looks = await lookAtAll(store);
  const rows = looks.map(({ state, alive }) => ledgerRow(state, alive));
  return {
    ok: true,
    code: 0,
    summary: rows.length === 0 ? "no runs yet" : count(rows.length, "run"),
    next: [rows[0] === undefined ? "orch status" : `orch status ${rows[0].run}`],
    data: { runs: rows, text: looks.map(({ state }, index) => rowText(rows[index], usageText(state))) },
  };
};

function rowText(row: LedgerRow | undefined, usage: string): string {
  if (row === undefined) return "";
  const code = row.code === undefined || row.code === 0 ? "" : ` (exit ${row.code})`;
  const what = row.title === "" ? row.command : row.title;
  const attempts = row.attempts === 0 ? "" : `, ${count(row.attempts, "attempt")}, ${usage}`;
  return `${row.run}  ${row.standing}${code}  ${what}  ${durationText(row.elapsedMs)}${attempts}`;
}
