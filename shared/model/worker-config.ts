import * as z from "zod";
import { contractKinds } from "./contract-kinds.ts";

/**
 * `workers.<id>` of config.json: changes a worker of the built-in table, or adds one. A worker is a client (a program)
 * with a model. A client that Orch knows is named; any other is described by its command line and its output, so no
 * code is needed. An entry named like a client (`pi`, `claude`) also says where that client is for all its workers.
 */
const Prices = z.strictObject({ input: z.number(), output: z.number(), cacheRead: z.number().optional() });

/** Where in a line of JSON something stands, and what it must be: `{"type": "result", "status": "ok"}`. Keys may be dotted. */
const LineMatch = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/**
 * How the output of an unknown client is read. `jsonl`: one JSON object a line; `end` is the line that says the run
 * came to its own end. `text`: plain text, whose end is the worker's final JSON; without that it did not end well.
 */
export const WorkerOutput = z.discriminatedUnion("format", [
  z.strictObject({
    format: z.literal("jsonl"),
    end: LineMatch,
    /** A line that says the run failed, and where its words stand. */
    error: z.strictObject({ match: LineMatch, message: z.string().optional() }).optional(),
    /** Dotted place of the answer in lines that match `text_in`, or in the end line. The last one counts. */
    text: z.string(),
    text_in: LineMatch.optional(),
    session: z.string().optional(),
    usage: z
      .strictObject({
        input: z.string(),
        output: z.string(),
        cache_read: z.string().optional(),
        cost_usd: z.string().optional(),
        /** True when `input` counts the cached tokens too. */
        input_has_cached: z.boolean().default(false),
      })
      .optional(),
    /** A line that stands for one call of the model, so that loops are counted. */
    call: LineMatch.optional(),
  }),
  z.strictObject({ format: z.literal("text") }),
]);
export type WorkerOutput = z.infer<typeof WorkerOutput>;

export const WorkerConfig = z.strictObject({
  /** A client that Orch knows: pi, codex, claude, opencode, gemini, copilot, cline. */
  client: z.string().optional(),
  /** Absolute path of the program, or a name on the PATH. */
  command: z.string().optional(),
  /** As the client names it. `provider/model` whose provider stands in `models.providers` goes to that endpoint. */
  model: z.string().optional(),
  /** Who made the model: `anthropic`, `openai`, ... Waves are spread over families by it. */
  family: z.string().optional(),
  /** Arguments added to every call. */
  args: z.array(z.string()).optional(),
  /** An unknown client: its arguments. `{prompt}`, `{model}`, `{dir}` and `{prompt_file}` are filled in. */
  argv: z.array(z.string()).min(1).optional(),
  /** The arguments that go on in `{session}`; without them every retry starts afresh. */
  resume_argv: z.array(z.string()).min(1).optional(),
  /** The arguments of a contract that may write nothing; without them it gets none. */
  read_only_argv: z.array(z.string()).min(1).optional(),
  prompt: z.enum(["argument", "stdin", "file"]).optional(),
  output: WorkerOutput.optional(),
  /** Names of environment variables the client may see; their values never stand in a file. */
  env: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a name of an environment variable")).optional(),
  /** Hosts it must reach, for a sandbox that closes the network, beside those of its provider where Orch knows it. */
  hosts: z.array(z.string()).optional(),
  /** USD per million tokens, for clients that do not tell their cost. */
  prices: Prices.optional(),
  /** The only kinds of contract it may have. */
  kinds: z.array(z.enum(contractKinds)).optional(),
  minutes: z.number().positive().optional(),
  silence_s: z.number().positive().optional(),
  max_calls: z.number().int().positive().optional(),
  /** Command line of an ACP agent: needs live supervision. */
  acp: z.array(z.string()).min(1).optional(),
  enabled: z.boolean().optional(),
});
export type WorkerConfig = z.infer<typeof WorkerConfig>;
