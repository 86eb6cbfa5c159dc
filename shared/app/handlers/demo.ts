import { startCassetteServer } from "../../adapters/cassette-server.ts";
import { stripControls } from "../../base/lines.ts";
import type { AbsPath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import { durationText } from "../../events/words.ts";
import { timeline } from "../../events/timeline.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import type { ParsedEvent } from "../../model/event.ts";
import type { CommandName } from "../commands.ts";
import { type CommandArgs, type Handler, type MachineContext, plainArgs } from "../context.ts";
import { demoRequest } from "../demo/cassette.ts";
import { demoEnvironment, demoModel, makeDemoFolder, makeDemoProject } from "../demo/project.ts";
import { chooseStory } from "../demo/story.ts";
import { type DemoStep, stepData, summaryLines, type ToldStep } from "../demo/telling.ts";

/** One command of the demo, run the way any host runs it: the same request, runner, run folder and events. */
export interface DemoCommand {
  readonly command: Exclude<CommandName, "demo">;
  readonly args: CommandArgs;
  readonly cwd: AbsPath;
  /** The whole environment of the command and its runner; keys and settings of the user are not in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Each event as it comes; none for commands without a run. */
  readonly onEvent: (event: ParsedEvent) => void;
}

export interface DemoDeps {
  /** Settles when the command has finished and its runner is gone. Rejects with what the command refused with. */
  readonly runCommand: (order: DemoCommand, signal: AbortSignal) => Promise<CommandResult>;
  /** Records in the trust store of `env` that the repository at `root`, which the demo just made, may run its code. */
  readonly trustRepository: (
    root: AbsPath,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<void>;
  /** The Node that runs this process: the sample runs on it where there is nothing else. */
  readonly nodePath?: string;
}

const target = "Billing/Invoice";

const steps: readonly DemoStep[] = [
  { command: "new", words: [target, demoRequest], what: "a branch, a spec and the slice's files" },
  { command: "do", words: [], what: "the spec becomes code; gates and tests decide" },
  { command: "qa", words: [], what: "every rule and every feature's tests, without a model" },
  { command: "merge", words: [], what: "the gates run on the merge result, then main gets it" },
];

/**
 * The whole flow on a sample project in a temporary folder, without network: new, do (its first attempt fails a gate),
 * qa, merge. Only the model is not real, and every line of it says so. Installs nothing and leaves nothing, but for
 * --keep.
 *
 * @throws OrchError `env.no-python`, `git.missing` before anything is made
 */
export function createDemo(deps: DemoDeps): Handler<MachineContext> {
  return async (context, args, signal) => {
    const { machine, files, ids, clock, editor } = context;
    const story = await chooseStory(context, deps.nodePath, signal);
    const { cassette } = story;
    await requireGit(context, signal);
    const base = await makeDemoFolder(context, ids.next("marker"));
    const say = (text: string): void => editor.progress(withLabel(stripControls(text), cassette.label));
    const began = clock.tick();
    try {
      await using server = await startCassetteServer(cassette, demoModel);
      const env = demoEnvironment(machine.env, base, server.baseUrl, story.bin, machine.platform);
      const root = await makeDemoProject(context, story, { base, env }, signal);
      await deps.trustRepository(root, env, signal);
      say(`The demo works on a sample project in ${root}.`);
      if (story.why !== undefined) say(`The sample is in ${story.language}: ${story.why}.`);
      say(
        `Its model is demo/${demoModel}; its replies are ${cassette.label}. Git, gates, ${story.tests} and the runner are real.`,
      );
      const told: ToldStep[] = [];
      for (const step of steps) {
        say("");
        say(`$ orch ${step.command}${step.words.map((word) => ` ${shellWord(word)}`).join("")}`);
        say(`  ${step.what}`);
        const one = await runStep(deps, step, { root, env, say, clock }, signal);
        told.push(one);
        if (!one.result.ok) return stopped(told, base, args, say);
      }
      const lines = summaryLines(told, clock.tick() - began, cassette.label);
      for (const line of ["", ...lines]) say(line);
      const next = 'orch new domain/Feature "what it does"';
      const data = {
        model: `demo/${demoModel}`,
        label: cassette.label,
        language: story.language,
        folder: args.keep ? base : undefined,
        timeline: lines,
        steps: told.map(stepData),
      };
      return {
        ok: true,
        code: 0,
        summary: `the demo went through: ${told.length} commands in ${durationText(clock.tick() - began)}`,
        next: [`cd your/repository && ${next}`],
        data,
      };
    } finally {
      if (!args.keep) await files.remove(base);
      else say(`Kept: ${base}`);
    }
  };
}

async function requireGit({ process, machine }: MachineContext, signal: AbortSignal): Promise<void> {
  const path = await process.which("git", machine.env["PATH"] ?? machine.env["Path"] ?? "");
  signal.throwIfAborted();
  if (path === undefined) throw new OrchError("git.missing", "there is no git on the PATH");
}

interface Stage {
  readonly root: AbsPath;
  readonly env: Readonly<Record<string, string>>;
  readonly say: (text: string) => void;
  readonly clock: MachineContext["clock"];
}

async function runStep(
  deps: DemoDeps,
  step: DemoStep,
  { root, env, say, clock }: Stage,
  signal: AbortSignal,
): Promise<ToldStep> {
  const events: ParsedEvent[] = [];
  let shown = 0;
  const began = clock.tick();
  const onEvent = (event: ParsedEvent): void => {
    events.push(event);
    const lines = timeline(events);
    for (const line of lines.slice(shown)) say(`  ${line}`);
    shown = lines.length;
  };
  const result = await deps.runCommand(
    { command: step.command, args: argsOf(step.words), cwd: root, env, onEvent },
    signal,
  );
  // A command without a run has no events: its result is all there is to tell.
  if (events.length === 0) say(`  ${result.summary}`);
  return { step, result, durationMs: clock.tick() - began, events };
}

/** Nobody is asked: what the demo confirms, it made itself. */
const argsOf = (words: readonly string[]): CommandArgs => ({ ...plainArgs, words, yes: true, input: false });

function stopped(
  told: readonly ToldStep[],
  base: AbsPath,
  args: CommandArgs,
  say: (text: string) => void,
): CommandResult {
  const last = told.at(-1);
  const result = last?.result;
  say(`The demo stopped at orch ${last?.step.command ?? ""}: ${result?.summary ?? ""}`);
  return {
    ok: false,
    code: result?.code ?? 70,
    summary: `the demo stopped at orch ${last?.step.command ?? ""}: ${result?.summary ?? ""}`,
    next: args.keep ? [] : ["orch demo --keep"],
    data: { folder: args.keep ? base : undefined, steps: told.map(stepData) },
    ...(result?.error === undefined ? {} : { error: result.error }),
  };
}

/** The demo's model is never named without saying what its replies are. */
function withLabel(line: string, label: string): string {
  return line
    .replaceAll(`demo/${demoModel}`, `demo/${demoModel} (${label})`)
    .replaceAll(` (${label}) (${label})`, ` (${label})`);
}
