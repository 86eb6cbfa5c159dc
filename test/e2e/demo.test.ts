import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { orch } from "../support/orch-cli.ts";
import { TempDir } from "../support/temp-dir.ts";

describe("e2e: the demo @slow", function () {
  this.timeout(600_000);

  it("without Python: new, do (a rule and a red test, then green), qa, merge in TypeScript, and nothing is left", async () => {
    using dir = new TempDir();
    const [bin, home, tmp] = ["bin", "home", "tmp"].map((name) => dir.at(name));
    assert.ok(bin !== undefined && home !== undefined && tmp !== undefined);
    for (const folder of [bin, home, tmp]) mkdirSync(folder);
    for (const tool of ["git", "sh", "env", "ps"])
      symlinkSync(execFileSync("which", [tool], { encoding: "utf8" }).trim(), path.join(bin, tool));
    const end = await orch({ cwd: home, env: { PATH: bin, HOME: home, TMPDIR: tmp } }, "demo");
    const text = `${end.stdout}\n${end.stderr}`;
    assert.equal(end.code, 0, text);
    for (const part of [
      /The sample is in TypeScript: there is no Python on the PATH\./,
      /FAIL ts\.unused-import features\/Billing\/Invoice\/Handler\.ts:2: inspect is imported and not used/,
      /rounds the tax line by line failed: .*\+ taxCents: 2 - taxCents: 3/,
      /attempt 1 \(scripted\): 2 to mend/,
      /attempt 2 \(scripted\): every gate passed/,
      /4 source files, 0 failures, 0 warnings, tests of 1 of 1 feature green/,
      /Merged Billing\/Invoice into main/,
    ])
      assert.match(text, part);
    assert.deepEqual(readdirSync(tmp), []);
  });
});
