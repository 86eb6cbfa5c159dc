import { createCompletionWorker } from "../adapters/worker-completion.ts";
import type { Contract } from "../model/contract.ts";
import type { Model } from "../ports/model.ts";
import type { Slots } from "../ports/slots.ts";
import type { Worker } from "../ports/worker.ts";
import type { RepoContext } from "./context.ts";
import { pinCritical } from "./critical-work.ts";
import type { WorkerLadder, WorkerTable } from "./workers.ts";

export interface LadderParts {
  readonly table: Pick<WorkerTable, "ladderOf">;
  readonly modelNamed: (id: string) => Model;
  readonly slots: Slots;
}

export type LadderContext = Pick<RepoContext, "clock" | "config" | "run" | "sink">;

/** A worker that is named like a model (`provider/model`, `builtin/...`) is one completion by it, in the worktree. */
export function isModelId(id: string): boolean {
  return id.includes("/");
}

/** The rungs of a contract: agents by the table of workers, completions by the models' lanes. */
export function ladderOf(context: LadderContext, parts: LadderParts, contract: Contract): WorkerLadder {
  const named = contract.worker === "auto" ? contract.ladder : [contract.worker, ...contract.ladder];
  const found = named.some(isModelId)
    ? join([...new Set(named)].map((id) => one(context, parts, contract, id)))
    : parts.table.ladderOf(contract);
  const pinned = pinCritical(contract, found.ladder, context.config.ladders["critical"]);
  return { ladder: pinned.ladder, skipped: [...found.skipped, ...pinned.refused] };
}

function one(context: LadderContext, parts: LadderParts, contract: Contract, id: string): WorkerLadder {
  if (!isModelId(id)) return parts.table.ladderOf({ ...contract, worker: id, ladder: [] });
  const worker = createCompletionWorker({
    id,
    model: parts.modelNamed(id),
    clock: context.clock,
    timeoutMs: context.config.models.timeout_s * 1000,
  });
  return { ladder: [inSlot(context, parts.slots, worker)], skipped: [] };
}

function join(ladders: readonly WorkerLadder[]): WorkerLadder {
  return {
    ladder: ladders.flatMap(({ ladder }) => ladder),
    skipped: ladders.flatMap(({ skipped }) => skipped),
  };
}

/** A completion is a worker like any other: while it writes it takes one of the machine's places. */
function inSlot({ run, sink }: Pick<LadderContext, "run" | "sink">, slots: Slots, worker: Worker): Worker {
  return {
    id: worker.id,
    can: worker.can,
    async run(order, signal) {
      const { id } = order.contract;
      using _slot = await slots.take({ run, contract: id, worker: worker.id }, signal, () =>
        sink.append({ type: "progress.noted", text: `${id} waits: ${slots.count} workers are alive on this machine` }),
      );
      return await worker.run(order, signal);
    },
  };
}
