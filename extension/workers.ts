import type * as vscode from "vscode";
import type { Command } from "../shared/app/commands.ts";
import { plain } from "../shared/events/words.ts";
import { listIn, shortCommand, textIn } from "../shared/runner/short-command.ts";
import type { CommandRunner } from "./command-runner.ts";
import { askModelId } from "./connect-model.ts";
import type { Session } from "./session.ts";

interface Choice extends vscode.QuickPickItem {
  readonly pick?: () => Promise<string | undefined>;
}

const timeoutMs = 60_000;

/**
 * Who does the work: "" is whoever does it without being asked for, else an id of doctor's table of workers or
 * `provider/model`. Only what can be used here is offered. Undefined when dismissed.
 */
export async function pickWorker(
  runner: CommandRunner,
  session: Session,
  command: Command,
): Promise<string | undefined> {
  const { vscode } = runner.deps;
  const { t } = vscode.l10n;
  const separator = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const nobody =
    command.name === "do"
      ? { label: t("The model itself"), description: t("in place, by the models of your chain") }
      : { label: t("As the contract says"), description: t("its worker, or the first usable one of its kind") };
  const itself: Choice = { ...nobody, pick: async () => "" };
  const choices = async (): Promise<readonly Choice[]> => {
    const usable = await usableWorkers(runner, session);
    return [
      itself,
      separator(t("Agents, in a worktree beside your files")),
      ...usable,
      ...(usable.length > 0 ? [] : [noneHere(runner)]),
      separator(t("Others")),
      { label: t("Name a model by its id"), description: "provider/model", pick: () => askModelId(vscode) },
    ];
  };
  const picked = await vscode.window.showQuickPick(choices(), {
    title: runner.titleOf(command.name),
    placeHolder: t("Who does the work"),
    matchOnDescription: true,
  });
  return picked?.pick?.();
}

/** The rows of `orch doctor`: what is installed, and what it tells of itself. */
async function usableWorkers(runner: CommandRunner, session: Session): Promise<readonly Choice[]> {
  const { cli } = runner.deps;
  const order = { starter: await cli(), command: "doctor", args: [], cwd: session.folder.uri.fsPath, timeoutMs };
  const { data } = await shortCommand(order, new AbortController().signal);
  return listIn(data, "checks")
    .flatMap((check) => listIn(check, "workers"))
    .filter((row) => textIn(row, "state") === "usable")
    .map((row) => ({
      label: textIn(row, "id"),
      description: plain(
        ["client", "model", "version"]
          .map((name) => textIn(row, name))
          .filter((one) => one !== "" && one !== textIn(row, "id"))
          .join(" "),
      ),
      detail: plain(textIn(row, "capability")),
      pick: async () => textIn(row, "id"),
    }));
}

function noneHere({ deps }: CommandRunner): Choice {
  const { t } = deps.vscode.l10n;
  return {
    label: t("None is installed here"),
    description: t("Doctor says how each comes here"),
    pick: async () => {
      await deps.vscode.commands.executeCommand("orch.doctor");
      return undefined;
    },
  };
}
