// The task `orch: qa`, run by the editor as any other task, and its findings as the problem matcher reads them.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { folder, host, until } from "./window.ts";

const trustFile = path.join(process.env["XDG_STATE_HOME"] ?? "", "orch/trust.json");

/** Starts the task; its exit code comes when it ends. */
async function start(): Promise<{ readonly ended: Promise<number | undefined> }> {
  await host();
  const [task] = await vscode.tasks.fetchTasks({ type: "orch" });
  assert.ok(task);
  const ended = new Promise<number | undefined>((resolve) => {
    const listening = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
      if (execution.task.name !== "qa") return;
      listening.dispose();
      resolve(exitCode);
    });
  });
  await vscode.tasks.executeTask(task);
  return { ended };
}

describe("the task orch: qa", () => {
  it("asks in its terminal whether tests may run, waits for the answer, and ends with 1 on a FAIL", async () => {
    assert.equal(fs.existsSync(trustFile), false, "nothing is trusted yet");
    const { ended } = await start();
    const terminal = await until("its terminal", () => vscode.window.terminals.find(({ name }) => name.includes("qa")));
    assert.equal(vscode.window.activeTerminal, terminal, "the person sees it");
    terminal.sendText("trust");
    assert.equal(await ended, 1);
    assert.match(fs.readFileSync(trustFile, "utf8"), /"code": true/);
  });

  it("asks no more what was answered, and what it prints becomes problems", async () => {
    const { ended } = await start();
    assert.equal(await ended, 1);
    const problems = (relative: string): readonly vscode.Diagnostic[] =>
      vscode.languages
        .getDiagnostics(vscode.Uri.file(path.join(folder(), relative)))
        .filter(({ source }) => source === "orch");
    const [found] = await until("the problem", () => {
      const all = problems("features/Billing/Invoice/Handler.py");
      return all.length > 0 && all;
    });
    assert.deepEqual(
      [found?.code, found?.message, found?.severity, found?.range.start.line],
      ["py.unused-import", "os is imported and not used", vscode.DiagnosticSeverity.Error, 0],
    );
    // A finding about a whole file has no line.
    const [missing] = problems("features/Billing/Invoice/Schema.py");
    assert.equal(missing?.code, "constitution.11");
  });
});
