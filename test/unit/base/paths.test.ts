import { deepEqual, equal, throws } from "node:assert/strict";
import { absPath, baseName, below, dirName, extName, inRoot, isInside, repoPath } from "../../../shared/base/paths.ts";

describe("repository paths", () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["a/b.py", "a/b.py"],
    ["./a//b.py", "a/b.py"],
    ["a\\b.py", "a/b.py"],
    ["a/../b", undefined],
    ["..", undefined],
    ["..\\x", undefined],
    ["/etc/passwd", undefined],
    ["C:\\x", undefined],
    ["C:x", undefined],
    ["\\\\host\\share", undefined],
    ["a\0b", undefined],
    ["", undefined],
    [".", undefined],
    ["...", "..."],
    ["über/ß.py", "über/ß.py"],
  ];
  for (const [text, expected] of rows) {
    it(`${JSON.stringify(text)} is ${expected ?? "refused"}`, () => equal(repoPath(text), expected));
  }

  it("compares folders by whole names", () => {
    deepEqual(
      [isInside("a/b", "a"), isInside("a", "a"), isInside("ab", "a"), below("a/b/c", "a/b"), below("ab", "a")],
      [true, true, false, "c", undefined],
    );
  });

  it("joins, and takes names apart", () => {
    const root = absPath("/r");
    deepEqual(
      [
        inRoot(root, "a/b"),
        inRoot(root),
        inRoot(absPath("/"), "a"),
        baseName("/x/y.PY"),
        dirName("/x"),
        dirName("x"),
        extName("/x/y.PY"),
        extName(".env"),
      ],
      ["/r/a/b", "/r", "/a", "y.PY", "/", ".", ".py", ""],
    );
    throws(() => absPath("relative"), /not an absolute path/);
  });
});
