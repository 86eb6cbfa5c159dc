import type * as vscode from "vscode";
import { type Command, commands, isCommandName } from "../shared/app/commands.ts";
import { plain } from "../shared/events/words.ts";
import type { CommandRunner } from "./command-runner.ts";
import type { Sessions } from "./sessions.ts";
import { shortCommand } from "../shared/runner/short-command.ts";
import type { Vscode } from "./vscode-api.ts";

/** Language-model tools: read-only verbs answer at once; what changes anything is confirmed by the person first. */
export interface Tools {
  prepare(name: string, input: object): Promise<vscode.PreparedToolInvocation>;
  invoke(name: string, input: object, token: vscode.CancellationToken): Promise<vscode.LanguageModelToolResult>;
}

const shortMs = 10 * 60_000;

export function createTools(vscode: Vscode, runner: CommandRunner, sessions: Sessions): Tools {
  const { t } = vscode.l10n;
  const commandOf = (name: string): Command => {
    const id = name.replace(/^orch_/, "");
    if (!isCommandName(id)) throw new TypeError(`no such tool: ${name}`);
    return commands[id];
  };
  const changes = (command: Command): boolean => command.kind !== "read" || command.name === "qa";
  return {
    async prepare(name, input) {
      const command = commandOf(name);
      const words = textOf(input, "target") ?? "";
      const invocationMessage = t("Running orch {0}", `${command.name} ${words}`.trim());
      if (!changes(command)) return { invocationMessage };
      const prompt = textOf(input, "prompt");
      const message = [
        plain(command.summary),
        ...(words === "" ? [] : [words]),
        ...(prompt === undefined ? [] : [plain(prompt)]),
      ].join("\n\n");
      return { invocationMessage, confirmationMessages: { title: t("Run orch {0}?", command.name), message } };
    },
    async invoke(name, input, token) {
      const command = commandOf(name);
      const session = sessions.all[0];
      if (session === undefined) return result(t("No folder is open."));
      if (runner.isRestricted(command)) return result(t("The folder is in Restricted Mode."));
      if (!changes(command) || command.name === "qa")
        return result(await short(command, session.folder.uri.fsPath, input, token));
      const target = textOf(input, "target");
      const prompt = textOf(input, "prompt");
      const given = { words: target === undefined ? [] : [target], ...(prompt === undefined ? {} : { prompt }) };
      const invocation = await runner.invoke(command, session, given);
      const stop = token.onCancellationRequested(() => {
        const run = session.feed.get(invocation.run);
        if (run !== undefined) runner.cancel(run);
      });
      const end = await invocation.finished;
      stop.dispose();
      if (end === undefined) return result(t("run {0} has no end yet", invocation.run));
      const hint = end.error === undefined ? "" : ` ${end.error.hint}`;
      return result(`${invocation.run}: exit ${end.code}: ${end.summary}${hint}\nNext: ${end.next.join(" | ")}`);
    },
  };

  async function short(command: Command, cwd: string, input: object, token: vscode.CancellationToken): Promise<string> {
    const stop = new AbortController();
    const listening = token.onCancellationRequested(() => stop.abort());
    const run = textOf(input, "run");
    const files: unknown = Reflect.get(input, "files");
    const args = [...(run === undefined ? [] : [run]), ...(Array.isArray(files) ? files.map(String) : [])].filter(
      (word) => !word.startsWith("-"),
    );
    try {
      const starter = await runner.deps.cli();
      const document = await shortCommand(
        { starter, command: command.name, args, cwd, timeoutMs: shortMs },
        stop.signal,
      );
      return JSON.stringify(document).slice(0, 50_000);
    } finally {
      listening.dispose();
    }
  }

  function result(text: string): vscode.LanguageModelToolResult {
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }
}

function textOf(input: object, name: string): string | undefined {
  const value: unknown = Reflect.get(input, name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
