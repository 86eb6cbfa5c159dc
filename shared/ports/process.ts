import type { AbsPath } from "../base/paths.ts";

/** Nothing rejects for a non-zero exit. There is no `code ?? 0` anywhere: a killed program has no code. */
export type Exit =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" }
  /** More output than `maxOutputBytes`: the tree was ended. */
  | { readonly kind: "too-much-output" }
  | { readonly kind: "not-started"; readonly reason: string };

export interface Output {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly durationMs: number;
  /** Processes that outlived the program and were ended. */
  readonly leftovers: number;
}

export interface ProcessSpec {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: AbsPath;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Closed at once when absent. */
  readonly stdin?: string | Uint8Array;
  /** Milliseconds between TERM and KILL; 2000 when absent. */
  readonly graceMs?: number;
  /** Carried as ORCH_ATTEMPT in the environment, so that a sweep finds what left the group. */
  readonly marker?: string;
  /** Told as soon as the program runs, before any output: pid and start time are logged then. */
  readonly onStart?: (pid: number, startTime: string) => void;
}

export interface RunningProcess {
  readonly pid: number | undefined;
  /** Lines of stdout, framed by LF, longer ones than 1 MiB dropped. Ends when the program ends. */
  lines(): AsyncIterable<string>;
  readonly done: Promise<Exit & Output>;
}

/** What is alive and belongs to us: found by marker, by working directory, or by pid and start time. */
export interface ProcessSweep {
  /** Ends every process that carries ORCH_ATTEMPT=<marker> or whose cwd is in `folder`; returns their pids. */
  endLeftovers(what: { readonly marker?: string; readonly folder?: AbsPath }): Promise<readonly number[]>;
  /** Ends the group of `pid` if it is still the process that started at `startTime`. */
  endIfSame(pid: number, startTime: string): Promise<boolean>;
  /** Programs of a run (its git, and what that started) that work in `folder` now. Ends nothing. */
  ofRun(run: string, folder: AbsPath): readonly number[];
  /** Every program of this person's that works in `folder` now, a shell too. Ends nothing. */
  standingIn(folder: AbsPath): readonly number[];
  isAlive(pid: number, startTime: string): boolean;
  /** Pids that carry ORCH_ATTEMPT=<marker>: what `endLeftovers` would end. Ends nothing. */
  withMarker(marker: string): readonly number[];
  /** Start time of a live process in the form that `process.started` records; undefined when it is gone. */
  startTimeOf(pid: number): string | undefined;
}

/** The program gets a process group of its own; ending it ends the whole tree, also what ignores TERM or holds stdout open. */
export interface Process {
  run(spec: ProcessSpec, signal: AbortSignal): Promise<Exit & Output>;
  stream(spec: ProcessSpec, signal: AbortSignal): RunningProcess;
  /** Absolute path of a command on `path` (the PATH value), or undefined. Never runs it. */
  which(command: string, path: string): Promise<AbsPath | undefined>;
}
