import { count } from "../base/lines.ts";
import { modelText } from "../model/completion.ts";
import type { EventBody, EventType, ParsedEvent } from "../model/event.ts";
import { decisionText, findingText, limitText, money, plain, verdictText } from "./words.ts";

/** A run told in order, a line each, with the seconds since its first event. For `orch log`, the demo and reports. */
export function timeline(events: Iterable<ParsedEvent>): readonly string[] {
  const lines: string[] = [];
  let first: number | undefined;
  for (const parsed of events) {
    if (parsed.kind === "bad") {
      lines.push(`          a line that cannot be read: ${plain(parsed.why)}`);
      continue;
    }
    first ??= parsed.event.at;
    const at = `${((parsed.event.at - first) / 1000).toFixed(1)} s`.padStart(9);
    if (parsed.kind === "unknown") {
      lines.push(`${at} ${plain(parsed.event.type)} (of a newer Orch)`);
      continue;
    }
    const tell: Teller<EventType> | undefined = tellers[parsed.event.type];
    const told = tell?.(parsed.event) ?? [];
    for (const [index, line] of told.entries()) lines.push(`${index === 0 ? at : " ".repeat(9)} ${plain(line)}`);
  }
  return lines;
}

type Teller<T extends EventType> = (body: EventBody<T>) => readonly string[];

/** The types that are told; the others are the machine's own bookkeeping. */
const tellers: { readonly [T in EventType]?: Teller<T> } = {
  "run.started": ({ command, title }) => [
    title === "" ? `orch ${command} started` : `orch ${command} started: ${title}`,
  ],
  "run.resumed": ({ host }) => [`resumed from ${host}`],
  "run.parked": ({ why, hint }) => [`parked: ${why}`, `  ${hint}`],
  "run.cancelled": ({ by }) => [`cancelled by ${by}`],
  "contract.queued": ({ contract, title }) => [`${contract}: ${title}`],
  "contract.skipped": ({ contract, why }) => [`${contract} skipped: ${why}`],
  "contract.finished": ({ contract, state, why }) => [`${contract} ${state}${why === undefined ? "" : `: ${why}`}`],
  "attempt.started": ({ attempt, worker }) => [`attempt ${attempt} starts with ${worker}`],
  "model.asked": ({ model, label, role }) => [`${modelText(model, label)} is asked for ${role}`],
  "model.fell-through": ({ model, why, next }) => [
    `${model} gave nothing usable: ${why}${next === undefined ? "" : `; next is ${next}`}`,
  ],
  "model.chosen": ({ models, why }) => [`models: ${models.join(", ")} (${why})`],
  "worker.reported": ({ outcome, summary }) => [`the worker reports ${outcome}: ${summary}`],
  "change.collected": ({ files, added, removed }) => [`${count(files.length, "file")} changed, +${added} -${removed}`],
  "gate.finished": ({ gate, status, why, findings }) =>
    status !== "ran"
      ? [`gate ${gate} ${status}: ${why ?? "no reason given"}`]
      : findings.length === 0
        ? []
        : [
            `gate ${gate}: ${count(findings.length, "finding")}`,
            ...findings.slice(0, 5).map((finding) => `  ${findingText(finding)}`),
          ],
  "verdict.reached": ({ verdict, fails, warns }) => [`verdict: ${verdictText({ kind: verdict, fails, warns })}`],
  "decision.made": ({ decision }) => [`decision: ${decisionText(decision)}`],
  "question.asked": ({ id, title }) => [`asks ${id}: ${title}`],
  "question.answered": ({ id, choice, text, by }) => [`${id} answered by ${by}: ${choice ?? text ?? "dismissed"}`],
  "decision.asked": ({ id, title }) => [`a decision is needed, ${id}: ${title}`],
  "decision.answered": ({ id, choice, by }) => [`${id} decided by ${by}: ${choice}`],
  "notice.shown": ({ severity, text }) => [severity === "info" ? text : `${severity}: ${text}`],
  "review.opened": ({ contract }) => [`${contract} awaits review`],
  "review.closed": ({ contract, verb, reviewer }) => [`${contract}: ${verb} by ${reviewer}`],
  "contract.merged": ({ contract, paths }) => [`${contract} merged into the tree: ${paths.join(", ")}`],
  "contract.prepared": ({ contract, folder }) => [`${contract} prepared in ${folder}`],
  "final.checked": ({ checks }) =>
    checks.map(({ name, ok, why }) => `final check ${name}: ${ok ? "green" : (why ?? "red")}`),
  "wave.estimated": ({ contracts, usd }) => [
    `estimate for ${count(contracts.length, "contract")}: ${usd === "unknown" ? "cost unknown" : `about ${money(usd)}`}`,
  ],
  "control.accepted": ({ verb, target }) => [`${verb} of ${target} accepted`],
  "control.refused": ({ verb, why }) => [`${verb} refused: ${why}`],
  "process.swept": ({ pids, why }) => [`${count(pids.length, "process", "processes")} ended: ${why}`],
  "budget.reached": (budget) => [limitText(budget)],
  "trash.stored": ({ id, what, entries }) => [`stored for restore as ${id}: ${what}, ${count(entries, "file")}`],
  "commit.made": ({ commit, branch, subject, pushed }) => [
    `commit ${commit.slice(0, 10)} on ${branch}: ${subject}${pushed ? ", pushed" : ""}`,
  ],
  "progress.noted": ({ text }) => [text],
  "command.finished": ({ ok, summary }) => [ok ? summary : `ended: ${summary}`],
};
