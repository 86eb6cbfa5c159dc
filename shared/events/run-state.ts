import type { Decision } from "../model/decision.ts";
import type { EventBody } from "../model/event.ts";
import type { Finding } from "../model/finding.ts";
import type { AttemptPhase, ContractPhase, RunPhase } from "../model/run.ts";
import type { HostName } from "../model/run-files.ts";
import type { Sidecar } from "../model/sidecar.ts";
import type { Usage } from "../model/usage.ts";

/** What the events of a run add up to. Plain data: every host paints from it, nothing is decided by it. */
export interface RunState {
  readonly run: string;
  /** Of the last event; 0 before the first. */
  readonly seq: number;
  readonly command: string;
  readonly title: string;
  /** That the run is about, as `Domain/Feature`. */
  readonly feature?: string;
  readonly host?: HostName;
  readonly version?: string;
  /** Of the runner that wrote last. */
  readonly pid?: number;
  readonly startedAt?: number;
  readonly lastAt?: number;
  readonly phase: RunPhase;
  readonly parked?: { readonly why: string; readonly hint: string };
  readonly cancelledBy?: string;
  readonly contracts: readonly ContractState[];
  /** Asked and not answered, oldest first. */
  readonly pending: readonly PendingAsk[];
  /** Absent while no lane told anything; an unknown part stays unknown. */
  readonly usage?: Usage;
  /** Spending of a model call that told its cost: a floor when `usage.costUsd` is unknown. */
  readonly knownCostUsd: number;
  readonly modelCalls: number;
  readonly models?: readonly string[];
  readonly trash: readonly string[];
  readonly commits: readonly EventBody<"commit.made">[];
  /** The last thing said about progress. */
  readonly note?: string;
  /** The latest, at most `keptNotices`. */
  readonly notices: readonly SaidNotice[];
  /** Started and not ended, as far as the log knows. */
  readonly processes: readonly EventBody<"process.started">[];
  readonly budget?: EventBody<"budget.reached">;
  readonly estimate?: EventBody<"wave.estimated">;
  readonly final?: EventBody<"final.checked">;
  readonly result?: EventBody<"command.finished">;
  /** Events of a newer Orch, and lines that could not be read: shown, never dropped. */
  readonly unknown: number;
  readonly faults: readonly string[];
}

export interface SaidNotice extends EventBody<"notice.shown"> {
  readonly seq: number;
}

export interface PendingAsk {
  readonly id: string;
  readonly weight: "question" | "decision";
  readonly kind: "pick" | "confirm" | "text";
  readonly contract?: string;
  readonly title: string;
  readonly detail?: string;
  readonly choices: readonly { readonly id: string; readonly label: string }[];
  readonly otherwise?: string;
  readonly timeoutMs?: number;
  readonly askedAt: number;
}

export interface ContractState {
  readonly id: string;
  readonly title: string;
  readonly feature?: string;
  /** On which the feature's run began. */
  readonly branch?: string;
  readonly phase: ContractPhase;
  readonly maxAttempts?: number;
  readonly attempts: readonly AttemptState[];
  /** Gates that ran before any attempt. */
  readonly readiness: readonly GateState[];
  readonly why?: string;
  readonly review?: "open" | "accept" | "revise" | "take-over";
  /** sha256 of the contract as it was queued. */
  readonly hash?: string;
  /** Reviews that this run is the log of, oldest first. */
  readonly reviews?: readonly ClosedReview[];
  /** This run put the change of that run into the working tree. */
  readonly merged?: MergedChange;
  readonly prepared?: PreparedPlace;
}

export interface ClosedReview {
  readonly verb: "accept" | "revise" | "take-over";
  readonly reviewer: string;
  readonly diffHash: string;
  /** The run whose work was reviewed. */
  readonly work?: string;
  /** What a revision asks for. */
  readonly items?: readonly string[];
}

export type MergedChange = Pick<EventBody<"contract.merged">, "work" | "diffHash" | "paths">;
export type PreparedPlace = Pick<
  EventBody<"contract.prepared">,
  "attempt" | "folder" | "base" | "prompt" | "slot" | "until" | "worktree"
>;

export interface AttemptState {
  readonly attempt: number;
  readonly worker: string;
  readonly phase: AttemptPhase;
  /** The runner went away, or was stopped, before this attempt was decided. */
  readonly cutShort: boolean;
  readonly startedAt: number;
  readonly durationMs?: number;
  readonly model?: string;
  readonly label?: string;
  readonly fellThrough: readonly { readonly model: string; readonly why: string }[];
  readonly reported?: { readonly outcome: string; readonly summary: string };
  readonly change?: {
    readonly files: number;
    readonly added: number;
    readonly removed: number;
    readonly patch?: Sidecar;
  };
  readonly gates: readonly GateState[];
  readonly verdict?: {
    readonly kind: "pass" | "fail" | "inconclusive";
    readonly fails: number;
    readonly warns: number;
  };
  readonly decision?: Decision;
  readonly feedback?: Sidecar;
  readonly usage?: Usage;
}

export interface GateState {
  readonly gate: string;
  readonly status: "running" | "ran" | "skipped" | "broken";
  readonly why?: string;
  readonly ms?: number;
  readonly findings: readonly Finding[];
  readonly log?: Sidecar;
}

/** Gates looked at a tree that no worker made, as `merge` has them do: there was no attempt, only its gates. */
export function isJudgedOnly({ worker, model, reported }: AttemptState): boolean {
  return worker === "" && model === undefined && reported === undefined;
}

export const keptNotices = 20;

export function emptyRun(run: string): RunState {
  return {
    run,
    seq: 0,
    command: "",
    title: "",
    phase: "running",
    contracts: [],
    pending: [],
    knownCostUsd: 0,
    modelCalls: 0,
    trash: [],
    commits: [],
    notices: [],
    processes: [],
    unknown: 0,
    faults: [],
  };
}
