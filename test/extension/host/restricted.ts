import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { offered } from "../harness/offered.ts";
import { beginDo, scriptedRun } from "./scripted-run.ts";
import { folder, host, until } from "./window.ts";

describe("an untrusted workspace", () => {
  it("shows runs and features", async () => {
    assert.equal(vscode.workspace.isTrusted, false);
    const { status, sessions } = await host();
    const { log, leave } = await scriptedRun(folder());
    beginDo(log);
    await until("the run", () => status().text.includes("do Billing/Invoice running"));
    leave();
    assert.equal(sessions.all.length, 1);
  });

  it("starts nothing that would run the repository's code or change it", async () => {
    await host();
    const runs = path.join(folder(), ".orch/runs");
    const before = fs.readdirSync(runs).length;
    const changing = offered.filter(({ kind, name }) => kind === "run" || ["qa", "resume", "trust"].includes(name));
    for (const { name } of changing) {
      assert.equal(
        (await vscode.commands.executeCommand(`orch.${name}`, { words: ["Billing/Invoice"], prompt: "x" })) ??
          undefined,
        undefined,
        name,
      );
    }
    const result = await vscode.lm.invokeTool("orch_do", { input: {}, toolInvocationToken: undefined });
    assert.match((result.content[0] as vscode.LanguageModelTextPart).value, /Restricted Mode/);
    assert.equal(fs.readdirSync(runs).length, before);
  });
});
