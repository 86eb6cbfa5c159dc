import type { Finding } from "../../../model/finding.ts";
import { finding } from "../../gate-finding.ts";
import type { OutlineRow } from "../outline.ts";
import { remedies, valueChanged } from "../test-findings.ts";
import type { Moved } from "./moved.ts";

/** Cases of a table that are gone or rewritten. */
export function changedRows(sides: {
  readonly path: string;
  readonly oldPath: string;
  readonly before: readonly OutlineRow[];
  readonly now: readonly OutlineRow[];
  readonly moved: Moved;
}): Finding[] {
  const { path, oldPath, before, now, moved } = sides;
  const have = new Map<string, number>();
  for (const { key } of now) have.set(key, (have.get(key) ?? 0) + 1);
  const lost = before.filter(({ key }) => {
    const left = have.get(key) ?? 0;
    have.set(key, left - 1);
    return left <= 0;
  });
  if (lost.length === 0) return [];
  const old = new Set(before.map(({ key }) => key));
  const fresh = now.filter(({ key }) => !old.has(key));
  const dropped = lost.length - fresh.length;
  const [first] = lost;
  if (dropped > 0 && first !== undefined && !lost.every((row) => moved.keepsRow(row)))
    return [
      finding("assertion_removed", "FAIL", `${dropped} of the cases of a test are gone`, {
        path: oldPath,
        line: first.line,
        side: "old",
        evidence: lost
          .slice(0, 5)
          .map(({ text }) => text)
          .join("\n"),
        remedy: remedies.keep,
      }),
    ];
  return lost.slice(0, 10).flatMap((row, at) => {
    const other = fresh[at];
    return other === undefined
      ? []
      : [valueChanged(path, other.line, "a case of a test was rewritten", `${row.text} -> ${other.text}`)];
  });
}
