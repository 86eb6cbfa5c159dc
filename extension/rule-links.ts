import path from "node:path";
import type * as vscode from "vscode";
import type { Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

/** Where a rule stands: its file and line, so that a Problem links to what it was held against. */
export interface RuleLinks {
  find(session: Session, rule: string): vscode.Uri | undefined;
  /** Reads the rule files: the installed ones, and those of a repository. */
  load(session?: Session): Promise<void>;
}

export function createRuleLinks(vscode: Vscode, root: string): RuleLinks {
  const installed = new Map<string, vscode.Uri>();
  const own = new Map<string, Map<string, vscode.Uri>>();
  return {
    find: (session, rule) => own.get(session.base)?.get(rule) ?? installed.get(rule),
    async load(session) {
      if (session === undefined) await read(vscode, path.join(root, "rules"), installed);
      else {
        const found = new Map<string, vscode.Uri>();
        await read(vscode, path.join(session.base, ".orch/rules"), found);
        own.set(session.base, found);
      }
    },
  };
}

async function read(vscode: Vscode, folder: string, into: Map<string, vscode.Uri>): Promise<void> {
  for (const [set, kind] of await entries(vscode, folder)) {
    if (kind !== vscode.FileType.Directory) continue;
    for (const [name] of await entries(vscode, path.join(folder, set))) {
      if (!name.endsWith(".json") || name === "pack.json") continue;
      const uri = vscode.Uri.file(path.join(folder, set, name));
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      for (const [index, line] of text.split("\n").entries()) {
        const id = /"id":\s*"([A-Za-z][\w.-]*)"/.exec(line)?.[1];
        if (id !== undefined && !into.has(id)) into.set(id, uri.with({ fragment: `L${index + 1}` }));
      }
    }
  }
}

async function entries(vscode: Vscode, folder: string): Promise<readonly [string, vscode.FileType][]> {
  try {
    return await vscode.workspace.fs.readDirectory(vscode.Uri.file(folder));
  } catch {
    return [];
  }
}
