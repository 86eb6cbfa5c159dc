import { literalsOf } from "../flat-text.ts";
import type { OutlineAssertion } from "../outline.ts";
import type { TestFile } from "../test-file.ts";
import { allRows } from "./moved.ts";

/** Cases of a table say what separate assertions said. */
export function coveredByTable(old: OutlineAssertion, files: readonly TestFile[]): boolean {
  const wanted = old.operands.flatMap((one) => literalsOf(one));
  if (wanted.length === 0) return false;
  return files.some(({ now, before }) => {
    const known = new Set(allRows(before).map(({ key }) => key));
    return (now?.tests ?? []).some(
      (test) =>
        test.assertions.some(({ kind, hushed }) => kind === old.kind && hushed === undefined) &&
        test.rows.some((row) => {
          if (known.has(row.key)) return false;
          const has = literalsOf(row.text);
          return wanted.every((one) => has.includes(one));
        }),
    );
  });
}
