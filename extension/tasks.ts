import type * as vscode from "vscode";
import type { Starter } from "../shared/runner/client.ts";
import type { Sessions } from "./sessions.ts";
import type { Vscode } from "./vscode-api.ts";

/** `orch: qa` beside a project's other tasks, with its findings matched as problems. */
export function registerTasks(vscode: Vscode, sessions: Sessions, cli: () => Promise<Starter>): vscode.Disposable {
  const task = async (folder: vscode.WorkspaceFolder, definition: vscode.TaskDefinition): Promise<vscode.Task> => {
    const starter = await cli();
    const more: unknown = definition["args"];
    const args = [
      ...(starter.execArgv ?? []),
      "--disable-warning=ExperimentalWarning",
      starter.entry,
      "qa",
      ...(Array.isArray(more) ? more.map(String) : []),
    ];
    const env = { ...(starter.electron === true ? { ELECTRON_RUN_AS_NODE: "1" } : {}), NO_COLOR: "1" };
    const execution = new vscode.ProcessExecution(starter.execPath, args, { cwd: folder.uri.fsPath, env });
    const made = new vscode.Task(definition, folder, "qa", "orch", execution, ["$orch", "$orch-file"]);
    made.group = vscode.TaskGroup.Test;
    made.detail = vscode.l10n.t("Audit every source file and run every feature's tests");
    return made;
  };
  return vscode.tasks.registerTaskProvider("orch", {
    provideTasks: () => Promise.all(sessions.all.map(({ folder }) => task(folder, { type: "orch", command: "qa" }))),
    resolveTask: (asked) => {
      const folder = typeof asked.scope === "object" ? asked.scope : sessions.all[0]?.folder;
      return asked.definition["command"] === "qa" && folder !== undefined ? task(folder, asked.definition) : undefined;
    },
  });
}
