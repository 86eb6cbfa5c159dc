import assert from "node:assert/strict";
import { createFiles } from "../../../shared/adapters/files.ts";
import { defaultChain } from "../../../shared/app/familiar-models.ts";
import { keepModel, keptWhenItAnswers, type ModelOrderDeps, orderModels } from "../../../shared/app/models.ts";
import { unknownUsage } from "../../../shared/model/usage.ts";
import { ScriptedModel, type ScriptedSaid } from "../../support/scripted-model.ts";
import { TempDir } from "../../support/temp-dir.ts";

const never = new AbortController().signal;
const files = createFiles();

interface Case {
  readonly name: string;
  readonly requested?: string;
  readonly persist?: boolean;
  readonly config?: string;
  readonly chain?: string;
  readonly pi?: boolean;
  readonly auto?: readonly string[];
  readonly maxModels?: number;
  readonly ids: readonly string[];
  readonly why: RegExp;
  readonly configAfter?: unknown;
}

const auto = ["builtin/template"];
const cases: readonly Case[] = [
  {
    name: "nothing set, pi usable: the default chain",
    pi: true,
    ids: defaultChain,
    why: /^the default chain \(pi lists 3 models\)$/,
  },
  { name: "nothing set, no pi: auto", ids: auto, why: /^auto: nothing else is here$/ },
  { name: "a chain file", chain: '["a/1", "b/1"]', pi: true, ids: ["a/1", "b/1"], why: /^model_chain.json$/ },
  { name: "an empty chain file is no chain", chain: "[]", ids: auto, why: /^auto/ },
  {
    name: "the requested model leads the chain, without repeats",
    requested: "b/1",
    chain: '["a/1", "b/1"]',
    ids: ["b/1", "a/1"],
    why: /^b\/1 as asked; then model_chain.json$/,
  },
  {
    name: "model_config.json leads",
    config: '{"model": "c/1"}',
    chain: '["a/1"]',
    ids: ["c/1", "a/1"],
    why: /^c\/1 from model_config.json; then/,
  },
  {
    name: "the requested one stands before model_config.json's",
    requested: "b/1",
    config: '{"model": "c/1"}',
    chain: "[]",
    ids: ["b/1"],
    why: /^b\/1 as asked$/,
    configAfter: { model: "c/1" },
  },
  {
    name: "it is persisted, other keys kept",
    requested: "b/1",
    persist: true,
    config: '{"model": "c/1", "note": 1}',
    chain: "[]",
    ids: ["b/1"],
    why: /./,
    configAfter: { model: "b/1", note: 1 },
  },
  {
    name: "it is persisted where there was no file",
    requested: "b/1",
    persist: true,
    chain: "[]",
    ids: ["b/1"],
    why: /./,
    configAfter: { model: "b/1" },
  },
  {
    name: "a named model is not replaced by the template worker",
    requested: "b/1",
    ids: ["b/1"],
    why: /^b\/1 as asked$/,
  },
  {
    name: "a named model is followed by a local one",
    requested: "b/1",
    auto: ["ollama/qwen"],
    ids: ["b/1", "ollama/qwen"],
    why: /as asked; then auto/,
  },
  {
    name: "the template worker itself may be named",
    requested: "builtin/template",
    ids: ["builtin/template"],
    why: /as asked/,
  },
  {
    name: "auto as an id overrides file and pi",
    requested: "auto",
    config: '{"model": "c/1"}',
    chain: '["a/1"]',
    pi: true,
    ids: auto,
    why: /^auto/,
  },
  {
    name: "at most max_models",
    requested: "z/1",
    pi: true,
    maxModels: 3,
    ids: ["z/1", ...defaultChain.slice(0, 2)],
    why: /default chain/,
  },
  { name: "default six", requested: "z/1", pi: true, ids: ["z/1", ...defaultChain.slice(0, 5)], why: /default chain/ },
];

describe("app/models", () => {
  async function order(
    one: Omit<Case, "name" | "ids" | "why">,
    dir: TempDir,
  ): Promise<{ ids: readonly string[]; why: string }> {
    if (one.config !== undefined) await files.write(dir.at("model_config.json"), one.config);
    if (one.chain !== undefined) await files.write(dir.at("model_chain.json"), one.chain);
    const deps: ModelOrderDeps = {
      files,
      configDir: dir.path,
      maxModels: one.maxModels ?? 6,
      ...(one.requested === undefined ? {} : { requested: one.requested }),
      persist: one.persist ?? false,
      piUsable: () =>
        Promise.resolve(
          one.pi === true
            ? { usable: true, why: "pi lists 3 models" }
            : { usable: false, why: "pi is not on the PATH" },
        ),
      auto: () => Promise.resolve({ ids: one.auto ?? auto, why: "nothing else is here" }),
    };
    return orderModels(deps, never);
  }

  for (const one of cases) {
    it(one.name, async () => {
      using dir = new TempDir();
      const got = await order(one, dir);
      assert.deepEqual(got.ids, one.ids);
      assert.match(got.why, one.why);
      if (one.configAfter !== undefined)
        assert.deepEqual(JSON.parse((await files.readText(dir.at("model_config.json"))) ?? ""), one.configAfter);
    });
  }

  it("an asked model is kept when it has answered, once, and not when another one did", async () => {
    using dir = new TempDir();
    await files.write(dir.at("model_config.json"), '{"model": "c/1", "note": 1}');
    const kept = async (...said: readonly ScriptedSaid[]): Promise<unknown> => {
      let times = 0;
      const model = keptWhenItAnswers(new ScriptedModel("a/1", ...said), "a/1", () => {
        times += 1;
        return keepModel({ files, configDir: dir.path }, "a/1");
      });
      for (const step of said.keys())
        await model.complete({ role: "implement", step: step + 1, messages: [], timeoutMs: 1 }, never);
      return [times, JSON.parse((await files.readText(dir.at("model_config.json"))) ?? "")];
    };
    const gone = { kind: "failed", why: "unknown-model", detail: "404" } as const;
    const other = { kind: "ok", text: "x", model: "b/1", usage: unknownUsage } as const;
    assert.deepEqual(await kept(gone, other), [0, { model: "c/1", note: 1 }]);
    assert.deepEqual(await kept(gone, "fine", "fine"), [1, { model: "a/1", note: 1 }]);
  });

  const refused: readonly (readonly [string, Omit<Case, "name" | "ids" | "why">, RegExp, string])[] = [
    ["an id without a provider", { requested: "gpt-4", persist: true }, /"gpt-4" is no model id/, "model.unknown"],
    ["an id that looks like an option", { requested: "--offline/x" }, /is no model id/, "model.unknown"],
    ["a broken chain file", { chain: '["a/1",\n  2]' }, /model_chain\.json:2: \[1\] must be a text/, "file.invalid"],
    [
      "a chain file with conflict markers",
      { chain: '<<<<<<< ours\n["a/1"]\n=======\n["b/1"]\n>>>>>>> theirs\n' },
      /conflict markers/,
      "file.invalid",
    ],
    [
      "a broken config file",
      { requested: "b/1", persist: true, config: "{" },
      /model_config\.json:1: /,
      "file.invalid",
    ],
  ];
  for (const [name, one, message, code] of refused) {
    it(`refuses ${name} and writes nothing`, async () => {
      using dir = new TempDir();
      await assert.rejects(order(one, dir), { code, message });
      assert.equal(await files.readText(dir.at("model_config.json")), one.config);
    });
  }
});
