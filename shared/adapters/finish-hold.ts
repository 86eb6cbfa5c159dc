import type { EventSink } from "../ports/event-sink.ts";
import type { Finisher } from "../ports/finisher.ts";
import type { KeptResults } from "../ports/worktrees.ts";

export interface HoldDeps {
  readonly kept: Pick<KeptResults, "keep">;
  readonly sink: EventSink;
  readonly run: string;
  /** An earlier life of the run told it already, and was killed before it could say that the contract is over. */
  readonly isOpen?: (contract: string) => boolean;
  /** Told where the result is kept, for steps that build on it. */
  readonly onKept?: (contract: string, commit: string) => void;
}

/** Contracts never commit: what passed is kept and waits for a review. A task that only reads needs none. */
export function createHoldFinisher({ kept, sink, run, isOpen, onKept }: HoldDeps): Finisher {
  return {
    async finish(contract, _workspace, change) {
      if (change.files.length === 0) return { state: "accepted", summary: `${contract.id} answered` };
      const { id, title } = contract;
      const { commit } = await kept.keep({ run, contract: id, title, base: change.base, tree: change.tree });
      onKept?.(id, commit);
      if (isOpen?.(id) !== true) sink.append({ type: "review.opened", contract: id, diffHash: change.diffHash });
      return { state: "awaiting-review", summary: `${id} awaits review` };
    },
  };
}
