import type { Finding } from "../../../model/finding.ts";
import type { OutlineHelper } from "../outline.ts";
import { removed } from "../test-findings.ts";
import type { TestFile } from "../test-file.ts";
import { changedAssertions } from "./assertions.ts";
import { allAssertions, type Moved } from "./moved.ts";
import { changedRows } from "./rows.ts";

/** What became of the functions that assert for tests. */
export function changedHelpers(file: TestFile, moved: Moved, files: readonly TestFile[]): Finding[] {
  const { path, oldPath, before, now } = file;
  if (!before || !now) return [];
  const found: Finding[] = [];
  for (const helper of before.helpers) {
    const other: OutlineHelper | undefined =
      now.helpers.find(({ name }) => name === helper.name) ??
      (helper.name === "" || now.defined.has(helper.name)
        ? { name: helper.name, line: 1, assertions: [], rows: [] }
        : undefined);
    if (other === undefined) {
      // Gone as a whole: what it checked must stand in the tests that used it.
      const gained = files.some(
        ({ before: old, now: fresh }) =>
          allAssertions(fresh).length > allAssertions(old).length - helper.assertions.length,
      );
      const lost = helper.assertions.filter((one) => !moved.keeps(one));
      const callers = (before.tests ?? []).filter(({ calls }) => calls.has(helper.name));
      if (callers.length > 0 && !gained) found.push(...lost.map((one) => removed(oldPath, one)));
      continue;
    }
    found.push(...changedAssertions({ path, oldPath, before: helper, now: other, moved, files }));
    found.push(...changedRows({ path, oldPath, before: helper.rows, now: other.rows, moved }));
  }
  return found;
}
