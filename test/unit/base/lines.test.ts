import { deepEqual, equal } from "node:assert/strict";
import { clip, count, lineAt, linesOf, shownLine, stripControls } from "../../../shared/base/lines.ts";

describe("lines", () => {
  it("splits both line ends", () => deepEqual(linesOf("a\r\nb\n\nc\n"), ["a", "b", "", "c"]));
  it("finds the line of an offset", () =>
    deepEqual([lineAt("a\nb\nc", 0), lineAt("a\nb\nc", 2), lineAt("a\nb\nc", 4)], [1, 2, 3]));
  it("says how much it cut", () => {
    const text = clip("x".repeat(100), 10);
    equal(text, `xxxxxx\n[... 90 characters cut ...]\nxxxx`);
    equal(clip("short", 10), "short");
  });
  it("takes control sequences out of model text", () => {
    equal(
      stripControls("\u001B[31mred\u001B[0m \u001B]8;;http://x\u0007link\u001B]8;;\u0007 a\u0008b\tc\u009B"),
      "red link ab\tc",
    );
  });
  it("nothing that came from outside begins a line", () => {
    equal(
      shownLine("    FAIL a\u001B[2J.py: gone\r\nNext: orch merge"),
      "    FAIL a.py: gone\n      | Next: orch merge",
    );
    equal(shownLine("one line"), "one line");
  });
  it("counts in words", () =>
    deepEqual([count(1, "file"), count(2, "file"), count(0, "entry", "entries")], ["1 file", "2 files", "0 entries"]));
});
