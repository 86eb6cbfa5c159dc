// Runs that somebody else started: status bar, views, inbox and problems follow the log alone.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { dropReply } from "../../../shared/runner/drop.ts";
import { RunFeed } from "../../../shared/runner/run-feed.ts";
import { beginDo, endDo, scriptedRun } from "./scripted-run.ts";
import { folder, host, until } from "./window.ts";

const finding = {
  rule: "py.bare-except",
  severity: "FAIL" as const,
  message: "a bare except hides every error",
  path: "features/Billing/Invoice/Handler.py",
  line: 3,
  evidence: "except:",
  remedy: "Name the exception",
};

function problems(): readonly vscode.Diagnostic[] {
  const uri = vscode.Uri.file(path.join(folder(), finding.path));
  return vscode.languages.getDiagnostics(uri).filter(({ source }) => source === "orch");
}

describe("a run that another host started", () => {
  it("is followed from start to end", async () => {
    const { status } = await host();
    const { log, run, leave } = await scriptedRun(folder());
    beginDo(log);
    await until("the running status", () => status().text.includes("do Billing/Invoice running"));
    assert.match(status().text, /^\$\(sync~spin\) Orch: do Billing\/Invoice running · 0\/1 \(1\)/);

    log.append({
      type: "usage.recorded",
      model: "m",
      contract: "Invoice",
      attempt: 1,
      usage: { input: 10, output: 5, cacheRead: 0, costUsd: 0.04 },
    });
    await until("the cost", () => status().text.includes("$0.04"));

    log.append({ type: "gate.started", contract: "Invoice", attempt: 1, gate: "standards" });
    await until("the gate", () => status().text.includes("standards"));
    log.append({
      type: "gate.finished",
      contract: "Invoice",
      attempt: 1,
      gate: "standards",
      status: "ran",
      ms: 3,
      findings: [finding],
    });
    log.append({ type: "verdict.reached", contract: "Invoice", attempt: 1, verdict: "fail", fails: 1, warns: 0 });
    const [problem] = await until("the problem", () => problems().length > 0 && problems());
    assert.deepEqual(
      [
        problem?.message,
        problem?.severity,
        problem?.range.start.line,
        typeof problem?.code === "object" ? problem.code.value : problem?.code,
      ],
      ["a bare except hides every error\nName the exception", vscode.DiagnosticSeverity.Error, 2, "py.bare-except"],
    );

    log.append({
      type: "decision.asked",
      id: "q-1",
      title: "Spend more?",
      choices: [
        { id: "yes", label: "Yes" },
        { id: "no", label: "No" },
      ],
    });
    await until("the decision", () => status().text.includes("waiting") && status().text.includes("1 decision"));
    assert.equal(status().tone, "warning");
    log.append({ type: "decision.answered", id: "q-1", choice: "no", by: "test" });
    await until("no decision", () => !status().text.includes("decision"));

    endDo(log, false);
    leave();
    await until("the failed status", () => status().text.includes("failed"));
    assert.deepEqual([status().tone, /1\/1/.test(status().text)], ["error", true]);
    assert.match(status().tooltip, /orch\.host\.showRuns/);
    fs.rmSync(path.join(folder(), ".orch/runs", run), { recursive: true });
    await until("the run to go", () => !status().text.includes("failed"));
    await until("no problem", () => problems().length === 0);
  });

  it("says interrupted when its runner dies without a word, and running again when it is resumed", async () => {
    const { status } = await host();
    const { log, run, dir, leave } = await scriptedRun(folder());
    beginDo(log, "Ledger");
    await until("the run", () => status().text.includes("Ledger running"));
    const runner = fs.readFileSync(path.join(dir, "runner.json"));
    fs.rmSync(path.join(dir, "runner.json"));
    await until("interrupted", () => status().text.includes("interrupted"));
    fs.writeFileSync(path.join(dir, "runner.json"), runner);
    log.append({ type: "run.resumed", host: "nvim", pid: process.pid });
    await until("running again", () => status().text.includes("Ledger running"));
    endDo(log, true, "Ledger");
    leave();
    await until("passed", () => status().text.includes("passed"));
    fs.rmSync(path.join(folder(), ".orch/runs", run), { recursive: true });
  });
});

describe("ten windows on one repository", () => {
  it("all see the same run to its end, and the first answer stands for all", async () => {
    const { status } = await host();
    const runs = path.join(folder(), ".orch/runs");
    const feeds = Array.from({ length: 10 }, () => new RunFeed([runs], (error) => assert.fail(String(error))));
    await Promise.all(feeds.map((feed) => feed.start()));
    const { log, run, dir, leave } = await scriptedRun(folder());
    beginDo(log, "Shared");
    log.append({ type: "decision.asked", id: "q-9", title: "Spend?", choices: [{ id: "yes", label: "Yes" }] });
    await until("ten questions", () => feeds.every((feed) => feed.get(run)?.state.pending.length === 1));
    const answers = feeds.map((_, index) =>
      dropReply(dir, { v: 1, id: "q-9", choice: "yes", by: `window ${index}`, host: "vscode", at: 1 }),
    );
    assert.deepEqual(answers, [true, ...Array.from({ length: 9 }, () => false)]);
    log.append({ type: "decision.answered", id: "q-9", choice: "yes", by: "window 0" });
    endDo(log, true, "Shared");
    leave();
    await until("ten ends", () => feeds.every((feed) => feed.get(run)?.standing === "ok"));
    for (const feed of feeds) feed.dispose();
    await until("the end here", () => status().text.includes("passed"));
    fs.rmSync(dir, { recursive: true });
  });
});

describe("a log of ten thousand events", () => {
  it("is read while the window stays alive", async () => {
    const { status, sessions } = await host();
    const { log, run, leave } = await scriptedRun(folder());
    beginDo(log, "Huge");
    for (let n = 0; n < 10_000; n += 1) {
      log.append({
        type: "gate.finished",
        contract: "Huge",
        attempt: 1 + (n % 3),
        gate: `gate-${n % 40}`,
        status: "ran",
        ms: 1,
        findings: [],
      });
    }
    log.append({ type: "gate.started", contract: "Huge", attempt: 3, gate: "last-gate" });
    // Of the processor, not by the clock: a busy machine is no long block.
    let longest = 0;
    let last = process.cpuUsage();
    const look = (): void => {
      const { user, system } = process.cpuUsage(last);
      longest = Math.max(longest, (user + system) / 1000);
      last = process.cpuUsage();
    };
    const beat = setInterval(look, 5);
    await until("the last gate", () => status().text.includes("last-gate"));
    look();
    clearInterval(beat);
    console.log(`10,000 events: the host was busy for at most ${longest.toFixed(0)} ms`);
    assert.equal(sessions.ofRun(run)?.feed.get(run)?.state.seq, 10_004);
    endDo(log, true, "Huge");
    leave();
    await until("the end", () => status().text.includes("passed"));
    fs.rmSync(path.join(folder(), ".orch/runs", run), { recursive: true });
    assert.ok(longest < 1500, `${longest.toFixed(0)} ms`);
  });
});
