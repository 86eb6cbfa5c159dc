import assert from "node:assert/strict";
import * as vscode from "vscode";
import { offered } from "../harness/offered.ts";
import { host } from "./window.ts";

describe("a window without a folder", () => {
  it("says so in the status bar, and no command fails in silence or starts anything", async () => {
    const { status, sessions } = await host();
    assert.equal(status().text, "$(checklist) Orch");
    assert.deepEqual(sessions.all, []);
    for (const { name } of offered.filter(({ anywhere }) => anywhere !== true)) {
      assert.equal((await vscode.commands.executeCommand(`orch.${name}`)) ?? undefined, undefined, name);
    }
  });
});
