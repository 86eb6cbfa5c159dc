import type * as vscode from "vscode";
import { type Command, commands, type CommandName, isCommandName } from "../shared/app/commands.ts";
import { plain } from "../shared/events/words.ts";
import type { EventBody } from "../shared/model/event.ts";
import { isOrchError, OrchError } from "../shared/model/error.ts";
import { resumeRun, type Starter } from "../shared/runner/client.ts";
import { dropControl } from "../shared/runner/drop.ts";
import { nextModelKey } from "./connect-model.ts";
import type { Changes } from "./changes.ts";
import type { FeaturesView } from "./features-view.ts";
import { runHostCommand } from "./host-commands.ts";
import type { Given, Inputs } from "./inputs.ts";
import type { Keys } from "./keys.ts";
import type { Log } from "./log.ts";
import { nextActions } from "./next-actions.ts";
import { CommandFault, faultWords, fixActions, tell } from "./outcome.ts";
import type { Place } from "./place.ts";
import { presetOf, presetSession } from "./preset.ts";
import { isOpenHere, projectFolder } from "./project-folder.ts";
import type { Problems } from "./problems.ts";
import type { Questions } from "./questions.ts";
import { askCommandLine, readCommands } from "./read-commands.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import { readSettings } from "./settings.ts";
import type { Sessions } from "./sessions.ts";
import { textIn } from "../shared/runner/short-command.ts";
import type { TitleOf } from "./titles.ts";
import { startInvocation } from "./start.ts";
import type { Vscode } from "./vscode-api.ts";

export interface CommandDeps {
  readonly vscode: Vscode;
  readonly memory: vscode.Memento;
  readonly keys: Keys;
  readonly starter: () => Promise<Starter>;
  readonly cli: () => Promise<Starter>;
  readonly sessions: Sessions;
  readonly inputs: Inputs;
  readonly questions: Questions;
  readonly changes: Changes;
  readonly problems: Problems;
  readonly featuresView: FeaturesView;
  readonly log: Log;
  readonly place: Place;
  readonly titleOf: TitleOf;
}

export type CommandEnd = EventBody<"command.finished">;

/** A run that this window started. `finished` is undefined when it parked, was interrupted or the window closed. */
export interface Invocation {
  readonly run: string;
  readonly dir: string;
  readonly finished: Promise<CommandEnd | undefined>;
}

/** Commands that run the repository's code, or change it: not in Restricted Mode. */
function needsTrust(command: Command): boolean {
  return command.kind === "run" || command.name === "qa" || command.name === "resume" || command.name === "trust";
}

/** Carries out the palette. Every refusal becomes a message that says what to do, with a button where one can do it. */
export class CommandRunner {
  readonly deps: CommandDeps;
  readonly #waiting = new Map<string, (end: CommandEnd | undefined) => void>();
  readonly #started = new Map<string, { readonly command: Command; readonly given: Given }>();

  constructor(deps: CommandDeps) {
    this.deps = deps;
  }

  async run(id: string, args: readonly unknown[]): Promise<unknown> {
    const name = id.slice("orch.".length);
    try {
      return isCommandName(name) ? await this.#table(name, args) : await runHostCommand(this, name, args);
    } catch (error) {
      await this.refuse(error);
      return undefined;
    }
  }

  /** Says what stands in the way. A bug is told as one, with the log. */
  async refuse(
    error: unknown,
    again: (overrides: Readonly<Record<string, unknown>>) => Promise<unknown> = async () => undefined,
  ): Promise<void> {
    const { log, vscode } = this.deps;
    if (error instanceof Error && error.name === "AbortError") return;
    if (isOrchError(error) || error instanceof CommandFault) {
      const fault = error instanceof CommandFault ? error.fault : error;
      log.channel.warn(`${fault.code}: ${fault.message}`);
      void tell(vscode, "error", faultWords(fault), fixActions(vscode, fault, again)).catch((late: unknown) =>
        log.error(late),
      );
      return;
    }
    log.error(error);
    const { t } = vscode.l10n;
    const words = t("Orch met a fault of its own: {0}", error instanceof Error ? error.message : String(error));
    void tell(vscode, "error", words, fixActions(vscode, { code: "bug", message: "" }, again)).catch((late: unknown) =>
      log.error(late),
    );
  }

  /** The folder a command works on; asks when there are several, refuses with a button when there is none. */
  async session(): Promise<Session | undefined> {
    const { inputs, sessions, vscode } = this.deps;
    if (sessions.opened.length > 0) return inputs.pickSession(sessions.opened);
    const { t } = vscode.l10n;
    const run = (command: string) => async () => vscode.commands.executeCommand(command);
    void tell(vscode, "warning", t("Orch works on the repository of a folder. No folder is open."), [
      { label: t("Open a folder"), run: run("vscode.openFolder") },
      { label: t("Run the demo"), run: run("orch.demo") },
    ]);
    return undefined;
  }

  isRestricted(command: Command): boolean {
    const { vscode } = this.deps;
    if (vscode.workspace.isTrusted || !needsTrust(command)) return false;
    const { t } = vscode.l10n;
    const words = t(
      "This folder is in Restricted Mode, and {0} would run its code or change it.",
      this.titleOf(command.name),
    );
    void tell(vscode, "warning", words, [
      { label: t("Manage workspace trust"), run: async () => vscode.commands.executeCommand("workbench.trust.manage") },
    ]);
    return true;
  }

  /** Starts a run and follows it: progress in the runs view, its end as a message. */
  async invoke(
    command: Command,
    session: Session,
    given: Given,
    overrides: Readonly<Record<string, unknown>> = {},
  ): Promise<Invocation> {
    const { starter, vscode } = this.deps;
    await saveSlice(vscode);
    const run = await startInvocation(vscode, { command, session, given, starter: await starter(), overrides });
    this.#started.set(run.run, { command, given });
    const finished = new Promise<CommandEnd | undefined>((resolve) => this.#waiting.set(run.run, resolve));
    const ended = session.feed.get(run.run);
    if (ended?.state.result !== undefined) this.ended(session, ended);
    void vscode.window.withProgress(
      { location: { viewId: "orch.view.runs" }, title: this.titleOf(command.name) },
      () => finished,
    );
    return { run: run.run, dir: run.dir, finished };
  }

  /** Called once when a run's log has an end. */
  ended(session: Session, run: FollowedRun): void {
    const { result } = run.state;
    const resolve = this.#waiting.get(run.run);
    if (result === undefined || resolve === undefined) return;
    this.#waiting.delete(run.run);
    resolve(result);
    void this.#tellEnd(session, run, result).catch((error: unknown) => this.deps.log.error(error));
  }

  cancel(run: FollowedRun): void {
    dropControl(run.dir, { v: 1, verb: "cancel", target: run.run, host: "vscode", at: Date.now() });
  }

  async resume(run: FollowedRun): Promise<void> {
    await resumeRun(run.dir, await this.deps.starter());
    const session = this.deps.sessions.ofRun(run.run);
    session?.feed.adopt(run.run, run.dir);
  }

  titleOf(name: string): string {
    return this.deps.titleOf(name);
  }

  async #table(name: CommandName, args: readonly unknown[]): Promise<unknown> {
    const command: Command = commands[name];
    if (this.isRestricted(command)) return undefined;
    const own = readCommands[name];
    if (own !== undefined) return own(this, args);
    const { inputs, sessions, vscode } = this.deps;
    const isInit = command.name === "init";
    const session = isInit
      ? await projectFolder(vscode, sessions, inputs, args)
      : (presetSession(sessions, args) ?? (await this.session()));
    if (session === undefined) return undefined;
    const preset = await presetOf(vscode, sessions, command, args);
    const { overrides } = preset;
    // A folder that was picked is the project itself.
    const isPicked = isInit && preset.given.words.length === 0 && !isOpenHere(vscode, session.folder.uri);
    const given = isPicked ? { ...preset.given, words: ["."] } : preset.given;
    if (session.root === undefined && command.anywhere !== true)
      throw new OrchError("git.not-a-repository", `${session.folder.uri.fsPath} is not in a git repository`);
    const all = await this.deps.inputs.gather(command, session, given);
    if (all === undefined) return undefined;
    if (command.kind !== "run")
      return askCommandLine(
        this,
        command,
        [...preset.flags, ...all.words, ...(all.prompt === undefined ? [] : [all.prompt])],
        session,
      );
    const again = async (more: Readonly<Record<string, unknown>>): Promise<unknown> =>
      this.#invoked(command, session, all, { ...overrides, ...more });
    try {
      const model = await takeModel(this.deps.memory);
      const { run, dir } = await this.invoke(command, session, all, {
        ...(model === undefined || !command.options.includes("model") ? {} : { model }),
        ...overrides,
      });
      return { run, dir };
    } catch (error) {
      await this.refuse(error, again);
      return undefined;
    }
  }

  async #invoked(
    command: Command,
    session: Session,
    given: Given,
    overrides: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    try {
      return await this.invoke(command, session, given, overrides);
    } catch (error) {
      await this.refuse(error);
      return undefined;
    }
  }

  /** The project of an `init`, where it is not one of the window's folders yet. */
  #madeFolder(session: Session, { data }: CommandEnd): vscode.Uri | undefined {
    const { vscode } = this.deps;
    const folder = typeof data === "object" && data !== null ? textIn({ ...data }, "folder") : "";
    const uri = folder === "" ? session.folder.uri : vscode.Uri.file(folder);
    return isOpenHere(vscode, uri) ? undefined : uri;
  }

  async #tellEnd(session: Session, run: FollowedRun, end: CommandEnd): Promise<void> {
    const { vscode } = this.deps;
    const level = readSettings(vscode).notifications;
    if (run.standing === "cancelled" || level === "none" || (end.ok && level === "decisions")) return;
    const started = this.#started.get(run.run);
    if (end.ok) {
      const made = started?.command.name === "init" ? this.#madeFolder(session, end) : undefined;
      const open = {
        label: vscode.l10n.t("Open the project"),
        run: async () => vscode.commands.executeCommand("vscode.openFolder", made),
      };
      const root = vscode.Uri.file(session.base);
      const next = nextActions({ vscode, root, titleOf: (name) => this.titleOf(name) }, end.next);
      await tell(vscode, "info", plain(end.summary), made === undefined ? next : [open]);
      return;
    }
    const again = async (overrides: Readonly<Record<string, unknown>>): Promise<unknown> =>
      started === undefined ? undefined : this.#invoked(started.command, session, started.given, overrides);
    const { t } = vscode.l10n;
    const has = run.state.contracts.some(({ attempts }) => attempts.some(({ change }) => change?.patch !== undefined));
    if (end.error !== undefined && !has) {
      await tell(vscode, "error", faultWords(end.error), fixActions(vscode, end.error, again));
      return;
    }
    const show = {
      label: t("Show the change"),
      run: async () => vscode.commands.executeCommand("orch.host.lastDiff", run.run),
    };
    const problems = {
      label: t("Show problems"),
      run: async () => vscode.commands.executeCommand("workbench.actions.view.problems"),
    };
    const words = end.error === undefined ? plain(end.summary) : faultWords(end.error);
    await tell(vscode, "error", words, has ? [problems, show] : [problems]);
  }
}

/** A model that was picked leads the next run, which writes it down; from then on the user's configuration says it. */
async function takeModel(memory: vscode.Memento): Promise<string | undefined> {
  const model = memory.get<string>(nextModelKey);
  if (model !== undefined) await memory.update(nextModelKey, undefined);
  return model;
}

/** The spec and the slice are read from disk by the runner: what is unsaved there would be missed. `modify` reads buffers. */
async function saveSlice(vscode: Vscode): Promise<void> {
  for (const document of vscode.workspace.textDocuments) {
    if (document.isDirty && document.uri.scheme === "file" && document.fileName.endsWith("spec.md"))
      await document.save();
  }
}
