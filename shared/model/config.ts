import * as z from "zod";
import { contractKinds } from "./contract-kinds.ts";
import { WorkerConfig } from "./worker-config.ts";

/** `.orch/config.json` and the user's `config.json`. Every default lives here; app/config.ts says where a value came from. */
export const ProviderConfig = z.strictObject({
  /** OpenAI-compatible base URL, e.g. `http://127.0.0.1:11434/v1`. */
  baseUrl: z.url(),
  /** Name of the environment variable that holds the key; the key itself never stands in a file. */
  keyEnv: z.string().optional(),
  /** USD per million tokens. */
  prices: z
    .record(z.string(), z.strictObject({ input: z.number(), output: z.number(), cacheRead: z.number().optional() }))
    .optional(),
});
export type ProviderConfig = z.infer<typeof ProviderConfig>;

const RuleSwitch = z.enum(["off", "warn", "fail"]);

export const Config = z.strictObject({
  $schema: z.string().optional(),
  features: z
    .strictObject({
      few_shot_count: z.number().int().min(0).max(10).default(2),
      max_attempts: z.number().int().min(1).max(20).default(3),
      push: z.boolean().default(true),
    })
    .prefault({}),
  models: z
    .strictObject({
      timeout_s: z.number().positive().default(300),
      max_models: z.number().int().min(1).max(20).default(6),
      providers: z.record(z.string(), ProviderConfig).default({}),
    })
    .prefault({}),
  rules: z.record(z.string(), RuleSwitch).default({}),
  workers: z.record(z.string(), WorkerConfig).default({}),
  /** For each kind of contract the workers in order; wins over the built-in routing. */
  ladders: z.partialRecord(z.enum(contractKinds), z.array(z.string()).min(1)).default({}),
  limits: z
    .strictObject({
      parallel: z.number().int().min(1).max(16).default(3),
      minutes: z.number().positive().optional(),
      usd: z.number().positive().optional(),
    })
    .prefault({}),
  sandbox: z.enum(["required", "preferred", "off"]).default("preferred"),
  worktree_root: z.string().optional(),
  worktree_links: z.array(z.string()).default([]),
  judge: z
    .strictObject({
      accept_revise: z.number().min(0).max(1).default(0.85),
      accept_warn: z.number().min(0).max(1).default(0.7),
    })
    .prefault({}),
  keep_runs: z.number().int().min(1).default(50),
  ui: z.strictObject({ port: z.number().int().min(1).max(65535).default(8765) }).prefault({}),
});
export type Config = z.infer<typeof Config>;

/** `model_config.json` and `model_chain.json` of the user's config folder. */
export const ModelConfigFile = z.looseObject({ model: z.string().min(1) });
export const ModelChainFile = z.array(z.string().min(1));
