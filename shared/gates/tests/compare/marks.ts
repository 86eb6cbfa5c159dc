import type { Finding } from "../../../model/finding.ts";
import { finding } from "../../gate-finding.ts";
import type { Outline, OutlineMark } from "../outline.ts";
import { disabled, remedies } from "../test-findings.ts";
import type { TestFile } from "../test-file.ts";
import type { Placed } from "./pairs.ts";

/** Marks that leave tests out and that no file had before; one that moved is none. */
export function markFindings(files: readonly TestFile[], fresh: readonly Placed[]): Finding[] {
  const bag = new Map<string, number>();
  const marksOf = (outline: Outline | undefined): OutlineMark[] => [
    ...(outline?.marks ?? []),
    ...(outline?.tests ?? []).flatMap(({ marks }) => marks),
  ];
  for (const { before } of files)
    for (const { text, kind } of marksOf(before)) bag.set(`${kind} ${text}`, (bag.get(`${kind} ${text}`) ?? 0) + 1);
  const isNew = ({ text, kind }: OutlineMark): boolean => {
    const left = bag.get(`${kind} ${text}`) ?? 0;
    bag.set(`${kind} ${text}`, left - 1);
    return left <= 0;
  };
  const freshTests = new Set(fresh.map(({ test }) => test));
  const found: Finding[] = [];
  for (const { path, now, before } of files) {
    for (const mark of now?.marks ?? [])
      if (isNew(mark) && !(mark.excused && before === undefined)) found.push(marked(path, mark));
    for (const test of now?.tests ?? []) {
      for (const mark of test.marks)
        if (isNew(mark) && !(mark.excused && mark.kind !== "focus" && freshTests.has(test)))
          found.push(marked(path, mark));
    }
  }
  return found;
}

function marked(path: string, { kind, line, text }: OutlineMark): Finding {
  const evidence = text;
  if (kind === "focus")
    return finding("focus_marker", "FAIL", "one test is picked out, so the others do not run", {
      path,
      line,
      evidence,
      remedy: "Remove the marker",
    });
  if (kind === "skip")
    return finding("skip_marker", "FAIL", "a test is skipped or expected to fail", {
      path,
      line,
      evidence,
      remedy: remedies.run,
    });
  return disabled(path, line, "tests are left out of the run", evidence);
}
