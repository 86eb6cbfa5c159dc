import * as z from "zod";

/**
 * What a gate found wrong with the work. Not an error: it is listed and becomes feedback for the next attempt.
 * `rule` is the id of a rule (`py.bare-except`) or a gate's own category (`out_of_scope`).
 */
export const Severity = z.enum(["FAIL", "WARN"]);
export type Severity = z.infer<typeof Severity>;

export const Finding = z.object({
  rule: z.string(),
  severity: Severity,
  /** One sentence: what is wrong. */
  message: z.string(),
  /** Repository path with `/`; absent when the finding is about the change as a whole. */
  path: z.string().optional(),
  /** 1-based. */
  line: z.number().int().min(1).optional(),
  column: z.number().int().min(1).optional(),
  /** Which side of the diff `line` counts on; `new` when absent. */
  side: z.enum(["old", "new"]).optional(),
  /** The text that shows it, clipped; never a secret's value. */
  evidence: z.string(),
  /** What would fix it. */
  remedy: z.string(),
});
export type Finding = z.infer<typeof Finding>;

export function findingPlace(finding: Finding): string {
  if (finding.path === undefined) return "";
  return finding.line === undefined ? finding.path : `${finding.path}:${finding.line}`;
}
