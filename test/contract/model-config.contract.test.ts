import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AskedData } from "../../shared/app/model-ask.ts";
import { config, type ConfigData } from "../../shared/app/handlers/config.ts";
import { model, type ModelData } from "../../shared/app/handlers/model.ts";
import type { CommandResult } from "../../shared/model/command-result.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { makeAnywhere } from "../support/anywhere.ts";
import { args } from "../support/bench.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";

const never = new AbortController().signal;
const refused = (code: Parameters<typeof isOrchError>[1], words: RegExp) => (error: unknown) =>
  isOrchError(error, code) && words.test(`${error.message} ${error.hint}`);

const configFile = (repo: TempRepo, name: string): string => path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch", name);

async function writeConfig(repo: TempRepo, name: string, text: string): Promise<void> {
  await mkdir(path.dirname(configFile(repo, name)), { recursive: true });
  await writeFile(configFile(repo, name), text);
}

const dataOf = <T>(result: CommandResult): T => result.data as T;

describe("orch model", () => {
  it("says the order, what put each model there, and which cannot be asked", async () => {
    await using repo = await makeTempRepo();
    await writeConfig(repo, "model_chain.json", '["openai/gpt-x", "builtin/template"]');
    await writeConfig(repo, "model_config.json", '{"model": "builtin/template"}');
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const { order, why, text } = dataOf<ModelData>(await model(context, args(), never));
    deepEqual(
      order.map(({ id, from }) => [id, from]),
      [
        ["builtin/template", "model_config.json"],
        ["openai/gpt-x", "model_chain.json"],
      ],
    );
    equal(why, "builtin/template from model_config.json; then model_chain.json");
    equal(order[0]?.trouble, undefined);
    match(order[1]?.trouble ?? "", /OPENAI_API_KEY/);
    match(text.join("\n"), /cannot be asked: .*OPENAI_API_KEY/);
  });

  it("asks providers only with --list, with the key in the header and never in what it says", async () => {
    await using server = await startScriptedModelServer({ models: ["small", "large"], steps: [] });
    await using repo = await makeTempRepo();
    const providers = { lab: { baseUrl: server.baseUrl, keyEnv: "LAB_API_KEY" } };
    await writeConfig(repo, "config.json", JSON.stringify({ models: { providers } }));
    const env = { ...repo.env, LAB_API_KEY: "a-secret-of-the-lab" };
    const { context } = await makeAnywhere({ cwd: repo.root, env });
    const laneOf = (result: CommandResult) =>
      dataOf<ModelData>(result).lanes.find(({ lane }) => lane === "lab (models.providers)");
    deepEqual(laneOf(await model(context, args(), never))?.models, []);
    const listed = await model(context, args({ list: true }), never);
    deepEqual(laneOf(listed)?.models, ["lab/small", "lab/large"]);
    equal(JSON.stringify(listed).includes("a-secret-of-the-lab"), false);
  });

  it("a provider that does not answer is told, not waited for", async () => {
    await using repo = await makeTempRepo();
    const providers = { gone: { baseUrl: "http://127.0.0.1:9/v1" } };
    await writeConfig(repo, "config.json", JSON.stringify({ models: { providers } }));
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const { lanes } = dataOf<ModelData>(await model(context, args({ list: true }), never));
    const gone = lanes.find(({ lane }) => lane.startsWith("gone"));
    deepEqual([gone?.usable, gone?.why], [false, "needs no key, but 127.0.0.1:9 lists no models"]);
  });

  const persisting: readonly { name: string; person: boolean; yes?: boolean; kept: boolean }[] = [
    { name: "a person on a terminal", person: true, kept: true },
    { name: "an editor's picker", person: false, yes: true, kept: true },
    { name: "nobody", person: false, kept: false },
  ];
  for (const { name, person, yes = false, kept } of persisting) {
    it(`is ${kept ? "kept" : "not kept"} for ${name}, other keys of the file stay`, async () => {
      await using repo = await makeTempRepo();
      await writeConfig(repo, "model_config.json", '{"model": "a/b", "later": 1}');
      const { context } = await makeAnywhere({
        cwd: repo.root,
        env: repo.env,
        ...(person ? { answer: () => undefined } : {}),
      });
      const done = model(context, args({ words: ["direct/x:free"], yes }), never);
      if (kept) match((await done).summary, /^direct\/x:free leads from now on/);
      else await rejects(done, refused("model.not-kept", /direct\/x:free.*orch do --model direct\/x:free/));
      deepEqual(JSON.parse(await readFile(configFile(repo, "model_config.json"), "utf8")), {
        model: kept ? "direct/x:free" : "a/b",
        later: 1,
      });
    });
  }

  it("auto can be chosen, a word that is no id is refused with what it may have meant", async () => {
    await using repo = await makeTempRepo();
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env, answer: () => undefined });
    equal((await model(context, args({ words: ["auto"] }), never)).summary, "auto decides from now on");
    await rejects(model(context, args({ words: ["gpt-5"] }), never), refused("model.unknown", /openai\/gpt-5/));
  });

  it("an id that its endpoint does not serve is not kept, one that nobody can be asked about is", async () => {
    await using server = await startScriptedModelServer({ models: ["small", "large"], steps: [] });
    await using repo = await makeTempRepo();
    const providers = { lab: { baseUrl: server.baseUrl }, off: { baseUrl: "http://127.0.0.1:9/v1" } };
    await writeConfig(repo, "config.json", JSON.stringify({ models: { providers } }));
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env, answer: () => undefined });
    const words = /lab serves no model "lab\/smal".*lab\/small.*orch model --list.*orch model auto/;
    await rejects(model(context, args({ words: ["lab/smal"] }), never), refused("model.unknown", words));
    equal(await readFile(configFile(repo, "model_config.json"), "utf8").catch(() => "none"), "none");
    for (const id of ["lab/large", "off/any"]) {
      match((await model(context, args({ words: [id] }), never)).summary, /leads from now on/);
      equal(JSON.parse(await readFile(configFile(repo, "model_config.json"), "utf8")).model, id);
    }
  });

  it("works outside a repository and refuses a broken file with its line", async () => {
    await using repo = await makeTempRepo();
    await writeConfig(repo, "model_chain.json", '[\n  "a/b",\n  7\n]');
    const { context } = await makeAnywhere({ cwd: repo.base, env: repo.env });
    equal(context.repository.kind, "none");
    await rejects(model(context, args(), never), refused("file.invalid", /model_chain\.json:3/));
  });
});

describe("orch model --ask", () => {
  const key = "a-secret-of-the-lab";
  async function place(server: { readonly baseUrl: string }, chain: readonly string[]) {
    const repo = await makeTempRepo();
    const providers = { lab: { baseUrl: server.baseUrl, keyEnv: "LAB_API_KEY" } };
    await writeConfig(repo, "config.json", JSON.stringify({ models: { providers } }));
    await writeConfig(repo, "model_chain.json", JSON.stringify(chain));
    const { context } = await makeAnywhere({ cwd: repo.root, env: { ...repo.env, LAB_API_KEY: key } });
    return { repo, context };
  }

  it("asks in order, once each, and brings the first usable reply with who gave it", async () => {
    const steps = [
      { match: { model: "^empty$" }, reply: { text: "" } },
      { match: { model: "^full$", user: "^what is two and two" }, reply: { text: "four\nas ever" } },
    ];
    await using server = await startScriptedModelServer({ steps });
    const { repo, context } = await place(server, ["lab/empty", "lab/full", "lab/never"]);
    await using _repo = repo;
    const said = await model(context, args({ ask: "what is two and two" }), never);
    deepEqual(
      [said.summary, said.data],
      ["lab/full answered", { reply: "four\nas ever", model: "lab/full", text: ["four", "as ever"] }],
    );
    deepEqual(
      server.calls.map((call) => call.model),
      ["empty", "full"],
    );
  });

  it("takes a whole conversation, and an id leads this question without being kept", async () => {
    await using server = await startScriptedModelServer({
      steps: [{ match: { model: "^lead$", system: "terse", user: "^three" }, reply: { text: "ok" } }],
    });
    const { repo, context } = await place(server, ["lab/other"]);
    await using _repo = repo;
    const messages = [
      { role: "system", content: "be terse" },
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three" },
    ];
    const ask = JSON.stringify({ v: 1, messages });
    const said = await model(context, args({ words: ["lab/lead"], ask }), never);
    equal(dataOf<AskedData>(said).model, "lab/lead");
    await rejects(readFile(configFile(repo, "model_config.json"), "utf8"), /ENOENT/);
  });

  it("says of each model why there is no reply, and no key in any of it", async () => {
    const leak = { kind: "status", status: 400, message: `the key ${key} is not welcome` } as const;
    const steps = [
      { match: { user: "\\[redacted\\]", model: "^a$" }, fail: leak },
      { match: { user: "\\[redacted\\]", model: "^b$" }, fail: { kind: "empty-body" } as const },
    ];
    await using server = await startScriptedModelServer({ steps });
    const { repo, context } = await place(server, ["lab/a", "lab/b", "demo/invoice"]);
    await using _repo = repo;
    const asked = model(context, args({ ask: `is ${key} a good key?` }), never);
    await rejects(asked, (error: unknown) => {
      if (!isOrchError(error, "model.exhausted")) throw error;
      match(error.message, /lab\/a: .*; lab\/b: .*; demo\/invoice: /);
      match(error.hint, /lab\/a, lab\/b, demo\/invoice/);
      equal(`${error.message} ${error.hint}`.includes(key), false);
      return true;
    });
    equal(JSON.stringify(server.calls).includes(key), false);
    await rejects(model(context, args({ ask: "  " }), never), refused("usage.invalid", /standard input/));
  });

  it("the one model whose key is not set is refused with the variable to set", async () => {
    await using repo = await makeTempRepo();
    const providers = { lab: { baseUrl: "http://127.0.0.1:9/v1", keyEnv: "LAB_API_KEY" } };
    await writeConfig(repo, "config.json", JSON.stringify({ models: { providers } }));
    await writeConfig(repo, "model_chain.json", '["lab/a"]');
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    await rejects(
      model(context, args({ ask: "are you there" }), never),
      refused("env.no-key", /LAB_API_KEY is not set.* Set LAB_API_KEY in the environment of the host that runs Orch$/),
    );
  });
});

describe("orch config explain", () => {
  it("names each value's source, and what an untrusted file says without effect", async () => {
    await using repo = await makeTempRepo();
    await writeConfig(repo, "config.json", '{"features": {"max_attempts": 5}, "rules": {"pep8": "warn"}}');
    await repo.write(".orch/config.json", '{"features": {"max_attempts": 9, "push": false}}');
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const result = await config(context, args({ words: ["explain", "features"] }), never);
    const { values, files, text } = dataOf<ConfigData>(result);
    const user = configFile(repo, "config.json");
    deepEqual(
      values.map(({ key, value, source, untrusted }) => [key, value, source, untrusted]),
      [
        ["features.few_shot_count", 2, "default", undefined],
        ["features.max_attempts", 5, user, 9],
        ["features.push", true, "default", false],
      ],
    );
    deepEqual(
      files.map(({ state }) => state),
      ["in effect", "not trusted"],
    );
    deepEqual(result.next, ["orch trust"]);
    match(text.join("\n"), /\.orch\/config\.json says 9, without effect: not trusted/);
  });

  it("a trusted file takes effect, a changed byte takes it away again", async () => {
    await using repo = await makeTempRepo();
    await repo.write(".orch/config.json", '{"keep_runs": 7}');
    const before = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const { repository } = before.context;
    if (repository.kind !== "open") throw repository.why;
    await repository.trust.grant(await repository.trust.state());
    const valueNow = async (): Promise<unknown> => {
      const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
      const result = await config(context, args({ words: ["explain", "keep_runs"] }), never);
      return dataOf<ConfigData>(result).values[0]?.value;
    };
    equal(await valueNow(), 7);
    await repo.write(".orch/config.json", '{"keep_runs": 8}');
    equal(await valueNow(), 50);
  });

  const near: readonly [string, RegExp][] = [
    ["max_attempts", /features\.max_attempts/],
    ["features.max_atempts", /features\.max_attempts/],
    ["feature", /features/],
    ["sandbx", /sandbox/],
    ["nothing.like.it.at.all", /orch config explain$/],
  ];
  for (const [key, words] of near) {
    it(`refuses ${key} with what is near`, async () => {
      await using repo = await makeTempRepo();
      const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
      await rejects(config(context, args({ words: ["explain", key] }), never), refused("config.unknown-key", words));
    });
  }

  it("a rule that nobody switched is a setting, and a broken file is refused with its line", async () => {
    await using repo = await makeTempRepo();
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const { values } = dataOf<ConfigData>(await config(context, args({ words: ["explain", "rules.pep8"] }), never));
    deepEqual(values, [{ key: "rules.pep8", value: null, source: "default", takes: "off, warn or fail" }]);
    await writeConfig(repo, "config.json", '{\n  "keep_runs": 0\n}');
    const broken = await makeAnywhere({ cwd: repo.root, env: repo.env });
    await rejects(config(broken.context, args(), never), refused("config.invalid", /config\.json:2/));
  });

  it("explains, and nothing else", async () => {
    await using repo = await makeTempRepo();
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    await rejects(config(context, args({ words: ["set", "x"] }), never), refused("usage.invalid", /does not set/));
  });
});
