import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { ended, start } from "./started.ts";
import { folder, host } from "./window.ts";

describe("a repository on a read-only disk", () => {
  it("features and runs are there, and reading commands answer", async () => {
    const { featuresOf } = await host();
    assert.throws(() => fs.writeFileSync(path.join(folder(), "probe"), ""), /EROFS/);
    assert.deepEqual(
      (await featuresOf()).map(({ target }) => target),
      ["Billing/Invoice"],
    );
    const qa = await vscode.commands.executeCommand<{ readonly summary: string; readonly error?: unknown }>("orch.qa");
    assert.deepEqual([qa.error, /source file/.test(qa.summary)], [undefined, true], qa.summary);
  });

  it("what would write is refused with the disk named and a way on, and its run is in the user's own state", async () => {
    for (const [name, given] of [
      ["new", { words: ["Billing/Other"], prompt: "Anything" }],
      ["modify", { words: ["Billing/Invoice"], prompt: "Anything" }],
      ["delete", { words: ["Billing/Invoice"], overrides: { yes: true } }],
    ] as const) {
      const started = await start(name, given);
      assert.ok(path.relative(folder(), started.dir).startsWith(".."), started.dir);
      const { result } = (await ended(started)).state;
      assert.deepEqual([result?.code, result?.error?.code], [5, "env.read-only"], `${name}: ${result?.summary}`);
      assert.match(result?.error?.hint ?? "", /writable, or work in a copy/);
    }
  });
});
