import type { Finding } from "../../../model/finding.ts";
import { finding } from "../../gate-finding.ts";
import type { OutlineTest } from "../outline.ts";
import type { TestFile } from "../test-file.ts";
import { coveredByTable } from "./covered-by-table.ts";
import type { Moved } from "./moved.ts";
import type { Placed } from "./pairs.ts";

/** Tests that no longer run, and whose claims stand nowhere else. */
export function goneFindings(files: readonly TestFile[], gone: readonly Placed[], moved: Moved): Finding[] {
  const found: Finding[] = [];
  for (const file of files) {
    const here = gone.filter((one) => one.file === file);
    const really = here.filter(({ test }) => !isCarried(test, moved, files));
    const [first] = really;
    if (first === undefined) continue;
    if (file.now === undefined && (file.before?.tests.length ?? 0) === really.length) {
      const count = really.length === 1 ? "a test" : `${really.length} tests`;
      found.push(
        finding("test_removed", "FAIL", `${count} of ${file.oldPath} no longer run`, {
          path: file.oldPath,
          line: first.test.line,
          side: "old",
          evidence: really
            .slice(0, 5)
            .map(({ test }) => test.id)
            .join("\n"),
          remedy: "Put the file back where its tests are collected",
        }),
      );
      continue;
    }
    for (const { test } of really) {
      const kept = file.now?.defined.has(test.name) === true;
      found.push(
        finding(
          "test_removed",
          "FAIL",
          kept ? `${test.name} is no longer collected as a test` : `the test ${test.name} is gone`,
          {
            path: file.oldPath,
            line: test.line,
            side: "old",
            evidence: test.id,
            remedy: "Put the test back",
          },
        ),
      );
    }
  }
  return found;
}

/** Every claim of it stands in another test now, or in the cases of a table. */
function isCarried(test: OutlineTest, moved: Moved, files: readonly TestFile[]): boolean {
  if (test.assertions.length === 0) return false;
  const inTests = new Set(
    files
      .flatMap(({ now }) => now?.tests ?? [])
      .flatMap(({ assertions }) => assertions.filter(({ hushed }) => hushed === undefined).map(({ key }) => key)),
  );
  return test.assertions.every((one) => (inTests.has(one.key) && moved.keeps(one)) || coveredByTable(one, files));
}
