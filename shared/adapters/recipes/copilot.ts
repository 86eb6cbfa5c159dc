import { inRoot } from "../../base/paths.ts";
import { unknownUsage, type Usage } from "../../model/usage.ts";
import { byArgument } from "./prompt-channel.ts";
import { providerFailure } from "./failure-words.ts";
import { at, listAt, numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor, modelAt } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { sumUsage, usageOf } from "./token-count.ts";

/**
 * copilot repeats a failed request five times and has no setting for it. It tells tokens only in a file, unpacks 235 MB
 * into each home's cache (so the cache is shared), and exits 0 when the token limit cut its reply. It refuses a command
 * that names a path outside the worktree. Ending its launcher leaves the program behind it: the whole group is ended.
 */
export const copilot = {
  client: "copilot",
  program: "copilot",
  tier: "supported",
  install: "npm install -g @github/copilot",
  version: { args: ["--version"], floor: "1.0.90", tested: "1.0.102" },
  can: { resume: "cache-warm", cost: "file", readOnly: true, ownSandbox: false, tellsTokenLimit: false },
  measured: "first call after 0.6 s, 296 MB, 48 KB prompt",
  persists: { requests: 6, seconds: 60, fixed: true },
  env: (_model, endpoint) => (endpoint === undefined ? ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"] : []),
  logins: [
    {
      from: ".copilot/config.json",
      env: { name: "COPILOT_HOME", file: "config.json" },
      to: ".copilot/config.json",
      as: "copy",
    },
  ],
  hosts: (model, endpoint) =>
    endpoint === undefined
      ? ["api.github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com"]
      : hostsFor(model, endpoint),
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

function command(task: WorkerTask): WorkerCommand {
  const { home, endpoint, model, session, shared } = task;
  const named = modelAt(endpoint, model);
  const usage = inRoot(home, "copilot-usage.json");
  const { prompt, files } = byArgument(task);
  return {
    args: [
      "-p",
      prompt,
      "--output-format",
      "json",
      "--no-auto-update",
      "--disable-builtin-mcps",
      "--no-ask-user",
      "--no-color",
      "--usage-output-file",
      usage,
      "--allow-all-tools",
      ...(task.access === "read" ? ["--available-tools=view,grep,glob"] : []),
      ...(endpoint === undefined && named !== undefined ? ["--model", named] : []),
      ...(session === undefined ? [] : [`--resume=${session}`]),
      ...task.extraArgs,
    ],
    env: {
      COPILOT_HOME: inRoot(home, ".copilot"),
      COPILOT_AUTO_UPDATE: "false",
      ...(endpoint === undefined
        ? {}
        : {
            COPILOT_OFFLINE: "true",
            COPILOT_PROVIDER_BASE_URL: endpoint.baseUrl,
            COPILOT_PROVIDER_API_KEY: task.key ?? "none",
            COPILOT_MODEL: named ?? "default",
          }),
    },
    files,
    links: [{ at: inRoot(home, ".cache", "copilot"), to: inRoot(shared, "copilot") }],
    afterwards: usage,
  };
}

function parser(): StreamParser {
  let session: string | undefined;
  let text = "";
  let ended = false;
  let failure: { readonly message: string; readonly status: number | undefined } | undefined;
  let usage: Usage = unknownUsage;
  let model: string | undefined;
  let calls = 0;
  let tools = 0;
  const running = new Set<string>();
  const denied: string[] = [];
  return {
    line(written) {
      const line = objectOf(written);
      switch (textAt(line, "type")) {
        case "model.call_start":
          calls += 1;
          model = textAt(line, "data.model") ?? model;
          break;
        case "assistant.message":
          text = listAt(line, "data.toolRequests").length === 0 ? (textAt(line, "data.content") ?? "") : "";
          break;
        case "tool.execution_start":
          running.add(textAt(line, "data.toolCallId") ?? "");
          break;
        case "tool.execution_complete":
          tools += 1;
          running.delete(textAt(line, "data.toolCallId") ?? "");
          if (at(line, "data.success") === false && /denied|permission|not allowed/i.test(written))
            denied.push(textAt(line, "data.toolName") ?? "tool");
          break;
        case "session.error":
          failure = { message: textAt(line, "data.message") ?? "", status: numberAt(line, "data.statusCode") };
          break;
        case "result":
          ended = true;
          session = textAt(line, "sessionId") ?? session;
          break;
        case undefined:
        default:
          break;
      }
    },
    file(written) {
      const metrics = at(objectOf(written.trim()), "modelMetrics");
      if (typeof metrics !== "object" || metrics === null) return;
      usage = sumUsage(
        Object.values(metrics).map((one: unknown) =>
          usageOf({
            input: numberAt(one, "usage.inputTokens"),
            output: numberAt(one, "usage.outputTokens"),
            cacheRead: numberAt(one, "usage.cacheReadTokens"),
            inputHasCached: true,
          }),
        ),
      );
    },
    look: () => ({
      calls,
      costUsd: "unknown",
      tools,
      inTool: running.size > 0,
    }),
    end: (): StreamEnd => ({
      ended,
      text: failure === undefined ? text : "",
      ...(session === undefined ? {} : { session }),
      ...(model === undefined ? {} : { model }),
      usage,
      calls,
      ...(failure === undefined
        ? {}
        : /no response was returned/i.test(failure.message)
          ? { unusable: "empty" as const }
          : { failure: providerFailure(failure.message.replace(/^.*Last error: /s, ""), failure.status) }),
      denied: [...new Set(denied)],
    }),
    isNoise: (written) =>
      /"type":"(?:assistant\.(?:message|tool_call|reasoning)_delta|session\.background_tasks_changed)"/.test(written),
  };
}
