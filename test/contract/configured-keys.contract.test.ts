import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { composeRepository } from "../../shared/app/compose.ts";
import { createLocalCore } from "../../shared/app/local.ts";
import { createRunParts } from "../../shared/app/run-parts.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { startRunnerProcess } from "../../shared/runner/runner-process.ts";
import type { RunnerDeps } from "../../shared/runner/runner.ts";
import { args, type Bench, makeBench } from "../support/bench.ts";
import { sourceRoot } from "../support/source-root.ts";

const never = new AbortController().signal;
// Neither the variable's name nor the value's shape tells that it is a secret: only the settings do.
const value = "plain words of the lab";
const env = { LAB_WORDS: value };

async function configured(): Promise<Bench> {
  const bench = await makeBench();
  const lab = { baseUrl: "http://127.0.0.1:9/v1", keyEnv: "LAB_WORDS" };
  for (const dir of [bench.context.machine.configDir, path.join(bench.repo.env["XDG_CONFIG_HOME"] ?? "", "orch")]) {
    await mkdir(dir, { recursive: true });
    await writeFile(path.join(dir, "config.json"), JSON.stringify({ models: { providers: { lab } } }));
  }
  return bench;
}

function wiringOf(bench: Bench) {
  const { machine, editor } = bench.context;
  const { configDir, stateDir, cacheDir, version, platform } = machine;
  return {
    places: { installRoot: absPath(sourceRoot), configDir, stateDir, cacheDir, version, platform },
    env: { ...bench.repo.env, ...env },
    nodePath: process.execPath,
    cwd: bench.repo.root,
    editor,
    host: { resume: () => assert.fail("no run"), changed: () => assert.fail("no run") },
    signal: never,
  };
}

describe("the value of a configured keyEnv", () => {
  it("is in no event and no payload of a run, and in nothing that is sent", async () => {
    await using bench = await configured();
    const wiring = wiringOf(bench);
    const parts = createRunParts(wiring.env, []);
    const dir = inRoot(absPath(bench.repo.base), "r-1");
    using log = await parts.logs.open("r-1", dir);
    await using composed = await composeRepository({
      ...wiring,
      redactor: parts.redactor,
      run: { folder: { run: "r-1", dir }, sink: log, history: [] },
    });
    composed.context.sink.append({ type: "progress.noted", text: `refused: ${value}` });
    await composed.context.sink.sidecar("Invoice/attempt-1/transcript.jsonl", JSON.stringify({ text: value }));
    assert.equal(composed.context.redact(`a ${value} b`), "a [redacted] b");
    const { redact } = await composed.context.projectGates();
    assert.equal(redact(`OLD = "${value}"`).text, 'OLD = "[redacted key]"', "nor of a prompt made of the repository");
    assert.deepEqual(await holders(dir), []);
    assert.match(await readFile(path.join(dir, "events.jsonl"), "utf8"), /refused: \[redacted\]/);
  });

  it("is in no file of a command without a run either", async () => {
    await using bench = await configured();
    await using composed = await composeRepository(wiringOf(bench));
    const { runDir, sink } = composed.context;
    const said = await sink.sidecar("tests/out.txt", `said ${value}`);
    assert.equal(await readFile(inRoot(runDir, "tests/out.txt"), "utf8"), "said [redacted]");
    assert.equal(said.bytes, "said [redacted]".length);
  });

  it("is not on the terminal when a short command fails with it", async () => {
    await using bench = await configured();
    const core = createLocalCore({
      env: { ...bench.repo.env, ...env },
      execPath: process.execPath,
      platform: process.platform,
      moduleUrl: import.meta.url,
    });
    const { editor } = bench.context;
    const host = wiringOf(bench).host;
    const call = { command: "config", args: args({ words: ["explain", value] }), cwd: bench.repo.root, editor, host };
    const result = await core.run(call as Parameters<typeof core.run>[0], never);
    assert.equal(result.ok, false);
    assert.match(JSON.stringify(result), /\[redacted\]/);
    assert.equal(JSON.stringify(result).includes(value), false);
  });

  it("is not among the last words of a runner that could not begin", async () => {
    const said: string[] = [];
    const { redactor } = createRunParts({ DEMO_API_KEY: value }, []);
    const fails = (): Promise<never> => Promise.reject(new Error(`no such ${value}`));
    const deps = { redactor, clock: { now: () => "" }, store: { request: fails } } as unknown as RunnerDeps;
    await startRunnerProcess(
      { argv: ["/nowhere/r-1"], on: () => undefined, writeError: (text) => said.push(text), exit: () => undefined },
      () => deps,
    );
    assert.match(said.join(""), /no such \[redacted\]/);
  });
});

async function holders(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return files.filter((_, at) => texts[at]?.includes(value) === true);
}
