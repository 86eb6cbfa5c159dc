import { decideReadiness } from "../engine/policy.ts";
import type { ContractOutcome } from "../engine/run-contract.ts";
import { runWave, type WaveOutcome } from "../engine/wave.ts";
import { OrchError } from "../model/error.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { LoadedContract } from "./contract-files.ts";
import type { WaveOrder } from "./contract-wave.ts";
import type { DoContext } from "./do-context.ts";
import { lintLoaded } from "./handlers/check.ts";

/**
 * Contracts that `orch check` fails, with what it says: they are BLOCKED before any worker, worktree or model is touched.
 * Every FAIL of `check` counts, with these exceptions, which end a whole command and not one contract:
 *
 * * `contract.schema`: such a file is refused when it is read, for there is no contract to block.
 * * `contract.scope-overlap`, `contract.id-twice`, `contract.cycle`, `contract.after-unknown`: they are about contracts
 *   together, so that blocking one of them would be a choice nobody made; `run` refuses to begin.
 *
 * `dispatch` and `prepare` ask about the contract as they carry it out: alone, so that what it waits for (`after`,
 * `inputs`, `build_on`) is none of their business. `guard` dispatches nothing and asks nothing of this.
 */
export type UnfitContracts = ReadonlyMap<string, readonly Finding[]>;

/** @throws OrchError `scope.overlap` */
export async function findUnfit(context: DoContext, loaded: readonly LoadedContract[]): Promise<UnfitContracts> {
  const fails = (await lintLoaded(context, loaded)).filter(({ severity }) => severity === "FAIL");
  const overlap = fails.find(({ rule }) => rule === "contract.scope-overlap");
  if (overlap !== undefined)
    // Two that run beside each other and may change the same file could both pass and not fit together.
    throw new OrchError("scope.overlap", `${findingPlace(overlap)}: ${overlap.message}`, {
      data: { path: overlap.path },
    });
  const unfit = new Map<string, readonly Finding[]>();
  for (const { contract, path } of loaded) {
    const own = fails.filter((one) => one.path === path);
    if (own.length > 0) unfit.set(contract.id, own);
  }
  return unfit;
}

/** Said as a gate that came before the first attempt. */
export function block(sink: EventSink, contract: string, findings: readonly Finding[]): ContractOutcome {
  const decision = decideReadiness(findings);
  if (decision?.kind !== "blocked") throw new TypeError(`${contract} is fit`);
  sink.append({ type: "gate.started", contract, gate: "check" });
  sink.append({ type: "gate.finished", contract, gate: "check", status: "ran", ms: 0, findings: [...findings] });
  sink.append({ type: "contract.finished", contract, state: "blocked", why: decision.why });
  return { contract, state: "blocked", decision, attempts: [], findings };
}

/** A wave of which nothing can be dispatched: told like any other, and nothing of this machine is opened for it. */
export function blockAll(
  { sink, linkContract }: Pick<DoContext, "sink" | "linkContract">,
  { contracts, unfit = new Map() }: Pick<WaveOrder, "contracts" | "unfit">,
  signal: AbortSignal,
): Promise<WaveOutcome> {
  return runWave(
    {
      contracts,
      parallel: 1,
      sink,
      run: async ({ id }) => {
        await linkContract(id);
        return block(sink, id, unfit.get(id) ?? []);
      },
    },
    signal,
  );
}
