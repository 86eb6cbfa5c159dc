import type * as vscode from "vscode";
import { type Command, type CommandOption, commandTable } from "../shared/app/commands.ts";
import { offeredOptions, splitWords } from "../shared/app/given-words.ts";
import type { CommandRunner } from "./command-runner.ts";
import { askModelId } from "./connect-model.ts";
import type { Session } from "./session.ts";
import { pickWorker } from "./workers.ts";

/** Picks a command of the table that has options to offer. */
export async function pickCommand(runner: CommandRunner): Promise<Command | undefined> {
  const { l10n, window } = runner.deps.vscode;
  const items = commandTable
    .filter((command) => offeredOptions(command).length > 0)
    .map((command) => ({ label: runner.titleOf(command.name), description: `orch ${command.name}`, command }));
  const title = l10n.t("Which command?");
  return (await window.showQuickPick(items, { title, matchOnDescription: true }))?.command;
}

/** Options, their values and the words they want, as the command line spells them; undefined when dismissed. */
export async function pickOptions(
  runner: CommandRunner,
  command: Command,
  session: Session,
): Promise<readonly string[] | undefined> {
  const { vscode } = runner.deps;
  const { t } = vscode.l10n;
  const items = offeredOptions(command).map((option) => ({
    label: t(option.summary),
    description: option.value === undefined ? `--${option.name}` : `--${option.name} ${option.value}`,
    option,
  }));
  const title = runner.titleOf(command.name);
  const placeHolder = t("What is to be different this time");
  const picked = await vscode.window.showQuickPick(items, { title, placeHolder, canPickMany: true });
  if (picked === undefined) return undefined;
  const given: string[] = [];
  for (const { option } of picked) {
    const said = await spelled(runner, { command, session, option, title });
    if (said === undefined) return undefined;
    given.push(...said);
  }
  return given;
}

interface Asked {
  readonly command: Command;
  readonly session: Session;
  readonly option: CommandOption;
  readonly title: string;
}

async function spelled(runner: CommandRunner, asked: Asked): Promise<readonly string[] | undefined> {
  const { name, value, words, completes } = asked.option;
  if (words !== undefined) {
    const typed = await askText(runner, asked, words);
    return typed === undefined ? undefined : [`--${name}`, ...splitWords(typed)];
  }
  if (value === undefined) return [`--${name}`];
  const said = await valueOf(runner, asked, value);
  if (said === undefined) return undefined;
  if (said !== "") return [`--${name}=${said}`];
  // Whoever does the work without being asked for is nobody's option.
  return completes === "worker" ? [] : [`--${name}`];
}

async function valueOf(runner: CommandRunner, asked: Asked, value: string): Promise<string | undefined> {
  const { command, session, option, title } = asked;
  const { vscode } = runner.deps;
  if (option.choices !== undefined) return vscode.window.showQuickPick([...option.choices], { title });
  if (option.completes === "worker") return pickWorker(runner, session, command);
  if (option.completes === "model") return askModelId(vscode);
  if (value.startsWith("file") || value === "path") return pickFile(runner, option, session);
  return askText(runner, asked, value);
}

/** What is written goes where a person says; what is read is there already. */
async function pickFile({ deps }: CommandRunner, option: CommandOption, session: Session): Promise<string | undefined> {
  const { window, l10n } = deps.vscode;
  const own = { title: l10n.t(option.summary), defaultUri: session.folder.uri };
  if (option.writes === true) return (await window.showSaveDialog(own))?.fsPath;
  return (await window.showOpenDialog({ ...own, canSelectMany: false }))?.[0]?.fsPath;
}

/** "" only where the table puts the value in brackets. */
async function askText({ deps }: CommandRunner, asked: Asked, value: string): Promise<string | undefined> {
  const { t } = deps.vscode.l10n;
  const { option, title } = asked;
  const box: vscode.InputBoxOptions = {
    title,
    prompt: t(option.summary),
    placeHolder: value,
    validateInput(text) {
      const said = text.trim();
      if (said === "") return option.value?.startsWith("[") === true ? undefined : t("It is needed.");
      if (value === "n" && !(Number.isInteger(Number(said)) && Number(said) > 0)) return t("A whole number above 0.");
      return ["seconds", "usd"].includes(value) && !(Number(said) > 0) ? t("A number above 0.") : undefined;
    },
  };
  return (await deps.vscode.window.showInputBox(box))?.trim();
}
