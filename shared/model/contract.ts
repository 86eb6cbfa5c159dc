import * as z from "zod";
import { contractKinds } from "./contract-kinds.ts";
import { ContractId } from "./names.ts";

/** A contract: one bounded piece of work. `.orch/contracts/<ID>.json`, or compiled from a feature by features/contract-of.ts. */
export const Check = z.strictObject({
  name: z.string().min(1),
  /** argv, never a shell line; a string is split on white space. */
  argv: z.union([
    z.array(z.string()).min(1),
    z
      .string()
      .min(1)
      .transform((line) => line.trim().split(/\s+/)),
  ]),
  timeout_s: z.number().positive().default(300),
  /** Relative to the workspace's root. */
  cwd: z.string().default("."),
  /** Where a test report is written, so that "no tests ran" can be told from success. `{report}` in argv is its path. */
  report: z.enum(["junit"]).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
export type Check = z.infer<typeof Check>;

const Acceptance = z.strictObject({
  id: z.string().min(1),
  text: z.string().min(1),
  check: z.string().optional(),
  judged: z.boolean().optional(),
});

export const Contract = z.strictObject({
  $schema: z.string().optional(),
  id: ContractId,
  title: z.string().min(1),
  goal: z.string().min(1),
  non_goals: z.array(z.string()).default([]),
  risks: z.array(z.string()).default([]),
  mode: z.enum(["edit", "read_only"]).default("edit"),
  kind: z.enum(contractKinds).default("feature"),
  worker: z.string().default("auto"),
  ladder: z.array(z.string()).default([]),
  max_attempts: z.number().int().min(1).max(20).default(3),
  max_minutes: z.number().positive().optional(),
  max_cost_usd: z.number().positive().optional(),
  allowed: z.array(z.string()).min(1),
  protected: z.array(z.string()).default([]),
  /** Tests that may go: a path, a glob, the name of a test, or `path::name`. */
  allow_test_removal: z.array(z.string()).default([]),
  estimate_lines: z.number().int().positive().optional(),
  max_diff_lines: z.number().int().positive().optional(),
  max_test_diff_lines: z.number().int().positive().optional(),
  acceptance: z.array(Acceptance).default([]),
  checks: z.array(Check).default([]),
  hidden_files: z.array(z.strictObject({ from: z.string(), to: z.string() })).default([]),
  hidden_checks: z.array(Check).default([]),
  hidden_feedback: z.enum(["full", "names", "none"]).default("full"),
  final_checks: z.array(Check).default([]),
  approach: z.array(z.string()).default([]),
  pattern_refs: z.array(z.string()).default([]),
  examples: z.array(z.strictObject({ input: z.string(), expected: z.string() })).default([]),
  pseudo: z.string().optional(),
  rules: z.array(z.string()).default([]),
  prompt_style: z.enum(["profiled", "plain"]).default("profiled"),
  design_tokens: z.strictObject({ allowed: z.array(z.string()), forbidden: z.array(z.string()) }).optional(),
  worktree_links: z.array(z.string()).default([]),
  include_untracked: z.array(z.string()).default([]),
  after: z.array(ContractId).default([]),
  inputs: z.array(z.strictObject({ from: ContractId, what: z.enum(["answer", "diff"]) })).default([]),
  build_on: ContractId.optional(),
});
export type Contract = z.infer<typeof Contract>;
export type ContractInput = z.input<typeof Contract>;
