import { inRoot } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import { OrchError } from "../../model/error.ts";
import { readLedger } from "../contract-rows.ts";
import { createSlotsOf } from "../open-worktrees.ts";
import type { Handler } from "../context.ts";
import { composeFor } from "../contract-compose.ts";
import { lockedWorkspaces, type WaveContext } from "../contract-wave.ts";
import { goesOnIn, type WorkGoesOn } from "../prepared-places.ts";
import { loadContract, trustContracts } from "../contract-files.ts";
import { blockAll, findUnfit } from "../unfit-contracts.ts";
import { endWave } from "../wave-result.ts";
import { alone } from "./dispatch.ts";

/** How long a place is held for a worker that Orch did not start, when the contract does not say. */
const defaultMinutes = 60;

/**
 * `prepare <file>`: a worktree and a prompt for a worker that Orch does not start, an editor's own sub-agent. It holds
 * one of the machine's places until `guard --reply`, `clean` or `max_minutes`. Before a guard, and after one that did not
 * pass, it goes on in the same worktree, with what was found in it in its prompt.
 */
export const prepare: Handler<WaveContext> = async (context, args, signal) => {
  const loaded = await loadContract(context, args.words, "prepare");
  const contract = alone(loaded.contract, undefined);
  const { id, title } = contract;
  await trustContracts(context, [loaded], "the checks of this contract run its code", signal);
  const unfit = await findUnfit(context, [{ ...loaded, contract }]);
  if (unfit.size > 0)
    return await endWave(context, await blockAll(context, { contracts: [contract], unfit }, signal), () => loaded.path);
  const before = await goesOnIn(context, await readLedger(context), id);
  const order = { contracts: [contract], parallel: 1, ...(before === undefined ? {} : { place: before.worktree }) };
  await using parts = await context.openWave(order, signal);
  const minutes = contract.max_minutes ?? context.config.limits.minutes ?? defaultMinutes;
  const slots = createSlotsOf(context);
  const tenant = { run: context.run, contract: id, worker: "prepared" };
  // After a look the worktree has a place still: one worktree, one place.
  if (before !== undefined) await slots.release(before.slot);
  const slot = await slots.prepare(tenant, context.clock.now() + minutes * 60_000);
  if (slot === undefined)
    throw new OrchError("slots.full", `${slots.count} workers are alive on this machine: there is no place for ${id}`);
  try {
    await context.linkContract(id);
    const text = `${JSON.stringify(contract, null, 2)}\n`;
    const { sha256: hash } = await context.sink.sidecar(`${id}/contract.json`, text);
    context.sink.append({ type: "contract.queued", contract: id, title, hash, maxAttempts: 1 });
    const workspace = await lockedWorkspaces(context, parts.worktrees).open(contract, signal);
    // For a prepare after this one: the findings stand until they are judged anew.
    if (before?.feedback !== undefined) await context.sink.sidecar(`${id}/attempt-1/feedback.md`, before.feedback);
    const compose = composeFor(context, { ...parts.texts, isCompletion: () => false });
    const feedback = before?.feedback === undefined ? {} : { feedback: before.feedback };
    const ask = { contract, attempt: 1, worker: "prepared", workspace, sameSession: false, ...feedback };
    const { messages } = await compose(ask, signal);
    const prompt = await context.sink.sidecar(
      `${id}/attempt-1/prompt.md`,
      `${messages.map(({ content }) => content).join("\n\n")}\n`,
    );
    const { root: folder, base } = workspace;
    const worktree = before === undefined ? {} : { worktree: before.worktree };
    const place = { folder, base, prompt, slot: slot.token, until: slot.until, ...worktree };
    context.sink.append({ type: "contract.prepared", contract: id, attempt: 1, ...place });
    const at = inRoot(context.runDir, prompt.path);
    return {
      ok: true,
      code: 0,
      summary: `${id} ${preparedText(folder, before)}, for ${minutes} minutes; place ${slot.number} of ${slots.count} is taken`,
      next: [`orch guard ${shellWord(loaded.path)} --reply -`],
      data: {
        id,
        run: context.run,
        agent_prompt: at,
        folder,
        until: slot.until,
        slot: slot.number,
        text: [`agent_prompt: ${at}`, `folder: ${folder}`],
      },
    };
  } catch (error) {
    await slots.release(slot.token);
    throw error;
  }
};

function preparedText(folder: string, before: WorkGoesOn | undefined): string {
  if (before === undefined) return `is prepared in ${folder}`;
  return before.judged
    ? `is prepared in ${folder}, with what was judged last`
    : `was prepared already: it goes on in ${folder}, as that is now`;
}
