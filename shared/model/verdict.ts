import type { ErrorCode } from "./error-table.ts";
import type { Finding } from "./finding.ts";
import type { GateResult } from "./gate-result.ts";

/** Pure sum of an attempt: what the worker's end and the gates add up to. */
export type Verdict =
  | { readonly kind: "pass"; readonly warnings: readonly Finding[] }
  | { readonly kind: "fail"; readonly findings: readonly Finding[] }
  /** A gate could not run, so nothing may be concluded from its silence. `broken` names the gates. */
  | {
      readonly kind: "inconclusive";
      readonly broken: readonly string[];
      readonly why: string;
      /** The next keystroke. */
      readonly hint?: string;
      /** The refusal of the first gate that broke. */
      readonly code?: ErrorCode;
      /** That gate stands over every other outcome. */
      readonly decides?: true;
      readonly findings: readonly Finding[];
    };

/**
 * A FAIL that was found stands even when another gate broke; a broken gate without one is inconclusive, and so is one
 * that decides, whatever was found beside it.
 */
export function verdictOf(results: readonly { readonly id: string; readonly result: GateResult }[]): Verdict {
  const findings = results.flatMap(({ result }) => (result.kind === "ran" ? result.findings : []));
  const decides = ({ result }: (typeof results)[number]): boolean =>
    result.kind === "broken" && result.decides === true;
  const broken = results
    .filter(({ result }) => result.kind === "broken")
    .toSorted((a, b) => Number(decides(b)) - Number(decides(a)));
  const decided = broken.some(decides);
  if (!decided && findings.some((finding) => finding.severity === "FAIL")) return { kind: "fail", findings };
  if (broken.length > 0) {
    const first = broken[0]?.result;
    return {
      kind: "inconclusive",
      broken: broken.map(({ id }) => id),
      ...(first?.kind === "broken"
        ? { why: first.error.message, hint: first.error.hint, code: first.error.code }
        : { why: "a gate broke" }),
      ...(decided ? { decides: true as const } : {}),
      findings,
    };
  }
  return { kind: "pass", warnings: findings };
}
