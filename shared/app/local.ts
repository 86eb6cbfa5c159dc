import { createClock } from "../adapters/clock.ts";
import { createIds } from "../adapters/ids.ts";
import { findMachine, type MachinePlaces } from "../adapters/machine.ts";
import { createRedactor, type Redactor, secretsOf } from "../adapters/redact.ts";
import { type AbsPath, absPath } from "../base/paths.ts";
import { isAbort } from "../base/abort.ts";
import { firstLine } from "../base/lines.ts";
import type { CommandResult } from "../model/command-result.ts";
import { isOrchError } from "../model/error.ts";
import { exitCodes } from "../model/exit-code.ts";
import type { ActiveBuffer } from "../model/run-files.ts";
import type { Editor } from "../ports/editor.ts";
import type { Ids } from "../ports/ids.ts";
import type { RunHost } from "../ports/run-host.ts";
import type { DemoDeps } from "./handlers/demo.ts";
import { restoreAgents } from "./agents-link.ts";
import type { CommandName } from "./commands.ts";
import { configuredKeys } from "./configured-keys.ts";
import { fromHere, namesPaths } from "./from-here.ts";
import { createRunParts } from "./run-parts.ts";
import { composeRepository, runsDirsOf } from "./compose.ts";
import type { CommandArgs } from "./context.ts";
import { anywhereHandlers, handlers, isAnywhere } from "./handlers.ts";
import { locateRepository } from "./locate.ts";
import { modifyWords } from "./modify-target.ts";
import { nvimBuffer } from "./nvim-buffer.ts";
import { plainEnv, type RunnerFacts } from "./runner-deps.ts";

/** What a host on this machine needs of the core to start runs and to answer short commands itself. */
export interface LocalCore {
  readonly version: string;
  readonly places: MachinePlaces;
  readonly env: Readonly<Record<string, string>>;
  readonly ids: Ids;
  /**
   * Where run folders of the repository around `folder` go, first choice first. `init` has them in the user's own state,
   * for the folder that its words name.
   *
   * @throws OrchError `git.*`, `path.refused`
   */
  runsDirs(
    folder: AbsPath,
    signal: AbortSignal,
    call?: { readonly command: CommandName; readonly words: readonly string[] },
  ): Promise<readonly AbsPath[]>;
  /**
   * The file open in the Neovim around this terminal, for `modify` without a target; undefined for any other call.
   *
   * @throws OrchError `target.missing` when that Neovim does not answer
   */
  activeBuffer(call: {
    readonly command: CommandName;
    readonly args: CommandArgs;
    readonly cwd: AbsPath;
  }): Promise<ActiveBuffer | undefined>;
  /** The result as it can be typed where the person stands: see `fromHere`. Outside a repository nothing is relative to it. */
  readAt(
    result: CommandResult,
    at: { readonly stand: AbsPath; readonly cwd: AbsPath; readonly directory?: string },
  ): Promise<CommandResult>;
  /** Carries out a command that needs no runner, in this process. Never rejects: a refusal is a result. */
  run(call: LocalCall, signal: AbortSignal): Promise<CommandResult>;
  /** The demo: its commands are run by the host, the way the host runs any. Never rejects. */
  demo(call: DemoCall, signal: AbortSignal): Promise<CommandResult>;
}

export interface DemoCall {
  readonly args: CommandArgs;
  readonly editor: Editor;
  readonly runCommand: DemoDeps["runCommand"];
}

export interface LocalCall {
  readonly command: Exclude<CommandName, "demo" | "init">;
  readonly args: CommandArgs;
  readonly cwd: AbsPath;
  readonly editor: Editor;
  readonly host: RunHost;
}

export function createLocalCore(facts: Omit<RunnerFacts, "pid">): LocalCore {
  const places = findMachine(facts);
  const env = plainEnv(facts.env);
  return {
    version: places.version,
    places,
    env,
    ids: createIds(createClock()),
    async runsDirs(folder, signal, call) {
      if (call?.command === "init") {
        const { initRunsDirs } = await import("./compose-init.ts");
        return initRunsDirs({ places, env, cwd: folder, words: call.words }, signal);
      }
      return runsDirsOf(places, await locateRepository(folder, env, signal));
    },
    async activeBuffer({ command, args, cwd }) {
      if (command !== "modify" || args.file !== undefined || env["NVIM"] === undefined) return undefined;
      if (modifyWords(args.words).target !== undefined) return undefined;
      return nvimBuffer(createRunParts(env, []).process, { env, cwd }, new AbortController().signal);
    },
    async readAt(result, { stand, cwd, directory }) {
      if (directory === undefined && !namesPaths(result)) return result;
      const root = await locateRepository(cwd, env, new AbortController().signal).catch(() => cwd);
      const { files } = createRunParts(env, []);
      const exists = async (path: string): Promise<boolean> => (await files.stat(absPath(path))) !== undefined;
      return fromHere(result, {
        stand: (await files.realPath(stand)) ?? stand,
        root,
        exists,
        ...(directory === undefined ? {} : { directory }),
      });
    },
    async run(call, signal) {
      const redactor = createRedactor(secretsOf(env));
      const machine = { places, env, nodePath: facts.execPath, redactor };
      const result = await resultOf(() => carryOut(call, machine, signal));
      // What programs and servers said when they failed; the logs of runs have it taken out, and a terminal is kept, too.
      return result.ok ? result : redactor.value(result);
    },
    demo: (call, signal) => resultOf(() => carryOutDemo(call, facts, signal)),
  };
}

async function carryOut(
  call: LocalCall,
  machine: {
    readonly places: MachinePlaces;
    readonly env: Readonly<Record<string, string>>;
    readonly nodePath: string;
    readonly redactor: Redactor;
  },
  signal: AbortSignal,
): Promise<CommandResult> {
  const { cwd, editor, host } = call;
  if (isAnywhere(call.command)) {
    const { composeAnywhere } = await import("./anywhere.ts");
    const context = await composeAnywhere({ ...machine, cwd, editor, signal });
    machine.redactor.learn(configuredKeys(context.settings.config, machine.env));
    const { repository } = context;
    if (repository.kind === "open") await restoreAgents({ ...context, ...repository });
    return await (
      await anywhereHandlers[call.command]()
    )(context, call.args, signal);
  }
  await using composed = await composeRepository({ ...machine, cwd, editor, host, signal });
  if (!call.args.dryRun) await restoreAgents(composed.context);
  const handler = await handlers[call.command]();
  return await handler(composed.context, call.args, signal);
}

async function carryOutDemo(
  call: DemoCall,
  facts: Omit<RunnerFacts, "pid">,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { createDemo } = await import("./handlers/demo.ts");
  const places = findMachine(facts);
  const { files, process, clock, ids, locks } = createRunParts(facts.env, []);
  const run = createDemo({
    nodePath: facts.execPath,
    runCommand: call.runCommand,
    async trustRepository(root, env, stop) {
      // The folders of the demo's own environment: what it trusts is forgotten with them.
      const machine = { places: findMachine({ ...facts, env }), env, nodePath: facts.execPath };
      await using composed = await composeRepository({
        ...machine,
        cwd: root,
        editor: call.editor,
        host: noHost,
        signal: stop,
      });
      const { trust } = composed.context;
      await trust.grant(await trust.state());
    },
  });
  const machine = { ...places, env: plainEnv(facts.env) };
  return await run({ machine, files, process, clock, ids, locks, editor: call.editor }, call.args, signal);
}

const noHost: RunHost = {
  resume: () => Promise.reject(new TypeError("granting trust starts no run")),
  changed: () => Promise.reject(new TypeError("granting trust waits for no run")),
};

/** A refusal, a cancel or a bug as a result: what every host shows in the same words. */
export async function resultOf(work: () => Promise<CommandResult>): Promise<CommandResult> {
  try {
    return await work();
  } catch (error) {
    return failedResult(error);
  }
}

export function failedResult(error: unknown): CommandResult {
  if (isAbort(error)) return { ok: false, code: exitCodes.cancelled, summary: "Cancelled", next: [] };
  if (isOrchError(error)) {
    const { code, message, hint, next } = error;
    return { ok: false, code: error.exit, summary: firstLine(message), next, error: { code, message, hint } };
  }
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  return {
    ok: false,
    code: exitCodes.bug,
    summary: `Orch made a mistake: ${firstLine(message)}`,
    next: [],
    data: { stack },
    error: { code: "bug", message, hint: "Report it with the stack that --verbose or --json shows" },
  };
}
