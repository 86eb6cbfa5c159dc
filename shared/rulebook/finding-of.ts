import type { Finding, Severity } from "../model/finding.ts";
import type { LoadedRule } from "./load.ts";

const maxEvidenceChars = 160;

export interface Place {
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly side?: "old" | "new";
  readonly evidence: string;
  /** Takes the place of `{name}` in the rule's texts. */
  readonly name?: string;
  readonly severity?: Severity;
}

/** The rule's words at a place. Evidence is one line, clipped. */
export function findingOf({ rule, severityAt }: LoadedRule, place: Place): Finding {
  const fill = (text: string): string => text.replaceAll("{name}", place.name ?? "it");
  return {
    rule: rule.id,
    severity: place.severity ?? severityAt(place.path),
    message: fill(rule.message),
    ...(place.path === undefined ? {} : { path: place.path }),
    ...(place.line === undefined ? {} : { line: place.line }),
    ...(place.column === undefined ? {} : { column: place.column }),
    ...(place.side === undefined ? {} : { side: place.side }),
    evidence: clipped(place.evidence),
    remedy: fill(rule.remedy),
  };
}

function clipped(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > maxEvidenceChars ? `${line.slice(0, maxEvidenceChars - 4)} ...` : line;
}
