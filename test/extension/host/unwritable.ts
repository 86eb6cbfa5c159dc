import assert from "node:assert/strict";
import path from "node:path";
import * as vscode from "vscode";
import { folder, host, until } from "./window.ts";

describe("a repository that cannot hold run folders", () => {
  it("keeps its runs in the user's own state, and the window follows them there", async () => {
    const { sessions, status } = await host();
    const started = await vscode.commands.executeCommand<{ readonly run: string; readonly dir: string } | undefined>(
      "orch.undo",
      { words: ["Billing/Nothing"], overrides: { dryRun: true } },
    );
    assert.ok(started);
    assert.ok(path.relative(folder(), started.dir).startsWith(".."), started.dir);
    const session = sessions.all[0];
    await until("the end", () => session?.feed.get(started.run)?.state.result !== undefined);
    await until("the status", () => status().text.includes("undo"));
  });
});
