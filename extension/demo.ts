import os from "node:os";
import type { CommandRunner } from "./command-runner.ts";

/**
 * The demo in a terminal of its own: its lines stay on screen and can be copied. It works in a folder that it makes, so
 * neither a folder nor trust is needed, and it installs nothing.
 */
export async function runDemo(runner: CommandRunner): Promise<unknown> {
  const { cli, vscode } = runner.deps;
  const starter = await cli();
  await vscode.workspace.fs.stat(vscode.Uri.file(starter.entry));
  const terminal = vscode.window.createTerminal({
    name: vscode.l10n.t("Orch demo"),
    iconPath: new vscode.ThemeIcon("beaker"),
    shellPath: starter.execPath,
    shellArgs: ["--disable-warning=ExperimentalWarning", starter.entry, "demo", "--keep"],
    cwd: os.tmpdir(),
    env: { ...(starter.electron === true ? { ELECTRON_RUN_AS_NODE: "1" } : {}) },
    isTransient: true,
  });
  terminal.show();
  return terminal.name;
}
