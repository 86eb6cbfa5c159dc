import path from "node:path";
import type * as vscode from "vscode";
import type { Starter } from "../shared/runner/client.ts";
import { readSettings } from "./settings.ts";
import type { Vscode } from "./vscode-api.ts";

/** Where this extension's own files are, and how programs of it are started on the editor's own Node. */
export interface Place {
  /** Folder of package.json, dist/, rules/ and personas/. */
  readonly root: string;
  readonly runner: string;
  readonly cli: string;
  readonly version: string;
}

export function placeOf(context: vscode.ExtensionContext): Place {
  const root = context.extensionUri.fsPath;
  const { version } = context.extension.packageJSON as { readonly version: string };
  return {
    root,
    runner: path.join(root, "dist/runner/main.mjs"),
    cli: path.join(root, "dist/cli/main.mjs"),
    version,
  };
}

/** `keys` are the stored keys of model providers: they travel in the environment and never on a command line. */
export function starterOf(vscode: Vscode, place: Place, keys: Readonly<Record<string, string>>): Starter {
  const own = readSettings(vscode).nodePath;
  return {
    entry: place.runner,
    execPath: own ?? process.execPath,
    env: { ...environment(), ...keys },
    // In a remote host `execPath` is a plain Node, which ignores the variable.
    electron: own === undefined,
  };
}

/** The person's environment without what the editor put there for its own children. */
function environment(): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !/^(VSCODE|ELECTRON)_|^NODE_OPTIONS$|^CHROME_/.test(name)) out[name] = value;
  }
  return out;
}

/** The user's state folder of Orch, as shared/adapters/machine.ts finds it. */
export function stateDir(): string {
  const env = process.env;
  const home = env["HOME"] ?? env["USERPROFILE"] ?? "/";
  if (process.platform === "win32") {
    const local = env["LOCALAPPDATA"];
    return path.join(
      local !== undefined && path.isAbsolute(local) ? local : path.join(home, "AppData/Local"),
      "orch",
      "state",
    );
  }
  const state = env["XDG_STATE_HOME"];
  return path.join(state !== undefined && path.isAbsolute(state) ? state : path.join(home, ".local/state"), "orch");
}
