import { inRoot } from "../../base/paths.ts";
import { unknownUsage, type Usage } from "../../model/usage.ts";
import { providerFailure } from "./failure-words.ts";
import { numberAt, objectOf, textAt } from "./json-line.ts";
import { byArgument } from "./prompt-channel.ts";
import { hostsFor, keysFor, modelAt } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/**
 * cline repeats a failed request five times without a word, and has no setting for it. It has no session to go on in
 * without a terminal, tells no session id, and asks a host of its own at each start, which fails fast without a network.
 * Its answer to a provider's failure is the failure's own text.
 */
export const cline = {
  client: "cline",
  program: "cline",
  tier: "best effort",
  install: "npm install -g cline",
  version: { args: ["--version"], floor: "3.0.0", tested: "3.0.65" },
  can: { resume: "none", cost: "tokens", readOnly: true, ownSandbox: false, tellsTokenLimit: true },
  measured: "first call after 1.9 s, 412 MB, 22 KB prompt",
  persists: { requests: 6, seconds: 65, fixed: true },
  env: (model, endpoint) => (endpoint === undefined ? [...keysFor(model, undefined), "CLINE_API_KEY"] : []),
  logins: [{ from: ".cline/data/settings/providers.json", to: "cline/settings/providers.json", as: "copy" }],
  hosts: (model, endpoint) =>
    endpoint === undefined ? ["api.cline.bot", ...hostsFor(model, undefined)] : hostsFor(model, endpoint),
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

function command(task: WorkerTask): WorkerCommand {
  const { home, endpoint, model } = task;
  const data = inRoot(home, "cline");
  const providers = inRoot(data, "settings", "providers.json");
  const global = inRoot(home, "cline-global.json");
  const named = modelAt(endpoint, model);
  const { prompt, files } = byArgument(task);
  return {
    args: [
      "--json",
      "--data-dir",
      data,
      "-c",
      task.dir,
      "-t",
      String(Math.ceil(task.wallMs / 1000)),
      ...(endpoint === undefined ? [] : ["-P", "openai-compatible"]),
      ...(named === undefined ? [] : ["-m", named]),
      ...(task.access === "read" ? ["--plan"] : []),
      ...task.extraArgs,
      prompt,
    ],
    env: {
      CLINE_NO_AUTO_UPDATE: "1",
      CLINE_SESSION_BACKEND_MODE: "local",
      CLINE_GLOBAL_SETTINGS_PATH: global,
      CLINE_PROVIDER_SETTINGS_PATH: providers,
    },
    files: [
      ...files,
      { path: global, text: JSON.stringify({ telemetryOptOut: true, autoUpdateEnabled: false }) },
      ...(endpoint === undefined
        ? []
        : [
            {
              path: providers,
              text: JSON.stringify({
                version: 1,
                lastUsedProvider: "openai-compatible",
                modes: {},
                providers: {
                  "openai-compatible": {
                    settings: {
                      provider: "openai-compatible",
                      apiKey: task.key ?? "none",
                      model: named ?? "default",
                      baseUrl: endpoint.baseUrl,
                    },
                    updatedAt: "2026-01-01T00:00:00.000Z",
                    tokenSource: "manual",
                  },
                },
              }),
            },
          ]),
    ],
  };
}

function parser(): StreamParser {
  let reason: string | undefined;
  let text = "";
  let auth = false;
  let usage: Usage = unknownUsage;
  let calls = 0;
  let tools = 0;
  let model: string | undefined;
  const running = new Set<string>();
  return {
    line(written) {
      const line = objectOf(written);
      const type = textAt(line, "type");
      if (type === "run_result") {
        reason = textAt(line, "finishReason");
        text = textAt(line, "text") ?? "";
        model = textAt(line, "model.id");
        usage = usageOf({
          input: numberAt(line, "usage.inputTokens"),
          output: numberAt(line, "usage.outputTokens"),
          cacheRead: numberAt(line, "usage.cacheReadTokens"),
          costUsd: numberAt(line, "usage.totalCost"),
          inputHasCached: true,
        });
      }
      if (type !== "agent_event") return;
      const event = textAt(line, "event.type");
      if (event === "iteration_start") calls += 1;
      if (event === "error") auth = textAt(line, "event.errorClass") === "auth";
      if (textAt(line, "event.contentType") !== "tool") return;
      const id = textAt(line, "event.toolCallId") ?? "";
      if (event === "content_start") running.add(id);
      if (event === "content_end" && running.delete(id)) tools += 1;
    },
    look: () => ({ calls, costUsd: "unknown", tools, inTool: running.size > 0 }),
    end: (): StreamEnd => ({
      ended: reason !== undefined,
      text: reason === "completed" ? text : "",
      ...(model === undefined ? {} : { model }),
      usage,
      calls,
      ...(reason === undefined || reason === "completed" ? {} : failed(text, auth)),
      denied: [],
    }),
    isNoise: (written) => /"type":"content_(?:start|update)","contentType":"(?:text|reasoning)"/.test(written),
  };
}

function failed(text: string, auth: boolean): Pick<StreamEnd, "failure" | "unusable"> {
  if (/empty response/i.test(text)) return { unusable: "empty" };
  if (/output token limit/i.test(text)) return { unusable: "truncated" };
  const failure = providerFailure(text);
  return { failure: auth ? { ...failure, why: "auth" } : failure };
}
