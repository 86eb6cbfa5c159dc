import { unknownUsage } from "../../model/usage.ts";
import type { WorkerConfig, WorkerOutput } from "../../model/worker-config.ts";
import { byArgument, byFile } from "./prompt-channel.ts";
import { providerFailure } from "./failure-words.ts";
import { at, numberAt, objectOf, textAt } from "./json-line.ts";
import { hostsFor } from "./provider-keys.ts";
import type { Recipe, StreamEnd, StreamParser, WorkerCommand, WorkerTask } from "./recipe.ts";
import { usageOf } from "./token-count.ts";

/** A worker that a person describes in `workers` of config.json. Its numbers are what it says; nothing is guessed. */
export interface OwnWorker {
  readonly id: string;
  readonly program: string;
  readonly config: WorkerConfig & { readonly argv: readonly string[] };
}

export function ownRecipe({ id, program, config }: OwnWorker): Recipe {
  const output: WorkerOutput = config.output ?? { format: "text" };
  const told = output.format === "jsonl" && output.usage !== undefined;
  return {
    client: id,
    program,
    tier: "yours",
    can: {
      resume:
        config.resume_argv !== undefined && output.format === "jsonl" && output.session !== undefined
          ? "cache-warm"
          : "none",
      resumesToWrite: true,
      cost: told ? (output.usage?.cost_usd === undefined ? "tokens" : "reported") : "none",
      readOnly: config.read_only_argv !== undefined,
      ownSandbox: false,
      tellsTokenLimit: false,
    },
    env: () => config.env ?? [],
    logins: [],
    hosts: (model, endpoint) => (endpoint === undefined ? [] : hostsFor(model, endpoint)),
    stray: [],
    command: (task) => command(config, task),
    parser: () => (output.format === "jsonl" ? jsonlParser(output) : textParser()),
  };
}

function command(config: OwnWorker["config"], task: WorkerTask): WorkerCommand {
  const argv = argvOf(config, task);
  const channel = config.prompt ?? "argument";
  const sent = channel === "file" ? byFile(task) : channel === "stdin" ? { prompt: "", files: [] } : byArgument(task);
  const values: Readonly<Record<string, string>> = {
    prompt: sent.prompt,
    prompt_file: "path" in sent ? String(sent.path) : "",
    model: task.model ?? "",
    dir: task.dir,
    session: task.session ?? "",
  };
  // One pass: a prompt that holds `{dir}` stays as it is.
  const fill = (text: string): string =>
    text.replace(/\{(prompt_file|prompt|model|dir|session)\}/g, (whole, name: string) => values[name] ?? whole);
  return {
    args: [...argv.map(fill), ...task.extraArgs],
    env: {},
    files: sent.files,
    ...(channel === "stdin" ? { stdin: task.prompt } : {}),
  };
}

/** Reading goes before the session: nothing says that `resume_argv` keeps it from writing. */
function argvOf(config: OwnWorker["config"], { access, session }: WorkerTask): readonly string[] {
  if (access === "read") return config.read_only_argv ?? config.argv;
  return (session === undefined ? undefined : config.resume_argv) ?? config.argv;
}

type Jsonl = Extract<WorkerOutput, { readonly format: "jsonl" }>;
type Match = Jsonl["end"];

function fits(line: unknown, match: Match): boolean {
  return Object.entries(match).every(([place, value]) => at(line, place) === value);
}

function jsonlParser(output: Jsonl): StreamParser {
  let end: unknown;
  let failure: StreamEnd["failure"];
  let text = "";
  let session: string | undefined;
  let calls = 0;
  return {
    line(written) {
      const line = objectOf(written);
      if (line === undefined) return;
      if (output.session !== undefined) session = textAt(line, output.session) ?? session;
      if (output.call !== undefined && fits(line, output.call)) calls += 1;
      if (output.text_in !== undefined && fits(line, output.text_in)) text = textAt(line, output.text) ?? text;
      if (output.error !== undefined && fits(line, output.error.match))
        failure = providerFailure(
          (output.error.message === undefined ? undefined : textAt(line, output.error.message)) ?? "",
        );
      if (!fits(line, output.end)) return;
      end = line;
      if (output.text_in === undefined) text = textAt(line, output.text) ?? text;
    },
    look: () => ({ calls, costUsd: "unknown", tools: "unknown", inTool: false }),
    end: (): StreamEnd => ({
      ended: end !== undefined || failure !== undefined,
      text,
      ...(session === undefined ? {} : { session }),
      usage:
        output.usage === undefined || end === undefined
          ? unknownUsage
          : usageOf({
              input: numberAt(end, output.usage.input),
              output: numberAt(end, output.usage.output),
              cacheRead: output.usage.cache_read === undefined ? undefined : numberAt(end, output.usage.cache_read),
              costUsd: output.usage.cost_usd === undefined ? undefined : numberAt(end, output.usage.cost_usd),
              inputHasCached: output.usage.input_has_cached,
            }),
      calls,
      ...(failure === undefined ? {} : { failure }),
      denied: [],
    }),
    isNoise: () => false,
  };
}

/** Plain text has no end of its own: whether the worker's final JSON stands in it is looked at by who judges. */
function textParser(): StreamParser {
  const lines: string[] = [];
  return {
    line: (written) => {
      lines.push(written);
    },
    look: () => ({ calls: 0, costUsd: "unknown", tools: "unknown", inTool: false }),
    end: () => ({
      ended: /"status"\s*:/.test(lines.join("\n")),
      text: lines.join("\n"),
      usage: unknownUsage,
      calls: 0,
      denied: [],
    }),
    isNoise: () => false,
  };
}
