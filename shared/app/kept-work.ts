import type { Contract } from "../model/contract.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";

interface KeptPlaces {
  readonly kept: Pick<KeptResults, "find" | "drop">;
  worktreesOf(run: string): Pick<RunWorktrees, "holds" | "open" | "release">;
}

/**
 * Ends the keeping of a result that goes nowhere: it is stored where `restore` finds it, also when its worktree was given
 * back before, for then it is laid out once more. Returns the stored entry, when there was anything to store.
 */
export async function storeKept(
  { kept, worktreesOf }: KeptPlaces,
  work: {
    readonly run: string;
    readonly id: string;
    readonly contract: Contract | undefined;
    /** The run whose worktree it lies in, where that is another one: what is laid out there is not laid out again. */
    readonly worktree?: string;
  },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { run, id, contract } = work;
  const worktrees = worktreesOf(run);
  const result = await kept.find(run, id);
  if (result !== undefined && !(await worktreesOf(work.worktree ?? run).holds(id))) {
    // Nothing says how to lay it out, so nothing could be stored: it stays kept until `clean` removes the run.
    if (contract === undefined) return undefined;
    await using _laidOut = await worktrees.open(contract, signal);
  }
  // Out of the kept results, so that giving the worktree back stores it.
  if (result !== undefined) await kept.drop(run, id);
  return (await worktrees.release(id, signal)).trash;
}
