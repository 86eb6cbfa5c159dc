import { addUsage, type Usage, unknownUsage } from "../../model/usage.ts";

/** What a client counted, in its own terms. */
export interface TokenCount {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead?: number | undefined;
  /** Tokens written to the cache, where they are not in `input` already. */
  readonly cacheWrite?: number | undefined;
  /** The client's `input` counts the cached tokens too. */
  readonly inputHasCached: boolean;
  /** As the client says; 0 is not believed. */
  readonly costUsd?: number | undefined;
}

/**
 * Clients write 0 where they know nothing: no tokens at all means that nobody told, and money of 0 is no price. What a
 * client does not name is unknown, beside what it does.
 */
export function usageOf(count: TokenCount): Usage {
  const { input, output, cacheRead, cacheWrite = 0, costUsd } = count;
  if ((input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + cacheWrite === 0) return unknownUsage;
  const fresh = count.inputHasCached ? Math.max(0, (input ?? 0) - (cacheRead ?? 0)) : (input ?? 0);
  return {
    input: input === undefined ? "unknown" : fresh + cacheWrite,
    output: output ?? "unknown",
    cacheRead: cacheRead ?? "unknown",
    costUsd: costUsd === undefined || costUsd === 0 ? "unknown" : costUsd,
  };
}

/** Calls of one run. One that told nothing makes the sum unknown, unless it failed before it cost anything. */
export function sumUsage(calls: readonly Usage[]): Usage {
  const [first, ...rest] = calls;
  if (first === undefined) return unknownUsage;
  return rest.reduce(addUsage, first);
}
