import { inRoot } from "../../base/paths.ts";
import { type Usage, unknownUsage } from "../../model/usage.ts";
import { isPiNoise, type PiMessage, piUsage, readPiLine, settlesPi, textOfPi } from "../pi-stream.ts";
import { providerFailure, quotedMessage } from "./failure-words.ts";
import { at, objectOf, textAt } from "./json-line.ts";
import { hostOf, hostsFor, keysFor } from "./provider-keys.ts";
import type { Endpoint, Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { sumUsage } from "./token-count.ts";
import { isLower } from "./version.ts";

/**
 * pi exits 0 on every failure of a provider: the last assistant message and the settling event decide. It waits for ever
 * on an open stdin, so the prompt goes through it and it is closed. It has no sandbox and asks nobody.
 */
export const pi = {
  client: "pi",
  program: "pi",
  tier: "first class",
  install: "npm install -g @earendil-works/pi-coding-agent",
  version: { args: ["--version"], floor: "0.73.0", tested: "1.6.0" },
  can: { resume: "cache-warm", cost: "reported", readOnly: true, ownSandbox: false, tellsTokenLimit: true },
  measured: "first call after 0.3 s, 150 MB, 5 KB prompt",
  persists: { requests: 3, seconds: 2 },
  env: keysFor,
  logins: [
    // A key that begins with `!` is a command to pi, in both files.
    {
      from: ".pi/agent/auth.json",
      env: { name: "PI_CODING_AGENT_DIR", file: "auth.json" },
      to: ".pi/agent/auth.json",
      as: "tokens",
    },
    {
      from: ".pi/agent/models.json",
      env: { name: "PI_CODING_AGENT_DIR", file: "models.json" },
      to: ".pi/agent/models.json",
      as: "copy",
    },
    {
      from: ".pi/agent/models-store.json",
      env: { name: "PI_CODING_AGENT_DIR", file: "models-store.json" },
      to: ".pi/agent/models-store.json",
      as: "copy",
    },
  ],
  reads: { settings: ".pi/agent/settings.json", models: ".pi/agent/models.json" },
  hosts: (model, endpoint, files = {}) => [
    ...hostsFor(model, endpoint),
    ...(endpoint === undefined ? hostsOfModels(files["models"], model) : []),
  ],
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

const quiet = [
  "--offline",
  "--no-extensions",
  "--no-skills",
  "--no-prompt-templates",
  "--no-themes",
  "--no-context-files",
] as const;
/** Older ones end with an error on them. */
const newer = ["--no-mcp", "--no-approve"] as const;
const newerSince = "1.6.0";

function command(task: WorkerTask): WorkerCommand {
  const { home, endpoint, model } = task;
  const dir = inRoot(home, ".pi", "agent");
  return {
    args: [
      "-p",
      "--mode",
      "json",
      ...quiet,
      ...(task.version !== undefined && isLower(task.version, newerSince) ? [] : newer),
      ...(model === undefined ? [] : ["--model", model]),
      ...(task.access === "read" ? ["--tools", "read,grep,find,ls"] : []),
      ...(task.session === undefined ? [] : ["--session", task.session]),
      ...task.extraArgs,
    ],
    env: { PI_CODING_AGENT_DIR: dir, PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    files: [
      { path: inRoot(dir, "settings.json"), text: JSON.stringify(settings(task)) },
      ...(endpoint === undefined
        ? []
        : [{ path: inRoot(dir, "models.json"), text: JSON.stringify(ownProvider(task, endpoint)) }]),
    ],
    stdin: task.prompt,
  };
}

/** A short blip is ridden out; anything longer is for a person to decide. */
function settings({ userFiles }: WorkerTask): unknown {
  const user = objectOf((userFiles["settings"] ?? "").trim()) ?? {};
  const kept = Object.fromEntries(
    ["defaultProvider", "defaultModel", "defaultThinkingLevel", "httpProxy"].flatMap((key) =>
      typeof user[key] === "string" ? [[key, user[key]]] : [],
    ),
  );
  return {
    ...kept,
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 500, provider: { maxRetries: 0, timeoutMs: 300_000 } },
    enableInstallTelemetry: false,
  };
}

/** Providers that the person's own pi has beside the known ones: its models.json is copied, so they can be asked. */
function hostsOfModels(text: string | undefined, model: string | undefined): readonly string[] {
  const providers = at(objectOf((text ?? "").trim()), "providers");
  if (typeof providers !== "object" || providers === null) return [];
  const named = model?.split("/")[0] ?? "";
  const all = Object.entries(providers);
  const wanted = all.filter(([name]) => name === named);
  return (wanted.length > 0 ? wanted : all).flatMap(([, one]) => {
    const url = textAt(one, "baseUrl");
    return url === undefined ? [] : [hostOf(url)];
  });
}

function ownProvider(task: WorkerTask, endpoint: Endpoint): unknown {
  const { prices } = task;
  const id = (task.model ?? "").split("/").slice(1).join("/");
  const cost =
    prices === undefined
      ? {}
      : {
          cost: {
            input: prices.input,
            output: prices.output,
            cacheRead: prices.cacheRead ?? prices.input,
            cacheWrite: prices.input,
          },
        };
  return {
    providers: {
      [endpoint.provider]: {
        baseUrl: endpoint.baseUrl,
        api: "openai-completions",
        apiKey: endpoint.keyEnv === undefined ? "none" : `$${endpoint.keyEnv}`,
        models: [{ id, contextWindow: 128_000, maxTokens: 16_000, ...cost }],
      },
    },
  };
}

function parser(): StreamParser {
  let session: string | undefined;
  let last: PiMessage | undefined;
  let settled = false;
  let running = 0;
  let tools = 0;
  const usages: Usage[] = [];
  let calls = 0;
  return {
    line(text) {
      const line = readPiLine(text);
      if (line === undefined) return;
      const { type, ended: message } = line;
      if (type === "session") session = textAt(objectOf(text), "id");
      if (type === "tool_execution_start") running += 1;
      if (type === "tool_execution_end") {
        running -= 1;
        tools += 1;
      }
      // A retry of its own starts the agent again after it ended.
      settled = settlesPi(type) || (settled && type !== "agent_start");
      if (message === undefined) return;
      last = message;
      calls += 1;
      const usage = piUsage(message);
      if (message.stopReason !== "error" || usage !== unknownUsage) usages.push(usage);
    },
    look: () => ({
      calls,
      costUsd: sumUsage(usages).costUsd,
      tools,
      inTool: running > 0,
    }),
    end: () => endOf(last, { settled, session, calls, usage: sumUsage(usages) }),
    isNoise: isPiNoise,
  };
}

function endOf(
  last: PiMessage | undefined,
  seen: {
    readonly settled: boolean;
    readonly session: string | undefined;
    readonly calls: number;
    readonly usage: Usage;
  },
): StreamEnd {
  const { provider, model, stopReason, errorMessage } = last ?? {};
  const failed = stopReason === "error" || stopReason === "aborted";
  return {
    ended: seen.settled && last !== undefined,
    text: textOfPi(last?.content),
    ...(seen.session === undefined ? {} : { session: seen.session }),
    ...(provider !== undefined && model !== undefined ? { model: `${provider}/${model}` } : {}),
    usage: seen.usage,
    calls: seen.calls,
    ...(failed ? { failure: providerFailure(quotedMessage(errorMessage ?? "")) } : {}),
    ...(stopReason === "length" || stopReason === "toolUse" ? { unusable: "truncated" as const } : {}),
    denied: [],
  };
}
