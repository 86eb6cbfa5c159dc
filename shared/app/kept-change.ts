import type { ContractRow } from "../events/contract-ledger.ts";
import type { Change } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import { attemptFiles } from "./attempt-files.ts";
import { contractAsRun, contractPath } from "./contract-rows.ts";
import type { WaveContext } from "./contract-wave.ts";

/**
 * The change that was judged, as its run kept it. Where that is gone (its ref was deleted) no review and no merge has
 * anything to stand on; what the attempt left in the run's folder can still be had.
 *
 * @throws OrchError `contract.kept-gone`
 */
export async function keptChange(
  context: WaveContext,
  row: ContractRow,
): Promise<{ readonly contract: Contract; readonly change: Change }> {
  const { id, run, attempt, diffHash } = row;
  const contract = await contractAsRun(context, row);
  const kept = await context.kept.find(run, id);
  const change = kept === undefined ? undefined : await context.git.diff(kept.base, kept.tree);
  if (contract !== undefined && change !== undefined && change.diffHash === diffHash) return { contract, change };
  const why = change === undefined || contract === undefined ? "is gone" : "is not what the gates judged";
  const { diff } = await attemptFiles(context, row);
  throw new OrchError("contract.kept-gone", `what run ${run} kept of ${id} ${why}`, {
    data: {
      id,
      path: await contractPath(context, id),
      ...(diff === undefined ? {} : { change: `${run}/${id}/attempt-${attempt}` }),
    },
  });
}
