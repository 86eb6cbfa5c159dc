import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { execa, execaSync, type Options } from "execa";
import { LineFramer } from "../base/jsonl.ts";
import { absPath, type AbsPath } from "../base/paths.ts";
import type { Exit, Output, Process, ProcessSpec, ProcessSweep, RunningProcess } from "../ports/process.ts";
import { carriersOf, createProcessSweep, endMatching, groupMembers, kill, markerName } from "./process-sweep.ts";
import { createProcessTable, type ProcessTable, type Tool } from "./process-table.ts";

const defaultGraceMs = 2000;
/** What a program leaves running may finish its last words before it is ended. */
const leftoverMs = 500;
const pollMs = 20;
const maxLineBytes = 1024 * 1024;
/** Beside the marker, which programs of one attempt share: tells this very program's own descendants. */
const ownName = "ORCH_PROCESS";

/**
 * Programs in process groups of their own. execa starts them and ends them (`killDescendants`, TERM then KILL); it does
 * not settle while a leftover holds stdout, so the end is decided here: on the program's own exit, leftovers get half a
 * second, then the group is ended and the streams are destroyed.
 */
export function createProcess(): Process & ProcessSweep {
  const table = createProcessTable(process.platform, tool);
  return {
    ...createProcessSweep(table, tool),
    run: (spec, signal) => start(spec, signal, table).done,
    stream: (spec, signal) => start(spec, signal, table),
    which: (command, searchPath) => Promise.resolve(findCommand(command, searchPath, undefined)),
  };
}

/** Runs a system tool to its end; for the few facts that only tools tell (ps, lsof, taskkill). */
const tool: Tool = ([file, ...args]) => {
  const result = execaSync(file, args, { reject: false, timeout: 10_000, stdin: "ignore", env: { LC_ALL: "C" } });
  return result.failed && result.exitCode === undefined ? undefined : String(result.stdout);
};

function start(spec: ProcessSpec, signal: AbortSignal, table: ProcessTable): RunningProcess {
  const startedAt = performance.now();
  const stdout = new Collector();
  const stderr = new Collector();
  const output = (leftovers: number): Output => ({
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    durationMs: performance.now() - startedAt,
    leftovers,
  });
  const without = (exit: Exit): RunningProcess => {
    stdout.end();
    return { pid: undefined, lines: () => stdout.lines(), done: Promise.resolve({ ...exit, ...output(0) }) };
  };

  if (signal.aborted) return without({ kind: "cancelled" });
  const refusal = whyNot(spec);
  const file = refusal === undefined ? findCommand(spec.argv[0], searchPathOf(spec.env), spec.cwd) : undefined;
  if (refusal !== undefined || file === undefined) {
    return without({ kind: "not-started", reason: refusal ?? missing(spec.argv[0]) });
  }

  const own = spec.marker === undefined ? undefined : `${ownName}=${randomUUID()}`;
  const program = execa(file, spec.argv.slice(1), optionsOf(spec, own));
  const { pid } = program;
  if (pid === undefined) {
    stdout.end();
    const done = program.then((result): Exit & Output => {
      return { kind: "not-started", reason: result.originalMessage ?? "it could not be started", ...output(0) };
    });
    return { pid, lines: () => stdout.lines(), done };
  }
  spec.onStart?.(pid, table.startTimeOf(pid) ?? "gone");
  const done = follow(program, pid, spec, signal, { stdout, stderr, table, own }).then(({ exit, leftovers }) => {
    stdout.end();
    return { ...exit, ...output(leftovers) };
  });
  return { pid, lines: () => stdout.lines(), done };
}

function optionsOf(spec: ProcessSpec, own: string | undefined): Options {
  const marks =
    own === undefined || spec.marker === undefined
      ? {}
      : { [markerName]: spec.marker, [ownName]: own.slice(ownName.length + 1) };
  return {
    cwd: spec.cwd,
    env: { ...spec.env, ...marks },
    extendEnv: false,
    preferLocal: false,
    ...(spec.stdin === undefined ? { stdin: "ignore" } : { input: spec.stdin }),
    stdout: "pipe",
    stderr: "pipe",
    buffer: false,
    reject: false,
    encoding: "buffer",
    stripFinalNewline: false,
    killDescendants: true,
    killSignal: "SIGTERM",
    forceKillAfterDelay: spec.graceMs ?? defaultGraceMs,
    cleanup: true,
    windowsHide: true,
  };
}

/** The part of execa's program that is used. */
interface Program {
  readonly nodeChildProcess: ChildProcess;
  kill(signal: NodeJS.Signals): boolean;
  catch(onRejected: () => void): Promise<unknown>;
}

interface Watched {
  readonly stdout: Collector;
  readonly stderr: Collector;
  readonly table: ProcessTable;
  /** Entry of the environment that finds what left the group. */
  readonly own: string | undefined;
}

async function follow(
  program: Program,
  pid: number,
  spec: ProcessSpec,
  signal: AbortSignal,
  { stdout, stderr, table, own }: Watched,
): Promise<{ readonly exit: Exit; readonly leftovers: number }> {
  const child = program.nodeChildProcess;
  let ended: Exit | undefined;
  const endBecause = (exit: Exit, how: "SIGTERM" | "SIGKILL"): void => {
    if (ended !== undefined) return;
    ended = exit;
    program.kill(how);
  };
  const onAbort = (): void => endBecause({ kind: "cancelled" }, "SIGTERM");
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => endBecause({ kind: "timed-out" }, "SIGTERM"), Math.min(spec.timeoutMs, 2 ** 31 - 1));

  let taken = 0;
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const closed = streams.map((stream) => new Promise<void>((resolve) => stream.once("close", resolve)));
  for (const stream of streams) {
    const into = stream === child.stdout ? stdout : stderr;
    stream.on("data", (chunk: Buffer) => {
      const room = Math.max(0, spec.maxOutputBytes - taken);
      taken += chunk.length;
      into.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      if (taken > spec.maxOutputBytes) endBecause({ kind: "too-much-output" }, "SIGKILL");
    });
    stream.on("error", () => undefined); // "close" follows
  }

  const exit = await new Promise<Exit>((resolve) => {
    child.once("exit", (code, by) => {
      resolve(code === null ? { kind: "signalled", signal: by ?? "unknown" } : { kind: "exited", code });
    });
    child.once("error", (error) => resolve({ kind: "not-started", reason: error.message }));
  });
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  const leftovers = await settle(pid, Promise.all(closed), table, own);
  for (const stream of [...streams, child.stdin]) stream?.destroy();
  void program.catch(() => undefined); // execa's own account of the end; ours above is the one that counts
  return { exit: ended ?? exit, leftovers };
}

/**
 * Waits until the group, and what left it, is gone and its streams are closed, at most `leftoverMs`; then ends it. Counts
 * the ended: what only needed a moment to end by itself is nobody's fault.
 */
async function settle(
  pid: number,
  closed: Promise<unknown>,
  table: ProcessTable,
  own: string | undefined,
): Promise<number> {
  const until = performance.now() + leftoverMs;
  await Promise.race([closed, delay(leftoverMs, undefined, { ref: false })]);
  let left = await leftBy(pid, table, own);
  while (left.group.length + left.strays.length > 0 && performance.now() < until) {
    await delay(pollMs);
    left = await leftBy(pid, table, own);
  }
  const ended = new Set<number>();
  let members = left.group;
  for (let round = 0; members.length > 0 && round < 50; round += 1) {
    for (const member of members) ended.add(member);
    kill(-pid, "SIGKILL", table.platform, tool);
    await delay(pollMs);
    members = groupMembers(table, pid);
  }
  const wasLeft = ended.size + left.strays.length > 0;
  if (own !== undefined && wasLeft)
    for (const stray of await endMatching(table, tool, { entry: own })) ended.add(stray);
  return ended.size;
}

interface Left {
  readonly group: readonly number[];
  readonly strays: readonly number[];
}

/** Nothing counts when it was found twice: a program that ends while it is looked at can have a child born after the look. */
async function leftBy(pid: number, table: ProcessTable, own: string | undefined): Promise<Left> {
  const look = (): Left => ({
    group: groupMembers(table, pid),
    strays: own === undefined ? [] : carriersOf(table, own),
  });
  const first = look();
  if (own === undefined || first.group.length + first.strays.length > 0) return first;
  await delay(pollMs);
  return look();
}

/** Keeps the bytes, and hands out the lines of stdout to whoever follows. */
class Collector {
  readonly #chunks: Uint8Array[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  bytes(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#chunks));
  }

  async *lines(): AsyncIterable<string> {
    const framer = new LineFramer(maxLineBytes);
    for (let next = 0; ;) {
      const chunk = this.#chunks[next];
      if (chunk !== undefined) {
        next += 1;
        yield* framer.push(chunk);
      } else if (this.#ended) break;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const rest = framer.end();
    if (rest !== "") yield rest;
  }
}

function whyNot(spec: ProcessSpec): string | undefined {
  if ([...spec.argv, ...Object.values(spec.env)].some((text) => text.includes("\0")))
    return "an argument holds a NUL character";
  return fs.statSync(spec.cwd, { throwIfNoEntry: false })?.isDirectory() === true
    ? undefined
    : `the folder ${spec.cwd} does not exist`;
}

const missing = (command: string): string =>
  /[\\/]/.test(command) ? `${command} is no program that can be run` : `${command} is not on the PATH`;

function searchPathOf(env: Readonly<Record<string, string>>): string {
  return Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
}

/**
 * Like the system's own search, but relative folders of the PATH are left out, and so is the current folder that
 * Windows looks into first: a repository could keep a program of that name there.
 */
function findCommand(command: string, searchPath: string, cwd: string | undefined): AbsPath | undefined {
  if (command.includes("/") || (process.platform === "win32" && command.includes("\\"))) {
    if (!path.isAbsolute(command) && cwd === undefined) return undefined;
    const full = path.resolve(cwd ?? "", command);
    return isProgram(full) ? absPath(full) : undefined;
  }
  for (const folder of searchPath.split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    for (const extension of extensions()) {
      const candidate = path.join(folder, command + extension);
      if (isProgram(candidate)) return absPath(candidate);
    }
  }
  return undefined;
}

function extensions(): readonly string[] {
  return process.platform === "win32" ? [".com", ".exe", ".cmd", ".bat", ""] : [""];
}

function isProgram(file: string): boolean {
  try {
    if (!fs.statSync(file).isFile()) return false;
    fs.accessSync(file, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
