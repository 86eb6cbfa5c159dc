import { isAbort, stopVerbOf, throwIfAborted } from "../base/abort.ts";
import { type AbsPath, type RepoPath, repoPath } from "../base/paths.ts";
import type { Change } from "../model/change.ts";
import { emptyChange } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Decision } from "../model/decision.ts";
import type { ErrorCode } from "../model/error-table.ts";
import { isOrchError, type OrchError } from "../model/error.ts";
import type { Finding } from "../model/finding.ts";
import type { Limits } from "../model/run.ts";
import type { Sidecar } from "../model/sidecar.ts";
import { type Verdict, verdictOf } from "../model/verdict.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Finished, Finisher } from "../ports/finisher.ts";
import type { Gate, SliceFacts } from "../ports/gate.ts";
import type { Worker } from "../ports/worker.ts";
import type { Workspace, Workspaces } from "../ports/workspace.ts";
import { feedbackText } from "../prompts/feedback.ts";
import {
  attemptFolder,
  type AttemptOrder,
  type AttemptResult,
  bareInput,
  type Compose,
  findingsOf,
  type GateTold,
  runAttempt,
  runGate,
} from "./attempt.ts";
import { rungOf } from "./ladder.ts";
import {
  type AttemptOutcome,
  budgetReached,
  decide,
  decideReadiness,
  leftOf,
  overBudget,
  type ReachedBudget,
} from "./policy.ts";

export interface ContractOrder {
  readonly contract: Contract;
  readonly slice?: SliceFacts;
  /** Folder whose file names a reply may use bare; empty for the root. */
  readonly replyDir: string;
  readonly workspaces: Workspaces;
  /** First rung first; never empty. */
  readonly ladder: readonly Worker[];
  readonly gates: readonly Gate[];
  readonly finisher: Finisher;
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly compose: Compose;
  /** New files that were refused for being there: they are taken away before the next attempt. */
  readonly refused?: (findings: readonly Finding[], files: Change["files"]) => readonly string[];
  /** Every attempt the log holds, also one that was stopped; the run goes on with the number after the last. */
  readonly priorAttempts: readonly AttemptOutcome[];
  /** What a lead wants mended, for the first attempt of all. */
  readonly feedback?: string;
  /** What all contracts of the run may spend together; looked at before each attempt. */
  readonly runBudget?: () => ReachedBudget | undefined;
  readonly run: string;
  readonly runDir: AbsPath;
}

/** `exhausted` attempts are `failed`; every other decision that needs a lead is `needs-lead`. */
export interface ContractOutcome {
  readonly contract: string;
  readonly state: "accepted" | "awaiting-review" | "failed" | "blocked" | "needs-lead";
  readonly decision: Decision;
  readonly attempts: readonly AttemptOutcome[];
  /** Of the last attempt, or of readiness when it was blocked. */
  readonly findings: readonly Finding[];
  readonly change?: Change;
  /** What to paste to a model: `<ID>/attempt-N/feedback.md` in the run folder. */
  readonly feedback?: Sidecar;
  readonly finished?: Finished;
  /** How the tree was left when the work was not accepted; `left` after a person's edit was met. */
  readonly tree?: TreeLeft;
  /** The refusal behind `needs-lead`, whose exit code is the command's. */
  readonly error?: OrchError;
  readonly code?: ErrorCode;
}

export type TreeLeft =
  | { readonly kind: "rolled-back"; readonly trash?: string }
  | { readonly kind: "left"; readonly paths: readonly RepoPath[] };

/**
 * Attempts until a final decision. On an abort the tree is put back first (the last change is kept in the run folder),
 * then it rejects with the AbortError: after `interrupt` the run can be resumed, after `cancel` the contract is over. A
 * refusal while the workspace is opened rejects with its OrchError, nothing having happened.
 */
export async function runContract(order: ContractOrder, signal: AbortSignal): Promise<ContractOutcome> {
  throwIfAborted(signal);
  const { contract, sink } = order;
  const workspace = await order.workspaces.open(contract, signal);
  try {
    const outcome =
      (await finishAccepted(order, workspace, signal)) ??
      (await checkReadiness(order, workspace, signal)) ??
      (await attempts(order, workspace, signal));
    sink.append({
      type: "contract.finished",
      contract: contract.id,
      state: outcome.state,
      ...("why" in outcome.decision ? { why: outcome.decision.why } : {}),
    });
    return outcome;
  } catch (error) {
    await putBack(order, workspace);
    if (isAbort(error) && stopVerbOf(signal) === "cancel") {
      sink.append({ type: "contract.finished", contract: contract.id, state: "cancelled" });
    }
    throw error;
  } finally {
    await workspace[Symbol.asyncDispose]();
  }
}

/** What an earlier life of the run accepted is finished, and nobody is asked again. */
async function finishAccepted(
  order: ContractOrder,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<ContractOutcome | undefined> {
  const last = order.priorAttempts.at(-1);
  const change = workspace.accepted?.change ?? (await acceptedBefore(workspace, last, signal));
  if (change === undefined) return undefined;
  const findings = last === undefined ? [] : findingsIn(last);
  const about = { contract: order.contract.id, attempts: order.priorAttempts, findings, change };
  return accept(order, workspace, change, about, signal);
}

/** A worktree holds what the runner accepted before it was killed, byte for byte, or it is not what was judged. */
async function acceptedBefore(
  workspace: Workspace,
  last: AttemptOutcome | undefined,
  signal: AbortSignal,
): Promise<Change | undefined> {
  if (workspace.kind !== "worktree" || last?.decision?.kind !== "accept") return undefined;
  const change = await workspace.collect(signal);
  return change.diffHash === last.diffHash ? change : undefined;
}

/** Every FAIL of a readiness gate blocks: no attempt can mend a contract. */
async function checkReadiness(
  order: ContractOrder,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<ContractOutcome | undefined> {
  const { contract, clock } = order;
  const told: GateTold[] = [];
  const input = bareInput(
    { ...order, workspace, attempt: nextNumber(order.priorAttempts) },
    emptyChange(workspace.base),
  );
  for (const gate of order.gates) {
    if (gate.phase === "readiness")
      told.push(await runGate(gate, { ...input, soFar: findingsOf(told) }, clock, signal));
  }
  const findings = findingsOf(told);
  const verdict = verdictOf(told);
  const decision: Decision | undefined =
    verdict.kind === "inconclusive"
      ? {
          kind: "needs-lead",
          reason: "gate-broken",
          why: verdict.why,
          hint: verdict.hint ?? "Mend that, then run the command again",
        }
      : decideReadiness(findings);
  if (decision === undefined) return undefined;
  const tree = await putBack(order, workspace);
  const state = decision.kind === "blocked" ? "blocked" : "needs-lead";
  const code = codeOf(verdict);
  const about = { contract: contract.id, attempts: order.priorAttempts, findings, tree };
  return { ...about, state, decision, ...(code === undefined ? {} : { code }) };
}

/** Of a gate that broke: whether the run parks, and the command's exit, are the refusal's. */
function codeOf(verdict: Verdict): ErrorCode | undefined {
  return verdict.kind === "inconclusive" ? verdict.code : undefined;
}

async function attempts(order: ContractOrder, workspace: Workspace, signal: AbortSignal): Promise<ContractOutcome> {
  const history: AttemptOutcome[] = [...order.priorAttempts];
  let known: Pick<AttemptOrder, "feedback" | "session" | "earlier"> = resumedFrom(order);
  for (;;) {
    throwIfAborted(signal);
    const reached = budgetReached(history, order.limits) ?? order.runBudget?.();
    if (reached !== undefined) return await outOfBudget(order, workspace, history, reached);
    const rung = rungOf(order.ladder, history);
    const attempt = nextNumber(history);
    const left = leftOf(history, order.limits);
    const result = await runAttempt({ ...order, attempt, worker: rung.worker, workspace, left, ...known }, signal);
    const outcome = outcomeOf(attempt, rung.worker.id, result);
    const decision = decide([...history, outcome], order.limits, {
      canResume: rung.worker.can.resume,
      ...(rung.next === undefined ? {} : { nextWorker: rung.next.id }),
      feedbackAt: `.orch/runs/${attemptFolder({ contract: order.contract, attempt })}/feedback.md`,
      ...((result.change?.files.length ?? 0) === 0
        ? {}
        : { changeAt: `${order.run}/${attemptFolder({ contract: order.contract, attempt })}` }),
    });
    history.push({ ...outcome, decision });
    const feedback = await tellDecision(order, attempt, result, decision, history);
    if (decision.kind === "retry" || decision.kind === "escalate") {
      const session = decision.kind === "retry" && decision.sameSession ? result.report.session : undefined;
      known = {
        earlier: [...(known.earlier ?? []), ...result.change.files.map(({ path }) => path)],
        ...(feedback === undefined ? {} : { feedback: feedback.text }),
        ...(session === undefined ? {} : { session }),
      };
      await takeAwayRefused(order, workspace, outcome, result.change, signal);
      continue;
    }
    const about = {
      contract: order.contract.id,
      attempts: history,
      findings: findingsIn(outcome),
      change: result.change,
    };
    const kept = feedback === undefined ? about : { ...about, feedback: feedback.sidecar };
    if (decision.kind === "accept") return accept(order, workspace, result.change, kept, signal);
    const tree = await leaveTree(order, workspace, decision);
    const code = result.report.code ?? codeOf(result.verdict);
    const state = decision.kind === "blocked" ? "blocked" : decision.reason === "exhausted" ? "failed" : "needs-lead";
    return { ...kept, state, decision, tree, ...(code === undefined ? {} : { code }) };
  }
}

/** Before a call, not after it: what it would cost is not spent. */
async function outOfBudget(
  order: ContractOrder,
  workspace: Workspace,
  history: readonly AttemptOutcome[],
  reached: ReachedBudget,
): Promise<ContractOutcome> {
  const { contract, sink } = order;
  sink.append({ type: "budget.reached", contract: contract.id, ...reached });
  const last = history.at(-1);
  const changeAt = `${order.run}/${attemptFolder({ contract, attempt: last?.attempt ?? 1 })}`;
  const decision = overBudget(reached, last?.diffHash === undefined ? {} : { changeAt });
  const tree = await putBack(order, workspace);
  const findings = last === undefined ? [] : findingsIn(last);
  return { contract: contract.id, attempts: history, findings, state: "needs-lead", decision, tree };
}

/** Only what the attempts made: a file that a person touched since is met by the next write. */
async function takeAwayRefused(
  order: ContractOrder,
  workspace: Workspace,
  outcome: AttemptOutcome,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const paths = (order.refused?.(findingsIn(outcome), change.files) ?? []).flatMap((path) => repoPath(path) ?? []);
  if (paths.length === 0) return;
  const done = await workspace.write(
    paths.map((path) => ({ path, data: undefined })),
    signal,
  );
  if (done.kind === "person-edited") return;
  order.sink.append({ type: "progress.noted", text: `taken away before the next attempt: ${paths.join(", ")}` });
}

type About = Pick<ContractOutcome, "contract" | "attempts" | "findings" | "change" | "feedback">;

/**
 * The work is good; when it cannot be kept (a hook says no, the disk is full) a person decides, and the tree is put back.
 * An edit that came after the gates is kept as it is.
 */
async function accept(
  order: ContractOrder,
  workspace: Workspace,
  change: Change,
  about: About,
  signal: AbortSignal,
): Promise<ContractOutcome> {
  try {
    const finished = await order.finisher.finish(order.contract, workspace, change, signal);
    return { ...about, state: finished.state, decision: { kind: "accept" }, finished };
  } catch (error) {
    if (!isOrchError(error)) throw error;
    const reason = error.code === "tree.changed" ? "person-edited" : "environment";
    const decision: Decision = { kind: "needs-lead", reason, why: error.message, hint: error.hint };
    const tree = await leaveTree(order, workspace, decision);
    return { ...about, state: "needs-lead", decision, tree, error, code: error.code };
  }
}

/** A person's edit parks the run with the tree as it is: putting it back is what must not happen. */
async function leaveTree(order: ContractOrder, workspace: Workspace, decision: Decision): Promise<TreeLeft> {
  if (decision.kind === "needs-lead" && decision.reason === "person-edited") return { kind: "left", paths: [] };
  return putBack(order, workspace);
}

/** Runs to its end even after an abort: the tree as it was is what the person is promised. */
async function putBack(order: ContractOrder, workspace: Workspace): Promise<TreeLeft> {
  const done = await workspace.rollback(new AbortController().signal);
  if (done.kind === "rolled-back") return done;
  if (done.kind === "committed" || done.kind === "left") return { kind: "left", paths: [] };
  order.sink.append({ type: "progress.noted", text: `left as they are, changed meanwhile: ${done.paths.join(", ")}` });
  return { kind: "left", paths: done.paths };
}

async function tellDecision(
  order: ContractOrder,
  attempt: number,
  result: AttemptResult,
  decision: Decision,
  history: readonly AttemptOutcome[],
): Promise<{ readonly text: string; readonly sidecar: Sidecar } | undefined> {
  const { contract, sink, limits } = order;
  const text = result.verdict.kind === "fail" ? feedbackOf(contract, attempt, result.verdict.findings) : undefined;
  const sidecar =
    text === undefined ? undefined : await sink.sidecar(`${attemptFolder({ contract, attempt })}/feedback.md`, text);
  const reached =
    decision.kind === "needs-lead" && decision.reason === "budget" ? budgetReached(history, limits) : undefined;
  if (reached !== undefined) sink.append({ type: "budget.reached", contract: contract.id, attempt, ...reached });
  sink.append({
    type: "decision.made",
    contract: contract.id,
    attempt,
    decision,
    ...(sidecar === undefined ? {} : { feedback: sidecar }),
  });
  sink.append({ type: "attempt.finished", contract: contract.id, attempt, durationMs: result.durationMs });
  return text === undefined || sidecar === undefined ? undefined : { text, sidecar };
}

function feedbackOf(contract: Contract, attempt: number, findings: readonly Finding[]): string {
  return feedbackText({ attempt, findings, hiddenFeedback: contract.hidden_feedback });
}

function outcomeOf(attempt: number, worker: string, result: AttemptResult): AttemptOutcome {
  const { report, verdict, durationMs, change } = result;
  const known = { attempt, worker, report, verdict, costUsd: report.usage.costUsd, durationMs };
  return change.files.length === 0 ? known : { ...known, diffHash: change.diffHash };
}

function findingsIn({ verdict }: AttemptOutcome): readonly Finding[] {
  return verdict.kind === "pass" ? verdict.warnings : verdict.findings;
}

function nextNumber(history: readonly AttemptOutcome[]): number {
  return (history.at(-1)?.attempt ?? 0) + 1;
}

/** What the last judged attempt left to say; a session is not resumed over a restart. */
function resumedFrom({ contract, priorAttempts, feedback }: ContractOrder): { readonly feedback?: string } {
  const judged = priorAttempts.findLast(({ verdict }) => verdict.kind === "fail");
  if (judged === undefined) return feedback === undefined ? {} : { feedback };
  return { feedback: feedbackOf(contract, judged.attempt, findingsIn(judged)) };
}
