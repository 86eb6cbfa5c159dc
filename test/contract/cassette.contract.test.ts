import assert from "node:assert/strict";
import { get } from "node:http";
import { findStep, startCassetteServer } from "../../shared/adapters/cassette-server.ts";
import { demoUrlVariable, openDemoModel } from "../../shared/adapters/model-demo.ts";
import { demoCassette } from "../../shared/app/demo/cassette.ts";
import { Cassette } from "../../shared/model/cassette.ts";
import type { ModelRequest } from "../../shared/ports/model.ts";

const never = new AbortController().signal;
const cassette: Cassette = Cassette.parse({
  v: 1,
  label: "recorded 2026-11-29 lab/scripted",
  steps: [
    { role: "spec", step: 1, match: ["Feature: Invoice"], reply: "# Invoice", usage: { input: 10, output: 2 } },
    { role: "implement", step: 1, match: ["# Invoice", "tax"], reply: "one" },
    { role: "implement", step: 2, match: ["# Invoice", "did not pass"], reply: "two" },
  ],
});

const request = (role: ModelRequest["role"], step: number, content: string): ModelRequest => ({
  role,
  step,
  messages: [{ role: "user", content }],
  timeoutMs: 5000,
});

async function modelAt(baseUrl: string) {
  const opened = await openDemoModel("demo/invoice", baseUrl, never);
  assert.equal(opened.kind, "model", opened.kind === "unavailable" ? opened.why : "");
  if (opened.kind !== "model") throw new Error("unreachable");
  return opened.model;
}

describe("contract: cassette", () => {
  it("answers by role, step and prompt through the OpenAI lane, and says what it is", async () => {
    await using server = await startCassetteServer(cassette, "invoice");
    const model = await modelAt(server.baseUrl);
    assert.deepEqual([model.id, model.lane, model.label], ["demo/invoice", "demo", "recorded 2026-11-29 lab/scripted"]);
    const said = [
      await model.complete(request("spec", 1, "Feature: Invoice"), never),
      await model.complete(request("implement", 1, "# Invoice with tax"), never),
      await model.complete(request("implement", 2, "# Invoice: attempt 1 did not pass"), never),
    ];
    assert.deepEqual(
      said.map((one) => one.kind === "ok" && [one.text, one.label, one.usage.input]),
      [
        ["# Invoice", cassette.label, 10],
        ["one", cassette.label, "unknown"],
        ["two", cassette.label, "unknown"],
      ],
    );
  });

  const unknown: readonly (readonly [string, ModelRequest, RegExp])[] = [
    [
      "another prompt",
      request("implement", 1, "# Receipt"),
      /was written for another prompt: "# Invoice" does not occur in this one/,
    ],
    [
      "another step",
      request("implement", 3, "# Invoice with tax"),
      /has no reply .* for implement, step 3; it has: spec 1, implement 1, implement 2/,
    ],
    ["another role", request("plan", 1, "Feature: Invoice"), /for plan, step 1/],
  ];
  for (const [name, asked, why] of unknown) {
    it(`refuses ${name}, with the reason and the code`, async () => {
      await using server = await startCassetteServer(cassette, "invoice");
      const said = await (await modelAt(server.baseUrl)).complete(asked, never);
      assert.deepEqual(said.kind === "failed" && [said.why, said.code], ["refused", "cassette.unknown-prompt"]);
      assert.match(said.kind === "failed" ? said.detail : "", why);
      assert.deepEqual(
        server.calls.map(({ answered }) => answered),
        [false],
      );
    });
  }

  const raw: readonly (readonly [string, RequestInit & { readonly path?: string }, number])[] = [
    ["a page of another host", { headers: { origin: "http://example.com" } }, 403],
    ["another path", { path: "/v1/responses", method: "POST", body: "{}" }, 404],
    ["no chat completion", { path: "/v1/chat/completions", method: "POST", body: "nonsense" }, 400],
    [
      "another model",
      {
        path: "/v1/chat/completions",
        method: "POST",
        body: JSON.stringify({ model: "gpt", messages: [{ role: "user", content: "x" }] }),
      },
      404,
    ],
  ];
  for (const [name, { path = "/v1/models", ...init }, status] of raw) {
    it(`answers ${status} to ${name}`, async () => {
      await using server = await startCassetteServer(cassette, "invoice");
      const response = await fetch(server.baseUrl.replace("/v1", path), init);
      assert.equal(response.status, status);
    });
  }

  it("answers 403 to a name of its own for the loopback", async () => {
    await using server = await startCassetteServer(cassette, "invoice");
    const status = await new Promise((resolve) => {
      get(`${server.baseUrl}/models`, { headers: { host: "rebound.example:80" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    assert.equal(status, 403);
  });

  it("the demo's own cassette is a cassette, scripted, and finds its way", () => {
    assert.deepEqual(Cassette.parse(demoCassette), demoCassette);
    assert.equal(demoCassette.label, "scripted");
    const spec = demoCassette.steps[0]?.reply ?? "";
    assert.notEqual(findStep(demoCassette, { role: "implement", step: 1 }, spec).step, undefined);
    assert.equal(
      findStep(demoCassette, { role: "implement", step: 2 }, spec).step,
      undefined,
      "only with the feedback of attempt 1",
    );
    assert.notEqual(
      findStep(demoCassette, { role: "implement", step: 2 }, `${spec}\nAttempt 1 did not pass: 2 faults`).step,
      undefined,
    );
    assert.equal(demoUrlVariable, "ORCH_DEMO_URL");
  });
});
