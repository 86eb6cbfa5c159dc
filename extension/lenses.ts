import path from "node:path";
import type * as vscode from "vscode";
import { isCommandName } from "../shared/app/commands.ts";
import { featuresDir, targetOfFile } from "./slice-place.ts";
import type { Sessions } from "./sessions.ts";
import { readSettings } from "./settings.ts";
import type { Vscode } from "./vscode-api.ts";

/** Actions above spec.md, Tests files and contracts, and nowhere else. */
export function registerLenses(vscode: Vscode, sessions: Sessions): vscode.Disposable {
  const { t } = vscode.l10n;
  const { CodeLens, Range } = vscode;
  const top = new Range(0, 0, 0, 0);
  const lens = (title: string, command: string, ...args: unknown[]): vscode.CodeLens =>
    new CodeLens(top, { title, command, arguments: args });

  async function provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (!readSettings(vscode).codeLens) return [];
    const session = sessions.ofFile(document.uri);
    if (session === undefined || !vscode.workspace.isTrusted) return [];
    const name = path.basename(document.fileName);
    if (document.fileName.includes(`${path.sep}.orch${path.sep}contracts${path.sep}`)) {
      return ["check", "run"]
        .filter(isCommandName)
        .map((command) => lens(`$(play) ${command}`, `orch.${command}`, { words: [document.fileName], session }));
    }
    const target = targetOfFile(document.fileName, await featuresDir(vscode, session.base));
    if (target === undefined) return [];
    if (name === "spec.md") {
      const last = session.feed.runs.find(({ state }) => state.contracts.some(({ feature }) => feature === target));
      return [
        lens(`$(play) ${t("Do")}`, "orch.do", { words: [target], session }),
        ...(isCommandName("modify") ? [lens(`$(edit) ${t("Modify")}`, "orch.modify", document.uri)] : []),
        ...(last === undefined ? [] : [lens(`$(diff) ${t("Last change")}`, "orch.host.lastDiff", last.run)]),
      ];
    }
    return /^Tests\.\w+$/.test(name)
      ? [lens(`$(beaker) ${t("Test this feature")}`, "orch.qa", { words: [path.dirname(document.fileName)] })]
      : [];
  }

  return vscode.languages.registerCodeLensProvider(
    [
      { scheme: "file", pattern: "**/spec.md" },
      { scheme: "file", pattern: "**/Tests.*" },
      { scheme: "file", pattern: "**/.orch/contracts/*.json" },
    ],
    { provideCodeLenses },
  );
}
