import path from "node:path";
import type * as vscode from "vscode";
import type { Command } from "../shared/app/commands.ts";
import { OrchError } from "../shared/model/error.ts";
import type { ActiveBuffer } from "../shared/model/run-files.ts";
import { startRun, type Starter } from "../shared/runner/client.ts";
import { runIdAt } from "../shared/runner/host-files.ts";
import type { Given } from "./inputs.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

export interface StartOrder {
  readonly command: Command;
  readonly session: Session;
  readonly given: Given;
  readonly starter: Starter;
  /** Of the command's arguments, what differs from the defaults. */
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** Writes the request, starts the detached runner and takes the run up. Refuses with an OrchError. */
export async function startInvocation(vscode: Vscode, order: StartOrder): Promise<FollowedRun> {
  const { command, session, given, starter, overrides } = order;
  if (session.root === undefined && command.anywhere !== true) {
    throw new OrchError("git.not-a-repository", `${session.folder.uri.fsPath} is not in a git repository`);
  }
  const buffer = activeBuffer(vscode, session, given.file);
  const request = {
    v: 1 as const,
    command: command.name,
    args: {
      words: [...given.words],
      ...(given.prompt === undefined ? {} : { prompt: given.prompt }),
      ...overrides,
    },
    cwd: session.folder.uri.fsPath,
    host: "vscode" as const,
    at: Date.now(),
    ...(buffer === undefined ? {} : { activeBuffer: buffer }),
  };
  const ids = { next: () => runIdAt(Date.now()) };
  // A project that is about to be made, maybe in another folder, holds no runs yet.
  const runsDirs = command.name === "init" ? session.runsDirs.slice(-1) : session.runsDirs;
  const started = await startRun(request, { ...starter, runsDirs, ids });
  return session.feed.adopt(started.run, started.dir);
}

/** The file a person looks at: its path, its text only when unsaved, its selection only when there is one. */
function activeBuffer(vscode: Vscode, session: Session, uri?: vscode.Uri): ActiveBuffer | undefined {
  const { window, workspace } = vscode;
  const editor =
    uri === undefined
      ? window.activeTextEditor
      : window.visibleTextEditors.find((one) => one.document.uri.toString() === uri.toString());
  const document = editor?.document ?? workspace.textDocuments.find((one) => one.uri.toString() === uri?.toString());
  const at = document?.uri ?? uri;
  if (at === undefined || at.scheme !== "file") return undefined;
  const inside = path.relative(session.base, at.fsPath);
  if (inside.startsWith("..") || path.isAbsolute(inside)) return undefined;
  const selection = editor === undefined || editor.selection.isEmpty ? undefined : editor.selection;
  const dirty = document?.isDirty === true;
  return {
    path: at.fsPath,
    changed: dirty,
    ...(dirty ? { text: document.getText() } : {}),
    ...(selection === undefined
      ? {}
      : { selection: { startLine: selection.start.line + 1, endLine: selection.end.line + 1 } }),
  };
}
