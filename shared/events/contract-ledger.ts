import { count } from "../base/lines.ts";
import type { ContractPhase } from "../model/run.ts";
import { addUsage, type Usage } from "../model/usage.ts";
import { changeHash, fateOf } from "./contract-fate.ts";
import { durationText, money, plain } from "./words.ts";
import { type AttemptState, type ClosedReview, type ContractState, isJudgedOnly, type RunState } from "./run-state.ts";

/** How a contract stands over all runs: its newest work, what the lead said to exactly that change, and where it went. */
export interface ContractRow {
  readonly id: string;
  readonly title: string;
  /** The run of the newest work, and the command it began with. */
  readonly run: string;
  readonly command: string;
  readonly phase: ContractPhase;
  readonly why?: string;
  /** Of the contract file as that run read it. */
  readonly hash?: string;
  /** Number of the last attempt; 0 before the first. */
  readonly attempt: number;
  readonly attempts: number;
  /** In the order they were asked, each once. */
  readonly workers: readonly string[];
  /** Of the change that was left; absent when nothing was changed. */
  readonly diffHash?: string;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly elapsedMs: number;
  readonly usage?: Usage;
  /** The last review of exactly this change. */
  readonly review?: ClosedReview;
  /** REVISE so far, since the contract was last run from its beginning. */
  readonly revisions: number;
  readonly merged: boolean;
}

/** Commands whose runs hold work of contracts; `do` has features, and reviews and merges only speak of work. */
export const working: ReadonlySet<string> = new Set(["run", "dispatch", "prepare", "guard"]);
/** Those that begin a task: what was asked to be revised before no longer counts. */
const beginning: ReadonlySet<string> = new Set(["run", "prepare"]);

/** Newest work first. `runs` are newest first, as the store lists them. */
export function contractLedger(runs: readonly RunState[]): readonly ContractRow[] {
  const rows = new Map<string, ContractRow>();
  for (const run of runs) {
    if (!working.has(run.command)) continue;
    for (const contract of run.contracts) {
      if (contract.feature === undefined && !rows.has(contract.id) && isWork(contract))
        rows.set(contract.id, rowOf(run, contract, runs));
    }
  }
  return [...rows.values()];
}

/** The contracts of one run in its order, also those that were skipped or never begun. */
export function rowsOfRun(run: RunState): readonly ContractRow[] {
  return run.contracts.map((contract) => rowOf(run, contract, [run]));
}

/** Queued and never begun (a run that was cancelled early, a skip) is no newer work than what there is. */
export function isWork(contract: ContractState): boolean {
  return contract.prepared !== undefined || (contract.phase !== "queued" && contract.phase !== "skipped");
}

function rowOf(run: RunState, contract: ContractState, runs: readonly RunState[]): ContractRow {
  const attempts = contract.attempts.filter((attempt) => !isJudgedOnly(attempt));
  const last = contract.attempts.at(-1);
  const change = last?.change;
  const diffHash = changeHash(contract);
  const usage = usageOf(attempts);
  const { review, merge } = fateOf(run.run, contract, runs);
  return {
    id: contract.id,
    title: plain(contract.title),
    run: run.run,
    command: run.command,
    phase: contract.phase,
    ...(contract.why === undefined ? {} : { why: plain(contract.why) }),
    ...(contract.hash === undefined ? {} : { hash: contract.hash }),
    attempt: last?.attempt ?? contract.prepared?.attempt ?? 0,
    attempts: attempts.length,
    workers: [...new Set(attempts.map(({ worker }) => plain(worker)))],
    ...(diffHash === undefined ? {} : { diffHash }),
    files: change?.files ?? 0,
    added: change?.added ?? 0,
    removed: change?.removed ?? 0,
    elapsedMs: attempts.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0),
    ...(usage === undefined ? {} : { usage }),
    ...(review === undefined ? {} : { review }),
    revisions: revisionsOf(contract.id, runs),
    merged: diffHash !== undefined && merge !== undefined,
  };
}

function revisionsOf(id: string, runs: readonly RunState[]): number {
  const began = runs.findIndex(
    ({ command, contracts }) =>
      beginning.has(command) && contracts.some((contract) => contract.id === id && isWork(contract)),
  );
  return runs
    .slice(0, began === -1 ? undefined : began)
    .flatMap(({ contracts }) => contracts.filter((contract) => contract.id === id))
    .flatMap(({ reviews = [] }) => reviews)
    .filter(({ verb }) => verb === "revise").length;
}

function usageOf(attempts: readonly AttemptState[]): Usage | undefined {
  return attempts.reduce<Usage | undefined>(
    (sum, { usage }) => (usage === undefined ? sum : sum === undefined ? usage : addUsage(sum, usage)),
    undefined,
  );
}

/** One compact line a contract: all that the end of a wave prints. */
export function contractLine(row: ContractRow): string {
  const parts = [
    `${row.id}  ${standing(row)}`,
    row.attempts === 0 ? "" : `${count(row.attempts, "attempt")} by ${row.workers.join(", ")}`,
    row.files === 0 ? "" : `+${row.added} -${row.removed} in ${count(row.files, "file")}`,
    row.attempts === 0 ? "" : durationText(row.elapsedMs),
    tokensText(row.usage),
    costText(row.usage),
  ];
  const why = row.why === undefined || row.merged ? "" : `: ${row.why}`;
  return `${parts.filter((part) => part !== "").join(", ")}${why}`;
}

/** The word a lead looks for first. */
export function standing(row: ContractRow): string {
  if (row.merged) return "merged";
  if (row.review?.verb === "take-over") return "taken over";
  switch (row.phase) {
    case "awaiting-review":
      return row.review === undefined
        ? "PASS, awaiting review"
        : row.review.verb === "accept"
          ? "accepted"
          : "to be revised";
    case "accepted":
      return "PASS";
    case "failed":
      return "FAIL";
    case "blocked":
      return "BLOCKED";
    case "needs-lead":
      return "NEEDS_LEAD";
    case "skipped":
      return "SKIP";
    case "queued":
      return row.command === "prepare" ? "prepared" : "queued";
    case "running":
    case "cancelled":
    case "judged":
      return row.phase;
  }
}

function tokensText(usage: Usage | undefined): string {
  if (usage === undefined || usage.input === "unknown" || usage.output === "unknown") return "";
  return `${usage.input + usage.output + (usage.cacheRead === "unknown" ? 0 : usage.cacheRead)} tokens`;
}

function costText(usage: Usage | undefined): string {
  if (usage === undefined) return "";
  return usage.costUsd === "unknown" ? "cost unknown" : money(usage.costUsd);
}
