import { isAbort, throwIfAborted } from "../base/abort.ts";
import { Semaphore } from "../base/semaphore.ts";
import type { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { ContractOutcome } from "./run-contract.ts";

export interface WaveOrder {
  readonly contracts: readonly Contract[];
  /** At most so many at once. */
  readonly parallel: number;
  readonly sink: EventSink;
  /** The feature a contract was compiled from: its target, and the branch it was begun on. */
  readonly features?: ReadonlyMap<string, { readonly feature: string; readonly branch: string }>;
  /** Contracts that an earlier runner of this run ended: not run again. */
  readonly ended?: ReadonlyMap<string, "passed" | "failed">;
  readonly run: (contract: Contract, signal: AbortSignal) => Promise<ContractOutcome>;
}

export interface WaveOutcome {
  readonly outcomes: readonly ContractOutcome[];
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

/**
 * Contracts in the order that `after`, `inputs` and `build_on` ask for, as many at once as allowed; what depends on one
 * that did not pass is skipped. `do` is a wave of one. On an abort every contract is stopped and settled first.
 */
export async function runWave(order: WaveOrder, signal: AbortSignal): Promise<WaveOutcome> {
  throwIfAborted(signal);
  const { contracts, sink, ended = new Map() } = order;
  const needs = dependencies(contracts);
  sink.append({
    type: "wave.started",
    contracts: contracts.map(({ id, title }) => ({ id, title, after: [...(needs.get(id) ?? [])] })),
  });
  for (const contract of contracts) if (!ended.has(contract.id)) await tellQueued(order, contract);
  const permits = new Semaphore(order.parallel);
  const stop = new AbortController();
  const all = AbortSignal.any([signal, stop.signal]);
  const states = new Map<string, Promise<"passed" | "failed" | "skipped">>();
  const outcomes: ContractOutcome[] = [];
  const stateOf = (contract: Contract): Promise<"passed" | "failed" | "skipped"> => {
    const known = states.get(contract.id);
    if (known !== undefined) return known;
    const state = walk(contract);
    states.set(contract.id, state);
    return state;
  };
  const byId = new Map(contracts.map((contract) => [contract.id, contract]));
  const walk = async (contract: Contract): Promise<"passed" | "failed" | "skipped"> => {
    const before = ended.get(contract.id);
    if (before !== undefined) return before;
    for (const id of needs.get(contract.id) ?? []) {
      const needed = byId.get(id);
      if (needed === undefined || (await stateOf(needed)) === "passed") continue;
      sink.append({ type: "contract.skipped", contract: contract.id, why: `${id} did not pass` });
      return "skipped";
    }
    using _permit = await permits.acquire(all);
    const outcome = await order.run(contract, all);
    outcomes.push(outcome);
    return outcome.state === "accepted" || outcome.state === "awaiting-review" ? "passed" : "failed";
  };
  const settled = await Promise.allSettled(
    contracts.map((contract) =>
      stateOf(contract).catch((error: unknown) => {
        stop.abort(signal.aborted ? signal.reason : error);
        throw error;
      }),
    ),
  );
  const thrown = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const first = thrown.find((error) => !isAbort(error)) ?? thrown[0];
  if (first !== undefined)
    throw first instanceof Error ? first : new TypeError("a contract threw no error", { cause: first });
  const named = settled.map((one, at) => ({
    id: contracts[at]?.id ?? "",
    state: one.status === "fulfilled" ? one.value : "failed",
  }));
  const having = (state: string): string[] => named.filter((one) => one.state === state).map(({ id }) => id);
  const wave = { passed: having("passed"), failed: having("failed"), skipped: having("skipped") };
  sink.append({ type: "wave.finished", ...wave });
  return { outcomes, ...wave };
}

async function tellQueued({ sink, features }: WaveOrder, contract: Contract): Promise<void> {
  const { sha256 } = await sink.sidecar(`${contract.id}/contract.json`, `${JSON.stringify(contract, null, 2)}\n`);
  const feature = features?.get(contract.id);
  sink.append({
    type: "contract.queued",
    contract: contract.id,
    title: contract.title,
    hash: sha256,
    maxAttempts: contract.max_attempts,
    ...feature,
  });
}

/** What each contract waits for. Refuses unknown names, an id that two have, and circles. */
export function dependencies(contracts: readonly Contract[]): ReadonlyMap<string, readonly string[]> {
  const needs = new Map<string, readonly string[]>();
  for (const contract of contracts) {
    if (needs.has(contract.id))
      throw new OrchError("contract.invalid", `${contract.id} is the id of two of these contracts`, {
        data: { path: contract.id },
      });
    const from = [...contract.after, ...contract.inputs.map((input) => input.from)];
    needs.set(contract.id, [...new Set(contract.build_on === undefined ? from : [...from, contract.build_on])]);
  }
  for (const [id, names] of needs) {
    const unknown = names.find((name) => !needs.has(name));
    if (unknown !== undefined)
      throw new OrchError("contract.invalid", `${id} waits for ${unknown}, which is not in this run`, {
        data: { path: id },
      });
  }
  const done = new Set<string>();
  for (let left = [...needs.keys()]; left.length > 0;) {
    const ready = left.filter((id) => (needs.get(id) ?? []).every((name) => done.has(name)));
    if (ready.length === 0)
      throw new OrchError(
        "contract.invalid",
        `${left.length === 1 ? `${left[0]} waits for itself` : `${left.join(" and ")} wait for each other`}`,
        {
          data: { path: left[0] ?? "" },
        },
      );
    for (const id of ready) done.add(id);
    left = left.filter((id) => !done.has(id));
  }
  return needs;
}
