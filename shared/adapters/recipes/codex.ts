import { inRoot } from "../../base/paths.ts";
import { unknownUsage, type Usage } from "../../model/usage.ts";
import { providerFailure, quotedMessage } from "./failure-words.ts";
import { numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor, modelAt } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/**
 * codex never gives up on an endpoint that does not answer, sleeps on Retry-After without a word, and hides what its
 * sandbox refused: a rejected patch stands on stderr only. Its home must not lie under the temporary folder, or its
 * sandbox cannot apply patches. Models are named bare: what it does not know loses the patch tool.
 */
export const codex = {
  client: "codex",
  program: "codex",
  tier: "first class",
  install: "npm install -g @openai/codex",
  version: { args: ["--version"], floor: "0.160.0", tested: "0.171.0" },
  can: { resume: "cache-warm", cost: "tokens", readOnly: true, ownSandbox: true, tellsTokenLimit: true },
  measured: "first call after 0.2 s, 151 MB, 41 KB prompt",
  persists: { requests: 4, seconds: 1 },
  env: (_model, endpoint) =>
    endpoint === undefined
      ? ["OPENAI_API_KEY", "CODEX_API_KEY"]
      : endpoint.keyEnv === undefined
        ? []
        : [endpoint.keyEnv],
  logins: [
    { from: ".codex/auth.json", env: { name: "CODEX_HOME", file: "auth.json" }, to: ".codex/auth.json", as: "link" },
  ],
  hosts: (model, endpoint) =>
    endpoint === undefined ? ["api.openai.com", "chatgpt.com", "auth.openai.com"] : hostsFor(model, endpoint),
  stray: [],
  command,
  parser,
} as const satisfies Recipe;

function command(task: WorkerTask): WorkerCommand {
  const { home, session } = task;
  const mode = task.confined ? "danger-full-access" : task.access === "read" ? "read-only" : "workspace-write";
  const model = modelAt(task.endpoint, task.model);
  const common = ["--json", "--skip-git-repo-check", ...(model === undefined ? [] : ["-m", model]), ...task.extraArgs];
  return {
    args:
      session === undefined
        ? ["exec", ...common, "-s", mode, "-C", task.dir, "-"]
        : ["exec", "resume", ...common, "-c", `sandbox_mode="${mode}"`, session, "-"],
    env: { CODEX_HOME: inRoot(home, ".codex") },
    files: [{ path: inRoot(home, ".codex", "config.toml"), text: config(task) }],
    stdin: task.prompt,
  };
}

function config({ endpoint, dir }: WorkerTask): string {
  const lines = [
    'approval_policy = "never"',
    "check_for_update_on_startup = false",
    // A login shell would read the machine's profile and lose the PATH that checks run with.
    "allow_login_shell = false",
    ...(endpoint === undefined ? [] : [`model_provider = ${toml(endpoint.provider)}`]),
    "",
    "[features]",
    "plugins = false",
    "",
    "[analytics]",
    "enabled = false",
    "",
    "[feedback]",
    "enabled = false",
    "",
    "[shell_environment_policy]",
    'exclude = ["*KEY*", "*TOKEN*", "*SECRET*"]',
    "",
    "[sandbox_workspace_write]",
    "network_access = false",
    "exclude_slash_tmp = true",
    "",
    // Else it asks whether the folder is trusted, and with a trusted one it would load the repository's own settings.
    `[projects.${toml(dir)}]`,
    'trust_level = "untrusted"',
  ];
  if (endpoint === undefined) return `${lines.join("\n")}\n`;
  return `${[
    ...lines,
    "",
    `[model_providers.${toml(endpoint.provider)}]`,
    `name = ${toml(endpoint.provider)}`,
    `base_url = ${toml(endpoint.baseUrl)}`,
    'wire_api = "responses"',
    ...(endpoint.keyEnv === undefined ? [] : [`env_key = ${toml(endpoint.keyEnv)}`]),
    "request_max_retries = 1",
    "stream_max_retries = 1",
    "stream_idle_timeout_ms = 120000",
  ].join("\n")}\n`;
}

/** A TOML basic string takes JSON's escapes. */
function toml(text: string): string {
  return JSON.stringify(text);
}

function parser(): StreamParser {
  let session: string | undefined;
  let text = "";
  let completed = false;
  let failure: string | undefined;
  let usage: Usage = unknownUsage;
  let calls = 0;
  let tools = 0;
  const running = new Set<string>();
  const denied: string[] = [];
  return {
    line(written) {
      const line = objectOf(written);
      switch (textAt(line, "type")) {
        case "thread.started":
          session = textAt(line, "thread_id");
          break;
        case "turn.started":
          calls += 1;
          break;
        case "item.started":
          running.add(textAt(line, "item.id") ?? "");
          break;
        case "item.completed": {
          const kind = textAt(line, "item.type");
          running.delete(textAt(line, "item.id") ?? "");
          if (kind === "agent_message") text = textAt(line, "item.text") ?? "";
          // There is no line for a call of the model: each result of a tool asks it again.
          else if (kind !== "error" && kind !== "reasoning") {
            calls += 1;
            tools += 1;
          }
          if (kind === "file_change" && textAt(line, "item.status") === "failed") denied.push("apply_patch");
          break;
        }
        case "turn.completed":
          completed = true;
          usage = usageOf({
            input: numberAt(line, "usage.input_tokens"),
            output: numberAt(line, "usage.output_tokens"),
            cacheRead: numberAt(line, "usage.cached_input_tokens"),
            inputHasCached: true,
          });
          break;
        case "turn.failed":
          failure = textAt(line, "error.message") ?? "";
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
    end: (stderr): StreamEnd => ({
      ended: completed || failure !== undefined,
      text,
      ...(session === undefined ? {} : { session }),
      usage,
      calls,
      ...(failure === undefined ? {} : failureOf(failure)),
      denied: [...denied, ...(/patch rejected|rejected by user approval/.test(stderr) ? ["apply_patch"] : [])],
    }),
    isNoise: () => false,
  };
}

function failureOf(message: string): Pick<StreamEnd, "failure" | "unusable"> {
  return /max_output_tokens/.test(message)
    ? { unusable: "truncated" }
    : { failure: providerFailure(quotedMessage(message)) };
}
