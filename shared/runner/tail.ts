import fs from "node:fs";
import path from "node:path";
import { abortError } from "../base/abort.ts";
import { type Disposable, toDisposable } from "../base/disposable.ts";
import { reduceRun } from "../events/reduce.ts";
import { emptyRun, type RunState } from "../events/run-state.ts";
import { type ParsedEvent, parseEvent } from "../model/event.ts";
import { RunnerFile } from "../model/run-files.ts";

/** Notices of the file system can be lost or missing (network drives, full inotify tables): look this often anyway. */
const floorMs = 1000;
/** After its last word a runner frees its locks and goes; that is not written anywhere. */
const leavingMs = 15;
const chunkBytes = 1024 * 1024;
const lineFeed = 0x0a;

/** How following ended: the command ended, a person must act first, or the runner died without a word. */
export interface TailEnd {
  readonly kind: "finished" | "parked" | "interrupted";
  readonly state: RunState;
}

export interface TailOptions {
  readonly run: string;
  readonly dir: string;
  /**
   * Called with each batch in order; `before` is the state without it. After a damaged read it begins again from the
   * first event, `before` being empty.
   */
  readonly onEvents?: (events: readonly ParsedEvent[], state: RunState, before: RunState) => void;
  /** Is a runner alive? `runnerAlive` when absent; a host that may open the lock passes a look at it. */
  readonly isAlive?: () => boolean;
}

/**
 * Follows a run's log from its first event to its end. Reads only whole lines, so a torn tail that a new runner cuts is
 * never seen. Rejects with an AbortError when `signal` aborts; the run goes on.
 */
export async function followRun(options: TailOptions, signal: AbortSignal): Promise<TailEnd> {
  const isAlive = options.isAlive ?? (() => runnerAlive(options.dir));
  const reader = createReader(options);
  using changes = watchFolder(options.dir);
  for (;;) {
    // Asked before reading: what a runner wrote before it went is then surely read.
    const alive = isAlive();
    const state = reader.read();
    if (!alive) {
      if (state.result !== undefined || state.phase === "cancelled") return { kind: "finished", state };
      return { kind: state.phase === "parked" ? "parked" : "interrupted", state };
    }
    await changes.next(state.result !== undefined || state.phase !== "running" ? leavingMs : floorMs, signal);
  }
}

/** The state of a run as its log says now. */
export function readRun(run: string, dir: string): RunState {
  return createReader({ run, dir }).read();
}

interface Reader {
  read(): RunState;
}

function createReader({ run, dir, onEvents }: Omit<TailOptions, "isAlive">): Reader {
  const file = path.join(dir, "events.jsonl");
  let state = emptyRun(run);
  /** Just behind the last whole line that was read. */
  let offset = 0;
  const take = (lines: readonly string[]): void => {
    if (lines.length === 0) return;
    const before = state;
    const events = lines.map(parseEvent);
    state = events.reduce(reduceRun, state);
    onEvents?.(events, state, before);
  };
  return {
    read() {
      const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      const faults = state.faults.length;
      if (size < offset) offset = 0;
      else take(readLines(file, offset, size, (at) => (offset = at)));
      if (offset > 0 && state.faults.length === faults) return state;
      // Shorter than before, or a line that does not follow: read it all once more before believing it.
      if (size === 0) return state;
      state = emptyRun(run);
      take(readLines(file, 0, fs.statSync(file).size, (at) => (offset = at)));
      return state;
    },
  };
}

function readLines(file: string, from: number, size: number, advance: (offset: number) => void): string[] {
  if (size <= from) return [];
  const handle = fs.openSync(file, "r");
  try {
    const bytes = Buffer.alloc(size - from);
    let filled = 0;
    while (filled < bytes.length) {
      const got = fs.readSync(handle, bytes, filled, Math.min(chunkBytes, bytes.length - filled), from + filled);
      if (got === 0) break;
      filled += got;
    }
    const end = bytes.subarray(0, filled).lastIndexOf(lineFeed) + 1;
    advance(from + end);
    return bytes
      .toString("utf8", 0, end)
      .split("\n")
      .filter((line) => line !== "");
  } finally {
    fs.closeSync(handle);
  }
}

/**
 * Is the runner that `runner.json` names still that process? For hosts that cannot open the lock, which is the truth.
 * Where the system does not tell start times cheaply, a pid that is in use counts as alive.
 */
export function runnerAlive(dir: string): boolean {
  let runner: RunnerFile;
  try {
    runner = RunnerFile.parse(JSON.parse(fs.readFileSync(path.join(dir, "runner.json"), "utf8")));
  } catch {
    return false;
  }
  try {
    process.kill(runner.pid, 0);
  } catch (error) {
    if (!(typeof error === "object" && error !== null && "code" in error && error.code === "EPERM")) return false;
  }
  try {
    const stat = fs.readFileSync(`/proc/${runner.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] !== "Z" && runner.startTime.endsWith(`-${fields[19]}`);
  } catch {
    return process.platform !== "linux";
  }
}

export interface FolderChanges extends Disposable {
  /** Resolves at the next change, at once when one came since the last call, or after `atMostMs`; rejects on abort. */
  next(atMostMs: number, signal: AbortSignal): Promise<void>;
  [Symbol.dispose](): void;
}

/** Changes directly in a folder; not recursive. Falls back to looking every 200 ms where the system cannot watch. */
export function watchFolder(dir: string): FolderChanges {
  let changed = false;
  let wake: (() => void) | undefined;
  let blind = false;
  const onChange = (): void => {
    changed = true;
    wake?.();
  };
  let watcher: fs.FSWatcher | undefined;
  try {
    watcher = fs.watch(dir, { persistent: true }, onChange);
    watcher.on("error", () => (blind = true));
  } catch {
    blind = true;
  }
  const stop = toDisposable(() => watcher?.close());
  return {
    dispose: () => stop.dispose(),
    [Symbol.dispose]: () => stop.dispose(),
    async next(atMostMs, signal) {
      if (signal.aborted) throw abortError(signal);
      if (!changed) {
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(done, blind ? Math.min(200, atMostMs) : atMostMs);
          const onAbort = (): void => {
            leave();
            reject(abortError(signal));
          };
          function leave(): void {
            clearTimeout(timer);
            signal.removeEventListener("abort", onAbort);
            wake = undefined;
          }
          function done(): void {
            leave();
            resolve();
          }
          wake = done;
          signal.addEventListener("abort", onAbort, { once: true });
        });
      }
      changed = false;
    },
  };
}
