import * as z from "zod";

/**
 * Tokens and money, as told by the lane. `"unknown"` is not 0: a lane that does not tell its cost must not look free.
 * `input` is without cached tokens.
 */
export const Amount = z.union([z.number().min(0), z.literal("unknown")]);
export const Usage = z.object({ input: Amount, output: Amount, cacheRead: Amount, costUsd: Amount });
export type Usage = z.infer<typeof Usage>;
export type Amount = z.infer<typeof Amount>;

export const unknownUsage: Usage = { input: "unknown", output: "unknown", cacheRead: "unknown", costUsd: "unknown" };

/** Known parts are summed. A sum with an unknown part is unknown: a total that hides a gap would lie. */
export function addUsage(a: Usage, b: Usage): Usage {
  const plus = (x: Amount, y: Amount): Amount => (x === "unknown" || y === "unknown" ? "unknown" : x + y);
  return {
    input: plus(a.input, b.input),
    output: plus(a.output, b.output),
    cacheRead: plus(a.cacheRead, b.cacheRead),
    costUsd: plus(a.costUsd, b.costUsd),
  };
}

export const zeroUsage: Usage = { input: 0, output: 0, cacheRead: 0, costUsd: 0 };
