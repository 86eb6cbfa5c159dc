import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { toBytes } from "../../../shared/adapters/git-walk.ts";
import { lyingAt } from "../../../shared/adapters/worktree-collect.ts";
import { absPath } from "../../../shared/base/paths.ts";
import { isOrchError } from "../../../shared/model/error.ts";

describe("a file of a worktree that git could not take", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "orch-lying-"));
  const root = absPath(folder);
  after(() => rmSync(folder, { recursive: true }));

  it("is as it lies there", async () => {
    mkdirSync(path.join(folder, "src"));
    writeFileSync(path.join(folder, "src/a.py"), "x = 1\n");
    const found = await lyingAt(root, toBytes("src/a.py"));
    assert.deepEqual(
      found.map(({ kind, sizeBytes }) => [kind, sizeBytes]),
      [["file", 6]],
    );
  });

  it("is deleted where it is not there, its folder is a file, or its folder is a link", async function () {
    if (process.platform === "win32") this.skip();
    symlinkSync("src", path.join(folder, "link"));
    for (const name of ["src/b.py", "src/a.py/c.py", "link/a.py"])
      assert.deepEqual(await lyingAt(root, toBytes(name)), [], name);
  });

  it("is an error that names it where it cannot be read: never a deletion", async function () {
    if (process.platform === "win32") this.skip();
    // Any error but "not there" will do; this one needs neither rights nor a broken disk.
    for (const name of [`src/${"n".repeat(300)}`, `${"n".repeat(300)}/a.py`])
      await assert.rejects(
        lyingAt(root, toBytes(name)),
        (error) =>
          isOrchError(error, "path.refused") &&
          error.message.startsWith(name.slice(0, 300)) &&
          error.message.includes("cannot be read (ENAMETOOLONG)") &&
          error.hint === "Make it readable or take it away, then run the command again",
      );
  });
});
