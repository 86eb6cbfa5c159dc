import { inRoot } from "../../base/paths.ts";
import { unknownUsage, type Usage } from "../../model/usage.ts";
import { providerFailure } from "./failure-words.ts";
import { at, listAt, numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor, modelAt } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/**
 * `result.subtype` says "success" for failed runs too: `is_error` decides, and the words stand in `result`. Usage counts
 * only in `result`; in messages it is a placeholder. Settings of the repository (hooks, permissions) are not loaded.
 */
export const claude = {
  client: "claude",
  program: "claude",
  tier: "first class",
  install: "npm install -g @anthropic-ai/claude-code",
  version: { args: ["--version"], floor: "2.1.0", tested: "2.1.332" },
  can: { resume: "cache-warm", cost: "reported", readOnly: true, ownSandbox: false, tellsTokenLimit: true },
  measured: "first call after 0.4 s, 228 MB, 88 KB prompt",
  persists: { requests: 3, seconds: 3 },
  env: (_model, endpoint) =>
    endpoint === undefined
      ? ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"]
      : [],
  logins: [
    {
      from: ".claude/.credentials.json",
      env: { name: "CLAUDE_CONFIG_DIR", file: ".credentials.json" },
      to: ".claude/.credentials.json",
      as: "link",
    },
  ],
  hosts: (model, endpoint) =>
    endpoint === undefined ? ["api.anthropic.com", "console.anthropic.com"] : hostsFor(model, endpoint),
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

const reading = ["Read", "Grep", "Glob"];
const editing = [...reading, "Edit", "Write", "Bash"];

function command(task: WorkerTask): WorkerCommand {
  const { endpoint, model, session } = task;
  const tools = task.access === "read" ? reading : editing;
  const named = modelAt(endpoint, model);
  return {
    args: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--tools",
      tools.join(","),
      "--allowedTools",
      tools.join(","),
      "--permission-mode",
      task.access === "read" ? "dontAsk" : "acceptEdits",
      "--setting-sources",
      "user",
      "--strict-mcp-config",
      // What a run costs stands in its last line only.
      ...(task.maxCostUsd === undefined ? [] : ["--max-budget-usd", String(task.maxCostUsd)]),
      ...(named === undefined ? [] : ["--model", named]),
      ...(session === undefined ? [] : ["--resume", session]),
      ...task.extraArgs,
    ],
    env: {
      CLAUDE_CONFIG_DIR: inRoot(task.home, ".claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
      CLAUDE_CODE_MAX_RETRIES: "2",
      API_TIMEOUT_MS: "300000",
      ...(endpoint === undefined ? {} : { ANTHROPIC_BASE_URL: endpoint.baseUrl.replace(/\/v1\/?$/, "") }),
      ...(endpoint === undefined ? {} : { ANTHROPIC_API_KEY: task.key ?? "none" }),
    },
    files: [],
    stdin: task.prompt,
  };
}

function parser(): StreamParser {
  let session: string | undefined;
  let model: string | undefined;
  let result: unknown;
  const messages = new Set<string>();
  const running = new Set<string>();
  const denied: string[] = [];
  let tools = 0;
  return {
    line(text) {
      const line = objectOf(text);
      if (line === undefined) return;
      session = textAt(line, "session_id") ?? session;
      switch (textAt(line, "type")) {
        case "assistant": {
          const id = textAt(line, "message.id");
          if (id !== undefined && textAt(line, "message.model") !== "<synthetic>") messages.add(id);
          model = real(textAt(line, "message.model")) ?? model;
          for (const part of listAt(line, "message.content"))
            if (textAt(part, "type") === "tool_use") running.add(textAt(part, "id") ?? "");
          break;
        }
        case "user":
          for (const part of listAt(line, "message.content"))
            if (textAt(part, "type") === "tool_result" && running.delete(textAt(part, "tool_use_id") ?? "")) tools += 1;
          break;
        case "system":
          if (textAt(line, "subtype") === "permission_denied") denied.push(textAt(line, "tool_name") ?? "tool");
          break;
        case "result":
          result = line;
          break;
        case undefined:
        default:
          break;
      }
    },
    look: () => ({
      calls: messages.size,
      costUsd: numberAt(result, "total_cost_usd") ?? "unknown",
      tools,
      inTool: running.size > 0,
    }),
    end: (): StreamEnd => ({
      ended: result !== undefined,
      ...endOf(result),
      ...(session === undefined ? {} : { session }),
      ...(model === undefined ? {} : { model }),
      usage: usage(result),
      calls: messages.size,
      denied: [
        ...new Set([
          ...denied,
          ...listAt(result, "permission_denials").map((one) => textAt(one, "tool_name") ?? "tool"),
        ]),
      ],
    }),
    isNoise: (text) => text.includes('"type":"stream_event"'),
  };
}

function real(model: string | undefined): string | undefined {
  return model === "<synthetic>" ? undefined : model;
}

function usage(result: unknown): Usage {
  if (result === undefined) return unknownUsage;
  return usageOf({
    input: numberAt(result, "usage.input_tokens"),
    output: numberAt(result, "usage.output_tokens"),
    cacheRead: numberAt(result, "usage.cache_read_input_tokens"),
    cacheWrite: numberAt(result, "usage.cache_creation_input_tokens"),
    costUsd: numberAt(result, "total_cost_usd"),
    inputHasCached: false,
  });
}

function endOf(result: unknown): Pick<StreamEnd, "text" | "failure" | "unusable" | "overCost"> {
  const text = textAt(result, "result") ?? "";
  if (at(result, "is_error") !== true) return { text };
  if (textAt(result, "subtype") === "error_max_budget_usd") return { text: "", overCost: true };
  if (/output token maximum|max_tokens/i.test(text)) return { text: "", unusable: "truncated" };
  return { text: "", failure: providerFailure(text, numberAt(result, "api_error_status")) };
}
