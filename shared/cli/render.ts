import type picocolors from "picocolors";
import { count, shownLine } from "../base/lines.ts";
import { limitText } from "../events/words.ts";
import type { CommandResult } from "../model/command-result.ts";
import { modelText } from "../model/completion.ts";
import type { Decision } from "../model/decision.ts";
import type { Envelope, EventBody, EventType, RunEvent } from "../model/event.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import type { Amount } from "../model/usage.ts";

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Lines for a terminal. Everything that may come from a model or a repository loses its control sequences here. */
export type Detail = "quiet" | "normal" | "verbose";

export interface EventLook {
  readonly detail: Detail;
  readonly color: Colors;
  /** Several contracts are at work, and their lines come between each other's. */
  readonly several: boolean;
}

export function eventLines(event: RunEvent, { detail, color, several }: EventLook): readonly string[] {
  const lines = detail === "quiet" ? [] : linesOf(event, detail === "verbose", color);
  const of = several && "contract" in event && typeof event.contract === "string" ? event.contract : "";
  return lines.map((line) => shownLine(line.startsWith("  ") ? `${of}${line}` : line));
}

type Renderer<T extends EventType> = (
  event: Envelope & { readonly type: T } & EventBody<T>,
  verbose: boolean,
) => readonly string[];

/** The types that show; under --verbose the others show by name. */
const renderers: { readonly [T in EventType]?: Renderer<T> } = {
  "attempt.started": (event) => [`attempt ${event.attempt} of ${event.contract} with ${event.worker}`],
  "model.asked": (event) => [`  asking ${modelText(event.model, event.label)} for ${event.role}`],
  "model.fell-through": (event) => [
    `  ${event.model} gave nothing usable: ${event.why}${event.next === undefined ? "" : `; next: ${event.next}`}`,
  ],
  "model.chosen": (event) => [`  models: ${event.models.join(", ")} (${event.why})`],
  "change.collected": (event) => [`  ${count(event.files.length, "file")} changed, +${event.added} -${event.removed}`],
  "gate.finished": gateLines,
  "verdict.reached": (event) => [
    `  verdict: ${event.verdict}, ${count(event.fails, "failure")}, ${count(event.warns, "warning")}`,
  ],
  "decision.made": (event) => [`  decision: ${decisionText(event.decision)}`],
  "trash.stored": (event) => [
    `  stored for restore as ${event.id}: ${event.what}, ${count(event.entries, "file")}, ${event.bytes} bytes`,
  ],
  "commit.made": (event) => [
    `  commit ${event.commit.slice(0, 10)} on ${event.branch}: ${event.subject}${event.pushed ? ", pushed" : ""}`,
  ],
  "usage.recorded": (event, verbose) =>
    verbose
      ? [
          `  ${event.model}: ${amount(event.usage.input)} tokens in, ${amount(event.usage.output)} out, ${money(event.usage.costUsd)}`,
        ]
      : [],
  "progress.noted": (event) => [`  ${event.text}`],
  "notice.shown": (event) => [
    `${event.severity === "info" ? "" : `${event.severity}: `}${event.text}`,
    ...(event.hint === undefined ? [] : [`  ${event.hint}`]),
  ],
  "process.swept": (event) => [
    `  ended ${count(event.pids.length, "leftover process", "leftover processes")}: ${event.why}`,
  ],
  "diff.shown": (event) => [`  ${event.title}`],
  "budget.reached": (event) => [`  ${limitText(event)}`],
};

function linesOf(event: RunEvent, verbose: boolean, color: Colors): readonly string[] {
  const render = renderers[event.type] as Renderer<EventType> | undefined;
  if (render) return render(event, verbose);
  return verbose ? [color.dim(`  ${event.type}`)] : [];
}

function gateLines(event: EventBody<"gate.finished">, verbose: boolean): readonly string[] {
  const shown = event.findings.slice(0, verbose ? 50 : 5);
  if (event.status === "ran" && event.findings.length === 0) return verbose ? [`  gate ${event.gate}: ok`] : [];
  // Nothing was asked of it, or what failed before it says so. The judge is asked for what no check proves: its absence shows.
  if (event.status === "skipped" && event.gate !== "acceptance" && !verbose) return [];
  if (event.status !== "ran") return [`  gate ${event.gate}: ${event.status}, ${event.why ?? "no reason given"}`];
  const rest = event.findings.length - shown.length;
  return [
    `  gate ${event.gate}: ${count(event.findings.length, "finding")}`,
    ...shown.map((finding) => `    ${findingLine(finding)}`),
    ...(rest > 0 ? [`    and ${rest} more`] : []),
  ];
}

export function findingLine(finding: Finding): string {
  const place = findingPlace(finding);
  return `${finding.severity} ${finding.rule}${place === "" ? "" : ` ${place}`}: ${finding.message}`;
}

function decisionText(decision: Decision): string {
  switch (decision.kind) {
    case "accept":
      return "accept";
    case "retry":
      return `retry, ${decision.why}`;
    case "escalate":
      return `escalate to ${decision.to}, ${decision.why}`;
    case "blocked":
      return `BLOCKED, ${decision.why}`;
    case "needs-lead":
      return `NEEDS_LEAD, ${decision.why}`;
  }
}

function amount(value: Amount): string {
  return value === "unknown" ? "unknown" : String(value);
}

function money(value: Amount): string {
  return value === "unknown" ? "cost unknown" : `$${value.toFixed(4)}`;
}

/** The end of a command: one line, the error's hint, and what to type next. */
export function resultLines(result: CommandResult, color: Colors): readonly string[] {
  const head = shownLine(result.summary);
  const [, ...more] = result.error?.message.split(/\r?\n/) ?? [];
  const lines = [result.ok ? color.green(head) : color.red(head), ...more.map((line) => `  ${shownLine(line)}`)];
  if (result.error && result.error.hint !== "") lines.push(shownLine(result.error.hint));
  // A refusal's commands stand in its hint already.
  const hint = result.error?.hint ?? "";
  for (const command of result.next.filter((one) => !hint.includes(one)))
    lines.push(shownLine(command.startsWith("Edit ") ? command : `Next: ${command}`));
  return lines;
}
