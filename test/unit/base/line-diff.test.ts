import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import { changedLines } from "../../../shared/base/line-diff.ts";

describe("changedLines", () => {
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ["equal texts", "a\nb\n", "a\nb\n", []],
    ["from nothing", "", "a\n", ["+ a"]],
    ["to nothing", "a\n", "", ["- a"]],
    [
      "a changed line with its neighbours",
      "1\n2\n3\n4\n5\n6\n",
      "1\n2\n3\nX\n5\n6\n",
      ["...", "  2", "  3", "- 4", "+ X", "  5", "  6"],
    ],
    [
      "two places",
      "a\n1\n2\n3\n4\n5\nb\n",
      "A\n1\n2\n3\n4\n5\nB\n",
      ["- a", "+ A", "  1", "  2", "...", "  4", "  5", "- b", "+ B"],
    ],
    ["line ends do not count", "a\r\nb\r\n", "a\nb\n", []],
    ["a line without text", "a\n", "a\n\n", ["  a", "+"]],
  ];
  for (const [name, before, after, wanted] of rows) it(name, () => deepEqual(changedLines(before, after), wanted));

  it("holds both texts, in order", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c"), { maxLength: 12 })
      .map((lines) => lines.map((l) => `${l}\n`).join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = changedLines(before, after, 1000);
        const side = (other: string): string =>
          shown.flatMap((line) => (line.startsWith(other) ? [] : [`${line.slice(2)}\n`])).join("");
        if (before !== after) deepEqual([side("+"), side("-")], [before, after]);
      }),
    );
  });
});
