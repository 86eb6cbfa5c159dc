import assert from "node:assert/strict";
import * as vscode from "vscode";
import { ended, start } from "./started.ts";
import { host } from "./window.ts";

describe("a machine without git", () => {
  it("every command says that git is missing and where it comes from, and the window stays usable", async () => {
    const { featuresOf, status } = await host();
    const run = await ended(await start("do", { words: ["Billing/Invoice"] }));
    const { error } = run.state.result ?? {};
    assert.deepEqual([error?.code, error?.hint], ["git.missing", "Install git 2.38 or newer"]);
    // Asked for its feature first, it says so instead of that there is none.
    assert.equal((await vscode.commands.executeCommand("orch.do")) ?? undefined, undefined);
    const scan = await vscode.commands.executeCommand<{ readonly error?: { readonly code: string } }>("orch.scan");
    assert.equal(scan.error?.code, "git.missing");
    await assert.rejects(featuresOf(), /git is not on the PATH\. Install git/);
    assert.match(status().text, /do failed/);
  });
});
