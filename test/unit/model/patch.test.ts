import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyHunks, parsePatch, reversed } from "../../../shared/model/patch.ts";

/** The patch that git itself makes of two texts. */
function gitPatch(before: string, after: string): string {
  const folder = mkdtempSync(join(tmpdir(), "orch-patch-"));
  try {
    writeFileSync(join(folder, "a"), before);
    writeFileSync(join(folder, "b"), after);
    execFileSync("git", ["-c", "core.pager=cat", "diff", "--no-index", "--no-color", "a", "b"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return "";
  } catch (error) {
    // git answers 1 when they differ
    return String((error as { readonly stdout: Buffer }).stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const numbered = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i}\n`).join("");

describe("patches", () => {
  const pairs: readonly (readonly [string, string, string])[] = [
    ["a change in the middle", numbered(30), numbered(30).replace("line 14\n", "new 14\nand more\n")],
    ["two hunks", numbered(60), numbered(60).replace("line 3\n", "").replace("line 50\n", "fifty\n")],
    ["at the start and the end", numbered(20), `first\n${numbered(20)}last\n`],
    ["everything new", "", "a\nb\n"],
    ["everything gone", "a\nb\n", ""],
    ["a line end is added", "a\nb", "a\nb\n"],
    ["a line end is lost", "a\nb\n", "a\nb"],
    ["no line end on both sides", "a\nb", "a\nc"],
    ["lines that look like a header", "a\n--- x\nb\n", "a\n--- x\n+++ y\nb\n"],
    ["carriage returns", "a\r\nb\r\n", "a\r\nc\r\n"],
  ];
  for (const [title, before, after] of pairs) {
    it(`${title}: forth and back, as git made it`, () => {
      const [file] = parsePatch(gitPatch(before, after));
      const hunks = file?.hunks ?? [];
      assert.equal(applyHunks(before, hunks), after);
      assert.equal(applyHunks(after, reversed(hunks)), before);
    });
  }

  it("refuses a text that it was not made for", () => {
    const [file] = parsePatch(gitPatch("a\nb\nc\n", "a\nx\nc\n"));
    assert.equal(applyHunks("a\nz\nc\n", file?.hunks ?? []), undefined);
    assert.equal(applyHunks("", file?.hunks ?? []), undefined);
  });

  it("names the sides: new, gone, renamed, quoted, binary", () => {
    const patch = `diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/from.py b/to.py
similarity index 100%
rename from from.py
rename to to.py
diff --git "a/\\303\\244 b.py" "b/\\303\\244 b.py"
--- "a/\\303\\244 b.py"
+++ "b/\\303\\244 b.py"
@@ -1 +1 @@
-x
+y
diff --git a/with space.py b/with space.py
index 1..2 100644
GIT binary patch
literal 0
`;
    assert.deepEqual(
      parsePatch(patch).map(({ oldPath, newPath, binary, hunks }) => [oldPath, newPath, binary, hunks.length]),
      [
        [undefined, "new.py", false, 1],
        ["old.py", undefined, false, 1],
        ["from.py", "to.py", false, 0],
        ["ä b.py", "ä b.py", false, 1],
        ["with space.py", "with space.py", true, 0],
      ],
    );
  });
});
