import type { Change, ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { GateRow, GuardReport } from "../model/gate-report.ts";
import type { Verdict } from "../model/verdict.ts";
import { isTestPath } from "../model/test-path.ts";

/** `guard.json` of one attempt. */
export function guardReport(facts: {
  readonly contract: string;
  readonly attempt: number;
  readonly change: Change;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  readonly gates: readonly GateRow[];
}): GuardReport {
  const { change } = facts;
  const tests = change.files.filter(({ path }) => isTestPath(path));
  return {
    v: 1,
    contract: facts.contract,
    attempt: facts.attempt,
    base: change.base,
    diffHash: change.diffHash,
    verdict: facts.verdict.kind,
    stats: {
      files: change.files.length,
      added: sum(change.files, "added"),
      removed: sum(change.files, "removed"),
      testAdded: sum(tests, "added"),
      testRemoved: sum(tests, "removed"),
    },
    gates: [...facts.gates],
    findings: [...facts.findings],
  };
}

function sum(files: readonly ChangedFile[], side: "added" | "removed"): number {
  return files.reduce((total, file) => total + (file[side] ?? 0), 0);
}
