import type { ClosedReview, ContractState, MergedChange, RunState } from "./run-state.ts";

/**
 * What became of a contract's work after the run that did it: reviews and merges are runs of their own, and name the work
 * they are about. A review says something about exactly the change it saw.
 */
export interface ContractFate {
  /** Every review of this run's work, oldest first. */
  readonly reviews: readonly FateReview[];
  /** The last one of the change that was left in the end. */
  readonly review?: FateReview;
  readonly merge?: FateMerge;
}

export interface FateReview extends ClosedReview {
  /** The run that is the review. */
  readonly run: string;
  /** Of the change that was left in the end, and not of one before it. */
  readonly current: boolean;
}

export interface FateMerge extends MergedChange {
  readonly run: string;
  /** Its place among what that run put into the tree, from 1. */
  readonly order: number;
  readonly of: number;
  readonly commits: readonly string[];
}

/** `runs` are the runs that are known, newest first; this one may be among them. */
export function fateOf(work: string, contract: ContractState, runs: readonly RunState[]): ContractFate {
  const hash = changeHash(contract) ?? "";
  const reviews = runs.toReversed().flatMap((one) =>
    one.contracts
      .filter(({ id }) => id === contract.id)
      .flatMap((said) => said.reviews ?? [])
      .filter((review) => review.work === work)
      .map((review): FateReview => ({ ...review, run: one.run, current: review.diffHash === hash })),
  );
  const review = reviews.findLast(({ current }) => current);
  const merge = runs.map((one) => mergeIn(one, work, contract.id, hash)).find((one) => one !== undefined);
  return { reviews, ...(review === undefined ? {} : { review }), ...(merge === undefined ? {} : { merge }) };
}

/** sha256 of the change that was left; absent when nothing was changed. */
export function changeHash({ attempts }: ContractState): string | undefined {
  const change = attempts.at(-1)?.change;
  return change === undefined || change.files === 0 ? undefined : change.patch?.sha256;
}

function mergeIn({ run, contracts, commits }: RunState, work: string, id: string, hash: string): FateMerge | undefined {
  const all = contracts.filter(({ merged }) => merged !== undefined);
  const at = all.findIndex((one) => one.id === id && one.merged?.work === work && one.merged.diffHash === hash);
  const merged = all[at]?.merged;
  if (merged === undefined) return undefined;
  return { ...merged, run, order: at + 1, of: all.length, commits: commits.map(({ commit }) => commit) };
}
