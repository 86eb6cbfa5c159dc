import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { absPath } from "../../shared/base/paths.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { startRun } from "../../shared/runner/client.ts";
import { noSmallDisk, SmallDisk } from "../support/small-disk.ts";
import { TempDir } from "../support/temp-dir.ts";

describe("e2e: a read-only disk @root", function () {
  const why = noSmallDisk();
  let disk: SmallDisk;
  const temp = new TempDir();

  before(function () {
    if (why !== undefined) {
      console.log(`      left out: ${why}`);
      this.skip();
    }
    disk = new SmallDisk(1);
    fs.writeFileSync(path.join(disk.path, "there"), "before\n");
    execFileSync("/bin/mount", ["-o", "remount,ro", disk.path]);
  });
  after(() => {
    disk?.[Symbol.dispose]();
    temp[Symbol.dispose]();
  });

  it("is named by whatever writes a file or makes a folder", async () => {
    const files = createFiles();
    const at = (...parts: readonly string[]) => absPath(path.join(disk.path, ...parts));
    for (const write of [
      () => files.write(at("there"), "after\n"),
      () => files.makeDir(at("one")),
      () => files.makeDir(at("one", "two", "three")),
    ]) {
      await assert.rejects(write(), (error) => isOrchError(error, "env.read-only") && /read-only/.test(error.message));
    }
    assert.equal(await files.readText(at("there")), "before\n");
  });

  it("has its run folders in the next place", async () => {
    const entry = temp.at("runner.mjs");
    fs.writeFileSync(entry, "throw new Error('only the folder counts');\n");
    const runsDirs = [path.join(disk.path, ".orch/runs"), temp.at("state/runs")];
    const request = { v: 1, command: "do", args: {}, cwd: disk.path, host: "cli", at: 1 } as const;
    const order = {
      entry,
      execPath: process.execPath,
      env: {},
      runsDirs,
      ids: { next: () => "r-20260101-101010-abcd" },
    };
    await assert.rejects(startRun(request, order), /only the folder counts/);
    assert.ok(fs.existsSync(temp.at("state/runs/.gitignore")));
  });
});
