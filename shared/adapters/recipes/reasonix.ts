import { inRoot } from "../../base/paths.ts";
import { unknownUsage } from "../../model/usage.ts";
import { providerFailure } from "./failure-words.ts";
import { at, numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/**
 * Reasonix as its CLI reference documents it; never run here, so its tier says untested. `stream-json` ends with one
 * result object. `total_cost_usd` is US dollars only when `currency` says so.
 */
export const reasonix = {
  client: "reasonix",
  program: "reasonix",
  tier: "untested",
  install: "npm install -g reasonix",
  can: { resume: "cache-warm", cost: "reported", readOnly: true, ownSandbox: false, tellsTokenLimit: false },
  env: (_model, endpoint) =>
    endpoint === undefined ? ["DEEPSEEK_API_KEY"] : endpoint.keyEnv === undefined ? [] : [endpoint.keyEnv],
  logins: [
    { from: ".config/reasonix/config.toml", to: ".config/reasonix/config.toml", as: "copy" },
    { from: ".config/reasonix/.env", to: ".config/reasonix/.env", as: "copy" },
  ],
  hosts: (model, endpoint) => (endpoint === undefined ? ["api.deepseek.com"] : hostsFor(model, endpoint)),
  stray: [".reasonix"],
  command,
  parser,
} as const satisfies Recipe;

function command(task: WorkerTask): WorkerCommand {
  const { model, session } = task;
  return {
    args: [
      "run",
      "--output-format",
      "stream-json",
      "--dir",
      task.dir,
      "--permission-mode",
      task.access === "read" ? "plan" : "auto",
      ...(model === undefined ? [] : ["--model", model]),
      ...(session === undefined ? [] : ["--resume", session]),
      ...task.extraArgs,
    ],
    env: { XDG_CONFIG_HOME: inRoot(task.home, ".config") },
    files: [],
    stdin: task.prompt,
  };
}

function parser(): StreamParser {
  let result: unknown;
  let calls = 0;
  let tools = 0;
  let inTool = false;
  return {
    line(written) {
      const line = objectOf(written);
      const type = textAt(line, "type") ?? textAt(line, "kind");
      if (type === "result") result = line;
      if (type === "turn_started" || textAt(line, "phase") === "working") calls += 1;
      if (type === "tool_dispatch") inTool = true;
      if (type === "tool_result") {
        inTool = false;
        tools += 1;
      }
    },
    look: () => ({ calls, costUsd: "unknown", tools, inTool }),
    end: (): StreamEnd => {
      const failed = at(result, "is_error") === true;
      const text = textAt(result, "result") ?? "";
      const session = textAt(result, "session_id");
      return {
        ended: result !== undefined,
        text: failed ? "" : text,
        ...(session === undefined ? {} : { session }),
        usage:
          result === undefined
            ? unknownUsage
            : usageOf({
                input: numberAt(result, "usage.input_tokens"),
                output: numberAt(result, "usage.output_tokens"),
                cacheRead: numberAt(result, "usage.cache_read_input_tokens"),
                cacheWrite: numberAt(result, "usage.cache_creation_input_tokens"),
                costUsd: textAt(result, "currency") === "USD" ? numberAt(result, "total_cost") : undefined,
                inputHasCached: false,
              }),
        calls: Math.max(calls, numberAt(result, "num_turns") ?? 0),
        ...(failed ? { failure: providerFailure(text) } : {}),
        denied: [],
      };
    },
    isNoise: () => false,
  };
}
