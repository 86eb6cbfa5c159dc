// Every command of the table through the real runner, with the demo's model: what the palette starts, without its input.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { offered } from "../harness/offered.ts";
import { demoRequest } from "../../../shared/app/demo/cassette.ts";
import { answer, ended, followed, start as begin, type Started } from "./started.ts";
import { folder, host, until } from "./window.ts";

const used = new Set<string>();

async function start(name: string, given: object = {}): Promise<Started> {
  used.add(name);
  return begin(name, given);
}

function tree(): string {
  return execFileSync("git", ["status", "--porcelain", "--branch"], { cwd: folder(), encoding: "utf8" });
}

describe("the commands", function () {
  this.timeout(600_000);

  it("new, do with its trust question, status, scan, qa, merge", async () => {
    const made = await ended(await start("new", { words: ["Billing/Invoice"], prompt: demoRequest }));
    assert.equal(made.state.result?.code, 0, made.state.result?.summary);

    const doing = await start("do");
    await answer(doing, "trust");
    const done = await ended(doing);
    assert.equal(done.state.result?.code, 0, done.state.result?.summary);
    assert.deepEqual(
      done.state.contracts[0]?.attempts.map(({ verdict }) => verdict?.kind),
      ["fail", "pass"],
    );
    assert.equal(await vscode.commands.executeCommand("orch.host.lastDiff"), true);
    const tab = await until("the diff", () => vscode.window.tabGroups.activeTabGroup.activeTab);
    assert.match(tab.label, /Invoice, attempt 2/);

    for (const name of ["status", "runs"]) {
      used.add(name);
      assert.deepEqual(await vscode.commands.executeCommand(`orch.${name}`), { active: 0, decisions: 0, runs: 2 });
    }
    for (const name of ["scan", "qa", "wait"]) {
      used.add(name);
      const document = await vscode.commands.executeCommand<{ readonly ok: boolean; readonly summary: string }>(
        `orch.${name}`,
      );
      assert.equal(document.ok, true, document.summary);
    }
    const merged = await ended(await start("merge"));
    assert.equal(merged.state.result?.code, 0, merged.state.result?.summary);
  });

  it("a failed do leaves its change for apply; undo asks, and restore brings it back", async () => {
    await ended(await start("new", { words: ["Greeting/Broken"], prompt: "Says hello" }));
    const failed = await ended(await start("do"));
    assert.deepEqual([failed.state.result?.ok, failed.state.contracts[0]?.attempts.length], [false, 3]);
    const applied = await ended(await start("apply", { words: [`${failed.run}/Broken/attempt-3`] }));
    assert.equal(applied.state.result?.code, 0, applied.state.result?.summary);
    const file = path.join(folder(), "features/Greeting/Broken/Handler.py");
    assert.match(fs.readFileSync(file, "utf8"), /except:/);

    const kept = await start("undo");
    await answer(kept, "no");
    await ended(kept);
    assert.ok(fs.existsSync(file));
    const undone = await start("undo");
    await answer(undone, "yes");
    const gone = await ended(undone);
    assert.equal(gone.state.result?.code, 0, gone.state.result?.summary);
    assert.equal(fs.existsSync(file), false);
    const id = gone.state.trash.at(-1);
    const back = await ended(await start("restore", { words: [id] }));
    assert.equal(back.state.result?.code, 0, back.state.result?.summary);
    assert.match(fs.readFileSync(file, "utf8"), /except:/);
    const again = await start("undo");
    await answer(again, "yes");
    await ended(again);
  });

  it("cancel ends a run; reply says when nothing asks; resume says when nothing can go on", async () => {
    await ended(await start("new", { words: ["Greeting/Slow"], prompt: "Says hello slowly" }));
    const slow = await start("do");
    await until("the attempt", async () => (await followed(slow.run)).state.contracts[0]?.attempts.length === 1);
    used.add("cancel");
    assert.equal(await vscode.commands.executeCommand("orch.cancel"), slow.run);
    const cancelled = await ended(slow);
    assert.equal(cancelled.standing, "cancelled");
    for (const name of ["reply", "resume", "cancel"]) {
      used.add(name);
      assert.equal((await vscode.commands.executeCommand(`orch.${name}`)) ?? undefined, undefined);
    }
  });

  it("trust answers when everything is trusted; the demo opens its terminal", async () => {
    used.add("trust");
    assert.equal(await vscode.commands.executeCommand("orch.trust"), true);
    used.add("demo");
    assert.equal(await vscode.commands.executeCommand("orch.demo"), "Orch demo");
    const terminal = await until("the terminal", () =>
      vscode.window.terminals.find(({ name }) => name === "Orch demo"),
    );
    terminal.dispose();
  });

  it("a runner that is missing or broken is told, and nothing is left running", async () => {
    const { status, withRunner } = await host();
    const before = status().text;
    const broken = path.join(folder(), "..", "broken-runner.mjs");
    fs.writeFileSync(broken, "throw new Error('the bundle is damaged');\n");
    for (const entry of [broken, path.join(folder(), "..", "no-runner.mjs")]) {
      const started = await withRunner(entry, async () =>
        vscode.commands.executeCommand("orch.do", { words: ["Greeting/Slow"] }),
      );
      assert.equal(started ?? undefined, undefined);
    }
    assert.equal(status().text, before);
  });

  it("every other command is answered: a read one at once, a run without changing anything", async () => {
    for (const command of offered.filter(({ name }) => !used.has(name) && name !== "model")) {
      // Without a word some are picked from a list; what is not there is answered, too.
      const words = command.args.flatMap(({ completes, name, required }) =>
        completes === "feature" ? ["Greeting/Slow"] : required || name === "contract" ? ["none"] : [],
      );
      console.log(`trying orch ${command.name} ${words.join(" ")}`);
      if (command.kind === "run") {
        // What cannot be foretold is asked about something that does not exist.
        const overrides = command.options.includes("dry-run") ? { dryRun: true } : {};
        const before = tree();
        const tried = await ended(await start(command.name, { words, prompt: "nothing", overrides }));
        assert.ok(tried.state.result, command.name);
        assert.notEqual(tried.state.result.code, 70, `${command.name}: ${tried.state.result.summary}`);
        assert.equal(tree(), before, command.name);
      } else {
        const document = await vscode.commands.executeCommand<{ readonly summary: string } | undefined>(
          `orch.${command.name}`,
          { words },
        );
        assert.ok(document?.summary, command.name);
      }
    }
  });
});
