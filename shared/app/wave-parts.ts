import type { Contract } from "../model/contract.ts";
import type { Gate } from "../ports/gate.ts";
import type { Slots } from "../ports/slots.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import type { ContractTexts } from "./contract-compose.ts";
import type { WorkerLadder, WorkerTable } from "./workers.ts";

/** What a wave is made of: the parts that know this machine. */
export interface WaveParts extends AsyncDisposable {
  readonly worktrees: RunWorktrees;
  readonly kept: KeptResults;
  /** A result was kept: what builds on it starts there. */
  readonly noteKept: (contract: string, commit: string) => void;
  readonly table: Pick<WorkerTable, "rows" | "familyOf">;
  ladderOf(contract: Contract): WorkerLadder;
  /** Gate 1, hidden checks in a copy that no worker sees. */
  readonly gates: readonly Gate[];
  readonly slots: Slots;
  readonly texts: Omit<ContractTexts, "isCompletion">;
}
