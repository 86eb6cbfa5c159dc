import type * as vscode from "vscode";
import { type Command, commands, isCommandName } from "../shared/app/commands.ts";
import { plain, wordsIn } from "../shared/events/words.ts";
import { isOrchError } from "../shared/model/error.ts";
import type { CommandRunner } from "./command-runner.ts";
import { waiting } from "./inbox-view.ts";
import type { Sessions } from "./sessions.ts";
import { escape, statusOf } from "./status.ts";
import type { Vscode } from "./vscode-api.ts";

/** `@orch`: the same commands, in the chat view. A command that changes anything is started only by its slash command. */
export function createChat(vscode: Vscode, runner: CommandRunner, sessions: Sessions): vscode.ChatRequestHandler {
  const { t } = vscode.l10n;
  return async (request, _context, stream, token) => {
    const name = request.command ?? "status";
    if (name === "status" || !isCommandName(name)) {
      status(stream);
      return {};
    }
    const command: Command = commands[name];
    const session = sessions.all[0];
    if (session === undefined) {
      stream.markdown(t("Orch works on the repository of a folder. No folder is open."));
      stream.button({ command: "vscode.openFolder", title: t("Open a folder") });
      return {};
    }
    if (runner.isRestricted(command)) {
      stream.markdown(t("The folder is in Restricted Mode."));
      return {};
    }
    const given = givenOf(command, request.prompt);
    if (command.args.some(({ required }) => required) && given.words.length === 0) {
      const example = command.example.replace(/^orch \S+ /, "").replace(/^--title "[^"]*" /, "");
      const words = takesPrompt(command)
        ? t("Name the feature first, then say what it does. For example:")
        : t("Name what it is about. For example:");
      stream.markdown(`${words}\n\n\`@orch /${name} ${example}\``);
      return {};
    }
    try {
      await carry(command, given, session, stream, token);
    } catch (error) {
      if (!isOrchError(error)) throw error;
      stream.markdown(`${escape(plain(error.message))}. ${escape(plain(error.hint))}`);
    }
    return {};
  };

  function status(stream: vscode.ChatResponseStream): void {
    const runs = sessions.all.flatMap(({ feed }) => feed.runs).filter(({ state }) => state.seq > 0);
    const open = sessions.all.flatMap(({ feed }) => feed.open);
    stream.markdown(`${escape(statusOf(runs, open, t).spoken)}\n\n`);
    const words = wordsIn(t);
    for (const run of runs.slice(0, 5)) {
      const said = run.state.result?.summary ?? run.state.parked?.why ?? run.state.note ?? "";
      const used = run.state.usage === undefined ? "" : `, ${words.usageText(run.state)}`;
      stream.markdown(
        `* **${escape(run.state.command)}** ${words.standingText(run.standing)}: ${escape(plain(said))}${escape(used)}\n`,
      );
    }
    if (waiting(sessions.all).length > 0) stream.button({ command: "orch.reply", title: t("Answer what waits") });
    stream.button({ command: "orch.host.showRuns", title: t("Show runs") });
  }

  async function carry(
    command: Command,
    given: { readonly words: readonly string[]; readonly prompt?: string },
    session: Sessions["all"][number],
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<void> {
    stream.progress(`orch ${[command.name, ...given.words].join(" ")}`);
    const invocation = await runner.invoke(command, session, given);
    let told = "";
    const following = session.feed.onPaint.on(() => {
      const run = session.feed.get(invocation.run);
      const text: string = run === undefined ? "" : statusOf([run], [run], t).spoken;
      if (text === told || text === "") return;
      told = text;
      stream.progress(text);
    });
    const stop = token.onCancellationRequested(() => {
      const run = session.feed.get(invocation.run);
      if (run !== undefined) runner.cancel(run);
    });
    const end = await invocation.finished;
    following.dispose();
    stop.dispose();
    if (end === undefined) {
      stream.markdown(t("The run has no end yet."));
      return;
    }
    stream.markdown(
      `${escape(plain(end.summary))}${end.error === undefined ? "" : `. ${escape(plain(end.error.hint))}`}\n\n`,
    );
    const run = session.feed.get(invocation.run);
    const changed =
      run?.state.contracts.some(({ attempts }) => attempts.some(({ change }) => change?.patch !== undefined)) ?? false;
    if (changed)
      stream.button({ command: "orch.host.lastDiff", title: t("Show the change"), arguments: [invocation.run] });
    for (const next of command.next) {
      stream.button({ command: `orch.${next}`, title: runner.titleOf(next) });
    }
  }
}

function takesPrompt(command: Command): boolean {
  return command.args.some(({ name }) => name === "prompt");
}

/**
 * `Billing/Invoice totals with tax`: a first word with a slash is the target, the rest is the prompt. A command without
 * a prompt takes words alone: `T1 T2`.
 */
function givenOf(command: Command, prompt: string): { readonly words: readonly string[]; readonly prompt?: string } {
  const text = prompt.trim();
  if (!takesPrompt(command)) return { words: text.split(/\s+/).filter((word) => word !== "") };
  const [first = "", ...rest] = text.split(/\s+/);
  const isTarget =
    first.includes("/") || (command.args[0]?.completes === "feature" && rest.length === 0 && first !== "");
  const words = isTarget ? [first] : [];
  const said = (isTarget ? text.slice(first.length) : text).trim().replaceAll(/^"|"$/g, "");
  return { words, ...(said === "" ? {} : { prompt: said }) };
}
