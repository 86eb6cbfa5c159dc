import picocolors from "picocolors";
import { commands } from "../app/commands.ts";
import { createLocalCore, failedResult, type LocalCore, resultOf } from "../app/local.ts";
import { absPath, type AbsPath, typedPath } from "../base/paths.ts";
import type { CommandResult } from "../model/command-result.ts";
import { createRunHost, type Starter, startRun } from "../runner/client.ts";
import { type Invocation, parseArguments } from "./arguments.ts";
import { createTerminalEditor } from "./editor.ts";
import { type OnInterrupt, withoutGaps } from "./interrupts.ts";
import { createOutput, type Output } from "./output.ts";
import type { Detail } from "./render.ts";
import { askInTerminal } from "./terminal.ts";
import { followToResult, type Watched, watchRun } from "./watch.ts";

/** The process, as far as the command line uses it; a test stands in for it. */
export interface CliProcess {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: () => string;
  readonly platform: NodeJS.Platform;
  readonly execPath: string;
  readonly moduleUrl: string;
  /** Absolute path of the runner's bundle. */
  readonly runnerEntry: string;
  readonly interactive: boolean;
  readonly color: boolean;
  readonly columns: number;
  /** All of standard input, for an option that names `-`. */
  readonly stdin: () => Promise<string>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly onInterrupt: OnInterrupt;
  readonly now: () => number;
}

/** argv to exit code. Every refusal is printed with its next step; nothing rejects. */
export async function runProgram(outer: CliProcess): Promise<number> {
  const process: CliProcess = { ...outer, onInterrupt: withoutGaps(outer.onInterrupt) };
  const color = picocolors.createColors(process.color);
  const outputOf = (detail: Detail, version: string): Output =>
    createOutput({ ...process, mode: modeOf(process.argv), detail, version, color });
  let core: LocalCore | undefined;
  let invocation: Invocation;
  try {
    core = createLocalCore(process);
    const ci = process.env["CI"] !== undefined && process.env["CI"] !== "" && process.env["CI"] !== "false";
    const parsed = parseArguments(process.argv, { version: core.version, ci, columns: process.columns });
    if (parsed.kind === "text") {
      process.stdout(parsed.text.endsWith("\n") ? parsed.text : `${parsed.text}\n`);
      return 0;
    }
    invocation = parsed.invocation;
  } catch (error) {
    const result = failedResult(error);
    outputOf("normal", core?.version ?? "").result(process.argv.find((word) => !word.startsWith("-")) ?? "", result);
    return result.code;
  }
  const detail = invocation.quiet ? "quiet" : invocation.verbose ? "verbose" : "normal";
  const output = outputOf(detail, core.version);
  const result = await resultOf(() => carryOut(invocation, { process, core, output }));
  // In a folder that is gone no path leads anywhere.
  const typed = await asTyped(result, invocation, { process, core }).catch(() => result);
  output.result(invocation.command, typed);
  return result.code;
}

/** What programs read stays as it is. */
async function asTyped(
  result: CommandResult,
  invocation: Invocation,
  { process, core }: Pick<Cli, "process" | "core">,
): Promise<CommandResult> {
  if (modeOf(process.argv) === "document") return result;
  const { directory } = invocation;
  const at = { stand: absPath(process.cwd()), cwd: folderOf(invocation, process) };
  return await core.readAt(result, { ...at, ...(directory === undefined ? {} : { directory }) });
}

/** Known before the arguments are: a refusal of them must come in the form that was asked for. */
function modeOf(argv: readonly string[]): "lines" | "document" | "events" {
  const words = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);
  if (words.includes("--json=events")) return "events";
  return words.some((word) => word === "--json" || word.startsWith("--json=")) ? "document" : "lines";
}

interface Cli {
  readonly process: CliProcess;
  readonly core: LocalCore;
  readonly output: Output;
}

async function carryOut(invocation: Invocation, cli: Cli): Promise<CommandResult> {
  const cwd = folderOf(invocation, cli.process);
  if (invocation.command === "demo") return demo(invocation, cli);
  if (commands[invocation.command].kind === "run") return runCommand(invocation, cli, cwd);
  const { result, interrupted } = await shortCommand(invocation, cli, cwd);
  const follows = invocation.wait || interrupted > 0;
  const resumed = invocation.command === "resume" && result.ok && follows ? watchedOf(result.data) : undefined;
  return resumed === undefined ? result : await watch(resumed, invocation, cli, interrupted);
}

function folderOf({ directory }: Invocation, process: CliProcess): AbsPath {
  const cwd = absPath(process.cwd());
  if (directory === undefined) return cwd;
  return typedPath(cwd, directory);
}

/** A command with a run folder: the detached runner carries it out, this process watches. */
async function runCommand(invocation: Invocation, cli: Cli, cwd: AbsPath): Promise<CommandResult> {
  const { process, core } = cli;
  const input = invocation.args.input && process.interactive;
  const reply = invocation.args.reply === "-" ? { replyText: await process.stdin() } : {};
  const call = { command: invocation.command, words: invocation.args.words };
  const buffer = await core.activeBuffer({ command: invocation.command, args: invocation.args, cwd });
  // A Ctrl-C during the start would end this process alone, and the run would go on behind the person's back.
  let interrupted = 0;
  const stopListening = process.onInterrupt(() => (interrupted += 1));
  const started = await startRun(
    {
      v: 1,
      command: invocation.command,
      args: { ...invocation.args, ...reply, input },
      cwd,
      ...(buffer === undefined ? {} : { activeBuffer: buffer }),
      host: "cli",
      at: process.now(),
    },
    { ...starterOf(cli), runsDirs: await core.runsDirs(cwd, new AbortController().signal, call), ids: core.ids },
  ).finally(stopListening);
  if (invocation.wait || interrupted > 0) return watch(started, invocation, cli, interrupted);
  const { run, dir } = started;
  return {
    ok: true,
    code: 0,
    summary: `${run} started`,
    next: [`orch wait ${run}`, `orch status ${run}`],
    data: { run, dir },
  };
}

async function shortCommand(
  invocation: Invocation,
  cli: Cli,
  cwd: AbsPath,
): Promise<{ readonly result: CommandResult; readonly interrupted: number }> {
  if (invocation.command === "demo" || invocation.command === "init")
    throw new TypeError(`${invocation.command} is no short command`);
  const stop = new AbortController();
  let interrupted = 0;
  const stopListening = cli.process.onInterrupt(() => {
    interrupted += 1;
    stop.abort();
  });
  try {
    const editor = createTerminalEditor({
      interactive: cli.process.interactive && invocation.args.input,
      write: (line) => cli.output.line(line),
    });
    const { command } = invocation;
    const args = invocation.args.ask === "-" ? { ...invocation.args, ask: await cli.process.stdin() } : invocation.args;
    const host = createRunHost(starterOf(cli));
    return { result: await cli.core.run({ command, args, cwd, editor, host }, stop.signal), interrupted };
  } finally {
    stopListening();
  }
}

async function watch(
  watched: Watched,
  invocation: Invocation,
  { process, output }: Cli,
  interrupted = 0,
): Promise<CommandResult> {
  const ask = process.interactive && invocation.args.input ? { ask: askInTerminal } : {};
  return watchRun(watched, { output, now: process.now, onInterrupt: process.onInterrupt, interrupted, ...ask });
}

function starterOf({ process, core }: Cli): Starter {
  return { entry: process.runnerEntry, execPath: process.execPath, env: core.env };
}

function watchedOf(data: unknown): Watched | undefined {
  if (typeof data !== "object" || data === null || !("run" in data) || !("dir" in data)) return undefined;
  const seen = "seen" in data ? { seen: Number(data.seen) } : {};
  return { run: String(data.run), dir: String(data.dir), ...seen };
}

/** Each command of the demo is started as a person's would be, in the demo's own environment. */
async function demo({ args }: Invocation, { process, core, output }: Cli): Promise<CommandResult> {
  const stop = new AbortController();
  const stopListening = process.onInterrupt(() => stop.abort());
  const editor = createTerminalEditor({ interactive: false, write: (line) => output.line(line) });
  try {
    return await core.demo(
      {
        args,
        editor,
        async runCommand({ command, args: own, cwd, env, onEvent }, signal) {
          const inner = createLocalCore({ ...process, env });
          const starter: Starter = { entry: process.runnerEntry, execPath: process.execPath, env };
          if (command !== "init" && commands[command].kind !== "run") {
            return inner.run({ command, args: own, cwd, editor, host: createRunHost(starter) }, signal);
          }
          const request = { v: 1, command, args: { ...own }, cwd, host: "cli", at: process.now() } as const;
          const runsDirs = await inner.runsDirs(cwd, signal);
          const started = await startRun(request, { ...starter, runsDirs, ids: inner.ids });
          return followToResult(started, onEvent, signal, process.now);
        },
      },
      stop.signal,
    );
  } finally {
    stopListening();
  }
}
