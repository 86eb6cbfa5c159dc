import { count } from "../base/lines.ts";
import type { RunState } from "../events/run-state.ts";
import type { Contract } from "../model/contract.ts";
import type { EventBody } from "../model/event.ts";
import type { Amount } from "../model/usage.ts";

/**
 * What a wave is expected to use, told before anything is dispatched: tokens by the size of the task, money by what the
 * same worker's attempts cost in this repository's earlier runs. A worker nobody has measured makes the sum unknown.
 */
export type WaveEstimate = EventBody<"wave.estimated">;

/** Rough, and the same for all: a prompt's characters to tokens, what an agent reads beside it, and what a line costs. */
const charsPerToken = 4;
const readingTokens = 12_000;
const tokensPerLine = 12;
const linesWhenUnsaid = 150;
/** Writing it, tests beside it, and the report. */
const writings = 2;

export function estimateWave(
  contracts: readonly { readonly contract: Contract; readonly worker: string }[],
  history: readonly RunState[],
): WaveEstimate {
  const rows = contracts.map(({ contract, worker }) => ({
    id: contract.id,
    worker,
    tokens: tokensOf(contract),
    usd: costOf(worker, history),
  }));
  const usd = rows.reduce<Amount>(
    (sum, row) => (sum === "unknown" || row.usd === "unknown" ? "unknown" : sum + row.usd),
    0,
  );
  return { contracts: rows, usd };
}

/** One line, before anything is spent. */
export function estimateText({ contracts, usd }: WaveEstimate, budgetUsd: number | undefined): string {
  const tokens = contracts.reduce((sum, one) => sum + one.tokens, 0);
  const cost =
    usd === "unknown" ? "cost unknown, for no attempt of a worker was measured yet" : `about $${usd.toFixed(2)}`;
  const over =
    budgetUsd !== undefined && usd !== "unknown" && usd > budgetUsd ? `, more than the budget of $${budgetUsd}` : "";
  return `estimate for ${count(contracts.length, "contract")}, one attempt each: about ${Math.round(tokens / 1000)}k tokens, ${cost}${over}`;
}

function tokensOf(contract: Contract): number {
  const lines = contract.mode === "read_only" ? 0 : (contract.estimate_lines ?? linesWhenUnsaid);
  return Math.round(JSON.stringify(contract).length / charsPerToken) + readingTokens + lines * tokensPerLine * writings;
}

/** The mean of its attempts that told what they cost. */
function costOf(worker: string, history: readonly RunState[]): Amount {
  const costs = history
    .flatMap(({ contracts }) => contracts.flatMap(({ attempts }) => attempts))
    .filter((attempt) => attempt.worker === worker)
    .flatMap(({ usage }) => (usage === undefined || usage.costUsd === "unknown" ? [] : [usage.costUsd]));
  return costs.length === 0 ? "unknown" : costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
}
