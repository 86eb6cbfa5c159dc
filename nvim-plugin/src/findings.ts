import path from "node:path";
import { plain } from "../../shared/events/words.ts";
import type { AttemptState, RunState } from "../../shared/events/run-state.ts";
import type { Finding } from "../../shared/model/finding.ts";

/** A finding as the quickfix list and `vim.diagnostic` take it. Lines and columns are 1-based; 0 when unknown. */
export interface Item {
  readonly filename: string;
  readonly lnum: number;
  readonly col: number;
  readonly type: "E" | "W";
  readonly text: string;
  readonly rule: string;
  readonly remedy: string;
}

/** `fallback` is shown for a finding about the change as a whole. */
export function itemOf(finding: Finding, base: string, fallback: string): Item {
  return {
    filename: finding.path === undefined ? fallback : path.join(base, finding.path),
    lnum: finding.line ?? 0,
    col: finding.column ?? 0,
    type: finding.severity === "FAIL" ? "E" : "W",
    text: plain(`${finding.rule}: ${finding.message}`),
    rule: finding.rule,
    remedy: plain(finding.remedy),
  };
}

/**
 * What the last attempt of each contract that was judged was found to lack: the next one may have begun in the same
 * moment, and what is to be mended stands until that is judged, too.
 */
export function findingsOf(state: RunState, base: string, dir: string): readonly Item[] {
  return state.contracts.flatMap((contract) => {
    const isJudged = ({ verdict, gates }: AttemptState): boolean => verdict !== undefined || gates.length > 0;
    const attempt = contract.attempts.findLast(isJudged) ?? contract.attempts.at(-1);
    const fallback =
      attempt === undefined
        ? path.join(dir, "events.jsonl")
        : path.join(dir, contract.id, `attempt-${attempt.attempt}`, "guard.json");
    const gates = [...contract.readiness, ...(attempt?.gates ?? [])];
    return gates.flatMap(({ findings }) => findings.map((finding) => itemOf(finding, base, fallback)));
  });
}
