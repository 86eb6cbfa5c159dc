import { inRoot } from "../../base/paths.ts";
import { unknownUsage, type Usage } from "../../model/usage.ts";
import { providerFailure, quotedMessage } from "./failure-words.ts";
import { numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor, modelAt } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/**
 * gemini's exit code is an HTTP status modulo 256, it ignores TERM, and a reply that the token limit cut is a "success".
 * A resumed session renders its first message anew, so nothing of it is cached: a retry starts afresh.
 */
export const gemini = {
  client: "gemini",
  program: "gemini",
  tier: "supported",
  install: "npm install -g @google/gemini-cli",
  version: { args: ["--version"], floor: "0.60.0", tested: "0.61.0" },
  can: { resume: "cold", cost: "tokens", readOnly: true, ownSandbox: false, tellsTokenLimit: false },
  measured: "first call after 1.0 s, 268 MB, 50 KB prompt",
  persists: { requests: 2, seconds: 7 },
  env: (_model, endpoint) => (endpoint === undefined ? ["GEMINI_API_KEY", "GOOGLE_API_KEY"] : []),
  logins: [
    { from: ".gemini/oauth_creds.json", to: ".gemini/oauth_creds.json", as: "link" },
    { from: ".gemini/google_accounts.json", to: ".gemini/google_accounts.json", as: "copy" },
  ],
  hosts: (model, endpoint) =>
    endpoint === undefined
      ? ["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"]
      : hostsFor(model, endpoint),
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

/** Follows what stdin holds. */
const follow = "Do the task above.";

function command(task: WorkerTask): WorkerCommand {
  const { home, endpoint, model, session } = task;
  const named = modelAt(endpoint, model);
  const byKey = endpoint !== undefined || task.env["GEMINI_API_KEY"] !== undefined;
  return {
    args: [
      "-p",
      follow,
      "-o",
      "stream-json",
      "--approval-mode",
      task.access === "read" ? "plan" : "yolo",
      "--skip-trust",
      ...(named === undefined ? [] : ["-m", named]),
      ...(session === undefined ? [] : ["--resume", session]),
      ...task.extraArgs,
    ],
    env: {
      GEMINI_CLI_NO_RELAUNCH: "true",
      GEMINI_TELEMETRY_ENABLED: "false",
      NO_BROWSER: "1",
      ...(endpoint === undefined
        ? {}
        : {
            GEMINI_API_KEY: task.key ?? "none",
            GOOGLE_GEMINI_BASE_URL: endpoint.baseUrl.replace(/\/v1(?:beta)?\/?$/, ""),
          }),
    },
    files: [
      {
        path: inRoot(home, ".gemini", "settings.json"),
        text: JSON.stringify({
          security: { auth: { selectedType: byKey ? "gemini-api-key" : "oauth-personal" } },
          general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2 },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        }),
      },
    ],
    stdin: task.prompt,
  };
}

function parser(): StreamParser {
  let session: string | undefined;
  let model: string | undefined;
  let text = "";
  let status: string | undefined;
  let said = "";
  let usage: Usage = unknownUsage;
  let calls = 0;
  let tools = 0;
  let fresh = true;
  const running = new Map<string, string>();
  const denied: string[] = [];
  return {
    line(written) {
      const line = objectOf(written);
      switch (textAt(line, "type")) {
        case "init":
          session = textAt(line, "session_id");
          model = textAt(line, "model");
          break;
        case "message":
          if (textAt(line, "role") !== "assistant") break;
          // Deltas: the first after a tool's result begins a new message.
          if (fresh) {
            text = "";
            calls += 1;
          }
          fresh = false;
          text += textAt(line, "content") ?? "";
          break;
        case "tool_use":
          if (fresh) calls += 1;
          fresh = false;
          running.set(textAt(line, "tool_id") ?? "", textAt(line, "tool_name") ?? "tool");
          break;
        case "tool_result": {
          const id = textAt(line, "tool_id") ?? "";
          if (textAt(line, "status") === "error" && /denied|not found|not allowed|plan/i.test(written))
            denied.push(running.get(id) ?? "tool");
          running.delete(id);
          tools += 1;
          fresh = true;
          text = "";
          break;
        }
        case "error":
          said = textAt(line, "message") ?? said;
          break;
        case "result":
          status = textAt(line, "status");
          said = textAt(line, "error.message") ?? said;
          usage = usageOf({
            input: numberAt(line, "stats.input_tokens"),
            output: numberAt(line, "stats.output_tokens"),
            cacheRead: numberAt(line, "stats.cached"),
            inputHasCached: true,
          });
          break;
        case undefined:
        default:
          break;
      }
    },
    look: () => ({
      calls,
      costUsd: "unknown",
      tools,
      inTool: running.size > 0,
    }),
    end: (): StreamEnd => ({
      ended: status !== undefined,
      text: status === "success" ? text : "",
      ...(session === undefined ? {} : { session }),
      ...(model === undefined ? {} : { model }),
      usage,
      calls,
      ...(status === undefined || status === "success" ? {} : failed(said)),
      denied: [...new Set(denied)],
    }),
    isNoise: () => false,
  };
}

function failed(said: string): Pick<StreamEnd, "failure" | "unusable"> {
  if (/empty response/i.test(said)) return { unusable: "empty" };
  return { failure: providerFailure(quotedMessage(said.replace(/^\[API Error: (.*)\]/s, "$1"))) };
}
