import type { Beside } from "../adapters/workspace-beside.ts";
import type { Contract } from "../model/contract.ts";
import type { Feature } from "../model/feature.ts";
import type { Gate } from "../ports/gate.ts";
import type { Model } from "../ports/model.ts";
import type { Worker } from "../ports/worker.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import type { BranchWorkspaceOptions } from "../adapters/workspace-branch.ts";
import type { DoContext, ProjectGates } from "./do-context.ts";
import type { TreeJudge } from "./tree-judge.ts";

/** What `do` uses when an agent does the work; compose.ts wires it. */
export interface AgentContext extends DoContext {
  /** Opened once trust was asked for. @throws OrchError `usage.invalid`, `worker.missing` */
  openAgent(order: AgentOrder, signal: AbortSignal): Promise<AgentParts>;
  /** Exactly this model, for a worker that is one completion. */
  readonly modelNamed: (id: string) => Model;
  readonly kept: KeptResults;
  /** What `merge` would say of a tree. */
  readonly judgeTree: TreeJudge;
  worktreesOf(run: string): RunWorktrees;
}

export interface AgentOrder {
  readonly worker: string;
  readonly feature: Feature;
}

/** An agent of the table of workers, the worktree it gets, and what is looked at beside its change. */
export interface AgentParts extends AsyncDisposable {
  readonly worker: Worker;
  /** The gates of a feature, with those that only a worker with a worktree of its own can fail. */
  gatesWith(gates: readonly Gate[]): readonly Gate[];
  beside(
    contract: Contract,
    gates: Pick<ProjectGates, "madeOf">,
    checkout: BranchWorkspaceOptions & { readonly branch: string },
  ): Beside;
}
