import { clip, count, stripControls } from "../base/lines.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import { fenced } from "./fence.ts";

/** Sizes in characters: what does not fit is cut in the middle, and the cut is named. */
export const feedbackBudget = { total: 24_000, evidence: 3_000, maxFindings: 60 } as const;

/** The rule of every finding that hidden checks make: its evidence is what `hidden_feedback` withholds. */
const hiddenRule = "hidden_check_failed";

export interface FeedbackOrder {
  /** The attempt that did not pass, or what else there is to say first. */
  readonly attempt?: number;
  readonly head?: string;
  readonly findings: readonly Finding[];
  /** `full` shows hidden checks like any other, `names` only which failed, `none` only that some did. */
  readonly hiddenFeedback: "full" | "names" | "none";
}

/**
 * What the gates found, as the next attempt and a person read it: faults first, in gate order, each with its place, the
 * text that shows it and what would fix it. Evidence is data: it stands in a fence that it cannot close.
 */
export function feedbackText(order: FeedbackOrder): string {
  const shown = redactHidden(order.findings, order.hiddenFeedback);
  const fails = shown.filter(({ severity }) => severity === "FAIL");
  const warns = shown.filter(({ severity }) => severity === "WARN");
  const also = warns.length === 0 ? "" : `, ${count(warns.length, "warning")}`;
  const head =
    order.head ?? `Attempt ${order.attempt ?? 1} did not pass: ${count(fails.length, "fault")} to mend${also}.`;
  const parts = [head, ...list(fails, "Fault")];
  if (warns.length > 0) parts.push("Warnings, to mend where it costs nothing:", ...list(warns, "Warning"));
  return `${clip(parts.join("\n\n"), feedbackBudget.total)}\n`;
}

/** Findings of hidden checks with no more than the contract allows to be told. */
export function redactHidden(findings: readonly Finding[], mode: FeedbackOrder["hiddenFeedback"]): readonly Finding[] {
  const hidden = findings.filter(({ rule }) => rule === hiddenRule);
  if (mode === "full" || hidden.length === 0) return findings;
  const open = findings.filter(({ rule }) => rule !== hiddenRule);
  const bare = (message: string, severity: Finding["severity"]): Finding => ({
    rule: hiddenRule,
    severity,
    message,
    evidence: "",
    remedy: "Read the goal and the rules again: something they ask for is not done",
  });
  if (mode === "names") return [...open, ...hidden.map(({ message, severity }) => bare(message, severity))];
  return [...open, bare("A hidden check failed; what it looks at is not told", "FAIL")];
}

function list(findings: readonly Finding[], word: string): string[] {
  const kept = findings.slice(0, feedbackBudget.maxFindings);
  const texts = kept.map((finding, at) => findingText(finding, `${word} ${at + 1}`));
  const left = findings.length - kept.length;
  return left === 0 ? texts : [...texts, `... and ${left} more of them.`];
}

function findingText(finding: Finding, title: string): string {
  const place = findingPlace(finding);
  const side = finding.side === "old" ? " (before the change)" : "";
  const at = place === "" ? "" : ` at ${oneLine(place)}${side}`;
  const head = `${title}: ${oneLine(finding.message)} [${finding.rule}]${at}`;
  const evidence = stripControls(finding.evidence).trimEnd();
  const shown = evidence === "" ? [] : [fenced(clip(evidence, feedbackBudget.evidence))];
  return [head, ...shown, `Fix: ${oneLine(finding.remedy)}`].join("\n");
}

function oneLine(text: string): string {
  return stripControls(text)
    .replace(/\s*\n\s*/g, " ")
    .trim();
}
