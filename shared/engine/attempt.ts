import { type AbsPath, inRoot } from "../base/paths.ts";
import { isAbort, throwIfAborted } from "../base/abort.ts";
import type { WorkerReport } from "../model/attempt.ts";
import { type Change, emptyChange } from "../model/change.ts";
import type { ChatMessage } from "../model/completion.ts";
import type { Contract } from "../model/contract.ts";
import { isOrchError } from "../model/error.ts";
import type { Finding } from "../model/finding.ts";
import type { GateRow } from "../model/gate-report.ts";
import type { GateResult } from "../model/gate-result.ts";
import { unknownUsage } from "../model/usage.ts";
import { type Verdict, verdictOf } from "../model/verdict.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Gate, GateInput, SliceFacts } from "../ports/gate.ts";
import type { ModelSubject } from "../ports/model.ts";
import type { LeftBudget, Worker } from "../ports/worker.ts";
import type { Workspace } from "../ports/workspace.ts";
import { guardReport } from "./guard-report.ts";
import { observedOf } from "./observed-run.ts";

/** What the caller is asked for before each attempt: the whole prompt, from the tree as it is now. */
export interface ComposeAsk {
  readonly contract: Contract;
  readonly attempt: number;
  readonly worker: string;
  readonly workspace: Workspace;
  /** What the gates said about the attempt before; absent on the first. */
  readonly feedback?: string;
  /** The worker still knows the first prompt: the feedback alone is enough. */
  readonly sameSession: boolean;
}

export interface Composed {
  readonly messages: readonly ChatMessage[];
  readonly subject?: ModelSubject;
}

export type Compose = (ask: ComposeAsk, signal: AbortSignal) => Promise<Composed>;

export interface AttemptOrder {
  readonly contract: Contract;
  readonly slice?: SliceFacts;
  readonly replyDir: string;
  readonly attempt: number;
  readonly worker: Worker;
  readonly workspace: Workspace;
  readonly gates: readonly Gate[];
  readonly compose: Compose;
  readonly feedback?: string;
  /** Set when the worker goes on in its own session. */
  readonly session?: string;
  readonly left?: LeftBudget;
  /** Paths that the attempts before this one had changed. */
  readonly earlier?: readonly string[];
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly runDir: AbsPath;
}

export interface AttemptResult {
  readonly report: WorkerReport;
  readonly change: Change;
  readonly verdict: Verdict;
  readonly durationMs: number;
}

/** Causes that say nothing about the work: no gate is asked, no attempt is spent. */
const outside: readonly WorkerReport["cause"][] = ["environment", "models", "protocol", "person-edited"];

/**
 * One attempt: prompt, worker, change, gates, verdict, each told to the log. Rejects only with an AbortError or a bug:
 * an OrchError on the way (a full disk, a folder that cannot be read) is the environment's fault and becomes the report.
 */
export async function runAttempt(order: AttemptOrder, signal: AbortSignal): Promise<AttemptResult> {
  const { contract, attempt, worker, workspace, sink, clock } = order;
  const of = { contract: contract.id, attempt };
  const began = clock.tick();
  sink.append({ type: "attempt.started", ...of, worker: worker.id, base: workspace.base });
  let change = emptyChange(workspace.base);
  let report: WorkerReport | undefined;
  try {
    report = await askWorker(order, signal);
    await tellReport(order, report);
    throwIfAborted(signal);
    if (!outside.includes(report.cause) && report.kind !== "cancelled") {
      change = await workspace.collect(signal);
      await tellChange(order, change);
      const judged = await judge(order, report, change, signal);
      return { report, change, verdict: judged, durationMs: clock.tick() - began };
    }
  } catch (error) {
    if (isAbort(error) || !isOrchError(error)) throw error;
    report = {
      ...(report ?? silent),
      kind: "failed",
      cause: "environment",
      summary: error.message,
      hint: error.hint,
      code: error.code,
    };
  }
  const verdict = await unjudged(order, report);
  sink.append({ type: "verdict.reached", ...of, verdict: verdict.kind, fails: 0, warns: 0 });
  return { report, change, verdict, durationMs: clock.tick() - began };
}

/** Nothing is said about the work, and what a worker did beside it stays no secret. */
async function unjudged(order: AttemptOrder, report: WorkerReport): Promise<Verdict> {
  const { gates, workspace } = order;
  const never = new AbortController().signal;
  const told: GateTold[] = [];
  const input = bareInput(order, emptyChange(workspace.base));
  for (const gate of gates) if (gate.always === true) told.push(await runGate(gate, input, order.clock, never));
  const verdict = verdictOf(told);
  if (verdict.kind === "inconclusive") return verdict;
  return { kind: "inconclusive", broken: [], why: report.summary, findings: [] };
}

const silent: WorkerReport = {
  kind: "failed",
  summary: "",
  claims: [],
  concerns: [],
  refused: [],
  problems: [],
  usage: unknownUsage,
  durationMs: 0,
};

async function askWorker(order: AttemptOrder, signal: AbortSignal): Promise<WorkerReport> {
  const { contract, attempt, worker, workspace, replyDir, session, feedback, left, sink } = order;
  const sameSession = session !== undefined;
  const composed = await order.compose(
    { contract, attempt, worker: worker.id, workspace, sameSession, ...(feedback === undefined ? {} : { feedback }) },
    signal,
  );
  await sink.sidecar(`${attemptFolder(order)}/prompt.md`, promptText(composed.messages));
  return worker.run(
    {
      contract,
      attempt,
      messages: composed.messages,
      workspace,
      replyDir,
      ...(composed.subject === undefined ? {} : { subject: composed.subject }),
      ...(session === undefined ? {} : { session }),
      ...(left === undefined ? {} : { left }),
    },
    signal,
  );
}

async function tellReport(order: AttemptOrder, report: WorkerReport): Promise<void> {
  const { contract, attempt, sink } = order;
  const { transcript, ...rest } = report;
  if (transcript !== undefined) await sink.sidecar(`${attemptFolder(order)}/transcript.jsonl`, transcript);
  await sink.sidecar(`${attemptFolder(order)}/report.json`, `${JSON.stringify(rest, null, 2)}\n`);
  sink.append({
    type: "worker.reported",
    contract: contract.id,
    attempt,
    outcome: report.cause === undefined ? report.kind : `${report.kind}: ${report.cause}`,
    summary: report.summary,
    durationMs: report.durationMs,
    ...(report.model === undefined ? {} : { model: report.model }),
  });
}

async function tellChange(order: AttemptOrder, change: Change): Promise<void> {
  const { contract, attempt, sink } = order;
  const patch = await sink.sidecar(`${attemptFolder(order)}/diff.patch`, change.patch);
  sink.append({
    type: "change.collected",
    contract: contract.id,
    attempt,
    files: change.files.map(({ path, status }) => ({ path, status })),
    added: change.files.reduce((sum, { added }) => sum + (added ?? 0), 0),
    removed: change.files.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
    patch,
  });
}

/** Change gates in table order, all of them; judgement gates only when nothing failed and nothing broke. */
async function judge(order: AttemptOrder, report: WorkerReport, change: Change, signal: AbortSignal): Promise<Verdict> {
  const { contract, attempt, gates, sink } = order;
  const results: GateTold[] = [];
  const ask = async (gate: Gate): Promise<void> => {
    const soFar = findingsOf(results);
    results.push(await runGate(gate, gateInput(order, report, change, soFar), order.clock, signal));
  };
  for (const gate of gates) if (gate.phase === "change") await ask(gate);
  if (verdictOf(results).kind === "pass") for (const gate of gates) if (gate.phase === "judgement") await ask(gate);
  const verdict = verdictOf(results);
  const findings = findingsOf(results);
  const guard = guardReport({
    contract: contract.id,
    attempt,
    change,
    verdict,
    findings,
    gates: results.map(({ row }) => row),
  });
  const sidecar = await sink.sidecar(`${attemptFolder(order)}/guard.json`, `${JSON.stringify(guard, null, 2)}\n`);
  sink.append({
    type: "verdict.reached",
    contract: contract.id,
    attempt,
    verdict: verdict.kind,
    fails: findings.filter(({ severity }) => severity === "FAIL").length,
    warns: findings.filter(({ severity }) => severity === "WARN").length,
    report: sidecar,
  });
  return verdict;
}

export interface GateTold {
  readonly id: string;
  readonly result: GateResult;
  readonly row: GateRow;
}

/** Asks one gate and tells the log. A gate that refuses with an OrchError is broken; anything else is a bug. */
export async function runGate(gate: Gate, input: GateInput, clock: Clock, signal: AbortSignal): Promise<GateTold> {
  throwIfAborted(signal);
  const of = { contract: input.contract.id, ...(gate.phase === "readiness" ? {} : { attempt: input.attempt }) };
  input.sink.append({ type: "gate.started", ...of, gate: gate.id });
  const began = clock.tick();
  const result = await gate.run(input, signal).catch((error: unknown): GateResult => {
    if (isOrchError(error)) return { kind: "broken", error };
    throw error;
  });
  const why = result.kind === "skipped" ? result.why : result.kind === "broken" ? result.error.message : undefined;
  const row: GateRow = {
    id: gate.id,
    status: result.kind,
    ms: clock.tick() - began,
    ...(why === undefined ? {} : { why }),
  };
  input.sink.append({
    type: "gate.finished",
    ...of,
    gate: row.id,
    status: row.status,
    ms: row.ms,
    ...(why === undefined ? {} : { why }),
    findings: result.kind === "ran" ? [...result.findings] : [],
    ...(result.kind === "ran" && result.log !== undefined ? { log: result.log } : {}),
  });
  return { id: gate.id, result, row };
}

export function findingsOf(results: readonly GateTold[]): Finding[] {
  return results.flatMap(({ result }) => (result.kind === "ran" ? result.findings : []));
}

type InputOrder = Pick<AttemptOrder, "contract" | "slice" | "attempt" | "earlier" | "workspace" | "sink" | "runDir">;

function gateInput(order: AttemptOrder, report: WorkerReport, change: Change, soFar: readonly Finding[]): GateInput {
  const observed = observedOf(order.workspace.observed?.(), report);
  return { ...bareInput(order, change), report, soFar, ...(observed === undefined ? {} : { observed }) };
}

/** What a gate sees before any worker ran. */
export function bareInput(order: InputOrder, change: Change): GateInput {
  const { contract, slice, attempt, earlier, workspace, sink, runDir } = order;
  const relative = attemptFolder(order);
  const never = new AbortController().signal;
  const changedSince = workspace.changedSince?.bind(workspace);
  return {
    contract,
    attempt,
    root: workspace.root,
    change,
    ...(slice === undefined ? {} : { slice }),
    ...(earlier === undefined ? {} : { earlier }),
    soFar: [],
    attemptDir: { relative, absolute: inRoot(runDir, relative) },
    sink,
    read: (path) => workspace.read(path, never),
    readBase: (path) => workspace.readBase(path, never),
    ...(changedSince === undefined ? {} : { changedSince: (stop) => changedSince(change.tree, stop) }),
  };
}

export function attemptFolder({ contract, attempt }: Pick<AttemptOrder, "contract" | "attempt">): string {
  return `${contract.id}/attempt-${attempt}`;
}

function promptText(messages: readonly ChatMessage[]): string {
  return messages.map(({ role, content }) => `# ${role}\n\n${content}\n`).join("\n");
}
