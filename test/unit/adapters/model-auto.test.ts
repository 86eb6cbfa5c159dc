import assert from "node:assert/strict";
import { chooseModels, type LocalServer } from "../../../shared/adapters/model-auto.ts";
import { isLoopback } from "../../../shared/adapters/openai-providers.ts";
import { startScriptedModelServer } from "../../support/scripted-model-server/server.ts";

const never = new AbortController().signal;

describe("adapters/model-auto", () => {
  it("a provider key in the environment comes first", async () => {
    const choice = await chooseModels(
      { env: { OPENROUTER_API_KEY: "k", ORCH_GRANTED_MODEL: "vscode-lm/copilot/x" }, servers: [] },
      never,
    );
    assert.deepEqual(choice, {
      ids: ["openrouter/poolside/laguna-s-2.1:free", "openrouter/cohere/north-mini-code:free"],
      why: "OPENROUTER_API_KEY is set",
    });
  });

  it("an endpoint of models.providers comes first, asked what it serves; one without its key is left out", async () => {
    await using work = await startScriptedModelServer({ models: ["embed-small", "chat", "coder"], steps: [] });
    const providers = {
      keyless: { baseUrl: "http://127.0.0.1:9/v1" },
      locked: { baseUrl: work.baseUrl, keyEnv: "NO_SUCH_KEY" },
      work: { baseUrl: `${work.baseUrl}/`, keyEnv: "WORK_KEY" },
    };
    const env = { OPENROUTER_API_KEY: "k", WORK_KEY: "w" };
    const choice = await chooseModels({ env, providers, servers: [], probeMs: 10_000 }, never);
    assert.deepEqual(choice, {
      ids: ["work/coder", "work/chat"],
      why: "work is in models.providers and WORK_KEY is set",
    });
    const { locked } = providers;
    const without = await chooseModels({ env: { OPENROUTER_API_KEY: "k" }, providers: { locked }, servers: [] }, never);
    assert.equal(without.why, "OPENROUTER_API_KEY is set");
  });

  it("an empty key is none; then the editor's granted model", async () => {
    const choice = await chooseModels(
      { env: { OPENAI_API_KEY: "", ORCH_GRANTED_MODEL: "vscode-lm/copilot/x" }, servers: [] },
      never,
    );
    assert.deepEqual(choice, { ids: ["vscode-lm/copilot/x"], why: "the editor's language model is granted" });
    const elsewhere = await chooseModels({ env: { ORCH_GRANTED_MODEL: "openrouter/x" }, servers: [] }, never);
    assert.deepEqual(elsewhere.ids, ["builtin/template"]);
  });

  it("then a local server, models that write code first, embeddings left out", async () => {
    await using ollama = await startScriptedModelServer({
      models: ["nomic-embed-text", "llama3:8b", "qwen2.5-coder:7b"],
      steps: [],
    });
    await using other = await startScriptedModelServer({ models: ["x"], steps: [] });
    const servers: readonly LocalServer[] = [
      { provider: "ollama", title: "Ollama", url: `http://127.0.0.1:${ollama.port}/api/tags` },
      { provider: "vllm", title: "vLLM", url: `${other.baseUrl}/models` },
    ];
    assert.deepEqual(await chooseModels({ env: {}, servers }, never), {
      ids: ["ollama/qwen2.5-coder:7b", "ollama/llama3:8b"],
      why: `Ollama answers at 127.0.0.1:${ollama.port}`,
    });
    assert.deepEqual((await chooseModels({ env: {}, servers: servers.slice(1) }, never)).ids, ["vllm/x"]);
  });

  it("else the template worker, and it says why", async () => {
    await using silent = await startScriptedModelServer({ models: [], steps: [] });
    const servers: readonly LocalServer[] = [
      { provider: "lmstudio", title: "LM Studio", url: `${silent.baseUrl}/models` },
      { provider: "vllm", title: "vLLM", url: "http://127.0.0.1:9/v1/models" },
    ];
    const choice = await chooseModels({ env: {}, servers }, never);
    assert.deepEqual(
      [choice.ids, /no endpoint in models\.providers, no provider key, no local server/.test(choice.why)],
      [["builtin/template"], true],
    );
  });

  const hosts: readonly (readonly [string, boolean])[] = [
    ["http://127.0.0.1:8080/v1", true],
    ["http://localhost:1234/v1", true],
    ["http://[::1]:1234/v1", true],
    ["http://127.0.0.1.example.com/v1", false],
    ["http://localhost@example.com/v1", false],
    ["http://10.0.0.1/v1", false],
    ["file:///127.0.0.1", false],
    ["nonsense", false],
  ];
  for (const [url, expected] of hosts) {
    it(`${url} is ${expected ? "" : "not "}this machine`, () => {
      assert.equal(isLoopback(url), expected);
    });
  }
});
