import { clip, stripControls } from "../base/lines.ts";
import type { Finding } from "../model/finding.ts";

export interface Where {
  readonly path?: string;
  readonly line?: number;
  readonly side?: "old" | "new";
  readonly evidence?: string;
  readonly remedy: string;
}

/** Longest evidence of a gate's own finding, in characters. Longer output goes into a log beside it. */
const maxEvidence = 4_000;

/** A finding of a gate's own category (a rule's finding is made by the rulebook). */
export function finding(rule: string, severity: Finding["severity"], message: string, where: Where): Finding {
  const { path, line, side, evidence = "", remedy } = where;
  return {
    rule,
    severity,
    message,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined || line < 1 ? {} : { line }),
    ...(side === undefined ? {} : { side }),
    evidence: clip(stripControls(evidence), maxEvidence),
    remedy,
  };
}

export const ran = (findings: readonly Finding[]): { readonly kind: "ran"; readonly findings: readonly Finding[] } => ({
  kind: "ran",
  findings,
});
