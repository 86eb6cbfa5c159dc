import type { Finding } from "../../../model/finding.ts";
import { disabled, weakened } from "../test-findings.ts";
import type { TestFile } from "../test-file.ts";
import { changedAssertions } from "./assertions.ts";
import type { Moved } from "./moved.ts";
import type { Pair } from "./pairs.ts";
import { changedRows } from "./rows.ts";

/** What became of one test: whether its body still runs, and what it claims. */
export function changedTest(
  { file, before, now, nowPath: path }: Pair,
  moved: Moved,
  files: readonly TestFile[],
): Finding[] {
  const found: Finding[] = [];
  const name = now.name;
  if (
    now.asyncLine !== undefined &&
    !now.asyncMarked &&
    before.asyncLine === undefined &&
    file.language.asyncMark !== undefined
  )
    found.push(disabled(path, now.asyncLine, `${name} became async, and nothing waits for it`, `async ${name}`));
  if (now.yieldLine !== undefined && before.yieldLine === undefined)
    found.push(
      disabled(path, now.yieldLine, `${name} became a generator, so its body does not run`, `yield in ${name}`),
    );
  const cut = now.assertions.some(({ hushed }) => hushed?.why === "ended");
  if (now.endedLine !== undefined && before.endedLine === undefined && cut)
    found.push(
      disabled(path, now.endedLine, `${name} ends before its assertions`, `line ${now.endedLine} leaves the test`),
    );
  if (now.guard !== undefined && before.guard === undefined)
    found.push(disabled(path, now.guard.line, `${name} runs only under a condition`, now.guard.text));
  const caught = /\brecover\(\)|\bcatch_unwind\b|\bsuppress\(|\bcontextlib\.suppress/;
  if (caught.test(now.body) && !caught.test(before.body))
    found.push(weakened(path, now.line, `${name} takes up its own failures`, caught.exec(now.body)?.[0] ?? ""));
  found.push(...changedAssertions({ path, oldPath: file.oldPath, before, now, moved, files }));
  found.push(...changedRows({ path, oldPath: file.oldPath, before: before.rows, now: now.rows, moved }));
  return found;
}
