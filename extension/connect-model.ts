import type * as vscode from "vscode";
import os from "node:os";
import { isCommandName } from "../shared/app/commands.ts";
import { shortCommand } from "../shared/runner/short-command.ts";
import type { CommandRunner } from "./command-runner.ts";
import { CommandFault } from "./outcome.ts";

/** Where the model that was picked waits for the next run. */
export const nextModelKey = "orch.nextModel";

interface Choice extends vscode.QuickPickItem {
  readonly id?: string;
  readonly ask?: () => Promise<unknown>;
}

/** Picks the model that leads. It is the same choice as on the command line: `model_config.json`. */
export async function connectModel(runner: CommandRunner): Promise<string | undefined> {
  const { keys, vscode } = runner.deps;
  const { t } = vscode.l10n;
  const found = await vscode.lm.selectChatModels();
  const ofEditor = found.filter(({ vendor }) => vendor !== "orch");
  const separator = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items: Choice[] = [
    separator(t("Models of this editor, no key needed")),
    ...ofEditor.map((model): Choice => ({
      label: model.name,
      description: model.vendor,
      detail: `vscode-lm/${model.vendor}/${model.id}`,
      id: `vscode-lm/${model.vendor}/${model.id}`,
    })),
    ...(ofEditor.length === 0
      ? [{ label: t("None is offered here"), description: t("sign in to a provider of the editor first") }]
      : []),
    separator(t("Others")),
    { label: t("Name a model by its id"), description: "provider/model", ask: () => askModelId(vscode) },
    { label: t("Store a provider's key"), ask: () => keys.askAndStore() },
    {
      label: t("Built-in template"),
      description: "builtin/template",
      detail: t("Writes simple features from the spec's tables, without a model"),
      id: "builtin/template",
    },
    { label: t("Choose for me"), description: "auto", id: "auto" },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: t("Connect a model"),
    placeHolder: t("It leads this run and later ones; the rest of your chain follows"),
    matchOnDetail: true,
  });
  const id = picked?.id ?? (await picked?.ask?.());
  if (typeof id !== "string" || picked?.label === t("Store a provider's key")) return undefined;
  await keepModel(runner, id);
  vscode.window.setStatusBarMessage(t("Orch: {0} leads", id), 6000);
  return id;
}

/** Written down by `orch model`, as a person's decision; where that command does not exist, by the next run. */
async function keepModel(runner: CommandRunner, id: string): Promise<void> {
  const { cli, memory, sessions } = runner.deps;
  if (!isCommandName("model")) return memory.update(nextModelKey, id);
  const cwd = sessions.all[0]?.folder.uri.fsPath ?? os.homedir();
  const order = { starter: await cli(), command: "model", args: ["--yes", id], cwd, timeoutMs: 60_000 };
  const document = await shortCommand(order, new AbortController().signal);
  if (document.error !== undefined) throw new CommandFault(document.error);
}

export async function askModelId(vscode: CommandRunner["deps"]["vscode"]): Promise<string | undefined> {
  const { t } = vscode.l10n;
  return vscode.window.showInputBox({
    title: t("Model id"),
    placeHolder: "openrouter/poolside/laguna-s-2.1:free",
    validateInput: (text) => (/^[^\s/-][^\s/]*\/\S+$/.test(text) ? undefined : t("An id is provider/model.")),
  });
}
