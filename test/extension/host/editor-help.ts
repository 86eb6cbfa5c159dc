// What the editor offers around the product's files: schemas, quick fixes, lenses, tasks, tests, tools.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { offered } from "../harness/offered.ts";
import { beginDo, endDo, scriptedRun } from "./scripted-run.ts";
import { folder, host, until } from "./window.ts";

const handler = "features/Billing/Invoice/Handler.py";

async function open(relative: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(path.join(folder(), relative));
  await vscode.window.showTextDocument(document);
  return document;
}

describe("help for files", () => {
  it("schemas mark what the command line would refuse", async () => {
    await host();
    const at = path.join(folder(), ".orch/config.json");
    fs.mkdirSync(path.dirname(at), { recursive: true });
    fs.writeFileSync(at, `{ "features": { "max_attempts": 99 }, "unknown_key": 1 }\n`);
    const document = await open(".orch/config.json");
    const marks = await until("the marks", () => {
      const found = vscode.languages.getDiagnostics(document.uri);
      return found.length >= 2 && found;
    });
    assert.match(marks.map(({ message }) => message).join("\n"), /20/);
    fs.rmSync(at);
  });

  it("a finding has a quick fix, which is applied, and the rule behind it", async () => {
    const { status } = await host();
    const document = await open(handler);
    const { log, run, dir, leave } = await scriptedRun(folder());
    beginDo(log);
    const finding = {
      rule: "py.unused-import",
      severity: "FAIL" as const,
      message: "os is imported and not used",
      path: handler,
      line: 1,
      evidence: "import os",
      remedy: "Remove the import",
    };
    log.append({
      type: "gate.finished",
      contract: "Invoice",
      attempt: 1,
      gate: "standards",
      status: "ran",
      ms: 1,
      findings: [finding],
    });
    const [problem] = await until("the problem", () => {
      const found = vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === "orch");
      return found.length > 0 && found;
    });
    assert.ok(problem && typeof problem.code === "object");
    assert.match(problem.code.target.fsPath, /rules\/python\/core\.json$/);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider",
      document.uri,
      problem.range,
    );
    const titles = actions.map(({ title }) => title);
    assert.ok(
      titles.includes("Fix py.unused-import") && titles.includes("Show the rule py.unused-import"),
      titles.join(),
    );
    const fix = actions.find(({ title }) => title === "Fix py.unused-import")?.edit;
    assert.ok(fix && (await vscode.workspace.applyEdit(fix)));
    assert.match(document.getText(), /^import re\n/);
    await vscode.commands.executeCommand("workbench.action.files.revert");
    endDo(log, false);
    leave();
    await until("the end", () => status().text.includes("failed"));
    assert.ok(fs.existsSync(dir), run);
    fs.rmSync(dir, { recursive: true });
  });

  it("lenses stand above spec.md and Tests files, and nowhere else", async () => {
    await host();
    const lenses = async (relative: string): Promise<readonly string[]> => {
      const document = await open(relative);
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        document.uri,
        10,
      );
      return found.flatMap(({ command }) => (command?.command.startsWith("orch.") ? [command.title] : []));
    };
    const modify = offered.some(({ name }) => name === "modify") ? ["$(edit) Modify"] : [];
    assert.deepEqual(await lenses("features/Billing/Invoice/spec.md"), ["$(play) Do", ...modify]);
    assert.deepEqual(await lenses("features/Billing/Invoice/Tests.py"), ["$(beaker) Test this feature"]);
    assert.deepEqual(await lenses(handler), []);
  });

  it("offers the task orch: qa", async () => {
    await host();
    const tasks = await vscode.tasks.fetchTasks({ type: "orch" });
    assert.deepEqual(
      tasks.map(({ name, problemMatchers }) => [name, problemMatchers]),
      [["qa", ["$orch", "$orch-file"]]],
    );
  });

  it("the features view asks the command line", async () => {
    const { featuresOf } = await host();
    const rows = await featuresOf();
    assert.deepEqual(
      rows.map(({ target, registered }) => [target, registered]),
      [["Billing/Invoice", true]],
    );
  });
});

describe("language-model tools", () => {
  it("read-only ones answer; one that changes anything asks the person first", async () => {
    const { tools } = await host();
    const names = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith("orch_"));
    assert.ok(
      ["orch_status", "orch_scan", "orch_new", "orch_do", "orch_merge", "orch_qa"].every((name) =>
        names.includes(name),
      ),
      names.join(),
    );
    const said = await vscode.lm.invokeTool("orch_scan", { input: {}, toolInvocationToken: undefined });
    assert.match((said.content[0] as vscode.LanguageModelTextPart).value, /Billing\/Invoice/);
    const confirmed = async (name: string): Promise<boolean> =>
      (await tools.prepare(name, { target: "Billing/Invoice" })).confirmationMessages !== undefined;
    const asks = await Promise.all(names.map(async (name) => [name, await confirmed(name)] as const));
    assert.deepEqual(
      asks
        .filter(([, asked]) => !asked)
        .map(([name]) => name)
        .toSorted(),
      ["orch_runs", "orch_scan", "orch_status"],
    );
  });
});

describe("keys", () => {
  it("are kept in secret storage and travel in the runner's environment only", async () => {
    const { keys } = await host();
    await keys.store("OPENROUTER_API_KEY", "sk-test-0123456789");
    assert.deepEqual(
      [await keys.names(), (await keys.all())["OPENROUTER_API_KEY"]],
      [["OPENROUTER_API_KEY"], "sk-test-0123456789"],
    );
    await assert.rejects(keys.store("not a name", "x"));
    await keys.remove("OPENROUTER_API_KEY");
    assert.deepEqual(await keys.names(), []);
  });
});
