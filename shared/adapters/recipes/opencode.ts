import { unknownUsage, type Usage } from "../../model/usage.ts";
import { providerFailure } from "./failure-words.ts";
import { numberAt, objectOf, textAt } from "./json-line.ts";
import { byArgument } from "./prompt-channel.ts";
import { hostsFor, keysFor, modelAt } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { sumUsage, usageOf } from "./token-count.ts";

/**
 * opencode repeats a failed request five times without a word, and has no setting for it. It asks again for ever after a
 * reply without a finish reason, a page of HTML or a prompt that is too long, and sleeps on Retry-After: the limits on
 * calls and silence end it. It refuses a command that names a path outside the worktree; commands it started outlive it.
 * It would write into the repository's own settings, so those are switched off, and into git's folder, which is cleaned
 * after it.
 */
export const opencode = {
  client: "opencode",
  program: "opencode",
  tier: "first class",
  install: "npm install -g opencode-ai",
  version: { args: ["--version"], floor: "1.18.0", tested: "1.18.33" },
  can: { resume: "cache-warm", cost: "reported", readOnly: true, ownSandbox: false, tellsTokenLimit: true },
  measured: "first call after 3.0 s, 677 MB, 31 KB prompt",
  persists: { requests: 6, seconds: 80, fixed: true },
  env: keysFor,
  // A provider that is "wellknown" there brings settings of its own, MCP servers included.
  logins: [{ from: ".local/share/opencode/auth.json", to: ".local/share/opencode/auth.json", as: "tokens" }],
  hosts: hostsFor,
  stray: [".opencode/.gitignore", ".git/opencode"],
  command,
  parser,
} as const satisfies Recipe;

function command(task: WorkerTask): WorkerCommand {
  const { model, session } = task;
  const { prompt, files } = byArgument(task);
  return {
    args: [
      "run",
      "--format",
      "json",
      "--pure",
      // Without a title each new session costs one more call.
      "--title",
      "worker",
      "--auto",
      ...(model === undefined ? [] : ["-m", model]),
      ...(session === undefined ? [] : ["-s", session]),
      ...task.extraArgs,
      prompt,
    ],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config(task)),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_PROJECT_CONFIG: "1",
      npm_config_offline: "true",
    },
    files,
  };
}

function config({ endpoint, model, access, prices }: WorkerTask): unknown {
  const permission =
    access === "read"
      ? { edit: "deny", bash: "deny", webfetch: "deny", external_directory: "deny" }
      : { webfetch: "deny", external_directory: "deny" };
  const base = { share: "disabled", autoupdate: false, snapshot: false, permission };
  if (endpoint === undefined) return base;
  const id = modelAt(endpoint, model) ?? "";
  const cost =
    prices === undefined
      ? {}
      : { cost: { input: prices.input, output: prices.output, cache_read: prices.cacheRead ?? prices.input } };
  return {
    ...base,
    ...(model === undefined ? {} : { model, small_model: model }),
    provider: {
      [endpoint.provider]: {
        npm: "@ai-sdk/openai-compatible",
        options: {
          baseURL: endpoint.baseUrl,
          apiKey: endpoint.keyEnv === undefined ? "none" : `{env:${endpoint.keyEnv}}`,
        },
        models: { [id]: { tool_call: true, limit: { context: 128_000, output: 16_000 }, ...cost } },
      },
    },
  };
}

function parser(): StreamParser {
  let session: string | undefined;
  let reason: string | undefined;
  let text = "";
  let failure: StreamEnd["failure"];
  let calls = 0;
  let tools = 0;
  const usages: Usage[] = [];
  const denied: string[] = [];
  return {
    line(written) {
      const line = objectOf(written);
      if (line === undefined) return;
      session = textAt(line, "sessionID") ?? session;
      switch (textAt(line, "type")) {
        case "step_start":
          calls += 1;
          text = "";
          reason = undefined;
          break;
        case "text":
          text += textAt(line, "part.text") ?? "";
          break;
        case "tool_use":
          tools += 1;
          if (/rejected permission|denied|prevents you/i.test(textAt(line, "part.state.error") ?? ""))
            denied.push(textAt(line, "part.tool") ?? "tool");
          break;
        case "step_finish": {
          reason = textAt(line, "part.reason");
          const usage = usageOf({
            input: numberAt(line, "part.tokens.input"),
            output: numberAt(line, "part.tokens.output"),
            cacheRead: numberAt(line, "part.tokens.cache.read"),
            cacheWrite: numberAt(line, "part.tokens.cache.write"),
            costUsd: numberAt(line, "part.cost"),
            inputHasCached: false,
          });
          if (reason !== "unknown" || usage !== unknownUsage) usages.push(usage);
          break;
        }
        case "error":
          failure = providerFailure(
            textAt(line, "error.data.message") ?? textAt(line, "error.name") ?? "",
            numberAt(line, "error.data.statusCode"),
          );
          break;
        case undefined:
        default:
          break;
      }
    },
    // A running tool has no line of its own, neither has a reply that is still written: an open step may be either.
    look: () => ({
      calls,
      costUsd: sumUsage(usages).costUsd,
      tools,
      inTool: calls > 0 && reason === undefined ? "unknown" : false,
    }),
    end: (): StreamEnd => ({
      ended: reason === "stop" || reason === "length" || failure !== undefined,
      text,
      ...(session === undefined ? {} : { session }),
      usage: sumUsage(usages),
      calls,
      ...(failure === undefined ? {} : { failure }),
      ...(reason === "length" ? { unusable: "truncated" as const } : {}),
      denied: [...new Set(denied)],
    }),
    isNoise: () => false,
  };
}
