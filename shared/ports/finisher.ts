import type { CommandResult } from "../model/command-result.ts";
import type { Change } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Workspace } from "./workspace.ts";

export interface Finished {
  readonly state: "accepted" | "awaiting-review";
  readonly summary: string;
  readonly commit?: string;
  readonly pushed?: boolean;
  readonly result?: CommandResult;
}

/**
 * What acceptance means: commit and push, or hold for review. Chosen by the command, never inferred. An abort or an
 * OrchError (a hook that failed) leaves nothing half done: it rejects only before the commit. What happens after it (a
 * push that was refused or stopped) is told in the value.
 */
export interface Finisher {
  finish(contract: Contract, workspace: Workspace, change: Change, signal: AbortSignal): Promise<Finished>;
}
