import type { Notice } from "../ports/editor.ts";
import { replyCommand } from "./project.ts";
import { english, plain, type Words } from "./words.ts";
import type { RunState } from "./run-state.ts";

/**
 * What a host should say aloud after a state changed. Edge-triggered: only what is in `next` and was not in `prev`, so
 * a host that attaches late (no `prev`) shouts nothing old. Its views show what is pending all the same.
 */
export function notices(prev: RunState | undefined, next: RunState, words: Words = english): readonly Notice[] {
  if (prev === undefined || prev.run !== next.run) return [];
  const out: Notice[] = next.notices
    .filter(({ seq }) => seq > prev.seq)
    .map(({ severity, text, hint }) => ({
      severity,
      text: plain(text),
      ...(hint === undefined ? {} : { hint: plain(hint) }),
    }));
  for (const ask of next.pending) {
    if (prev.pending.some(({ id }) => id === ask.id)) continue;
    out.push({
      severity: ask.weight === "decision" ? "warning" : "info",
      text: plain(ask.title),
      hint: replyCommand(ask),
    });
  }
  // A parked run with a question says so through the question.
  if (next.phase === "parked" && prev.phase !== "parked" && next.parked !== undefined && next.pending.length === 0) {
    out.push({ severity: "warning", text: words.parkedText(plain(next.parked.why)), hint: plain(next.parked.hint) });
  }
  if (next.result !== undefined && prev.result === undefined) {
    const { ok, summary, error } = next.result;
    if (next.phase !== "cancelled")
      out.push({
        severity: ok ? "info" : "error",
        text: plain(summary),
        ...(error === undefined ? {} : { hint: plain(error.hint) }),
      });
  }
  if (next.faults.length > prev.faults.length) {
    out.push({ severity: "error", text: words.damagedText(next.run, plain(next.faults.at(-1) ?? "")) });
  }
  return out;
}
