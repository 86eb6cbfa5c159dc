import { createHoldFinisher } from "../adapters/finish-hold.ts";
import { Semaphore } from "../base/semaphore.ts";
import type { ReachedBudget } from "../engine/policy.ts";
import { priorAttempts } from "../engine/prior-attempts.ts";
import { type ContractOutcome, runContract } from "../engine/run-contract.ts";
import { runWave, type WaveOutcome } from "../engine/wave.ts";
import { foldRun } from "../events/reduce.ts";
import type { RunState } from "../events/run-state.ts";
import type { Contract } from "../model/contract.ts";
import { isOrchError } from "../model/error.ts";
import type { Limits } from "../model/run.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Worker } from "../ports/worker.ts";
import type { Workspaces } from "../ports/workspace.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import { composeFor } from "./contract-compose.ts";
import type { DoContext } from "./do-context.ts";
import { sweepGrading } from "./grading-copy.ts";
import { withRepositoryLock } from "./repository-lock.ts";
import type { RunsContext } from "./run-look.ts";
import { block, type UnfitContracts } from "./unfit-contracts.ts";
import { estimateText, estimateWave } from "./wave-estimate.ts";
import type { WaveParts } from "./wave-parts.ts";
import { isModelId } from "./wave-workers.ts";
import type { WorkerLadder } from "./workers.ts";

/** What waves of contracts use; compose.ts wires it. */
export interface WaveContext extends DoContext, RunsContext {
  /** Opened once trust was asked for. */
  openWave(order: WaveOrder, signal: AbortSignal): Promise<WaveParts>;
  readonly kept: KeptResults;
  /** The worktrees of another run: for its review, and for what was prepared in it. */
  worktreesOf(run: string): RunWorktrees;
}

export interface WaveOrder {
  readonly contracts: readonly Contract[];
  readonly parallel: number;
  /** For all contracts together. */
  readonly budgetUsd?: number;
  /** Every contract gets one attempt by its first rung. */
  readonly once?: boolean;
  /** What a lead wants mended, for the first attempt of a contract. */
  readonly feedback?: ReadonlyMap<string, string>;
  /** The run whose worktrees are used, where work goes on: a revision, or what was prepared. */
  readonly place?: string;
  /** Somebody else's worker is in it: what it left stays as it is, whatever the gates say. */
  readonly leave?: boolean;
  /** Takes the place of the contracts' own ladders. */
  readonly ladder?: readonly Worker[];
  /** Contracts that `check` fails: they are BLOCKED, unless an earlier runner of this run had begun them. */
  readonly unfit?: UnfitContracts;
}

/**
 * Contracts on the engine that `do` runs on: worktrees, workers, gate 1, policy, held for review. What an earlier runner
 * of this run ended is not done again; what needed a person is tried again, for a person has resumed it.
 */
export async function runContracts(
  context: WaveContext,
  parts: WaveParts,
  order: WaveOrder,
  signal: AbortSignal,
): Promise<WaveOutcome> {
  const before = foldRun(context.run, context.history);
  await sweepGrading(context, context.runs);
  const given = order.ladder === undefined ? undefined : { ladder: order.ladder, skipped: [] };
  const ladders = new Map(order.contracts.map((contract) => [contract.id, given ?? parts.ladderOf(contract)]));
  const unfit = new Map([...(order.unfit ?? [])].filter(([id]) => !hasBegun(before, id)));
  const fit = order.contracts.filter(({ id }) => !unfit.has(id));
  // Work that is there already costs nothing more: nobody is asked.
  if (given === undefined && before.estimate === undefined) await tellEstimate(context, order, fit, ladders);
  const meter = meterOf(before.knownCostUsd);
  const opening = new Semaphore(1);
  return runWave(
    {
      contracts: order.contracts,
      parallel: order.parallel,
      sink: context.sink,
      ended: endedBefore(before),
      run: async (contract, stop) => {
        await context.linkContract(contract.id);
        const faults = unfit.get(contract.id);
        if (faults !== undefined) return block(context.sink, contract.id, faults);
        const ladder = ladders.get(contract.id) ?? { ladder: [], skipped: [] };
        tellSkipped(context.sink, contract, ladder);
        if (ladder.ladder.length === 0) return noWorker(context.sink, contract, ladder);
        return await runOne(context, parts, order, {
          contract,
          ladder: (order.once === true ? ladder.ladder.slice(0, 1) : ladder.ladder).map(meter.metered),
          before,
          opening,
          runBudget: () => meter.reached(order.budgetUsd),
          signal: stop,
        });
      },
    },
    signal,
  );
}

interface OneContract {
  readonly contract: Contract;
  readonly ladder: WorkerLadder["ladder"];
  readonly before: RunState;
  readonly opening: Semaphore;
  readonly runBudget: () => ReachedBudget | undefined;
  readonly signal: AbortSignal;
}

async function runOne(
  context: WaveContext,
  parts: WaveParts,
  order: WaveOrder,
  { contract, ladder, before, opening, runBudget, signal }: OneContract,
): Promise<ContractOutcome> {
  const feedback = order.feedback?.get(contract.id);
  const locked = lockedWorkspaces(context, parts.worktrees, opening);
  const workspaces = order.leave === true ? leftAlone(locked) : locked;
  try {
    return await runContract(
      {
        contract,
        replyDir: "",
        workspaces,
        ladder: ladder.map((worker) => parts.worktrees.watched(worker)),
        gates: parts.gates,
        finisher: createHoldFinisher({
          kept: parts.kept,
          sink: context.sink,
          run: context.run,
          isOpen: (id) => before.contracts.find((one) => one.id === id)?.review === "open",
          onKept: parts.noteKept,
        }),
        sink: context.sink,
        clock: context.clock,
        limits: limitsOf(context, contract, order),
        compose: composeFor(context, { ...parts.texts, isCompletion: isModelId }),
        priorAttempts: priorAttempts(before.contracts.find(({ id }) => id === contract.id)),
        ...(feedback === undefined ? {} : { feedback }),
        runBudget,
        run: context.run,
        runDir: context.runDir,
      },
      signal,
    );
  } catch (error) {
    if (!isOrchError(error)) throw error;
    // A worktree that cannot be opened is this contract's trouble: the others go on.
    const { message: why, hint, code } = error;
    context.sink.append({ type: "contract.finished", contract: contract.id, state: "needs-lead", why });
    const decision = { kind: "needs-lead", reason: "environment", why, hint } as const;
    return { contract: contract.id, state: "needs-lead", decision, attempts: [], findings: [], error, code };
  }
}

/**
 * The snapshot reads the checkout, so nobody may change it meanwhile: one contract after the other takes the repository's
 * lock, and waits where another command holds it.
 */
export function lockedWorkspaces(context: WaveContext, worktrees: Workspaces, opening = new Semaphore(1)): Workspaces {
  return {
    async open(contract, signal) {
      using _turn = await opening.acquire(signal);
      for (let told = false; ; told = true) {
        try {
          return await withRepositoryLock(context, "run", signal, () => worktrees.open(contract, signal));
        } catch (error) {
          if (!isOrchError(error, "run.locked")) throw error;
          if (!told) context.sink.append({ type: "progress.noted", text: `${contract.id} waits: ${error.message}` });
          await context.clock.sleep(lockPollMs, signal);
        }
      }
    },
  };
}

const lockPollMs = 250;

/** They are looked at, and neither put back nor given back. */
function leftAlone(workspaces: Workspaces): Workspaces {
  return {
    async open(contract, signal) {
      const one = await workspaces.open(contract, signal);
      return {
        ...one,
        rollback: () => Promise.resolve({ kind: "left" }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  };
}

function limitsOf({ config }: WaveContext, contract: Contract, order: WaveOrder): Limits {
  const minutes = contract.max_minutes ?? config.limits.minutes;
  return {
    maxAttempts: order.once === true ? 1 : contract.max_attempts,
    maxRevisions: 1,
    acceptRevise: config.judge.accept_revise,
    acceptWarn: config.judge.accept_warn,
    ...(minutes === undefined ? {} : { maxMinutes: minutes }),
    ...(contract.max_cost_usd === undefined ? {} : { maxCostUsd: contract.max_cost_usd }),
  };
}

/** Blocked, failed and passed stay so; what needs a lead is looked at again after a resume. */
function endedBefore(before: RunState): ReadonlyMap<string, "passed" | "failed"> {
  const ended = new Map<string, "passed" | "failed">();
  for (const { id, phase } of before.contracts) {
    if (phase === "accepted" || phase === "awaiting-review") ended.set(id, "passed");
    if (phase === "failed" || phase === "blocked") ended.set(id, "failed");
  }
  return ended;
}

/** What was handed out is judged as it was handed out. */
function hasBegun({ contracts }: RunState, id: string): boolean {
  return contracts.some((one) => one.id === id && one.attempts.length > 0);
}

async function tellEstimate(
  context: WaveContext,
  order: WaveOrder,
  contracts: readonly Contract[],
  ladders: ReadonlyMap<string, WorkerLadder>,
): Promise<void> {
  const history: RunState[] = [];
  for (const { run, dir } of (await context.runs.list()).slice(0, measuredRuns))
    history.push(foldRun(run, await context.runs.events(dir)));
  const asked = contracts.map((contract) => ({
    contract,
    worker: ladders.get(contract.id)?.ladder[0]?.id ?? "none",
  }));
  const estimate = estimateWave(asked, history);
  context.sink.append({ type: "wave.estimated", ...estimate });
  context.sink.append({ type: "progress.noted", text: estimateText(estimate, order.budgetUsd) });
}

const measuredRuns = 30;

/** Counts what the workers of all contracts say they cost. A cost nobody told counts as nothing. */
function meterOf(before: number): {
  readonly metered: (worker: Worker) => Worker;
  readonly reached: (limit: number | undefined) => ReachedBudget | undefined;
} {
  let spent = before;
  return {
    metered: (worker) => ({
      ...worker,
      async run(order, signal) {
        const report = await worker.run(order, signal);
        if (report.usage.costUsd !== "unknown") spent += report.usage.costUsd;
        return report;
      },
    }),
    reached: (limit) => (limit === undefined || spent < limit ? undefined : { what: "usd", limit, used: spent }),
  };
}

function tellSkipped(sink: EventSink, contract: Contract, { skipped }: WorkerLadder): void {
  for (const { id, why } of skipped)
    sink.append({ type: "progress.noted", text: `${contract.id}: worker ${id} is left out: ${why}` });
}

function noWorker(sink: EventSink, contract: Contract, { skipped }: WorkerLadder): ContractOutcome {
  const named = skipped.map(({ id, why }) => `${id} (${why})`).join(", ");
  const why = `no worker of ${contract.id} can be used here${named === "" ? "" : `: ${named}`}`;
  sink.append({ type: "contract.finished", contract: contract.id, state: "needs-lead", why });
  const [missing] = skipped.filter(({ install }) => install !== undefined);
  const first = missing === undefined ? "" : `Install the client of ${missing.id}: ${missing.install}, or name`;
  const hint = `${first === "" ? "Name" : first} another in the contract's worker. The table of workers: orch doctor --verbose`;
  const decision = { kind: "needs-lead", reason: "environment", why, hint } as const;
  return { contract: contract.id, state: "needs-lead", decision, attempts: [], findings: [], code: "worker.missing" };
}
