import * as z from "zod";
import { OrchError } from "./error.ts";
import { schemaIssue } from "./schema-issue.ts";

/** The words of a request.json: written by a host, maybe by another version, so they are read and not believed. */
const Args = z.strictObject({
  words: z.array(z.string()).default([]),
  prompt: z.string().optional(),
  model: z.string().optional(),
  controller: z.boolean().default(true),
  app: z.string().optional(),
  file: z.string().optional(),
  yes: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  json: z.union([z.boolean(), z.literal("events")]).default(false),
  input: z.boolean().default(true),
  allowOpen: z.boolean().default(false),
  maxAttempts: z.number().int().min(1).max(20).optional(),
  push: z.boolean().default(true),
  update: z.boolean().default(false),
  changed: z.string().optional(),
  sarif: z.string().optional(),
  junit: z.string().optional(),
  hash: z.string().optional(),
  revoke: z.boolean().default(false),
  choice: z.string().optional(),
  text: z.string().optional(),
  keep: z.boolean().default(false),
  timeoutS: z.number().positive().optional(),
  fix: z.boolean().optional(),
  list: z.boolean().optional(),
  ask: z.string().optional(),
  title: z.string().optional(),
  parallel: z.number().int().min(1).max(16).optional(),
  budget: z.number().positive().optional(),
  worker: z.string().optional(),
  feedback: z.string().optional(),
  reply: z.string().optional(),
  /** What stood on standard input where `reply` is `-`: words, never the name of a file. */
  replyText: z.string().optional(),
  accept: z.boolean().optional(),
  revise: z.string().optional(),
  takeOver: z.boolean().optional(),
  html: z.boolean().optional(),
  template: z.boolean().optional(),
  all: z.boolean().optional(),
  purge: z.boolean().optional(),
});

/** @throws OrchError `usage.invalid` naming the argument */
export function readCommandArgs(value: Readonly<Record<string, unknown>>): Defined<z.infer<typeof Args>> {
  const read = Args.safeParse(value);
  if (!read.success) {
    throw new OrchError("usage.invalid", `the request: ${schemaIssue(read.error.issues[0], value).message}`);
  }
  // An absent key and an undefined one are different things under exactOptionalPropertyTypes.
  return Object.fromEntries(Object.entries(read.data).filter(([, inner]) => inner !== undefined)) as Defined<
    z.infer<typeof Args>
  >;
}

/** Optional keys that are there or not, never there and undefined. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };
