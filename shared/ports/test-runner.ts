import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { Pack } from "../model/pack.ts";

/** The slice whose Tests file is run. */
export interface TestSubject {
  /** Top of the tree the tests run in: the checkout, or a tree checked out for a gate. It is the working directory. */
  readonly root: AbsPath;
  /** The Tests file, relative to `root`. */
  readonly tests: RepoPath;
  /** The slice's folder, relative to `root`. */
  readonly dir: RepoPath;
  /** The checkout that has the project's own environment (`.venv`), when `root` is another tree; else `root`. */
  readonly toolsRoot?: AbsPath;
}

/**
 * `argv` still holds `{report}`, so that it can stand in a contract's check (`report: "junit"`); `env` is what the pack
 * adds to the check environment. `runner` is what was chosen, for people: `python3 -m pytest`.
 */
export interface TestCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly runner: string;
  readonly timeoutMs: number;
}

export type ChosenCommand =
  | { readonly kind: "command"; readonly command: TestCommand }
  | { readonly kind: "missing-tool"; readonly message: string };

export interface TestOrder {
  readonly argv: readonly string[];
  /** Working directory and import root. */
  readonly root: AbsPath;
  /** Top of the tree, when `root` is a folder in it: what the program may write. */
  readonly tree?: AbsPath;
  /** In the tree, and not to be written: see CheckPlaces. */
  readonly keep?: readonly AbsPath[];
  /** The check's own variables, over the check environment. `{root}` and `{home}` in a value are filled in. */
  readonly env: Readonly<Record<string, string>>;
  /** Where the report is written, outside the tree: takes the place of `{report}`. An older file there is removed first. */
  readonly report: AbsPath;
  readonly timeoutMs: number;
  /** ProcessSpec.marker and .onStart. */
  readonly marker?: string;
  readonly onStart?: (pid: number, startTime: string) => void;
}

export interface TestCase {
  /** As a person would select it: `test_total` or `TestInvoice::test_total`. */
  readonly name: string;
  /** Relative to the root when it lies in it. */
  readonly file?: string;
  /** 1-based: where it failed, else where it stands, when the report tells. */
  readonly line?: number;
  /** `error`: set-up, tear-down or collection failed (an import error is one); it counts as red like `failed`. */
  readonly outcome: "passed" | "failed" | "error" | "skipped";
  /** One line: the assertion or exception; why it was skipped. Empty when passed. */
  readonly message: string;
  /** Traceback and captured output, without terminal controls. */
  readonly output: string;
  readonly durationMs: number;
}

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly skipped: number;
}

/**
 * What a test program did. `ran` says nothing about success: it is green only when `counts.failed` and `counts.errors`
 * are 0, `counts.passed` is not, and `exit` is 0. `no-tests`: it ended properly and no test ran (none collected, or
 * every one skipped). `broken`: it was killed, crashed, or left no readable report, so nothing may be concluded.
 */
export type TestRun =
  | {
      readonly kind: "ran";
      readonly tests: readonly TestCase[];
      readonly counts: TestCounts;
      readonly exit: number;
      readonly output: string;
      readonly durationMs: number;
    }
  | {
      readonly kind: "no-tests";
      readonly tests: readonly TestCase[];
      readonly exit: number;
      readonly output: string;
      readonly durationMs: number;
    }
  | { readonly kind: "missing-tool"; readonly message: string }
  | { readonly kind: "timed-out"; readonly timeoutMs: number; readonly output: string }
  | { readonly kind: "broken"; readonly message: string; readonly output: string };

/**
 * Starts the test program of a language pack in the check environment (allow-listed variables, a home of its own) and
 * reads its report. It runs the repository's code: callers ask Trust first. Rejects only with an AbortError; the whole
 * process tree has ended by then.
 */
export interface TestRunner {
  /** The first runner of the pack whose conditions hold and whose probe exits 0; probed once per root and pack. */
  choose(pack: Pack, subject: TestSubject, signal: AbortSignal): Promise<ChosenCommand>;
  run(order: TestOrder, signal: AbortSignal): Promise<TestRun>;
}
