import * as z from "zod";
import { Finding } from "./finding.ts";

/** `guard.json`: what the gates said about one attempt. Categories of findings are those of the rules and gates. */
export const GateRow = z.object({
  id: z.string(),
  status: z.enum(["ran", "skipped", "broken"]),
  why: z.string().optional(),
  ms: z.number(),
});
export const GuardReport = z.object({
  v: z.literal(1),
  contract: z.string(),
  attempt: z.number().int(),
  base: z.string(),
  diffHash: z.string(),
  verdict: z.enum(["pass", "fail", "inconclusive"]),
  stats: z.object({
    files: z.number(),
    added: z.number(),
    removed: z.number(),
    testAdded: z.number(),
    testRemoved: z.number(),
  }),
  gates: z.array(GateRow),
  findings: z.array(Finding),
});
export type GuardReport = z.infer<typeof GuardReport>;
export type GateRow = z.infer<typeof GateRow>;
