import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createPiModel } from "../../shared/adapters/model-pi.ts";
import { unknownUsage } from "../../shared/model/usage.ts";
import type { Completion, ModelRequest } from "../../shared/ports/model.ts";
import { piPlace } from "../support/pi-place.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const request: ModelRequest = {
  role: "implement",
  step: 1,
  messages: [
    { role: "system", content: "You write Python slices." },
    { role: "user", content: "Write Schema.py" },
  ],
  timeoutMs: 30_000,
};
const never = new AbortController().signal;

async function ask(step: Step, about: Partial<ModelRequest> = {}, id = "lab/scripted") {
  await using server = await startScriptedModelServer({ steps: [step] });
  await using place = await piPlace({ baseUrl: server.baseUrl });
  const before = await place.userFiles();
  const said = await createPiModel({ ...place.deps, pi: await place.program() }, id).complete(
    { ...request, ...about },
    never,
  );
  assert.deepEqual(await place.userFiles(), before, "the user's own pi folder is as it was");
  assert.deepEqual(await place.leftHomes(), [], "no private folder is left");
  return { said, calls: server.calls };
}

function gist(said: Completion): string {
  return said.kind === "ok" ? `ok ${said.text}` : `${said.why}: ${said.detail}`;
}

describe("contract: the real pi client @slow", function () {
  this.timeout(600_000);

  const usage = { input: 200, output: 12, cacheRead: 900 };
  const cases: readonly (readonly [name: string, step: Step, expected: RegExp])[] = [
    ["success", { reply: { text: "x = 1\ny = 2\n", usage } }, /^ok x = 1\ny = 2\n$/],
    [
      "429",
      { fail: { kind: "status", status: 429, message: "slow down", retryAfterSeconds: 3600 } },
      /^rate-limit: 429 .*slow down/,
    ],
    ["500", { fail: { kind: "status", status: 500, message: "it broke" } }, /^error: 500 .*it broke/],
    [
      "401",
      { fail: { kind: "status", status: 401, message: "Incorrect API key provided: dummy-key-of-the-lab" } },
      /^auth: 401 Incorrect API key provided/,
    ],
    [
      "404 unknown model",
      { fail: { kind: "status", status: 404, message: "The model `scripted` does not exist" } },
      /^unknown-model: 404/,
    ],
    ["empty body", { fail: { kind: "empty-body" } }, /^(?:truncated|empty|network|error|protocol): /],
    ["empty reply", { reply: { text: "" } }, /^empty: an empty reply$/],
    ["token limit", { reply: { text: "x = ", stop: "length" } }, /^truncated: the token limit was reached$/],
    [
      "stream cut without a finish",
      { fail: { kind: "truncate", text: "x = 1 and so on and on" } },
      /^truncated: the reply stopped before its end$/,
    ],
    ["an HTML page", { fail: { kind: "html" } }, /^(?:truncated|empty|error|protocol): /],
    ["connection reset", { fail: { kind: "reset" } }, /^network: /],
    ["tool-call markup comes through as text", { reply: { text: "<tool_call>\n{}\n</tool_call>" } }, /^ok <tool_call>/],
  ];
  for (const [name, step, expected] of cases) {
    it(name, async () => {
      const { said, calls } = await ask(step);
      assert.match(gist(said), expected);
      assert.equal(calls.length, 1, "pi's own retries are off");
    });
  }

  it("sends persona and prompt, whole, and offers no tools", async () => {
    const long = `Write this:\n${"x = 1  # a long prompt, longer than one argument of a command line may be\n".repeat(4000)}/end "quoted" $HOME @file`;
    const { calls } = await ask(
      { reply: { text: "fine" } },
      {
        messages: [
          { role: "system", content: "You write Python slices." },
          { role: "user", content: long },
        ],
      },
    );
    assert.deepEqual(
      [
        calls.length,
        calls[0]?.user === long,
        calls[0]?.offersTools,
        calls[0]?.system.startsWith("You write Python slices."),
        /AGENTS|CLAUDE/.test(calls[0]?.system ?? ""),
      ],
      [1, true, false, true, false],
    );
  });

  it("tells what came before as what it was", async () => {
    const messages = [
      { role: "user", content: "Write a spec" },
      { role: "assistant", content: "# Invoice" },
      { role: "user", content: "Mend it" },
    ] as const;
    const { calls } = await ask({ reply: { text: "fine" } }, { messages });
    assert.equal(calls[0]?.user, "Write a spec\n\n---\n\nYour earlier answer:\n\n# Invoice\n\n---\n\nMend it");
  });

  it("a hang ends at the timeout, with the process", async () => {
    const { said } = await ask({ fail: { kind: "hang" } }, { timeoutMs: 1500 });
    assert.match(gist(said), /^timeout: /);
  });

  it("a model that pi does not know", async () => {
    const { said, calls } = await ask({ reply: { text: "never" } }, {}, "nowhere/nothing-like-it");
    assert.deepEqual([said.kind === "failed" && said.why, calls.length], ["unknown-model", 0]);
  });

  it("a name that pi matches loosely is not passed off as the model asked for", async () => {
    const { said } = await ask({ reply: { text: "from another" } }, {}, "scripte");
    assert.match(gist(said), /^unknown-model: pi knows no such model and asked lab\/scripted instead$/);
  });

  it("a provider without a login", async () => {
    const { said, calls } = await ask({ reply: { text: "never" } }, {}, "openai/gpt-4.1");
    assert.deepEqual([said.kind === "failed" && said.why, calls.length], ["auth", 0], gist(said));
  });

  it("an abort is honoured within 100 ms and leaves nothing behind", async () => {
    await using server = await startScriptedModelServer({ steps: [{ fail: { kind: "hang" } }] });
    await using place = await piPlace({ baseUrl: server.baseUrl });
    const stop = new AbortController();
    let pid = 0;
    const deps = { ...place.deps, pi: await place.program(), onStart: (started: number) => (pid = started) };
    const answer = createPiModel(deps, "lab/scripted").complete(request, stop.signal);
    await server.received(1);
    stop.abort();
    await assert.rejects(answer, { name: "AbortError" });
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
    assert.deepEqual(await place.leftHomes(), []);
  });

  it("usage and cost as pi tells them, unknown where it does not", async () => {
    await using server = await startScriptedModelServer({
      steps: [{ times: 1, reply: { text: "x", usage } }, { reply: { text: "x" } }],
    });
    const cost = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 };
    const usages: unknown[] = [];
    for (const options of [{ baseUrl: server.baseUrl, cost }, { baseUrl: server.baseUrl }]) {
      await using place = await piPlace(options);
      const said = await createPiModel({ ...place.deps, pi: await place.program() }, "lab/scripted").complete(
        request,
        never,
      );
      usages.push(said.kind === "ok" && said.usage);
    }
    assert.deepEqual(usages, [{ ...usage, costUsd: 0.000314 }, unknownUsage]);
  });

  it("the environment is built, not inherited; keys named in the user's models.json are passed", async () => {
    await using server = await startScriptedModelServer({
      steps: [{ fail: { kind: "status", status: 401, message: "bad key secret-of-mine-123" } }],
    });
    await using place = await piPlace({
      baseUrl: server.baseUrl,
      apiKey: "$LAB_SECRET",
      env: { LAB_SECRET: "secret-of-mine-123", PI_SOMETHING: "1", NODE_OPTIONS: "--require=/nowhere.js" },
    });
    const pi = await place.program();
    assert.ok(
      pi.variables.includes("LAB_SECRET") &&
        pi.variables.includes("OPENROUTER_API_KEY") &&
        !pi.variables.some((name) => name.startsWith("PI_")),
    );
    const said = await createPiModel({ ...place.deps, pi }, "lab/scripted").complete(request, never);
    assert.equal(server.calls[0]?.authorized, true);
    assert.match(gist(said), /^auth: 401 bad key \[LAB_SECRET\]$/);
  });
});

describe("contract: finding pi @slow", function () {
  this.timeout(600_000);

  it("is usable with a model, not without a login, and is looked for once", async () => {
    await using with1 = await piPlace({ baseUrl: "http://127.0.0.1:9/v1" });
    await using without = await piPlace();
    assert.deepEqual(await with1.probe.usable(never), {
      usable: true,
      why: "pi lists 1 model",
      models: ["lab/scripted"],
    });
    assert.deepEqual(await without.probe.usable(never), {
      usable: false,
      why: "pi is installed, but has no login and no key",
      models: [],
    });
    assert.deepEqual([await with1.leftHomes(), Object.keys(await without.userFiles())], [[], []]);
    const pi = await with1.program();
    assert.deepEqual([pi.argv[0], pi.flags.includes("--no-mcp"), pi.userDir], [process.execPath, true, with1.agentDir]);
  });

  it("says what is missing", async () => {
    await using place = await piPlace({ command: "no-such-pi" });
    const found = await place.probe.find(never);
    assert.deepEqual(found.kind === "missing" && [found.why, /npm install/.test(found.hint)], [
      "no-such-pi is not on the PATH",
      true,
    ]);
  });

  it("another program of that name is not taken for pi", async () => {
    await using place = await piPlace();
    const file = path.join(place.home, "bin", "pi");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "#!/bin/sh\necho 3.14159\n");
    await chmod(file, 0o755);
    await using other = await piPlace({ command: file });
    const found = await other.probe.find(never);
    assert.equal(found.kind === "missing" && found.why, `${file} at ${file} is not the pi that Orch knows`);
  });
});
