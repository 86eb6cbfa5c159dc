import { abortError, throwIfAborted } from "../base/abort.ts";
import { clip, stripControls } from "../base/lines.ts";
import { type AbsPath, absPath, dirName, inRoot } from "../base/paths.ts";
import type { Pack } from "../model/pack.ts";
import type { Files } from "../ports/files.ts";
import type { Exit, Output, Process, ProcessSpec } from "../ports/process.ts";
import type { ConfineCheck } from "../ports/sandbox.ts";
import type { TestOrder, TestRun, TestRunner } from "../ports/test-runner.ts";
import { chooseRunner, filledIn } from "./test-runner-choice.ts";
import { checkEnvironment } from "./test-runner-env.ts";
import { countTests, parseJunit } from "./test-runner-junit.ts";

export interface TestRunnerDeps {
  readonly process: Process;
  readonly files: Files;
  readonly machine: { readonly env: Readonly<Record<string, string>>; readonly platform: "posix" | "win32" };
  /** Home of the check environment; made when it is not there. Its owner alone may read it. */
  readonly home: AbsPath;
  /** Absent: the program runs as the user, which is for tests of this adapter. */
  readonly confine?: ConfineCheck;
}

const maxOutputBytes = 10_000_000;
const maxTextChars = 30_000;
/** Exit codes with which a test program says that it ended properly: all green, and "no tests collected". */
const properEnds = [0, 5];

/** One per run: the choice of a runner is kept for its life. */
export function createTestRunner(deps: TestRunnerDeps): TestRunner {
  const chosen = new Map<string, ReturnType<typeof chooseRunner>>();
  const env = checkEnvironment(deps.machine, deps.home);
  return {
    async choose(pack, subject, signal) {
      throwIfAborted(signal);
      const toolsRoot = subject.toolsRoot ?? subject.root;
      const key = `${pack.lang}\0${subject.root}\0${toolsRoot}`;
      const known = chosen.get(key);
      const pending =
        known ?? makeHome(deps).then(() => chooseRunner({ ...deps, env }, pack, subject.root, toolsRoot, signal));
      if (known === undefined) {
        chosen.set(key, pending);
        pending.catch(() => chosen.delete(key)); // an abort is no answer for the next caller
      }
      const runner = await pending;
      if (runner.kind === "missing-tool") return runner;
      return {
        kind: "command",
        command: {
          argv: pack.test.argv.flatMap((part) =>
            part === "{runner}" ? runner.argv : [filledIn(part, { tests: subject.tests, dir: subject.dir })],
          ),
          env: environmentOf(pack, toolsRoot),
          runner: runner.argv.join(" "),
          timeoutMs: pack.test.timeout_s * 1000,
        },
      };
    },
    async run(order, signal) {
      throwIfAborted(signal);
      await makeHome(deps);
      await deps.files.makeDir(absPath(dirName(order.report)));
      await deps.files.remove(order.report);
      const before = await foldersIn(deps.files, order.root);
      const exit = await start(deps, env, order, signal);
      await removeNewEmpty(deps.files, order.root, before);
      return readRun(deps.files, order, exit, signal);
    },
  };
}

async function foldersIn(files: Files, root: AbsPath): Promise<ReadonlySet<string>> {
  const entries = (await files.list(root)) ?? [];
  return new Set(entries.filter(({ kind }) => kind === "directory").map(({ name }) => name));
}

/** Plugins of test programs make folders for results that never come (`.benchmarks`). Only what is empty goes. */
async function removeNewEmpty(files: Files, root: AbsPath, before: ReadonlySet<string>): Promise<void> {
  for (const name of await foldersIn(files, root)) {
    if (!before.has(name)) await files.removeEmptyDir(inRoot(root, name));
  }
}

async function start(
  deps: TestRunnerDeps,
  env: Readonly<Record<string, string>>,
  order: TestOrder,
  signal: AbortSignal,
): Promise<(Exit & Output) | { readonly kind: "no-program" }> {
  const [program, ...rest] = order.argv.map((part) => filledIn(part, { report: order.report }));
  if (program === undefined) return { kind: "no-program" };
  const own = Object.entries(order.env).map(
    ([name, value]) => [name, filledIn(value, { root: order.root, home: deps.home })] as const,
  );
  const spec: ProcessSpec = {
    argv: [program, ...rest],
    cwd: order.root,
    env: { ...env, ...Object.fromEntries(own) },
    timeoutMs: order.timeoutMs,
    maxOutputBytes,
    ...(order.marker === undefined ? {} : { marker: order.marker }),
    ...(order.onStart === undefined ? {} : { onStart: order.onStart }),
  };
  const places = {
    tree: order.tree ?? order.root,
    write: [absPath(dirName(order.report)), deps.home],
    ...(order.keep === undefined ? {} : { keep: order.keep }),
  };
  return deps.process.run((await deps.confine?.(spec, places, signal)) ?? spec, signal);
}

async function readRun(
  files: Files,
  order: TestOrder,
  exit: (Exit & Output) | { readonly kind: "no-program" },
  signal: AbortSignal,
): Promise<TestRun> {
  if (exit.kind === "no-program") return { kind: "broken", message: "the test command is empty", output: "" };
  const output = textOf(exit);
  switch (exit.kind) {
    case "cancelled":
      throw abortError(signal);
    case "timed-out":
      return { kind: "timed-out", timeoutMs: order.timeoutMs, output };
    case "not-started":
      return { kind: "missing-tool", message: `${order.argv[0]} could not be started: ${exit.reason}` };
    case "signalled":
      return { kind: "broken", message: `the test program was ended by ${exit.signal}`, output };
    case "too-much-output":
      return {
        kind: "broken",
        message: `the test program wrote more than ${maxOutputBytes} bytes and was ended`,
        output,
      };
    case "exited":
      return summed(order, exit.code, exit.durationMs, output, await readReport(files, order));
  }
}

function summed(order: TestOrder, exit: number, durationMs: number, output: string, xml: string | undefined): TestRun {
  const tests = xml === undefined ? undefined : parseJunit(xml, order.root);
  if (tests === undefined) {
    const what = xml === undefined ? "left no report" : "left a report that cannot be read";
    return { kind: "broken", message: `the test program ended with exit code ${exit} and ${what}`, output };
  }
  const counts = countTests(tests);
  if (counts.passed + counts.failed + counts.errors > 0)
    return { kind: "ran", tests, counts, exit, output, durationMs };
  if (properEnds.includes(exit)) return { kind: "no-tests", tests, exit, output, durationMs };
  return { kind: "broken", message: `the test program ended with exit code ${exit} and ran no test`, output };
}

async function readReport(files: Files, order: TestOrder): Promise<string | undefined> {
  const found = await files.stat(order.report);
  return found?.kind === "file" ? files.readText(order.report) : undefined;
}

async function makeHome(deps: TestRunnerDeps): Promise<void> {
  await deps.files.makeDir(deps.home, { mode: 0o700 });
}

/** `{root}` and `{home}` stay: they are filled in when the tests run, which may be in another tree. */
function environmentOf(pack: Pack, toolsRoot: AbsPath): Record<string, string> {
  return Object.fromEntries(
    Object.entries(pack.test.env).map(([name, value]) => [name, filledIn(value, { tools: inRoot(toolsRoot) })]),
  );
}

function textOf(exit: Output): string {
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return clip(
    stripControls([decode(exit.stdout), decode(exit.stderr)].filter((part) => part.trim() !== "").join("\n")),
    maxTextChars,
  );
}
