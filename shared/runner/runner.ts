import { createHash } from "node:crypto";
import { isAbort } from "../base/abort.ts";
import { isDiskFull } from "../base/disk-full.ts";
import { firstLine } from "../base/lines.ts";
import { type AbsPath, baseName, inRoot } from "../base/paths.ts";
import { foldRun } from "../events/reduce.ts";
import type { RunState } from "../events/run-state.ts";
import type { CommandResult } from "../model/command-result.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import { exitCodes } from "../model/exit-code.ts";
import { parkingCodes, sandboxMarker } from "../model/run.ts";
import type { RunnerFile, RunRequest } from "../model/run-files.ts";
import type { Clock } from "../ports/clock.ts";
import type { Files } from "../ports/files.ts";
import type { HeldLock, Locks } from "../ports/lock.ts";
import type { ProcessSweep } from "../ports/process.ts";
import type { EndRun, ExecuteRun, RunJob } from "../ports/run-job.ts";
import type { RunLog, RunLogs } from "../ports/run-log.ts";
import type { RunOwnership, RunStore } from "../ports/run-store.ts";
import { takeControls, watchControls } from "./controls.ts";
import { createFileEditor } from "./file-editor.ts";
import { createStopping, type End, type RunnerEvents, type Stopping } from "./stopping.ts";

export interface RunnerDeps {
  readonly execute: ExecuteRun;
  readonly end: EndRun;
  readonly files: Files;
  readonly clock: Clock;
  readonly locks: Locks;
  readonly logs: RunLogs;
  readonly store: Pick<RunStore, "request" | "events" | "readReply">;
  readonly ownership: RunOwnership;
  readonly sweep: ProcessSweep;
  readonly pid: number;
  readonly machine: string;
  readonly version: string;
  /** For what is said where there is no log. */
  readonly redactor: { text(text: string): string };
  readonly parkAfterMs?: number;
  readonly questionMs?: number;
}

export interface RunnerOrder {
  readonly dir: AbsPath;
  /** The starter made this run's request just now; else it is an older one that goes on. */
  readonly fresh: boolean;
}

/**
 * The life of one runner: lock, log, orphans of a dead runner, the command, its end. Resolves with the exit code;
 * rejects with the OrchError that kept it from taking the run (`run.by-hand`, `file.invalid`, `run.foreign`, `run.locked`, `run.finished`).
 */
export async function runRunner(order: RunnerOrder, deps: RunnerDeps, events: RunnerEvents): Promise<number> {
  const { dir } = order;
  const since = deps.clock.now();
  const run = baseName(dir);
  const request = await deps.store.request(dir);
  if (request === undefined) {
    throw new OrchError("run.by-hand", `${dir} holds no request.json: the runner is started by a command, not by hand`);
  }
  await requireOurs(run, order, deps);
  using _lock = takeLock(run, dir, request, deps);
  using log = await deps.logs.open(run, dir);
  const before = stateOf(run, log);
  refuseEnded(before);

  const stopping = createStopping(events);
  await writeRunnerFile(dir, request, deps);
  const resumed = before.seq > 0;
  await begin(request, before, resumed, log, deps);

  const controls = {
    run,
    dir,
    files: deps.files,
    log,
    since,
    contracts: () => stateOf(run, log).contracts.map(({ id }) => id),
    stop: stopping.stop,
  };
  await makeMailboxes(dir, deps.files);
  await takeControls(controls, "starting");
  const watching = new AbortController();
  const watched = watchControls(controls, watching.signal).catch(stopping.crash);
  try {
    const end = await carryOut({ request, run, dir, resumed }, log, deps, stopping);
    const code = await finish(end, { run, dir, log, resumed }, deps, stopping);
    if (stateOf(run, log).result !== undefined) await deps.ownership.forget(run);
    return code;
  } finally {
    watching.abort();
    await watched;
  }
}

/** By the hash of the whole request: a folder that came with a repository, or was changed since, is nobody's request. */
async function requireOurs(run: string, { dir, fresh }: RunnerOrder, deps: RunnerDeps): Promise<void> {
  const { files, ownership, store } = deps;
  const bytes = (await files.read(inRoot(dir, "request.json"))) ?? new Uint8Array();
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (fresh) return ownership.note(run, sha256);
  if (await ownership.isOurs(run, sha256)) return;
  refuseEnded(foldRun(run, await store.events(dir)));
  throw new OrchError("run.foreign", `Run ${run} was not started on this machine, or its request was changed since`);
}

function refuseEnded({ run, result, phase }: RunState): void {
  if (result !== undefined || phase === "cancelled") throw new OrchError("run.finished", `Run ${run} has ended`);
}

function stateOf(run: string, log: RunLog): RunState {
  return foldRun(run, log.history());
}

function takeLock(run: string, dir: AbsPath, request: RunRequest, deps: RunnerDeps): HeldLock {
  const taken = deps.locks.try(inRoot(dir, "lock.db"), { run, host: request.host, what: request.command });
  if (taken.kind === "held") return taken.lock;
  const pid = taken.holder?.pid;
  throw new OrchError("run.locked", `Run ${run} has a runner already${pid === undefined ? "" : `, process ${pid}`}`, {
    data: { run, pid },
  });
}

async function writeRunnerFile(dir: AbsPath, request: RunRequest, deps: RunnerDeps): Promise<void> {
  const file: RunnerFile = {
    v: 1,
    pid: deps.pid,
    startTime: deps.sweep.startTimeOf(deps.pid) ?? "",
    host: request.host,
    machine: deps.machine,
    version: deps.version,
    at: deps.clock.now(),
  };
  await deps.files.write(inRoot(dir, "runner.json"), `${JSON.stringify(file)}\n`, { mode: 0o600 });
}

async function makeMailboxes(dir: AbsPath, files: Files): Promise<void> {
  for (const name of ["control", "replies"]) await files.makeDir(inRoot(dir, name), { mode: 0o700 });
}

/** The first words of this life of the run. A dead runner's processes go first: they would work beside ours. */
async function begin(
  request: RunRequest,
  before: RunState,
  resumed: boolean,
  log: RunLog,
  deps: RunnerDeps,
): Promise<void> {
  if (!resumed) {
    log.append({
      type: "run.started",
      command: request.command,
      title: titleOf(request),
      host: request.host,
      version: deps.version,
      pid: deps.pid,
    });
    return;
  }
  const ended = await endProcesses(before, deps.sweep);
  log.append({ type: "run.resumed", host: request.host, pid: deps.pid });
  if (ended.length > 0) log.append({ type: "process.swept", pids: [...ended], why: "left by a runner that died" });
}

/** By pid and start time, with the group; and by marker, for what left the group. */
async function endProcesses(state: RunState, sweep: ProcessSweep): Promise<readonly number[]> {
  const ended = new Set<number>();
  for (const { pid, startTime } of state.processes) if (await sweep.endIfSame(pid, startTime)) ended.add(pid);
  const markers = state.processes.map((process) => process.marker);
  for (const marker of new Set([...markers, sandboxMarker(state.run)])) {
    for (const pid of await sweep.endLeftovers({ marker })) ended.add(pid);
  }
  return [...ended];
}

function titleOf({ command, args }: RunRequest): string {
  // In every list of runs: a foretold end must not read like one.
  const mark = args["dryRun"] === true ? " (dry run)" : "";
  const title = args["title"];
  const words = Array.isArray(args["words"]) ? args["words"].filter((word) => typeof word === "string") : [];
  const named = typeof title === "string" && title.trim() !== "" ? title.trim() : [command, ...words].join(" ");
  return `${named.slice(0, 200 - mark.length)}${mark}`;
}

// --- the command ---------------------------------------------------------------------------------------------------

interface Job {
  readonly request: RunRequest;
  readonly run: string;
  readonly dir: AbsPath;
  readonly resumed: boolean;
}

async function carryOut(job: Job, log: RunLog, deps: RunnerDeps, stopping: Stopping): Promise<End> {
  const editor = createFileEditor({
    ...job,
    log,
    clock: deps.clock,
    interactive: job.request.args["input"] !== false,
    readReply: (id) => deps.store.readReply(job.dir, id),
    discardReply: (id) => deps.files.remove(inRoot(job.dir, "replies", `${id}.json`)),
    ...(deps.parkAfterMs === undefined ? {} : { parkAfterMs: deps.parkAfterMs }),
    ...(deps.questionMs === undefined ? {} : { questionMs: deps.questionMs }),
  });
  if (stopping.signal.aborted) {
    const ends = job.resumed && stopping.asked()?.verb === "cancel";
    return ends ? await putBack({ ...job, log, editor }, deps) : { kind: "stopped" };
  }
  const work = Promise.resolve()
    .then(() => deps.execute({ ...job, log, editor }, stopping.signal))
    .then(
      (result): End => ({ kind: "result", result }),
      (error: unknown): End => endOf(error, stopping),
    );
  return Promise.race([work, stopping.over]);
}

/** Cancelled before it went on. Not hurried: half of it put back would be worse than late. */
async function putBack(job: RunJob, deps: RunnerDeps): Promise<End> {
  try {
    await deps.end(job);
    return { kind: "stopped" };
  } catch (error) {
    return isOrchError(error) ? { kind: "kept", error } : { kind: "crashed", error };
  }
}

function endOf(error: unknown, stopping: Stopping): End {
  if (isAbort(error) && stopping.signal.aborted) return { kind: "stopped" };
  if (isOrchError(error)) return { kind: "refused", error };
  if (isDiskFull(error)) {
    const message = `The disk is full: ${error instanceof Error ? error.message : String(error)}`;
    return { kind: "refused", error: new OrchError("env.disk-full", message, { cause: error }) };
  }
  return { kind: "crashed", error };
}

// --- the end -------------------------------------------------------------------------------------------------------

interface Place {
  readonly resumed: boolean;
  readonly run: string;
  readonly dir: AbsPath;
  readonly log: RunLog;
}

async function finish(end: End, place: Place, deps: RunnerDeps, stopping: Stopping): Promise<number> {
  const { run, log } = place;
  const left = await endProcesses(stateOf(run, log), deps.sweep);
  try {
    if (left.length > 0) log.append({ type: "process.swept", pids: [...left], why: "left when the command ended" });
    return await tellEnd(end, place, stopping);
  } catch (error) {
    if (!isOrchError(error, "env.disk-full")) throw error;
    // The reserve is free now. Without these words the run counts as interrupted, which can be resumed as well.
    return park(new OrchError("env.disk-full", error.message, { data: { run } }), log);
  }
}

async function tellEnd(end: End, place: Place, stopping: Stopping): Promise<number> {
  const { run, dir, log } = place;
  switch (end.kind) {
    case "result": {
      const { error } = end.result;
      if (error === undefined || !parkingCodes.has(error.code)) return conclude(end.result, log);
      log.append({ type: "run.parked", why: error.message, hint: error.hint });
      return end.result.code;
    }
    case "refused": {
      const { code, message, data } = end.error;
      const error = new OrchError(code, message, { data: { run, ...data } });
      // A resume at a bad moment (another branch, a dirty tree) must not end the run for good.
      const early = place.resumed && (error.exit === exitCodes.precondition || error.exit === exitCodes.trust);
      if (parkingCodes.has(code) || early) return park(error, log);
      return conclude(
        {
          ok: false,
          code: error.exit,
          summary: firstLine(message),
          next: error.next,
          error: { code, message, hint: error.hint },
        },
        log,
      );
    }
    case "kept":
      return park(end.error, log);
    case "left": {
      const hint = `Put back what is half done with: orch cancel ${run}, or go on with: orch resume ${run}`;
      log.append({ type: "run.parked", why: "ended before its files were put right", hint });
      return exitCodes.cancelled;
    }
    case "stopped": {
      const { verb, by } = stopping.asked() ?? { verb: "interrupt", by: "a signal" };
      if (verb === "cancel") {
        log.append({ type: "run.cancelled", by });
        return conclude(
          { ok: false, code: exitCodes.cancelled, summary: `Cancelled from ${by}`, next: ["orch status"] },
          log,
        );
      }
      log.append({ type: "run.parked", why: `interrupted from ${by}`, hint: `Go on with: orch resume ${run}` });
      return exitCodes.cancelled;
    }
    case "crashed": {
      const text = end.error instanceof Error ? (end.error.stack ?? end.error.message) : String(end.error);
      const at = await log.sidecar("bug.txt", `${text}\n`);
      const message = `Orch made a mistake: ${end.error instanceof Error ? end.error.message : text}`;
      const hint = `The stack is in ${inRoot(dir, at.path)}: report it with that file`;
      return conclude(
        {
          ok: false,
          code: exitCodes.bug,
          summary: message,
          next: [`orch status ${run}`],
          error: { code: "bug", message, hint },
        },
        log,
      );
    }
  }
}

function park(error: OrchError, log: RunLog): number {
  log.append({ type: "run.parked", why: error.message, hint: error.hint });
  return error.exit;
}

function conclude(result: CommandResult, log: RunLog): number {
  const outcome = result.ok ? "ok" : result.code === exitCodes.cancelled ? "cancelled" : "failed";
  log.append({ type: "run.finished", outcome });
  log.append({
    type: "command.finished",
    ok: result.ok,
    code: result.code,
    summary: result.summary,
    next: [...result.next],
    ...(result.data === undefined ? {} : { data: result.data }),
    ...(result.error === undefined ? {} : { error: result.error }),
  });
  return result.code;
}
