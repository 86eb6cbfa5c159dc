import { openAsks } from "../shared/events/open-runs.ts";
import { plain, type Words, wordsIn } from "../shared/events/words.ts";
import { isJudgedOnly } from "../shared/events/run-state.ts";
import { type FollowedRun, hasEnded, isActive } from "../shared/runner/run-feed.ts";
import type { Vscode } from "./vscode-api.ts";

type Translate = Vscode["l10n"]["t"];

/** What the one status bar item says. Pure: the same runs give the same words, also after a reload. */
export interface StatusView {
  readonly text: string;
  /** Markdown: a table of contracts with command links. */
  readonly tooltip: string;
  readonly tone: "plain" | "warning" | "error";
  /** For a screen reader. */
  readonly spoken: string;
}

/** Commands that the tooltip's links may run, and nothing else. */
export const tooltipCommands = [
  "orch.host.showRuns",
  "orch.run.cancel",
  "orch.run.resume",
  "orch.decision.answer",
  "orch.host.lastDiff",
];

const icons = {
  running: "$(sync~spin)",
  waiting: "$(bell-dot)",
  parked: "$(debug-pause)",
  interrupted: "$(warning)",
  ok: "$(check)",
  failed: "$(error)",
  cancelled: "$(circle-slash)",
} as const;

/** `open` are those of the runs that somebody has to do with: only these wait for anybody. */
export function statusOf(runs: readonly FollowedRun[], open: readonly FollowedRun[], t: Translate): StatusView {
  const run = mostUrgent(runs.filter((one) => hasEnded(one) || open.includes(one))) ?? mostUrgent(runs);
  if (run === undefined) {
    const text = t("No run in this repository yet");
    return { text: "$(checklist) Orch", tooltip: text, tone: "plain", spoken: `Orch: ${text}` };
  }
  const waiting = open.reduce((sum, one) => sum + decisionsOf(one), 0);
  const words = wordsIn(t);
  const parts = [
    `${command(run)} ${standingWord(run, words, t)}`,
    progress(run),
    cost(run, words),
    waiting > 0 ? decisions(waiting, t) : "",
  ];
  const line = parts.filter((part) => part !== "").join(" · ");
  const others = runs.filter((one) => one !== run && isActive(one)).length;
  const more = others > 0 ? ` +${others}` : "";
  return {
    text: `${icons[run.standing]} Orch: ${line}${more}`,
    tooltip: tooltip(run, waiting, t),
    tone: run.standing === "failed" && run.fresh ? "error" : waiting > 0 && !hasEnded(run) ? "warning" : "plain",
    spoken: `Orch: ${line}${more}`,
  };
}

/** A run that works comes before one that waits for nothing, and a newer one before an older one. */
function mostUrgent(runs: readonly FollowedRun[]): FollowedRun | undefined {
  const newest = runs.toSorted((a, b) => (a.run < b.run ? 1 : -1));
  return newest.find(isActive) ?? newest[0];
}

function decisionsOf(run: FollowedRun): number {
  return openAsks(run).filter(({ weight }) => weight === "decision").length;
}

/** A run that ended well has passed its gates. */
function standingWord({ standing }: FollowedRun, words: Words, t: Translate): string {
  return standing === "ok" ? t("passed") : words.standingText(standing);
}

function command({ state }: FollowedRun): string {
  const contract = state.contracts[0];
  const name = contract?.feature ?? (state.contracts.length === 1 ? contract?.title : undefined);
  return plain(name === undefined ? state.command : `${state.command} ${name}`) || "run";
}

/** `done/total`; empty for commands without contracts. */
function progress({ state }: FollowedRun): string {
  if (state.contracts.length === 0) return "";
  const done = state.contracts.filter(({ phase }) => phase !== "queued" && phase !== "running").length;
  const attempt = state.contracts.find(({ phase }) => phase === "running")?.attempts.at(-1);
  const gate = attempt?.gates.findLast(({ status }) => status === "running");
  const parts = attempt === undefined ? [] : [...(isJudgedOnly(attempt) ? [] : [String(attempt.attempt)]), gate?.gate];
  const doing = parts.filter((part) => part !== undefined).join(", ");
  const now = doing === "" ? "" : ` (${doing})`;
  return `${done}/${state.contracts.length}${now}`;
}

/** What is known of the cost; a part that no lane told makes it a floor, never 0. */
function cost({ state }: FollowedRun, { money }: Words): string {
  if (state.usage === undefined) return "";
  if (state.usage.costUsd !== "unknown") return money(state.usage.costUsd);
  return state.knownCostUsd > 0 ? `>${money(state.knownCostUsd)}` : "$?";
}

function decisions(waiting: number, t: Translate): string {
  return waiting === 1 ? t("1 decision") : t("{0} decisions", waiting);
}

function tooltip(run: FollowedRun, waiting: number, t: Translate): string {
  const { state } = run;
  const words = wordsIn(t);
  const elapsed = words.durationText((state.lastAt ?? 0) - (state.startedAt ?? state.lastAt ?? 0));
  const rows = state.contracts.map((contract) => {
    const attempt = contract.attempts.at(-1);
    const worker =
      attempt === undefined || isJudgedOnly(attempt)
        ? ""
        : `${attempt.attempt}: ${plain(attempt.model ?? attempt.worker)}`;
    return `| ${cell(contract.title)} | ${cell(words.phaseText(contract, run.alive))} | ${cell(worker)} |`;
  });
  const links = [
    link(t("Show runs"), "orch.host.showRuns"),
    ...(waiting > 0 ? [link(t("Answer"), "orch.decision.answer")] : []),
    ...(isActive(run) ? [link(t("Cancel"), "orch.run.cancel", [run.run])] : []),
    ...(run.standing === "parked" || run.standing === "interrupted"
      ? [link(t("Resume"), "orch.run.resume", [run.run])]
      : []),
    ...(state.contracts.some(({ attempts }) => attempts.some(({ change }) => change?.patch !== undefined))
      ? [link(t("Show the change"), "orch.host.lastDiff")]
      : []),
  ];
  const said = state.result?.summary ?? state.parked?.why ?? state.note;
  return [
    `**Orch** ${escape(command(run))}: ${standingWord(run, words, t)}, ${elapsed}`,
    ...(said === undefined ? [] : ["", escape(plain(said))]),
    ...(rows.length === 0
      ? []
      : ["", `| ${t("Contract")} | ${t("State")} | ${t("Attempt")} |`, "|---|---|---|", ...rows]),
    "",
    links.join(" | "),
  ].join("\n");
}

function link(words: string, id: string, args: readonly unknown[] = []): string {
  const query = args.length === 0 ? "" : `?${encodeURIComponent(JSON.stringify(args))}`;
  return `[${words}](command:${id}${query})`;
}

function cell(text: string): string {
  return escape(plain(text)).slice(0, 80);
}

/** Names of models and contracts are data: they may not become markdown. */
export function escape(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()#+\-.!|<>~]/g, String.raw`\$&`);
}
