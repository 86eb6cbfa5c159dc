import assert from "node:assert/strict";
import { lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { createFiles } from "../../../shared/adapters/files.ts";
import { flagsOfHelp, piEnvironment, variablesOfHelp, withoutValues } from "../../../shared/adapters/pi-environment.ts";
import { createPiHome, namedVariables, piUserDir } from "../../../shared/adapters/pi-home.ts";
import { readPiStream } from "../../../shared/adapters/pi-stream.ts";
import { unknownUsage } from "../../../shared/model/usage.ts";
import type { Files } from "../../../shared/ports/files.ts";
import { TempDir } from "../../support/temp-dir.ts";

const files = createFiles();
const noLinks: Files = { ...files, symlink: () => Promise.reject(new Error("EPERM")) };

function userDir(dir: TempDir, auth: string) {
  mkdirSync(dir.at("user"));
  writeFileSync(dir.at("user", "auth.json"), auth);
  writeFileSync(
    dir.at("user", "models.json"),
    '{"providers": {"lab": {"apiKey": "$LAB_KEY", "headers": {"x": "${OTHER}"}}}}',
  );
  writeFileSync(dir.at("user", "models-store.json"), "{}");
  writeFileSync(
    dir.at("user", "settings.json"),
    '{"httpProxy": "http://proxy:3128", "retry": {"enabled": true}, "theme": "x"}',
  );
  return dir.at("user");
}
const oauth = '{"anthropic": {"type": "oauth", "refresh": "r"}}';
const key = '{"openrouter": {"type": "api_key", "key": "k"}}';

describe("adapters/pi-home", () => {
  it("links logins and models, copies what pi may write, and sets its own settings", async () => {
    using dir = new TempDir();
    const order = { at: dir.at("call"), userDir: userDir(dir, oauth), timeoutMs: 5000, systemPrompt: "persona" };
    {
      await using home = await createPiHome(files, order);
      const at = (name: string): string => `${home.dir}/${name}`;
      assert.deepEqual(
        [
          readlinkSync(at("auth.json")),
          readlinkSync(at("models.json")),
          lstatSync(at("models-store.json")).isSymbolicLink(),
        ],
        [dir.at("user", "auth.json"), dir.at("user", "models.json"), false],
      );
      assert.deepEqual(JSON.parse(readFileSync(at("settings.json"), "utf8")), {
        retry: { enabled: false, provider: { maxRetries: 0, timeoutMs: 5000 } },
        httpIdleTimeoutMs: 5000,
        compaction: { enabled: false },
        enableInstallTelemetry: false,
        httpProxy: "http://proxy:3128",
      });
      assert.deepEqual([readFileSync(home.systemPrompt, "utf8"), lstatSync(order.at).mode & 0o777], ["persona", 0o700]);
    }
    assert.equal(await files.stat(order.at), undefined, "the folder goes");
    assert.equal(readFileSync(dir.at("user", "auth.json"), "utf8"), oauth, "the login stays");
  });

  it("without links a key is copied, a login that refreshes itself is not", async () => {
    using dir = new TempDir();
    const order = { at: dir.at("call"), userDir: userDir(dir, key), timeoutMs: 5000, systemPrompt: "" };
    {
      await using home = await createPiHome(noLinks, order);
      assert.equal(readFileSync(`${home.dir}/auth.json`, "utf8"), key);
    }
    writeFileSync(dir.at("user", "auth.json"), oauth);
    await assert.rejects(createPiHome(noLinks, { ...order, at: dir.at("again") }), {
      code: "path.refused",
      message: /only a link can share/,
    });
    assert.equal(await files.stat(dir.at("again")), undefined, "nothing is left of it");
  });

  it("names the variables that the user's files refer to", async () => {
    using dir = new TempDir();
    assert.deepEqual(await namedVariables(files, userDir(dir, key)), ["LAB_KEY", "OTHER"]);
  });

  const dirs: readonly (readonly [Readonly<Record<string, string>>, string | undefined])[] = [
    [{ HOME: "/home/x" }, "/home/x/.pi/agent"],
    [{ HOME: "/home/x", PI_CODING_AGENT_DIR: "~/pi" }, "/home/x/pi"],
    [{ HOME: "/home/x", PI_CODING_AGENT_DIR: "/srv/pi" }, "/srv/pi"],
    [{ HOME: "/home/x", PI_CODING_AGENT_DIR: "relative" }, undefined],
    [{}, undefined],
  ];
  for (const [env, expected] of dirs) {
    it(`the user's folder with ${JSON.stringify(env)}`, () => {
      assert.equal(piUserDir(env), expected);
    });
  }

  it("the environment is built from lists", () => {
    const help =
      "  --mode <mode>  Output\n  --no-mcp       Disable\n  OPENAI_API_KEY   - OpenAI key\n  PI_OFFLINE  - offline\n";
    assert.deepEqual([flagsOfHelp(help), variablesOfHelp(help)], [["--mode", "--no-mcp"], ["OPENAI_API_KEY"]]);
    const env = { PATH: "/bin", OPENAI_API_KEY: "sk-12345678", SECRET: "x", NODE_OPTIONS: "-r x", PI_SHARE: "1" };
    assert.deepEqual(piEnvironment(env, { agentDir: "/a", names: ["OPENAI_API_KEY", "PI_SHARE"] }), {
      PATH: "/bin",
      OPENAI_API_KEY: "sk-12345678",
      PI_CODING_AGENT_DIR: "/a",
      PI_OFFLINE: "1",
      PI_TELEMETRY: "0",
      NO_COLOR: "1",
    });
    assert.equal(withoutValues("bad key sk-12345678", env, ["OPENAI_API_KEY", "PATH"]), "bad key [OPENAI_API_KEY]");
  });

  const end = (message: Record<string, unknown>): string =>
    `${JSON.stringify({ type: "message_end", message: { role: "assistant", ...message } })}\n`;
  const settled = '{"type":"agent_settled","aborted":false}\n';
  const streams: readonly (readonly [
    name: string,
    stdout: string,
    expected: Partial<ReturnType<typeof readPiStream>>,
  ])[] = [
    ["nothing", "", { stopReason: undefined, text: "", settled: false }],
    ["noise", "warning: x\n{broken\n", { stopReason: undefined }],
    [
      "the last assistant message counts",
      end({ stopReason: "error", errorMessage: "429" }) +
        end({
          stopReason: "stop",
          content: [{ type: "thinking" }, { type: "text", text: "a" }, { type: "text", text: "b" }],
        }) +
        settled,
      { stopReason: "stop", text: "ab", errorMessage: "", settled: true },
    ],
    [
      "an older pi ends with agent_end",
      `${end({ stopReason: "stop", content: "x" })}{"type":"agent_end"}`,
      { text: "x", settled: true },
    ],
    [
      "a user's message is none",
      '{"type":"message_end","message":{"role":"user","content":"hi"}}\n',
      { stopReason: undefined },
    ],
    ["no tokens are not told", end({ usage: { input: 0, output: 0, cost: { total: 0 } } }), { usage: unknownUsage }],
    [
      "a price of 0 is not known",
      end({ model: "m", usage: { input: 1, output: 1, cost: { total: 0 } } }),
      { usage: { input: 1, output: 1, cacheRead: 0, costUsd: "unknown" } },
    ],
    [
      "a free model is free",
      end({ model: "m:free", usage: { input: 1, output: 1, cacheWrite: 2, cost: { total: 0 } } }),
      { usage: { input: 3, output: 1, cacheRead: 0, costUsd: 0 } },
    ],
    [
      "the provider's own 0 is believed",
      end({ model: "m", usage: { input: 1, output: 1, cost: { total: 0, totalFromProvider: true } } }),
      { usage: { input: 1, output: 1, cacheRead: 0, costUsd: 0 } },
    ],
  ];
  for (const [name, stdout, expected] of streams) {
    it(`stream: ${name}`, () => {
      const got: Readonly<Record<string, unknown>> = { ...readPiStream(stdout) };
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((field) => [field, got[field]])), expected);
    });
  }
});
