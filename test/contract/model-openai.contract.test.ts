import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAiModel, type OpenAiEndpoint } from "../../shared/adapters/model-openai.ts";
import { unknownUsage } from "../../shared/model/usage.ts";
import type { Completion, ModelRequest } from "../../shared/ports/model.ts";
import type { Script, Step } from "../support/scripted-model-server/script.ts";
import { quickest } from "../support/quickest.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const request: ModelRequest = {
  role: "implement",
  step: 1,
  messages: [
    { role: "system", content: "You write Python." },
    { role: "user", content: "Write Schema.py" },
  ],
  timeoutMs: 10_000,
};
const never = new AbortController().signal;
const key = "sk-test-0123456789abcdef";

async function ask(
  step: Step,
  more: Partial<OpenAiEndpoint> = {},
  about: Partial<ModelRequest> = {},
): Promise<{ said: Completion; calls: number }> {
  await using server = await startScriptedModelServer({ steps: [step] });
  const model = createOpenAiModel({
    id: "lab/scripted",
    remoteName: "scripted",
    baseUrl: server.baseUrl,
    key,
    keyEnv: "LAB_KEY",
    ...more,
  });
  return { said: await model.complete({ ...request, ...about }, never), calls: server.calls.length };
}

/** What the chain acts on. */
function gist(said: Completion): string {
  return said.kind === "ok" ? `ok ${said.text}` : `${said.why}: ${said.detail}`;
}

describe("contract: model over the OpenAI protocol", () => {
  const usage = { input: 200, output: 12, cacheRead: 900 };
  const cases: readonly (readonly [name: string, step: Step, expected: RegExp])[] = [
    ["success, streamed", { reply: { text: "x = 1\n", usage } }, /^ok x = 1\n$/],
    ["success, in one body", { reply: { text: "x = 1\n", whole: true } }, /^ok x = 1\n$/],
    ["success after thinking", { reply: { thinking: "hm", text: "x = 1" } }, /^ok x = 1$/],
    [
      "429",
      { fail: { kind: "status", status: 429, message: "slow down", retryAfterSeconds: 3600 } },
      /^rate-limit: 429 slow down$/,
    ],
    ["500", { fail: { kind: "status", status: 500 } }, /^error: 500 scripted HTTP 500$/],
    [
      "401 that repeats the key",
      { fail: { kind: "status", status: 401, message: `Incorrect API key provided: ${key}` } },
      /^auth: 401 Incorrect API key provided: \[key\]$/,
    ],
    ["403", { fail: { kind: "status", status: 403, message: "not allowed" } }, /^auth: 403/],
    [
      "404 unknown model",
      { fail: { kind: "status", status: 404, message: "The model `scripted` does not exist" } },
      /^unknown-model: 404/,
    ],
    [
      "400 unknown model by code",
      { fail: { kind: "status", status: 400, message: "nope", code: "model_not_found" } },
      /^unknown-model: 400/,
    ],
    [
      "400 context too long",
      { fail: { kind: "status", status: 400, message: "maximum context length is 8192" } },
      /^error: 400/,
    ],
    ["empty body", { fail: { kind: "empty-body" } }, /^empty: a 200 answer without a body$/],
    ["empty reply", { reply: { text: "" } }, /^empty: an empty reply$/],
    ["token limit", { reply: { text: "x = ", stop: "length" } }, /^truncated: the token limit was reached$/],
    [
      "stream cut without a finish",
      { fail: { kind: "truncate", text: "x = 1 and so on and on" } },
      /^truncated: the reply stopped before its end$/,
    ],
    [
      "connection broken in the stream",
      { fail: { kind: "break", text: "x = 1 and so on and on" } },
      /^truncated: the reply stopped before its end$/,
    ],
    [
      "connection reset",
      { fail: { kind: "reset" } },
      /^network: http:\/\/127\.0\.0\.1:\d+\/v1: the connection was (?:reset|closed)$/,
    ],
    [
      "an HTML page",
      { fail: { kind: "html" } },
      /^protocol: an HTML page instead of a reply: 502 the proxy says hello$/,
    ],
    ["garbage in the stream", { fail: { kind: "garbage" } }, /^protocol: a stream with lines that are no JSON$/],
    [
      "an error in the stream",
      { fail: { kind: "stream-error", message: "upstream is full", code: 429 } },
      /^rate-limit: 429 upstream is full$/,
    ],
    [
      "a tool call",
      { reply: { toolCall: { name: "write", arguments: { path: "x" } } } },
      /^tool-markup: the model called a tool/,
    ],
    ["content filter", { reply: { text: "x", stop: "content_filter" } }, /^refused: the provider's content filter/],
  ];
  for (const [name, step, expected] of cases) {
    it(name, async () => {
      const { said, calls } = await ask(step);
      assert.match(gist(said), expected);
      assert.equal(calls, 1, "one completion, one try");
    });
  }

  const usages: readonly (readonly [name: string, step: Step, more: Partial<OpenAiEndpoint>, expected: unknown])[] = [
    ["told, cached tokens apart, no price", { reply: { text: "x", usage } }, {}, { ...usage, costUsd: "unknown" }],
    ["not told", { reply: { text: "x" } }, {}, unknownUsage],
    [
      "cost told by the endpoint",
      { reply: { text: "x", usage: { ...usage, costUsd: 0.02 } } },
      {},
      { ...usage, costUsd: 0.02 },
    ],
    [
      "a free model is told as free",
      { reply: { text: "x", usage: { ...usage, costUsd: 0 } } },
      {},
      { ...usage, costUsd: 0 },
    ],
    [
      "configured prices",
      { reply: { text: "x", usage, whole: true } },
      { prices: { scripted: { input: 1, output: 2, cacheRead: 0.1 } } },
      { ...usage, costUsd: 0.000314 },
    ],
  ];
  for (const [name, step, more, expected] of usages) {
    it(`usage: ${name}`, async () => {
      const { said } = await ask(step, more);
      assert.deepEqual(said.kind === "ok" && said.usage, expected);
    });
  }

  it("sends the messages, the key in its header only, and the given headers", async () => {
    const script: Script = { steps: [], otherwise: { text: "x" } };
    await using server = await startScriptedModelServer(script);
    const open = { id: "lab/scripted", remoteName: "scripted", baseUrl: server.baseUrl };
    await createOpenAiModel({
      ...open,
      key,
      headers: ({ role, step }) => ({ "x-orch-role": role, "x-orch-step": String(step) }),
    }).complete(request, never);
    await createOpenAiModel(open).complete(request, never);
    const [first, second] = server.calls;
    assert.deepEqual(
      [
        first?.model,
        first?.system,
        first?.user,
        first?.stream,
        first?.headers["x-orch-role"],
        first?.headers["x-orch-step"],
        first?.authorized,
        second?.authorized,
      ],
      ["scripted", "You write Python.", "Write Schema.py", true, "implement", "1", true, false],
    );
    assert.equal(JSON.stringify(server.calls).includes(key), false);
  });

  it("nothing listens", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const said = await createOpenAiModel({ id: "lab/x", remoteName: "x", baseUrl }).complete(request, never);
    assert.deepEqual(said, {
      kind: "failed",
      why: "network",
      model: "lab/x",
      detail: `${baseUrl}: nothing listens there`,
      hint: `Check that ${baseUrl} can be reached`,
    });
  });

  it("a hang ends at the timeout", async () => {
    const { said } = await ask({ fail: { kind: "hang" } }, {}, { timeoutMs: 200 });
    assert.match(gist(said), /^timeout: no whole reply within/);
  });

  it("a stall in the stream ends at the timeout", async () => {
    const { said } = await ask({ fail: { kind: "stall", text: "x = 1 and so on" } }, {}, { timeoutMs: 200 });
    assert.match(gist(said), /^timeout:/);
  });

  for (const fail of [{ kind: "hang" }, { kind: "stall", text: "some text here" }] as const) {
    it(`an abort is honoured within 100 ms (${fail.kind})`, async () => {
      const tookMs = await quickest(100, async () => {
        await using server = await startScriptedModelServer({ steps: [{ fail }] });
        const stop = new AbortController();
        const model = createOpenAiModel({ id: "lab/x", remoteName: "x", baseUrl: server.baseUrl });
        const answer = model.complete(request, stop.signal);
        await server.received(1);
        const began = performance.now();
        stop.abort();
        await assert.rejects(answer, { name: "AbortError" });
        return performance.now() - began;
      });
      assert.ok(tookMs < 100, `took ${tookMs} ms`);
    });
  }

  it("a 5 MB reply is capped, streamed or whole", async () => {
    const text = "x = 1  # long\n".repeat(400_000);
    for (const whole of [false, true]) {
      const { said } = await ask({ reply: { text, whole, pieces: 50 } });
      assert.equal(gist(said), "protocol: the reply is larger than Orch reads");
    }
  });

  it("a line that never ends is capped before it fills the memory", async () => {
    const { said } = await ask({ reply: { text: "x".repeat(100_000), pieces: 1 } }, { maxReplyChars: 1000 });
    assert.equal(gist(said), "protocol: the reply is larger than Orch reads");
  });
});
