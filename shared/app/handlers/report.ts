import { count } from "../../base/lines.ts";
import { inRoot } from "../../base/paths.ts";
import { reportOf, reportPage, reportText } from "../../events/report.ts";
import { runsDir } from "../../model/run-place.ts";
import type { Handler, RepoContext } from "../context.ts";
import { readLedger } from "../contract-rows.ts";
import type { RunsContext } from "../run-look.ts";

/** `report [--html]`: what was done, by whom, what was rejected or escalated and why, checks run, what is left. */
export const report: Handler<RepoContext & RunsContext> = async (context, args) => {
  const { runs } = await readLedger(context);
  const made = reportOf(runs);
  const taken = made.takenOver.length === 0 ? "" : `, ${made.takenOver.length} taken over`;
  const said = `${count(made.done.length, "contract")} done${taken}, ${made.left.length} left, ${count(made.attempts, "attempt")}`;
  const next = made.left.length > 0 ? ["orch status"] : [];
  if (args.html !== true) return { ok: true, code: 0, summary: said, next, data: { ...made, text: reportText(made) } };
  const at = inRoot(runsDir(context.root), "report.html");
  await context.files.makeDir(runsDir(context.root), { mode: 0o700 });
  await context.files.write(at, reportPage(made), { mode: 0o600 });
  return { ok: true, code: 0, summary: `${said}; written to ${at}`, next, data: { ...made, html: at } };
};
