import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { type MachineContext, plainArgs } from "../../shared/app/context.ts";
import { demoCassette } from "../../shared/app/demo/cassette.ts";
import { typescriptCassette } from "../../shared/app/demo/cassette-typescript.ts";
import { sampleFiles, typescriptSampleFiles } from "../../shared/app/demo/sample.ts";
import { createDemo, type DemoCommand } from "../../shared/app/handlers/demo.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { CommandResult } from "../../shared/model/command-result.ts";
import type { ParsedEvent } from "../../shared/model/event.ts";
import type { Locks } from "../../shared/ports/lock.ts";
import { pycodestyle, pythonWithPytest, runPytest } from "../support/pytest.ts";
import { installedRules, realSyntax, runnerOf } from "../support/rulebook.ts";
import { TempDir } from "../support/temp-dir.ts";

const never = new AbortController().signal;
const args = { ...plainArgs, input: false };
const locks: Locks = {
  try: () => {
    throw new Error("the demo takes no lock of its own");
  },
  isFree: () => true,
};

function contextOf(dir: TempDir, env: Readonly<Record<string, string>>, lines: string[]): MachineContext {
  const clock = createClock();
  const place = (name: string) => dir.at(name);
  return {
    machine: {
      installRoot: dir.path,
      version: "0",
      configDir: place("config"),
      stateDir: place("state"),
      cacheDir: place("cache"),
      env,
      platform: "posix",
    },
    files: createFiles(),
    process: createProcess(),
    clock,
    ids: createIds(clock),
    locks,
    editor: {
      host: "cli",
      interactive: false,
      activeFile: () => Promise.resolve(undefined),
      ask: () => Promise.resolve(undefined),
      notify: () => undefined,
      progress: (text) => lines.push(text),
      showDiff: () => Promise.resolve(),
      showFindings: () => undefined,
      open: () => Promise.resolve(),
    },
  };
}

const verdict = (seq: number, attempt: number, fails: number): ParsedEvent => ({
  kind: "event",
  event: {
    v: 1,
    run: "r-x",
    seq,
    at: seq * 1000,
    type: "verdict.reached",
    contract: "Invoice",
    attempt,
    verdict: fails === 0 ? "pass" : "fail",
    fails,
    warns: 0,
  },
});

const note = (text: string): ParsedEvent => ({
  kind: "event",
  event: { v: 1, run: "r-x", seq: 1, at: 0, type: "progress.noted", text },
});

describe("contract: demo", function () {
  this.timeout(600_000);

  it("the scripted replies do what the demo says: attempt 1 is red, attempt 2 is green and clean", async function () {
    const python = await pythonWithPytest();
    if (python === undefined) this.skip();
    using dir = new TempDir();
    const slice = dir.at("features", "Billing", "Invoice");
    mkdirSync(slice, { recursive: true });
    writeFileSync(path.join(slice, "__init__.py"), '"""Invoice."""\n');
    const results: [number, number][] = [];
    for (const step of [1, 2]) {
      const reply = demoCassette.steps.find((one) => one.role === "implement" && one.step === step)?.reply ?? "";
      const { files } = JSON.parse(reply) as { files: Record<string, string> };
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(slice, name), text);
      const { passed, failed } = await runPytest(python, dir.path, "features/Billing/Invoice/Tests.py");
      results.push([passed, failed]);
    }
    assert.deepEqual(results, [
      [10, 1],
      [11, 0],
    ]);
    assert.ok(["", undefined].includes(await pycodestyle(python, dir.path)));
  });

  it("the TypeScript replies do the same: attempt 1 breaks a rule and is red, attempt 2 is green and clean", async () => {
    using dir = new TempDir();
    const slice = dir.at("features", "Billing", "Invoice");
    mkdirSync(slice, { recursive: true });
    using rules = runnerOf({ sources: installedRules(), switches: {} }, realSyntax());
    const roles = {
      "Schema.ts": "schema",
      "Handler.ts": "handler",
      "Controller.ts": "controller",
      "Tests.ts": "tests",
    };
    const results: unknown[] = [];
    for (const step of [1, 2]) {
      const reply = typescriptCassette.steps.find((one) => one.role === "implement" && one.step === step)?.reply ?? "";
      const { files } = JSON.parse(reply) as { files: Record<string, string> };
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(slice, name), text);
      const found: string[] = [];
      for (const [name, role] of Object.entries(roles)) {
        const text = readFileSync(path.join(slice, name), "utf8");
        const run = await rules.file({ path: `features/Billing/Invoice/${name}`, text, role });
        found.push(...run.findings.map(({ rule, severity }) => `${severity} ${name} ${rule}`));
      }
      const tested = spawnSync(process.execPath, ["--test-reporter=tap", path.join(slice, "Tests.ts")], {
        encoding: "utf8",
      });
      results.push([found, /^# pass (\d+)$/m.exec(tested.stdout)?.[1], /^# fail (\d+)$/m.exec(tested.stdout)?.[1]]);
    }
    assert.deepEqual(results, [
      [["FAIL Handler.ts ts.unused-import"], "15", "1"],
      [[], "16", "0"],
    ]);
  });

  it("tells the same story in TypeScript where no Python has pytest", async () => {
    using dir = new TempDir();
    const lines: string[] = [];
    const ran: DemoCommand[] = [];
    let files: readonly string[] = [];
    const bin = dir.at("bin");
    mkdirSync(bin);
    symlinkSync(execFileSync("which", ["git"], { encoding: "utf8" }).trim(), path.join(bin, "git"));
    const demo = createDemo({
      nodePath: process.execPath,
      trustRepository(root) {
        files = readdirSync(root).toSorted();
        return Promise.resolve();
      },
      runCommand(order): Promise<CommandResult> {
        ran.push(order);
        return Promise.resolve({ ok: true, code: 0, summary: "fine", next: [] });
      },
    });
    const env = { PATH: bin, HOME: dir.path, TMPDIR: dir.at("tmp") };
    mkdirSync(env.TMPDIR);
    const result = await demo(contextOf(dir, env, lines), args, never);
    assert.equal(result.ok, true);
    assert.deepEqual(files, [".git", ...Object.keys(typescriptSampleFiles)].toSorted());
    assert.equal(ran[0]?.env["PATH"], `${path.dirname(process.execPath)}:${bin}`);
    const text = lines.join("\n");
    assert.match(text, /The sample is in TypeScript: there is no Python on the PATH\./);
    assert.match(text, /Git, gates, Node's test runner and the runner are real/);
  });

  it("runs new, do, qa, merge on a fresh repository with a remote, tells what it is, and leaves nothing", async () => {
    using dir = new TempDir();
    const lines: string[] = [];
    const ran: DemoCommand[] = [];
    const seen: Record<string, unknown> = {};
    const demo = createDemo({
      trustRepository(root, env) {
        seen["trusted"] = path.basename(root);
        seen["files"] = readdirSync(root).toSorted();
        seen["branch"] = execFileSync("git", ["status", "--porcelain=v1", "--branch"], {
          cwd: root,
          encoding: "utf8",
        }).trim();
        seen["chain"] = JSON.parse(
          readFileSync(path.join(env["XDG_CONFIG_HOME"] ?? "", "orch", "model_chain.json"), "utf8"),
        );
        return Promise.resolve();
      },
      runCommand(order): Promise<CommandResult> {
        ran.push(order);
        if (order.command === "new") order.onEvent(note("demo/invoice wrote 4 files"));
        if (order.command === "do")
          for (const [index, fails] of [2, 0].entries()) order.onEvent(verdict(index + 1, index + 1, fails));
        return Promise.resolve({ ok: true, code: 0, summary: `${order.command} went well`, next: [] });
      },
    });
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: dir.path,
      TMPDIR: dir.at("tmp"),
      OPENAI_API_KEY: "sk-of-the-user",
    };
    mkdirSync(env.TMPDIR);
    const result = await demo(contextOf(dir, env, lines), args, never);
    assert.deepEqual(seen, {
      trusted: "corner-shop",
      files: [".git", ...Object.keys(sampleFiles)].toSorted(),
      branch: "## main...origin/main",
      chain: ["demo/invoice"],
    });
    assert.deepEqual(
      ran.map(({ command }) => command),
      ["new", "do", "qa", "merge"],
    );
    const [first] = ran;
    assert.ok(
      first !== undefined &&
        /^http:\/\/127\.0\.0\.1:\d+\/v1$/.test(first.env["ORCH_DEMO_URL"] ?? "") &&
        !("OPENAI_API_KEY" in first.env),
    );
    assert.ok(first.env["XDG_STATE_HOME"]?.startsWith(env.TMPDIR) && first.cwd.startsWith(env.TMPDIR));
    assert.deepEqual(
      [result.ok, result.next],
      [true, ['cd your/repository && orch new domain/Feature "what it does"']],
    );
    const text = lines.join("\n");
    for (const part of [
      /replies are scripted/,
      /demo\/invoice \(scripted\) wrote 4 files/,
      /\$ orch new Billing\/Invoice 'Totals of/,
      /attempt 1 \(scripted\): 2 to mend/,
      /attempt 2 \(scripted\): every gate passed/,
      /^do {4}\|/m,
    ])
      assert.match(text, part);
    assert.deepEqual(readdirSync(env.TMPDIR), []);
  });

  it("stops where a command fails, passes its exit code on, and keeps the folder only when asked", async () => {
    for (const keep of [false, true]) {
      using dir = new TempDir();
      const tmp = dir.at("tmp");
      mkdirSync(tmp);
      const demo = createDemo({
        trustRepository: () => Promise.resolve(),
        runCommand: ({ command }) =>
          Promise.resolve(
            command === "do"
              ? { ok: false, code: 4, summary: "no model answered", next: [] }
              : { ok: true, code: 0, summary: "fine", next: [] },
          ),
      });
      const result = await demo(
        contextOf(dir, { PATH: process.env["PATH"] ?? "", HOME: dir.path, TMPDIR: tmp }, []),
        { ...args, keep },
        never,
      );
      assert.deepEqual(
        [result.ok, result.code, result.summary, readdirSync(tmp).length],
        [false, 4, "the demo stopped at orch do: no model answered", keep ? 1 : 0],
      );
    }
  });

  const bare: readonly (readonly [string, (dir: TempDir) => string, RegExp])[] = [
    ["no Python", () => "/nonexistent", /no Python on the PATH/],
    [
      "a Python without pytest",
      (dir) => {
        mkdirSync(dir.at("bin"));
        writeFileSync(dir.at("bin", "python3"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
        return dir.at("bin");
      },
      /python3 has no pytest, and no other Python/,
    ],
  ];
  for (const [name, pathOf, message] of bare) {
    it(`${name}: says what to install and makes nothing`, async () => {
      using dir = new TempDir();
      const tmp = absPath(dir.at("tmp"));
      const demo = createDemo({
        trustRepository: () => Promise.reject(new Error("not so far")),
        runCommand: () => Promise.reject(new Error("not so far")),
      });
      await assert.rejects(demo(contextOf(dir, { PATH: pathOf(dir), HOME: dir.path, TMPDIR: tmp }, []), args, never), {
        code: "env.no-python",
        message,
        hint: /apt-get install/,
      });
      assert.equal(existsSync(tmp), false);
    });
  }
});
