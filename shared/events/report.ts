import { count } from "../base/lines.ts";
import { addUsage, type Usage } from "../model/usage.ts";
import { type ContractRow, contractLedger, contractLine, standing } from "./contract-ledger.ts";
import { decisionText, durationText, findingText, money, plain, usageText } from "./words.ts";
import { type AttemptState, type ContractState, isJudgedOnly, type RunState } from "./run-state.ts";

/**
 * The report over all contracts: what was done and by whom, what was rejected or escalated and why, which checks ran, and
 * what is left. Plain data; the text and the page are renderers of it.
 */
export interface Report {
  readonly done: readonly ContractRow[];
  /** The lead's from then on: what became of it no log tells. */
  readonly takenOver: readonly ContractRow[];
  readonly rejected: readonly Rejected[];
  readonly checks: readonly { readonly name: string; readonly runs: number; readonly red: number }[];
  readonly final?: {
    readonly contracts: readonly string[];
    /** How many ran; none, where no contract names any. */
    readonly checks: number;
    readonly ok: boolean;
    readonly red: readonly string[];
  };
  readonly left: readonly ContractRow[];
  readonly usage?: Usage;
  readonly elapsedMs: number;
  readonly attempts: number;
}

export interface Rejected {
  readonly contract: string;
  readonly attempt: number;
  readonly worker: string;
  readonly why: string;
  /** `retry`, `escalate to X`, BLOCKED, NEEDS_LEAD, or what the lead said. */
  readonly next: string;
}

/** Newest run first, as the store lists them. */
export function reportOf(runs: readonly RunState[]): Report {
  const rows = contractLedger(runs);
  const contracts = runs
    .toReversed()
    .flatMap((run) => run.contracts.filter((contract) => contract.feature === undefined));
  const attempts = contracts.flatMap((contract) =>
    contract.attempts.filter((attempt) => !isJudgedOnly(attempt)).map((attempt) => ({ contract, attempt })),
  );
  const final = runs.find((run) => run.final !== undefined)?.final;
  const usage = attempts.reduce<Usage | undefined>(
    (sum, { attempt }) =>
      attempt.usage === undefined ? sum : sum === undefined ? attempt.usage : addUsage(sum, attempt.usage),
    undefined,
  );
  return {
    done: rows.filter(isDone),
    takenOver: rows.filter(isTakenOver),
    rejected: [...attempts.flatMap(rejectedIn), ...contracts.flatMap(sentBack)],
    checks: checksOf(contracts),
    ...(final === undefined
      ? {}
      : {
          final: {
            contracts: final.contracts,
            checks: final.checks.length,
            ok: final.checks.every(({ ok }) => ok),
            red: final.checks.filter(({ ok }) => !ok).map(({ name, why }) => plain(`${name}: ${why ?? "red"}`)),
          },
        }),
    left: rows.filter((row) => !isDone(row) && !isTakenOver(row)),
    ...(usage === undefined ? {} : { usage }),
    elapsedMs: attempts.reduce((sum, { attempt }) => sum + (attempt.durationMs ?? 0), 0),
    attempts: attempts.length,
  };
}

/** Nothing is left to do about it: it lies in the tree, or it was only an answer. */
function isDone(row: ContractRow): boolean {
  return row.merged || (row.phase === "accepted" && !isTakenOver(row));
}

function isTakenOver({ merged, review }: ContractRow): boolean {
  return !merged && review?.verb === "take-over";
}

function rejectedIn({
  contract,
  attempt,
}: {
  readonly contract: ContractState;
  readonly attempt: AttemptState;
}): readonly Rejected[] {
  const { decision, gates } = attempt;
  if (decision === undefined || decision.kind === "accept") return [];
  const fail = gates.flatMap(({ findings }) => findings).find(({ severity }) => severity === "FAIL");
  return [
    {
      contract: contract.id,
      attempt: attempt.attempt,
      worker: plain(attempt.worker),
      why: fail === undefined ? plain(decision.why) : findingText(fail),
      next:
        decision.kind === "escalate"
          ? `escalate to ${plain(decision.to)}`
          : (decisionText(decision).split(":")[0] ?? ""),
    },
  ];
}

function sentBack(contract: ContractState): readonly Rejected[] {
  return (contract.reviews ?? [])
    .filter(({ verb }) => verb !== "accept")
    .map(({ verb, reviewer, items = [] }) => ({
      contract: contract.id,
      attempt: 0,
      worker: plain(reviewer),
      why: items.length === 0 ? "the review" : plain(items.join("; ")),
      next: verb,
    }));
}

/** By gate: what ran over how many attempts, and how often it found a fault. */
function checksOf(contracts: readonly ContractState[]): Report["checks"] {
  const checks = new Map<string, { runs: number; red: number }>();
  for (const { attempts } of contracts) {
    for (const gate of attempts.flatMap(({ gates }) => gates)) {
      if (gate.status !== "ran") continue;
      const known = checks.get(gate.gate) ?? { runs: 0, red: 0 };
      known.runs += 1;
      if (gate.findings.some(({ severity }) => severity === "FAIL")) known.red += 1;
      checks.set(gate.gate, known);
    }
  }
  return [...checks].map(([name, counts]) => ({ name, ...counts }));
}

interface Section {
  readonly title: string;
  readonly rows: readonly string[];
}

function sectionsOf(report: Report): readonly Section[] {
  const { final } = report;
  return [
    { title: "Done", rows: report.done.map(contractLine) },
    ...(report.takenOver.length === 0 ? [] : [{ title: "Taken over", rows: report.takenOver.map(takenOverLine) }]),
    {
      title: "Rejected or escalated",
      rows: report.rejected.map(({ contract, attempt, worker, why, next }) =>
        attempt === 0
          ? `${contract}: ${next} by ${worker}${why === "the review" ? "" : `: ${why}`}`
          : `${contract} attempt ${attempt} by ${worker}: ${why}; then ${next}`,
      ),
    },
    {
      title: "Gates",
      rows: report.checks.map(({ name, runs, red }) => `${name}: ${count(runs, "time")}, ${red} with faults`),
    },
    {
      title: "Final checks",
      rows:
        final === undefined
          ? ["not run: orch final"]
          : [`${finalWord(final)} ${final.contracts.join(", ")}`, ...final.red],
    },
    { title: "Left", rows: report.left.map((row) => `${contractLine(row)}${nextOf(row)}`) },
    {
      title: "Used",
      rows: [
        `${count(report.attempts, "attempt")}, ${durationText(report.elapsedMs)}, ${usageText({
          ...(report.usage === undefined ? {} : { usage: report.usage }),
          knownCostUsd: 0,
          modelCalls: report.attempts,
        })}`,
      ],
    },
  ];
}

function finalWord({ checks, ok }: NonNullable<Report["final"]>): string {
  if (checks === 0) return "none were named for";
  return ok ? "green over" : "red over";
}

function takenOverLine(row: ContractRow): string {
  const written = row.files === 0 ? "nothing was written here" : "its last change was kept";
  return `${contractLine(row)}; by ${plain(row.review?.reviewer ?? "")}, who sees to it: ${written}`;
}

/** What a person types about it now. */
function nextOf(row: ContractRow): string {
  if (row.phase === "awaiting-review") {
    if (row.review === undefined) return `; orch review ${row.id}`;
    return row.review.verb === "accept"
      ? `; orch merge ${row.id}`
      : `; orch dispatch <file> --feedback .orch/runs/${row.id}/feedback.md`;
  }
  return row.phase === "running" ? "" : `; orch review ${row.id} --take-over, or run it again`;
}

export function reportText(report: Report): readonly string[] {
  return sectionsOf(report).flatMap(({ title, rows }) => [
    title,
    ...(rows.length === 0 ? ["  nothing"] : rows.map((row) => `  ${row}`)),
  ]);
}

/** One page without scripts, styles of its own, and everything that a model or a repository wrote escaped. */
export function reportPage(report: Report): string {
  const sections = sectionsOf(report).map(
    ({ title, rows }) =>
      `<h2>${escaped(title)}</h2>\n<ul>\n${(rows.length === 0 ? ["nothing"] : rows).map((row) => `<li>${escaped(row)}</li>`).join("\n")}\n</ul>`,
  );
  const rows = [...report.done, ...report.takenOver, ...report.left].map(
    (row) =>
      `<tr>${[row.id, row.title, standing(row), row.workers.join(", "), String(row.attempts), `+${row.added} -${row.removed}`, costOf(row)].map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`,
  );
  const head = ["Contract", "Title", "State", "Worker", "Attempts", "Lines", "Cost"];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Orch report</title>
<style>
body { font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; line-height: 1.4; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #999; padding: 0.3rem 0.5rem; text-align: left; vertical-align: top; }
</style>
</head>
<body>
<h1>Orch report</h1>
<table>
<thead><tr>${head.map((cell) => `<th scope="col">${cell}</th>`).join("")}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
${sections.join("\n")}
</body>
</html>
`;
}

function costOf({ usage }: ContractRow): string {
  if (usage === undefined) return "";
  return usage.costUsd === "unknown" ? "unknown" : money(usage.costUsd);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
