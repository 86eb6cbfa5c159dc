import { unknownUsage } from "../../model/usage.ts";
import { byArgument } from "./prompt-channel.ts";
import { providerFailure } from "./failure-words.ts";
import { numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/**
 * Antigravity's CLI as its release notes and users document its `stream-json`; never run here, so its tier says
 * untested. Its login lives in the system's keyring, which a home of its own may hide.
 */
export const agy = {
  client: "agy",
  program: "agy",
  tier: "untested",
  install: "see https://antigravity.google/cli",
  can: { resume: "cold", cost: "tokens", readOnly: false, ownSandbox: false, tellsTokenLimit: false },
  env: () => ["DBUS_SESSION_BUS_ADDRESS"],
  logins: [{ from: ".gemini/antigravity-cli/settings.json", to: ".gemini/antigravity-cli/settings.json", as: "copy" }],
  hosts: (model, endpoint) =>
    endpoint === undefined ? ["cloudcode-pa.googleapis.com", "oauth2.googleapis.com"] : hostsFor(model, endpoint),
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

function command(task: WorkerTask): WorkerCommand {
  const { model, session } = task;
  const { prompt, files } = byArgument(task);
  return {
    args: [
      "-p",
      prompt,
      "--output-format",
      "stream-json",
      "--print-timeout",
      `${Math.ceil(task.wallMs / 60_000)}m`,
      "--dangerously-skip-permissions",
      ...(model === undefined ? [] : ["--model", model]),
      ...(session === undefined ? [] : ["--conversation", session]),
      ...task.extraArgs,
    ],
    env: { AGY_CLI_DISABLE_AUTO_UPDATE: "T" },
    files,
  };
}

function parser(): StreamParser {
  let session: string | undefined;
  let model: string | undefined;
  let result: unknown;
  let answer = "";
  let calls = 0;
  let tools = 0;
  let inTool = false;
  return {
    line(written) {
      const line = objectOf(written);
      switch (textAt(line, "event")) {
        case "init":
          session = textAt(line, "conversation_id");
          model = textAt(line, "init.model");
          break;
        case "step_update": {
          const isAnswer = textAt(line, "step_update.step_type") === "agent_response";
          const done = textAt(line, "step_update.state") === "DONE";
          inTool = !isAnswer && !done;
          if (!isAnswer && done) tools += 1;
          if (isAnswer) answer += textAt(line, "step_update.text_delta") ?? "";
          if (isAnswer && done) calls += 1;
          if (!isAnswer) answer = "";
          break;
        }
        case "result":
          result = line;
          break;
        case undefined:
        default:
          break;
      }
    },
    look: () => ({ calls, costUsd: "unknown", tools, inTool }),
    end: (): StreamEnd => {
      const status = textAt(result, "result.status");
      const said = textAt(result, "result.response") ?? "";
      const well = status === "SUCCESS" || status === "OK";
      return {
        ended: result !== undefined,
        text: well ? said || answer : "",
        ...(session === undefined ? {} : { session }),
        ...(model === undefined ? {} : { model }),
        usage:
          result === undefined
            ? unknownUsage
            : usageOf({
                input: numberAt(result, "result.usage.input_tokens"),
                output: numberAt(result, "result.usage.output_tokens"),
                cacheRead: numberAt(result, "result.usage.cached_tokens"),
                inputHasCached: true,
              }),
        calls,
        ...(result === undefined || well
          ? {}
          : { failure: providerFailure(textAt(result, "result.error") ?? said ?? status ?? "") }),
        denied: [],
      };
    },
    isNoise: () => false,
  };
}
