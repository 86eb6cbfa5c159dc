import { shellWord } from "../../base/shell-word.ts";
import { dependencies } from "../../engine/wave.ts";
import type { Contract } from "../../model/contract.ts";
import { findingText } from "../../events/words.ts";
import { OrchError } from "../../model/error.ts";
import { exitCodes } from "../../model/exit-code.ts";
import type { Handler } from "../context.ts";
import { runContracts, type WaveContext, type WaveOrder } from "../contract-wave.ts";
import { loadContracts, requireTrustedContracts, trustContracts } from "../contract-files.ts";
import { blockAll, findUnfit, type UnfitContracts } from "../unfit-contracts.ts";
import { warnOneFamily } from "../wave-families.ts";
import { endWave, otherRung } from "../wave-result.ts";

/**
 * `run <files...>`: one call for a wave. Worktree, worker, gate 1, feedback into the worker's own session, retry,
 * escalate, BLOCKED, NEEDS_LEAD, dependents; at the end one line a contract, everything else is on disk.
 */
export const run: Handler<WaveContext> = async (context, args, signal) => {
  if (args.words.length === 0)
    throw new OrchError("usage.invalid", "run needs at least one contract", { data: { command: "run" } });
  const loaded = await loadContracts(context, args.words);
  const contracts = loaded.map(({ contract }) => contract);
  dependencies(contracts);
  const unfit = await findUnfit(context, loaded);
  const why = "the checks of these contracts run its code";
  if (args.dryRun) {
    await requireTrustedContracts(context, loaded, why, signal);
    return foretold(contracts, unfit, args.words);
  }
  await trustContracts(context, loaded, why, signal);
  const budget = args.budget ?? context.config.limits.usd;
  const order: WaveOrder = {
    contracts,
    parallel: args.parallel ?? context.config.limits.parallel,
    ...(budget === undefined ? {} : { budgetUsd: budget }),
    unfit,
  };
  const pathOf = (id: string): string => loaded.find(({ contract }) => contract.id === id)?.path ?? id;
  if (contracts.every(({ id }) => unfit.has(id)) && context.history.length === 0)
    return await endWave(context, await blockAll(context, order, signal), pathOf);
  await using parts = await context.openWave(order, signal);
  warnOneFamily(context.editor, parts, contracts);
  const wave = await runContracts(context, parts, order, signal);
  return await endWave(context, wave, pathOf, otherRung(parts, contracts));
};

function foretold(
  contracts: readonly Contract[],
  unfit: UnfitContracts,
  words: readonly string[],
): Awaited<ReturnType<typeof run>> {
  const needs = dependencies(contracts);
  const text = contracts.flatMap(({ id, title }) => {
    const after = needs.get(id) ?? [];
    const faults = unfit.get(id) ?? [];
    return [
      `${id}  ${title}${after.length === 0 ? "" : `, after ${after.join(", ")}`}${faults.length === 0 ? "" : ": BLOCKED"}`,
      ...faults.map((one) => `  ${findingText(one)}`),
    ];
  });
  const fit = contracts.filter(({ id }) => !unfit.has(id)).map(({ id }) => id);
  const parts = [
    ...(fit.length === 0 ? [] : [`run ${fit.join(", ")}`]),
    ...(unfit.size === 0 ? [] : [`block ${[...unfit.keys()].join(", ")}`]),
  ];
  return {
    ok: unfit.size === 0,
    code: unfit.size === 0 ? exitCodes.ok : exitCodes.blocked,
    summary: `Would ${parts.join(", and ")}; nothing was changed`,
    next: [`orch ${unfit.size === 0 ? "run" : "check"} ${words.map(shellWord).join(" ")}`],
    data: { dryRun: true, contracts: contracts.map(({ id }) => id), findings: [...unfit.values()].flat(), text },
  };
}
