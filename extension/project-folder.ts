import type * as vscode from "vscode";
import type { Inputs } from "./inputs.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import type { Vscode } from "./vscode-api.ts";

/**
 * The folder that `init` is about: the one it was called on, else one that is open, else one that the person picks. No
 * folder has to be open to set one up.
 */
export async function projectFolder(
  vscode: Vscode,
  sessions: Sessions,
  inputs: Inputs,
  args: readonly unknown[],
): Promise<Session | undefined> {
  const [first] = args;
  if (first instanceof vscode.Uri) return sessions.borrow(first);
  if (sessions.opened.length > 0) return inputs.pickSession(sessions.opened);
  const { t } = vscode.l10n;
  const picked = await vscode.window.showOpenDialog({
    title: t("The folder to set up"),
    openLabel: t("Set up"),
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
  });
  return picked?.[0] === undefined ? undefined : sessions.borrow(picked[0]);
}

/** Whether the folder stands in this window; one that was set up from elsewhere waits to be opened. */
export function isOpenHere(vscode: Vscode, folder: vscode.Uri): boolean {
  return vscode.workspace.getWorkspaceFolder(folder) !== undefined;
}
