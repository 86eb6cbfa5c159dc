import { durationText } from "../../events/words.ts";
import type { CommandResult } from "../../model/command-result.ts";
import type { ParsedEvent } from "../../model/event.ts";

export interface DemoStep {
  readonly command: "new" | "do" | "qa" | "merge";
  readonly words: readonly string[];
  readonly what: string;
}

export interface ToldStep {
  readonly step: DemoStep;
  readonly result: CommandResult;
  readonly durationMs: number;
  readonly events: readonly ParsedEvent[];
}

export function stepData({ step, result, durationMs, events }: ToldStep): unknown {
  return {
    command: step.command,
    ok: result.ok,
    summary: result.summary,
    durationMs: Math.round(durationMs),
    attempts: attemptsOf(events),
  };
}

function attemptsOf(
  events: readonly ParsedEvent[],
): readonly { readonly attempt: number; readonly verdict: string; readonly fails: number }[] {
  return events.flatMap((parsed) => {
    if (parsed.kind !== "event" || parsed.event.type !== "verdict.reached") return [];
    const { attempt, verdict, fails } = parsed.event;
    return [{ attempt, verdict, fails }];
  });
}

/**
 * A bar for each command on one scale, the attempts of `do` below it. Plain text: the same in every terminal and log.
 */
export function summaryLines(told: readonly ToldStep[], totalMs: number, label: string): readonly string[] {
  const width = 32;
  let at = 0;
  const bars = told.flatMap(({ step, durationMs, events, result }) => {
    const from = Math.round((at / totalMs) * width);
    const to = Math.max(from + 1, Math.round(((at + durationMs) / totalMs) * width));
    at += durationMs;
    const bar = `${" ".repeat(from)}${"=".repeat(to - from)}`.padEnd(width);
    const line = `${step.command.padEnd(6)}|${bar}| ${durationText(durationMs).padStart(7)}  ${result.summary}`;
    const attempts = attemptsOf(events).map(
      ({ attempt, verdict, fails }) =>
        `       attempt ${attempt} (${label}): ${verdict === "pass" ? "every gate passed" : `${fails} to mend, sent back as feedback`}`,
    );
    return [line, ...attempts];
  });
  return [
    "Timeline",
    ...bars,
    `total ${durationText(totalMs)}; the model's replies were ${label}, everything else was real`,
  ];
}
