import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { isAbort } from "../base/abort.ts";
import { isDiskFull, nearlyFullBytes } from "../base/disk-full.ts";
import { absPath } from "../base/paths.ts";
import { type ErrorCode, type ErrorData, errorTable } from "../model/error-table.ts";
import { OrchError } from "../model/error.ts";
import { RunnerFile, type RunRequest } from "../model/run-files.ts";
import type { Ids } from "../ports/ids.ts";
import type { RunHost } from "../ports/run-host.ts";
import { watchFolder } from "./tail.ts";

const startMs = 20_000;
const tailBytes = 4000;

/** How this host starts runners. */
export interface Starter {
  /** Absolute path of the runner's bundle. */
  readonly entry: string;
  /** The Node to run it on; the editor itself when `electron`. */
  readonly execPath: string;
  readonly execArgv?: readonly string[];
  /** The runner's whole environment: keys of model providers travel here and never touch the disk. */
  readonly env: Readonly<Record<string, string>>;
  /** `execPath` is an editor's Electron, which must be told to be Node. */
  readonly electron?: boolean;
}

export interface StartedRun {
  readonly run: string;
  readonly dir: string;
  readonly pid: number;
}

export interface StartOrder extends Starter {
  /** Where run folders go, first choice first: model/run-place.ts. */
  readonly runsDirs: readonly string[];
  readonly ids: Pick<Ids, "next">;
}

/**
 * Makes the run's folder and `request.json`, then starts a detached runner and waits until it holds the run. The runner
 * outlives this process. Refuses with `env.no-runner` and its last words when it dies at the start.
 */
export async function startRun(request: RunRequest, order: StartOrder): Promise<StartedRun> {
  const { run, dir } = makeRunFolder(request, order);
  try {
    return { run, dir, pid: await startRunner(dir, request.cwd, order, ["--fresh"]) };
  } catch (error) {
    // Nothing happened, and what the runner said is in the error: no run is left that could be resumed.
    if (!hasBegun(dir)) fs.rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

function hasBegun(dir: string): boolean {
  return (fs.statSync(path.join(dir, "events.jsonl"), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Starts a runner for a run that exists. It refuses (`run.locked`, `run.finished`) when that cannot go on. */
export async function resumeRun(dir: string, starter: Starter): Promise<number> {
  return startRunner(dir, cwdOf(dir), starter, []);
}

export function createRunHost(starter: Starter): RunHost {
  return {
    async resume(_run, dir) {
      await resumeRun(dir, starter);
    },
    async changed(dir, atMostMs, signal) {
      using changes = watchFolder(dir);
      await changes.next(atMostMs, signal);
    },
  };
}

// --- a short command -------------------------------------------------------------------------------------------------

/** A command that answers in its own short process: `read` and `local` ones, with `--json`. */
export interface ShortOrder {
  /** `entry` is the command line's bundle. */
  readonly starter: Starter;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  /** What it reads on standard input: words that are nobody's business on a command line. */
  readonly stdin?: string;
  /** Each piece of what it writes, as it comes. */
  readonly onOutput?: (text: string) => void;
}

export type ShortEnd =
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | {
      readonly kind: "signalled" | "timed-out" | "cancelled" | "too-much-output";
      readonly stdout: string;
      readonly stderr: string;
    };

const shortOutputBytes = 64 * 1024 * 1024;

/** Never rejects for what the program does. `env.no-runner` when it cannot be started. Ends its whole group. */
export async function runShort(order: ShortOrder, signal: AbortSignal): Promise<ShortEnd> {
  const { starter, cwd, timeoutMs, onOutput } = order;
  if (!fs.existsSync(starter.entry))
    throw new OrchError("env.no-runner", `The command line is not built: ${starter.entry} is missing`);
  if (signal.aborted) return { kind: "cancelled", stdout: "", stderr: "" };
  const child = spawn(
    starter.execPath,
    [...(starter.execArgv ?? []), "--disable-warning=ExperimentalWarning", starter.entry, ...order.args],
    {
      cwd,
      env: { ...starter.env, ...(starter.electron === true ? { ELECTRON_RUN_AS_NODE: "1" } : {}) },
      detached: process.platform !== "win32",
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    },
  );
  // It may end, or never start, without having read a word.
  child.stdin.on("error", () => undefined).end(order.stdin ?? "");
  const texts = { stdout: "", stderr: "" };
  let kind: Exclude<ShortEnd["kind"], "exited"> = "signalled";
  const end = (why: typeof kind): void => {
    kind = why;
    killGroup(child);
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
      onOutput?.(text);
      if (texts[name].length > shortOutputBytes) end("too-much-output");
    });
  }
  const timer = setTimeout(() => end("timed-out"), timeoutMs);
  const onAbort = (): void => end("cancelled");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", (error) =>
        reject(
          new OrchError("env.no-runner", `${starter.execPath} could not be started: ${error.message}`, {
            cause: error,
          }),
        ),
      );
      child.once("close", resolve);
      // What the program left behind may hold its output open for ever.
      child.once("exit", (status) => setTimeout(resolve, 500, status));
    });
    return code === null ? { kind, ...texts } : { kind: "exited", code, ...texts };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

// --- the folder ----------------------------------------------------------------------------------------------------

function makeRunFolder(
  request: RunRequest,
  { runsDirs, ids }: StartOrder,
): { readonly run: string; readonly dir: string } {
  const runs = firstWritable(runsDirs);
  for (let tries = 0; ; tries += 1) {
    const run = ids.next("run");
    const dir = path.join(runs, run);
    try {
      fs.mkdirSync(dir, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) === "EEXIST" && tries < 20) continue;
      throw refusal(dir, error);
    }
    try {
      for (const name of ["replies", "control"]) fs.mkdirSync(path.join(dir, name), { mode: 0o700 });
      writeWhole(path.join(dir, "request.json"), `${JSON.stringify(request, null, 2)}\n`);
    } catch (error) {
      fs.rmSync(dir, { recursive: true, force: true });
      throw refusal(dir, error);
    }
    return { run, dir: absPath(dir) };
  }
}

/** The first folder that can be written, made with an ignore file of its own so that no repository needs a rule. */
function firstWritable(runsDirs: readonly string[]): string {
  let last: unknown;
  for (const dir of runsDirs) {
    try {
      refuseLinks(dir);
      fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
      fs.accessSync(dir, fs.constants.W_OK);
      const ignore = path.join(dir, ".gitignore");
      if (!fs.existsSync(ignore)) writeWhole(ignore, "*\n");
      return dir;
    } catch (error) {
      // Node says ENOENT where a folder below the first missing one cannot be made on a read-only disk.
      if (!["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EEXIST"].includes(codeOf(error) ?? ""))
        throw refusal(dir, error);
      last = error;
    }
  }
  throw refusal(runsDirs.join(" and "), last);
}

/** A repository could ship `.orch` or `.orch/runs` as a link that leads our writes elsewhere. */
function refuseLinks(runsDir: string): void {
  for (const at of [path.dirname(runsDir), runsDir]) {
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw new OrchError("path.refused", `${at} is a symbolic link; run folders must be in the repository itself`, {
        data: { path: at },
      });
    }
  }
}

function writeWhole(at: string, text: string): void {
  const aside = `${at}.${process.pid}.tmp`;
  fs.writeFileSync(aside, text, { mode: 0o600, flush: true });
  fs.renameSync(aside, at);
}

function refusal(at: string, error: unknown): unknown {
  if (isAbort(error) || error instanceof OrchError) return error;
  const code = codeOf(error);
  if (isDiskFull(error))
    return new OrchError("env.disk-full", `The disk is full: ${at} could not be made`, { cause: error });
  if (code === undefined) return error;
  return new OrchError("path.refused", `The run's folder could not be made: ${(error as Error).message}`, {
    data: { path: at },
    cause: error,
  });
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined;
}

// --- the process ---------------------------------------------------------------------------------------------------

async function startRunner(dir: string, cwd: string, starter: Starter, flags: readonly string[]): Promise<number> {
  if (!fs.existsSync(starter.entry))
    throw new OrchError("env.no-runner", `The runner is not built: ${starter.entry} is missing`);
  const errors = path.join(dir, "runner.err");
  const from = fs.statSync(errors, { throwIfNoEntry: false })?.size ?? 0;
  const out = fs.openSync(path.join(dir, "runner.out"), "a", 0o600);
  const err = fs.openSync(errors, "a", 0o600);
  let child: ChildProcess;
  try {
    child = spawn(
      starter.execPath,
      [
        ...(starter.execArgv ?? []),
        "--disable-warning=ExperimentalWarning",
        starter.entry,
        dir,
        "--detached",
        ...flags,
      ],
      {
        cwd: fs.existsSync(cwd) ? cwd : dir,
        env: { ...starter.env, ...(starter.electron === true ? { ELECTRON_RUN_AS_NODE: "1" } : {}) },
        detached: true,
        stdio: ["ignore", out, err],
        windowsHide: true,
      },
    );
  } finally {
    fs.closeSync(out);
    fs.closeSync(err);
  }
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) =>
      resolve(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`),
    );
  });
  child.unref();
  const how = await upOrEnded(dir, child, ended);
  if (how === undefined && child.pid !== undefined) return child.pid;
  throw lastWords(errors, from, how ?? "it has no process id");
}

/** undefined once `runner.json` names this child; else how it ended. */
async function upOrEnded(dir: string, child: ChildProcess, ended: Promise<string>): Promise<string | undefined> {
  const isUp = (): boolean => child.pid !== undefined && runnerPid(dir) === child.pid;
  const stop = new AbortController();
  using changes = watchFolder(dir);
  let how: string | undefined;
  void ended.then((text) => {
    how = text;
    stop.abort();
  });
  const until = performance.now() + startMs;
  while (!isUp()) {
    if (how !== undefined) return isUp() ? undefined : how;
    if (performance.now() > until) {
      child.kill("SIGKILL");
      return `it did not take the run within ${startMs / 1000} s`;
    }
    await changes.next(100, stop.signal).catch(() => undefined);
  }
  return undefined;
}

function runnerPid(dir: string): number | undefined {
  try {
    return RunnerFile.parse(JSON.parse(fs.readFileSync(path.join(dir, "runner.json"), "utf8"))).pid;
  } catch {
    return undefined;
  }
}

function cwdOf(dir: string): string {
  try {
    const request: unknown = JSON.parse(fs.readFileSync(path.join(dir, "request.json"), "utf8"));
    if (typeof request === "object" && request !== null && "cwd" in request && typeof request.cwd === "string")
      return request.cwd;
  } catch {
    // The runner reads it again and says what is wrong with it.
  }
  return dir;
}

/** The runner's own refusal when it could say one (a JSON line), else `env.no-runner` with the end of what it wrote. */
function lastWords(errors: string, from: number, how: string): OrchError {
  const text = fs.readFileSync(errors).subarray(from).toString("utf8").trimEnd();
  const said = refusalOf(text.split("\n").at(-1) ?? "");
  if (said !== undefined) return said;
  if (isNearlyFull(path.dirname(errors)))
    return new OrchError("env.disk-full", "The disk is full: the runner could not begin");
  const tail = text.slice(-tailBytes);
  return new OrchError("env.no-runner", `The runner did not start: ${how}${tail === "" ? "" : `\n${tail}`}`, {
    data: { log: errors, ended: true },
  });
}

/** Why a run has neither an end nor a runner: its last words, or a disk too full for any. */
export function whyGone(run: string, dir: string): OrchError {
  const gone = `The runner of ${run} is gone`;
  if (isNearlyFull(dir)) return new OrchError("env.disk-full", `${gone}: the disk is full`, { data: { run } });
  const said = refusalOf(readTail(path.join(dir, "runner.err")).trimEnd().split("\n").at(-1) ?? "");
  if (said === undefined) return new OrchError("run.interrupted", gone, { data: { run } });
  return new OrchError(said.code, `${gone}: ${said.message}`, { data: { run, ...said.data } });
}

function readTail(at: string): string {
  try {
    return fs.readFileSync(at, "utf8").slice(-tailBytes);
  } catch {
    return "";
  }
}

function isNearlyFull(folder: string): boolean {
  try {
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize < nearlyFullBytes;
  } catch {
    return false;
  }
}

function refusalOf(line: string): OrchError | undefined {
  try {
    const said = JSON.parse(line) as { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
    if (typeof said.code !== "string" || typeof said.message !== "string" || !Object.hasOwn(errorTable, said.code))
      return undefined;
    return new OrchError(said.code as ErrorCode, said.message, { data: (said.data ?? {}) as ErrorData });
  } catch {
    return undefined;
  }
}
