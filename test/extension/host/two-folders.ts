import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { beginDo, endDo, scriptedRun } from "./scripted-run.ts";
import { host, until } from "./window.ts";

describe("two folders", () => {
  it("have a session each, and a run in one is the window's", async () => {
    const { sessions, status } = await host();
    assert.deepEqual(
      sessions.all.map(({ root, base }) => [root === undefined, path.basename(base)]),
      [
        [false, "repo"],
        [true, "plain"],
      ],
    );
    const root = sessions.all[0]?.base ?? "";
    const { log, run, leave } = await scriptedRun(root);
    beginDo(log);
    await until("the run", () => status().text.includes("running"));
    assert.equal(sessions.ofRun(run), sessions.all[0]);
    endDo(log, true);
    leave();
    await until("the end", () => status().text.includes("passed"));
  });

  it("a folder that is no repository is refused with a way on, and nothing is written into it", async () => {
    const { sessions } = await host();
    const plain = sessions.all[1];
    assert.ok(plain);
    const started = await vscode.commands.executeCommand("orch.do", { words: ["Billing/Invoice"], session: plain });
    assert.equal(started ?? undefined, undefined);
    assert.deepEqual(fs.readdirSync(plain.base), []);
  });

  it("a folder that is taken away takes its session along", async () => {
    const { sessions } = await host();
    vscode.workspace.updateWorkspaceFolders(1, 1);
    await until("one session", () => sessions.all.length === 1);
  });
});
