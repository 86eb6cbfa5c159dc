import assert from "node:assert/strict";
import { createChain } from "../../../shared/engine/chain.ts";
import { OrchError } from "../../../shared/model/error.ts";
import { addUsage, unknownUsage } from "../../../shared/model/usage.ts";
import type { Completion, Model, ModelRequest, ModelSource } from "../../../shared/ports/model.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { RecordingSink } from "../../support/recording-sink.ts";
import { ScriptedModel, scriptedSource, type ScriptedSaid } from "../../support/scripted-model.ts";

const request: ModelRequest = {
  role: "implement",
  step: 2,
  messages: [{ role: "user", content: "write it" }],
  timeoutMs: 300_000,
  contract: "Invoice",
  attempt: 2,
};
const usage = { input: 10, output: 5, cacheRead: 0, costUsd: 0.25 };

function chainOf(models: readonly Model[], ids = models.map(({ id }) => id)) {
  const sink = new RecordingSink();
  const clock = new FakeClock();
  const source = scriptedSource(models);
  return { sink, clock, source, chain: createChain({ ids, source, sink, clock }) };
}

const never = new AbortController().signal;
const failed = (why: "auth" | "rate-limit" | "network" | "unknown-model", detail: string): ScriptedSaid => ({
  kind: "failed",
  why,
  detail,
});

describe("engine/chain", () => {
  const cases: readonly {
    readonly name: string;
    readonly models: readonly (readonly [string, ScriptedSaid])[];
    readonly asked: readonly string[];
    readonly fell: readonly string[];
    readonly answer: string | undefined;
  }[] = [
    {
      name: "the first usable answer ends it",
      models: [
        ["a/1", "fine"],
        ["b/1", "unused"],
      ],
      asked: ["a/1"],
      fell: [],
      answer: "fine",
    },
    {
      name: "an error goes on",
      models: [
        ["a/1", failed("network", "connection reset")],
        ["b/1", "fine"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["network: connection reset"],
      answer: "fine",
    },
    {
      name: "a rate limit goes on, the provider's next model too",
      models: [
        ["a/1", failed("rate-limit", "429")],
        ["a/2", "fine"],
      ],
      asked: ["a/1", "a/2"],
      fell: ["rate limit: 429"],
      answer: "fine",
    },
    {
      name: "an empty reply goes on",
      models: [
        ["a/1", " \n"],
        ["b/1", "fine"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["empty reply: an empty reply"],
      answer: "fine",
    },
    {
      name: "tool-call markup goes on",
      models: [
        ["a/1", '<tool_calls>\n<invoke name="write">'],
        ["b/1", "fine"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["tool-call markup: raw tool-call markup (<tool_calls>) instead of an answer"],
      answer: "fine",
    },
    {
      name: "a reply cut in a fence goes on",
      models: [
        ["a/1", "Here:\n```python\nx = 1"],
        ["b/1", "fine"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["truncated: a code fence opened at line 2 is never closed"],
      answer: "fine",
    },
    {
      name: "a finish reason of length goes on",
      models: [
        ["a/1", { kind: "unusable", why: "truncated", model: "a/1", usage, detail: "the token limit was reached" }],
        ["b/1", "fine"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["truncated: the token limit was reached"],
      answer: "fine",
    },
    {
      name: "a refused credential skips that provider's other models only",
      models: [
        ["a/1", failed("auth", "401")],
        ["a/2", "unused"],
        ["b/1", "fine"],
        ["a/3", "unused"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["credential refused: 401", "credential refused: skipped: a refused its credential"],
      answer: "fine",
    },
    {
      name: "a model that is not here goes on",
      models: [["b/1", "fine"]],
      asked: ["b/1"],
      fell: ["unavailable: a/1 is not here"],
      answer: "fine",
    },
    {
      name: "a lane's refusal goes on",
      models: [
        ["a/1", new OrchError("template.refused", "no table says what total is")],
        ["b/1", "fine"],
      ],
      asked: ["a/1", "b/1"],
      fell: ["error: no table says what total is"],
      answer: "fine",
    },
    {
      name: "all fail",
      models: [
        ["a/1", failed("unknown-model", "404")],
        ["b/1", ""],
      ],
      asked: ["a/1", "b/1"],
      fell: ["unknown model: 404", "empty reply: an empty reply"],
      answer: undefined,
    },
  ];
  for (const { name, models, asked, fell, answer } of cases) {
    it(name, async () => {
      const scripted = models.map(([id, said]) => new ScriptedModel(id, said));
      const ids = name === "a model that is not here goes on" ? ["a/1", "b/1"] : scripted.map(({ id }) => id);
      const { chain, sink } = chainOf(scripted, ids);
      const said = await chain.complete(request, never);
      assert.deepEqual(
        {
          asked: sink.of("model.asked").map(({ model }) => model),
          fell: sink.of("model.fell-through").map(({ why }) => why),
          answer: said.kind === "ok" ? said.text : undefined,
          calls: scripted.map(({ asked: calls }) => calls.length),
        },
        { asked, fell, answer, calls: scripted.map(({ id }) => (asked.includes(id) ? 1 : 0)) },
      );
    });
  }

  it("says what each model said when none was usable", async () => {
    const { chain } = chainOf([
      new ScriptedModel("a/1", { kind: "failed", why: "auth", detail: "401 bad key", hint: "Set A_KEY" }),
      new ScriptedModel("b/1", ""),
    ]);
    assert.deepEqual(await chain.complete(request, never), {
      kind: "failed",
      why: "exhausted",
      model: "a/1",
      detail: "a/1: credential refused: 401 bad key; b/1: empty reply: an empty reply",
      hint: "Set A_KEY",
      code: "model.exhausted",
      tried: [
        { model: "a/1", why: "auth", detail: "401 bad key" },
        { model: "b/1", why: "empty", detail: "an empty reply" },
      ],
      usage: unknownUsage,
    } satisfies Completion);
  });

  it("keeps the words and the code of a model that was alone", async () => {
    const alone = { kind: "failed", why: "refused", detail: "no table says it", code: "template.refused" } as const;
    const { chain } = chainOf([new ScriptedModel("builtin/template", alone)]);
    const tried = [{ model: "builtin/template", why: "refused", detail: "no table says it" }] as const;
    assert.deepEqual(await chain.complete(request, never), { ...alone, model: "builtin/template", tried });
  });

  it("a lone model's reply that cannot be used stays that: a reply came", async () => {
    const cut = {
      kind: "unusable",
      why: "truncated",
      model: "a/1",
      usage,
      detail: "the token limit was reached",
    } as const;
    const { chain } = chainOf([new ScriptedModel("a/1", cut)]);
    assert.deepEqual(await chain.complete(request, never), cut);
  });

  it("of several, tells what the replies cost that could not be used", async () => {
    const cut = { kind: "unusable", why: "truncated", model: "b/1", usage, detail: "cut" } as const;
    const { chain } = chainOf([
      new ScriptedModel("a/1", failed("network", "reset")),
      new ScriptedModel("b/1", cut),
      new ScriptedModel("c/1", { ...cut, model: "c/1" }),
    ]);
    const said = await chain.complete(request, never);
    assert.deepEqual(
      [said.kind, said.kind === "failed" ? [said.why, said.usage] : undefined],
      ["failed", ["exhausted", addUsage(usage, usage)]],
    );
  });

  it("asks each model once, repeats left out, and names the next one", async () => {
    const models = [new ScriptedModel("a/1", ""), new ScriptedModel("b/1", "fine")];
    const { chain, sink } = chainOf(models, ["a/1", "a/1", "b/1", "a/1"]);
    await chain.complete(request, never);
    assert.deepEqual(
      [models.map(({ asked }) => asked.length), sink.of("model.fell-through").map(({ next }) => next)],
      [[1, 1], ["b/1"]],
    );
  });

  it("records usage of every answered call, unknown as unknown, and none where nothing was answered", async () => {
    const models = [
      new ScriptedModel("a/1", { kind: "unusable", why: "empty", model: "a/1", usage, detail: "nothing" }),
      new ScriptedModel("b/1", failed("network", "reset")),
      new ScriptedModel("c/1", "fine"),
    ];
    const { chain, sink } = chainOf(models);
    await chain.complete(request, never);
    assert.deepEqual(sink.of("usage.recorded"), [
      { type: "usage.recorded", contract: "Invoice", attempt: 2, model: "a/1", usage },
      { type: "usage.recorded", contract: "Invoice", attempt: 2, model: "c/1", usage: unknownUsage },
    ]);
  });

  it("stops a model that hangs at the timeout and goes on", async () => {
    const { chain, sink, clock } = chainOf([new ScriptedModel("a/1", "hang"), new ScriptedModel("b/1", "fine")]);
    const answer = chain.complete(request, never);
    await clock.advance(299_000);
    assert.equal(sink.of("model.fell-through").length, 0);
    await clock.advance(1_000);
    assert.equal((await answer).kind, "ok");
    assert.deepEqual(
      [sink.of("model.fell-through").map(({ why }) => why), clock.sleeping],
      [["timeout: no reply within 300 s"], 0],
    );
  });

  it("an abort is not a failure: it rejects, and nobody else is asked", async () => {
    const stop = new AbortController();
    const models = [new ScriptedModel("a/1", "hang"), new ScriptedModel("b/1", "fine")];
    const { chain, sink, clock } = chainOf(models);
    const answer = chain.complete(request, stop.signal);
    await settle();
    stop.abort();
    await assert.rejects(answer, { name: "AbortError" });
    assert.deepEqual([sink.types(), models[1]?.asked.length, clock.sleeping], [["model.asked"], 0, 0]);
  });

  it("an abort does not wait for a lane that ignores it", async () => {
    const stop = new AbortController();
    const deaf: Model = { id: "a/1", provider: "a", lane: "openai", complete: () => new Promise(() => {}) };
    const { chain, clock } = chainOf([deaf]);
    const answer = assert.rejects(chain.complete(request, stop.signal), { name: "AbortError" });
    await settle();
    stop.abort();
    await clock.advance(100);
    await answer;
  });

  it("an id that the source refuses is one more reason to go on", async () => {
    const model = new ScriptedModel("b/1", "fine");
    const sink = new RecordingSink();
    const source: ModelSource = {
      open: (id) =>
        id === "b/1"
          ? Promise.resolve({ kind: "model", model })
          : Promise.reject(new OrchError("model.unknown", `"${id}" is no model id`)),
    };
    const chain = createChain({ ids: ["gpt", "b/1"], source, sink, clock: new FakeClock() });
    assert.equal((await chain.complete(request, never)).kind, "ok");
    assert.deepEqual(
      sink.of("model.fell-through").map(({ why }) => why),
      ['unavailable: "gpt" is no model id'],
    );
  });

  it("a bug stays a bug", async () => {
    const { chain } = chainOf([
      new ScriptedModel("a/1", new TypeError("x is undefined")),
      new ScriptedModel("b/1", "fine"),
    ]);
    await assert.rejects(chain.complete(request, never), /x is undefined/);
  });

  it("carries the label of the lane that answered", async () => {
    const labelled: Model = {
      id: "demo/invoice",
      provider: "demo",
      lane: "demo",
      label: "scripted",
      complete: () => Promise.resolve({ kind: "ok", text: "fine", model: "demo/invoice", usage: unknownUsage }),
    };
    const { chain, sink } = chainOf([labelled]);
    const said = await chain.complete(request, never);
    assert.deepEqual([said.kind === "ok" && said.label, sink.of("model.asked")[0]?.label], ["scripted", "scripted"]);
  });
});
