import * as z from "zod";

/** What policy makes of the verdicts so far. The engine acts on it, nothing else does. */
const needsLeadReasons = [
  "environment",
  "gate-broken",
  "exhausted",
  "models",
  "person-edited",
  "cancelled",
  "worker-protocol",
  "judgement",
  "budget",
] as const;

export const Decision = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("accept") }),
  z.object({ kind: z.literal("retry"), sameSession: z.boolean(), why: z.string() }),
  z.object({ kind: z.literal("escalate"), to: z.string(), why: z.string() }),
  /** The contract is wrong; no attempt can help. */
  z.object({ kind: z.literal("blocked"), why: z.string() }),
  /** A person or lead must decide. `exhausted`: the attempts are used up. The others cost no attempt. */
  z.object({ kind: z.literal("needs-lead"), reason: z.enum(needsLeadReasons), why: z.string(), hint: z.string() }),
]);
export type Decision = z.infer<typeof Decision>;
