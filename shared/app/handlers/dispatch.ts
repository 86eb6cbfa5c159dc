import { typedPath } from "../../base/paths.ts";
import type { ContractRow } from "../../events/contract-ledger.ts";
import type { Contract } from "../../model/contract.ts";
import { OrchError } from "../../model/error.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { readLedger } from "../contract-rows.ts";
import { requireKnownWorker } from "../named-worker.ts";
import { runContracts, type WaveContext, type WaveOrder } from "../contract-wave.ts";
import { loadContract, trustContracts } from "../contract-files.ts";
import { blockAll, findUnfit } from "../unfit-contracts.ts";
import { endWave, otherRung } from "../wave-result.ts";

/**
 * `dispatch <file>`: one attempt by the first worker. With --feedback it goes on from the change that was sent back, in
 * the worktree where that was made.
 */
export const dispatch: Handler<WaveContext> = async (context, args, signal) => {
  requireKnownWorker(context, args.worker);
  const loaded = await loadContract(context, args.words, "dispatch");
  const contract = alone(loaded.contract, args.worker);
  const feedback = await feedbackIn(context, args);
  const unfit = await findUnfit(context, [{ ...loaded, contract }]);
  await trustContracts(context, [loaded], "the checks of this contract run its code", signal);
  const row = (await readLedger(context)).rows.find(({ id }) => id === contract.id);
  const place = feedback === undefined ? undefined : placeOf(context, row);
  const order: WaveOrder = {
    contracts: [contract],
    parallel: 1,
    once: true,
    ...(args.budget === undefined ? {} : { budgetUsd: args.budget }),
    ...(feedback === undefined ? {} : { feedback: new Map([[contract.id, feedback]]) }),
    ...(place === undefined ? {} : { place }),
    unfit,
  };
  if (unfit.size > 0 && context.history.length === 0)
    return await endWave(context, await blockAll(context, order, signal), () => loaded.path);
  await using parts = await context.openWave(order, signal);
  const wave = await runContracts(context, parts, order, signal);
  return await endWave(context, wave, () => loaded.path, otherRung(parts, [loaded.contract]));
};

/** What it waits for is none of this run's business, and --worker takes the place of its whole ladder. */
export function alone(contract: Contract, worker: string | undefined): Contract {
  const { build_on: _with, ...rest } = contract;
  const one = { ...rest, after: [], inputs: [] };
  return worker === undefined ? one : { ...one, worker, ladder: [] };
}

async function feedbackIn(context: WaveContext, { feedback }: CommandArgs): Promise<string | undefined> {
  if (feedback === undefined) return undefined;
  const text = feedback === "" ? undefined : await context.files.readText(typedPath(context.cwd, feedback));
  if (text !== undefined && text.trim() !== "") return text;
  const why =
    text === undefined && feedback !== ""
      ? `there is no file ${feedback}`
      : `${feedback === "" ? "--feedback" : feedback} holds no feedback`;
  throw new OrchError("usage.invalid", why, { data: { command: "dispatch" } });
}

/** A worktree of work that passed is held, or is made again of what was kept; any other work was put back. */
function placeOf(context: WaveContext, row: ContractRow | undefined): string | undefined {
  return row?.phase === "awaiting-review" && row.run !== context.run && !row.merged ? row.run : undefined;
}
