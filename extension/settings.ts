import type * as vscode from "vscode";
import type { Vscode } from "./vscode-api.ts";

/** The editor's own settings of Orch, as they are used: a value of the wrong type counts as the default. */
export interface Settings {
  readonly nodePath: string | undefined;
  readonly notifications: "all" | "decisions" | "none";
  readonly serve: boolean;
  readonly codeLens: boolean;
}

const levels = ["all", "decisions", "none"] as const;

export function readSettings(vscode: Vscode): Settings {
  return read(vscode).settings;
}

/** Says which settings have no effect, once for each state of them, and leads there. */
export function watchSettings(vscode: Vscode): vscode.Disposable {
  let told = "";
  const tell = (): void => {
    const { faults } = read(vscode);
    const key = faults.join();
    if (key === told) return;
    told = key;
    if (key === "") return;
    const { t } = vscode.l10n;
    const open = t("Open Settings");
    const words = t("Without effect, for it has the wrong type: {0}.", faults.join(", "));
    void vscode.window
      .showWarningMessage(words, open)
      .then((picked) =>
        picked === open ? vscode.commands.executeCommand("workbench.action.openSettings", "@ext:orch.orch") : undefined,
      );
  };
  tell();
  return vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("orch") && tell());
}

function read(vscode: Vscode): { readonly settings: Settings; readonly faults: readonly string[] } {
  const configured = vscode.workspace.getConfiguration("orch");
  const faults: string[] = [];
  const take = <T>(name: string, fits: (value: unknown) => value is T, otherwise: T): T => {
    const value = configured.get<unknown>(name);
    if (value === undefined || fits(value)) return value ?? otherwise;
    faults.push(`orch.${name}`);
    return otherwise;
  };
  const isText = (value: unknown): value is string => typeof value === "string";
  const isSwitch = (value: unknown): value is boolean => typeof value === "boolean";
  const isLevel = (value: unknown): value is Settings["notifications"] => levels.some((level) => level === value);
  const nodePath = take("nodePath", isText, "").trim();
  const settings: Settings = {
    nodePath: nodePath === "" ? undefined : nodePath,
    notifications: take("notifications", isLevel, "all"),
    serve: take("languageModels.serve", isSwitch, true),
    codeLens: take("codeLens", isSwitch, true),
  };
  return { settings, faults };
}
