import assert from "node:assert/strict";
import { createClock } from "../../../shared/adapters/clock.ts";
import { createFiles } from "../../../shared/adapters/files.ts";
import { createIds } from "../../../shared/adapters/ids.ts";
import { createModelSource, type ModelSourceDeps } from "../../../shared/adapters/model-source.ts";
import { createProcess } from "../../../shared/adapters/process.ts";
import type { PiFound, PiProbe } from "../../../shared/adapters/pi-probe.ts";
import { absPath } from "../../../shared/base/paths.ts";
import type { OpenedModel } from "../../../shared/ports/model.ts";
import { ScriptedModel, scriptedSource } from "../../support/scripted-model.ts";

const never = new AbortController().signal;
const found: PiFound = {
  kind: "found",
  pi: { argv: ["pi"], flags: [], variables: [], userDir: absPath("/home/x/.pi/agent") },
};
const missing: PiFound = { kind: "missing", why: "pi is not on the PATH", hint: "Install pi" };
const probe = (answer: PiFound): PiProbe => ({
  find: () => Promise.resolve(answer),
  usable: () => Promise.resolve({ usable: answer.kind === "found", why: "", models: [] }),
});

function depsOf(more: Partial<ModelSourceDeps> & { readonly hasPi?: boolean }): ModelSourceDeps {
  const { hasPi = true, ...rest } = more;
  return {
    files: createFiles(),
    process: createProcess(),
    ids: createIds(createClock()),
    env: {},
    stateDir: absPath("/tmp/x"),
    providers: {},
    pi: probe(hasPi ? found : missing),
    ...rest,
  };
}

const gist = (opened: OpenedModel): string =>
  opened.kind === "model" ? `${opened.model.lane} ${opened.model.provider}` : `unavailable: ${opened.why}`;

describe("adapters/model-source", () => {
  const lab = { baseUrl: "http://127.0.0.1:9/v1", keyEnv: "LAB_KEY" };
  const template = new ScriptedModel("builtin/template", "x");
  const editor = scriptedSource([new ScriptedModel("vscode-lm/copilot/x", "x")]);
  const cases: readonly (readonly [
    name: string,
    id: string,
    deps: Parameters<typeof depsOf>[0],
    expected: string | RegExp,
  ])[] = [
    ["every other id goes to pi", "opencode/nemotron-3-ultra-free", {}, "pi opencode"],
    ["a known provider without its key goes to pi", "openrouter/poolside/laguna-s-2.1:free", {}, "pi openrouter"],
    [
      "a known provider with its key is asked directly",
      "openrouter/poolside/laguna-s-2.1:free",
      { env: { OPENROUTER_API_KEY: "k" } },
      "openai openrouter",
    ],
    [
      "a configured endpoint is asked directly",
      "lab/scripted",
      { providers: { lab }, env: { LAB_KEY: "k" } },
      "openai lab",
    ],
    [
      "a configured endpoint without a key to have",
      "lab/scripted",
      { providers: { lab: { baseUrl: lab.baseUrl } } },
      "openai lab",
    ],
    [
      "a configured endpoint whose key is not set",
      "lab/scripted",
      { providers: { lab } },
      "unavailable: LAB_KEY is not set",
    ],
    ["a provider of this machine goes to pi", "ollama/qwen", {}, "pi ollama"],
    ["without pi to its usual port", "ollama/qwen", { hasPi: false }, "openai ollama"],
    [
      "without pi a known provider waits for its key first",
      "openai/gpt",
      { hasPi: false },
      "unavailable: OPENAI_API_KEY is not set, and pi is not on the PATH",
    ],
    ["without pi nothing else is there", "opencode/x", { hasPi: false }, "unavailable: pi is not on the PATH"],
    ["the template worker", "builtin/template", { template }, "openai builtin"],
    ["no pack, no template worker", "builtin/template", {}, /no language pack/],
    ["nothing else is built in", "builtin/gpt", { template }, /no model builtin\/gpt/],
    ["VS Code's models outside VS Code", "vscode-lm/copilot/x", {}, /only there in a run/],
    ["VS Code's models inside", "vscode-lm/copilot/x", { editorModels: editor }, "openai vscode-lm"],
    ["the demo outside the demo", "demo/invoice", {}, /only while orch demo runs/],
    [
      "the demo somewhere else",
      "demo/invoice",
      { env: { ORCH_DEMO_URL: "http://example.com/v1" } },
      /must lead to this machine/,
    ],
    [
      "the demo's server is gone",
      "demo/invoice",
      { env: { ORCH_DEMO_URL: "http://127.0.0.1:9/v1" } },
      /has no model invoice/,
    ],
    [
      "a lane of its own is not configurable away",
      "demo/invoice",
      { providers: { demo: lab }, env: { LAB_KEY: "k" } },
      /only while orch demo runs/,
    ],
  ];
  for (const [name, id, deps, expected] of cases) {
    it(name, async () => {
      const got = gist(await createModelSource(depsOf(deps)).open(id, never));
      if (typeof expected === "string") assert.equal(got, expected);
      else assert.match(got, expected);
    });
  }

  it("without pi the short way is named first", async () => {
    const source = createModelSource(depsOf({ hasPi: false }));
    const hintOf = async (id: string): Promise<string> => {
      const opened = await source.open(id, never);
      return opened.kind === "model" ? "" : opened.hint;
    };
    assert.deepEqual(
      [await hintOf("openai/gpt"), await hintOf("opencode/x")],
      ["Set OPENAI_API_KEY, or install pi", "Give opencode an endpoint in models.providers, or install pi"],
    );
  });

  it("a key is only in the model, not in what a person is told", async () => {
    const opened = await createModelSource(depsOf({ providers: { lab }, env: { LAB_KEY: "sk-0123456789" } })).open(
      "lab/x",
      never,
    );
    assert.equal(JSON.stringify(opened).includes("sk-0123456789"), false);
  });
});
