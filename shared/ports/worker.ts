import type { WorkerReport } from "../model/attempt.ts";
import type { ChatMessage } from "../model/completion.ts";
import type { Contract } from "../model/contract.ts";
import type { ModelSubject } from "./model.ts";
import type { Workspace } from "./workspace.ts";

export interface WorkerOrder {
  readonly contract: Contract;
  readonly attempt: number;
  readonly messages: readonly ChatMessage[];
  readonly workspace: Workspace;
  /** Repository folder whose file names a reply may use bare (`Schema.py` for `features/billing/Invoice/Schema.py`). */
  readonly replyDir: string;
  /** The same as data, for models that do not read prose; absent for contracts that are no feature. */
  readonly subject?: ModelSubject;
  /** Session of the attempt before, when this worker can resume it. */
  readonly session?: string;
  /** Of the contract's limits; a worker that is followed while it runs is held to it. */
  readonly left?: LeftBudget;
}

export interface LeftBudget {
  readonly minutes?: number;
  readonly usd?: number;
}

/** Never rejects for a worker's own failure; only an AbortError or a bug rejects. */
export interface Worker {
  readonly id: string;
  readonly can: { readonly resume: boolean; readonly supervise: boolean; readonly write: boolean };
  run(order: WorkerOrder, signal: AbortSignal): Promise<WorkerReport>;
}
