import { type Command, commands } from "../shared/app/commands.ts";
import { waitsForPerson } from "../shared/events/open-runs.ts";
import { plain } from "../shared/events/words.ts";
import { isResumable } from "../shared/events/standing.ts";
import { Finding } from "../shared/model/finding.ts";
import type { CommandRunner } from "./command-runner.ts";
import { connectModel } from "./connect-model.ts";
import { runDemo } from "./demo.ts";
import { waiting } from "./inbox-view.ts";
import { faultWords, fixActions, tell } from "./outcome.ts";
import { isActive } from "../shared/runner/run-feed.ts";
import { presetSession } from "./preset.ts";
import type { Session } from "./session.ts";
import { type CommandDocument, listIn, shortCommand } from "../shared/runner/short-command.ts";
import { decideTrust } from "./trust.ts";

type Carry = (runner: CommandRunner, args: readonly unknown[]) => Promise<unknown>;

const shortMs = 120_000;
const longMs = 30 * 60_000;

/**
 * Commands that are no run of their own. What is not named here is started as one; a `read` command that is not named
 * is asked of the command line and its summary shown.
 */
export const readCommands: Readonly<Record<string, Carry | undefined>> = {
  model: async (runner, args) =>
    flagsOf(args).length > 0 ? asked(runner, commands.model, args) : connectModel(runner),
  demo: (runner) => runDemo(runner),
  trust: async (runner, args) => {
    if (flagsOf(args).length > 0) return asked(runner, commands.trust, args);
    const session = await sessionOf(runner, args);
    return session === undefined ? undefined : decideTrust(runner, session);
  },
  scan: async (runner, args) => {
    const session = await sessionOf(runner, args);
    if (session === undefined) return undefined;
    runner.deps.featuresView.refresh();
    await runner.deps.vscode.commands.executeCommand("orch.view.features.focus");
    return answered(runner, commands.scan, flagsOf(args), session);
  },
  runs: async (runner) => showRuns(runner, commands.runs),
  status: async (runner) => showRuns(runner, commands.status),
  wait: async (runner, args) => {
    const session = await sessionOf(runner, args);
    const words = [...flagsOf(args), ...wordsOf(args)];
    return session === undefined ? undefined : answered(runner, commands.wait, words, session, longMs);
  },
  qa: async (runner, args) => {
    const session = await sessionOf(runner, args);
    return session === undefined ? undefined : runQa(runner, session, [...flagsOf(args), ...wordsOf(args)]);
  },
  reply: async (runner) => {
    const { t } = runner.deps.vscode.l10n;
    const rows = waiting(runner.deps.sessions.all);
    const items = rows.map((row) => ({ label: plain(row.ask.title), description: row.run.state.command, row }));
    const [only] = items;
    if (only === undefined) return say(runner, t("No decision is waiting for you."));
    const picked =
      items.length === 1 ? only : await runner.deps.vscode.window.showQuickPick(items, { title: t("Which one?") });
    if (picked === undefined) return undefined;
    await runner.deps.questions.answer(picked.row.run, picked.row.ask, picked.row.session.feed);
    return picked.row.ask.id;
  },
  cancel: async (runner, args) => {
    const { t } = runner.deps.vscode.l10n;
    const [named] = wordsOf(args);
    const active = runner.deps.sessions.active.filter(({ run }) => named === undefined || run === named);
    const items = active.map((run) => ({
      label: plain(run.state.title || run.state.command),
      description: run.run,
      run,
    }));
    if (items.length === 0) return say(runner, t("Nothing runs here."));
    const picked =
      items.length === 1
        ? items[0]
        : await runner.deps.vscode.window.showQuickPick(items, { title: t("Cancel which run?") });
    if (picked === undefined) return undefined;
    runner.cancel(picked.run);
    return picked.run.run;
  },
  resume: async (runner, args) => {
    const { t } = runner.deps.vscode.l10n;
    const [named] = wordsOf(args);
    // What was left behind is resumed by whoever names it.
    const fits = runner.deps.sessions.all
      .flatMap(({ feed }) => (named === undefined ? feed.open : feed.runs))
      .filter((run) => isResumable(run.standing) && (named === undefined || run.run === named));
    const items = fits.map((run) => ({
      label: plain(run.state.title || run.state.command),
      description: run.run,
      run,
    }));
    if (items.length === 0) return say(runner, t("There is no run to continue."));
    const picked =
      items.length === 1
        ? items[0]
        : await runner.deps.vscode.window.showQuickPick(items, { title: t("Continue which run?") });
    if (picked === undefined) return undefined;
    await runner.resume(picked.run);
    return picked.run.run;
  },
};

async function showRuns(runner: CommandRunner, command: Command): Promise<unknown> {
  const { vscode, sessions } = runner.deps;
  await vscode.commands.executeCommand("orch.view.runs.focus");
  if (sessions.all.length === 0) return undefined;
  const runs = sessions.all.flatMap(({ feed }) => feed.runs);
  const { t } = vscode.l10n;
  const active = runs.filter(isActive).length;
  const decisions = waiting(sessions.all).length;
  const open = sessions.all.flatMap(({ feed }) => feed.open).filter(waitsForPerson).length;
  if (command.name === "status")
    await say(runner, t("{0} running, {1} waiting for you, {2} in all", active, open, runs.length));
  return { active, decisions, runs: runs.length };
}

/** Commands that no row above names and that are no run: asked of the command line, what they say shown in the log. */
export async function askCommandLine(
  runner: CommandRunner,
  command: Command,
  words: readonly string[],
  session: Session,
): Promise<unknown> {
  const document = await answered(runner, command, words, session);
  const { channel } = runner.deps.log;
  channel.info(`orch ${command.name}: ${document.summary}`);
  for (const line of linesIn(document.data)) channel.info(line);
  if (document.ok) channel.show(true);
  return document;
}

/** A command that has a picker of its own where it is called without options. */
async function asked(runner: CommandRunner, command: Command, args: readonly unknown[]): Promise<unknown> {
  const session = await sessionOf(runner, args);
  return session === undefined
    ? undefined
    : askCommandLine(runner, command, [...flagsOf(args), ...wordsOf(args)], session);
}

async function sessionOf(runner: CommandRunner, args: readonly unknown[]): Promise<Session | undefined> {
  return presetSession(runner.deps.sessions, args) ?? runner.session();
}

/** `data.text`: the plain form of a document, where it has one. */
function linesIn(data: unknown): readonly string[] {
  const text: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "text") : undefined;
  return Array.isArray(text) ? text.map((line) => plain(String(line))) : [];
}

/** Asks the command line and says its summary. */
async function answered(
  runner: CommandRunner,
  command: Command,
  words: readonly string[],
  session: Session,
  timeoutMs = shortMs,
): Promise<CommandDocument> {
  const { cli, vscode } = runner.deps;
  const document = await withCancel(runner, runner.titleOf(command.name), async (signal) =>
    shortCommand(
      { starter: await cli(), command: command.name, args: words, cwd: session.folder.uri.fsPath, timeoutMs },
      signal,
    ),
  );
  if (document.ok) vscode.window.setStatusBarMessage(`Orch: ${plain(document.summary)}`, 8000);
  else await showFault(runner, document);
  return document;
}

/** `qa`: the audit and the tests, with a way to stop it. Its findings become Problems. */
export async function runQa(
  runner: CommandRunner,
  session: Session,
  words: readonly string[],
): Promise<CommandDocument> {
  const { cli, problems, vscode } = runner.deps;
  const { t } = vscode.l10n;
  const document = await withCancel(runner, t("QA: audit and test"), async (signal) =>
    shortCommand(
      { starter: await cli(), command: "qa", args: words, cwd: session.folder.uri.fsPath, timeoutMs: longMs },
      signal,
    ),
  );
  const findings = listIn(document.data, "findings").flatMap((row) => {
    const parsed = Finding.safeParse(row);
    return parsed.success ? [parsed.data] : [];
  });
  problems.setQa(session, findings);
  if (document.error !== undefined) await showFault(runner, document);
  else {
    const show = {
      label: t("Show problems"),
      run: async () => vscode.commands.executeCommand("workbench.actions.view.problems"),
    };
    void tell(vscode, document.ok ? "info" : "warning", plain(document.summary), findings.length > 0 ? [show] : []);
  }
  return document;
}

async function withCancel<T>(
  runner: CommandRunner,
  title: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { ProgressLocation, window } = runner.deps.vscode;
  return window.withProgress(
    { location: ProgressLocation.Notification, title: `Orch: ${title}`, cancellable: true },
    async (_progress, token) => {
      const stop = new AbortController();
      const listening = token.onCancellationRequested(() => stop.abort());
      try {
        return await work(stop.signal);
      } finally {
        listening.dispose();
      }
    },
  );
}

async function showFault(runner: CommandRunner, document: CommandDocument): Promise<void> {
  const { vscode } = runner.deps;
  const fault = document.error ?? { code: "failed", message: document.summary, hint: "" };
  void tell(
    vscode,
    "error",
    faultWords(fault),
    fixActions(vscode, fault, async () => undefined),
  );
}

async function say(runner: CommandRunner, words: string): Promise<undefined> {
  void runner.deps.vscode.window.showInformationMessage(words);
  return undefined;
}

function wordsOf(args: readonly unknown[]): readonly string[] {
  const [first] = args;
  return typeof first === "string" ? [first] : textsOf(first, "words");
}

/** Options as the command line spells them. */
function flagsOf([first]: readonly unknown[]): readonly string[] {
  return textsOf(first, "flags");
}

function textsOf(given: unknown, name: string): readonly string[] {
  const texts: unknown = typeof given === "object" && given !== null ? Reflect.get(given, name) : undefined;
  return Array.isArray(texts) ? texts.map(String) : [];
}
