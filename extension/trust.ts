import path from "node:path";
import type * as vscode from "vscode";
import { plain } from "../shared/events/words.ts";
import type { CommandRunner } from "./command-runner.ts";
import { faultWords } from "./outcome.ts";
import type { Session } from "./session.ts";
import { type CommandDocument, listIn, shortCommand, textIn } from "../shared/runner/short-command.ts";

const timeoutMs = 60_000;

/**
 * Orch's own trust, by content hash: what this repository would run is said in words, what would take effect is shown as
 * a diff against what was trusted before, and the hash of what was shown is the hash that is trusted: a file that changes
 * meanwhile is refused. The editor's workspace trust comes before it and does not answer it.
 */
export async function decideTrust(runner: CommandRunner, session: Session): Promise<boolean> {
  const { cli, vscode } = runner.deps;
  const { t } = vscode.l10n;
  const cwd = session.folder.uri.fsPath;
  const ask = async (args: readonly string[]): Promise<CommandDocument> =>
    shortCommand({ starter: await cli(), command: "trust", args, cwd, timeoutMs }, new AbortController().signal);
  const look = await ask(["--dry-run"]);
  const state: Readonly<Record<string, unknown>> = { ...(look.data as object | null) };
  const hash = textIn(state, "hash");
  if (!look.ok || hash === "") {
    void vscode.window.showErrorMessage(faultWords(look.error ?? { code: "", message: look.summary }));
    return false;
  }
  if (state["trusted"] === true) {
    void vscode.window.showInformationMessage(plain(look.summary));
    return true;
  }
  await showWhatWaits(runner, session, state);
  // A picker would stand in front of the diff.
  const trust = t("Trust it");
  const why = plain(look.summary).replace(/^not trusted: (.)/, (_all, first: string) => first.toUpperCase());
  const words = `${t("Trust {0}?", session.folder.name)} ${why}.`;
  if ((await vscode.window.showWarningMessage(words, trust, t("Not now"))) !== trust) return false;
  const done = await ask(["--hash", hash]);
  if (done.ok) void vscode.window.showInformationMessage(plain(done.summary));
  else void vscode.window.showErrorMessage(faultWords(done.error ?? { code: "", message: done.summary }));
  return done.ok;
}

/** One diff editor for everything that waits; nothing opens where only the code itself is in question. */
async function showWhatWaits(
  runner: CommandRunner,
  session: Session,
  state: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { changes, vscode } = runner.deps;
  const { t } = vscode.l10n;
  const { texts } = changes;
  const resources: [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined][] = [];
  for (const row of listIn(state, "waiting")) {
    const name = textIn(row, "path");
    const file = vscode.Uri.file(path.join(session.base, name));
    const former = row["former"];
    // By the file's own path: another one would be shown as a rename.
    const at = file.path.slice(1);
    const before = typeof former === "string" ? texts.put(at, `trusted/${textIn(state, "hash")}`, former) : undefined;
    resources.push([file, before, file]);
  }
  const keys = listIn(state, "gitKeys").map((row) => `${textIn(row, "key")} = ${textIn(row, "value")}`);
  if (keys.length > 0) {
    const shown = texts.put("git config", `trusted/${textIn(state, "hash")}`, `${keys.join("\n")}\n`);
    resources.push([shown, undefined, shown]);
  }
  if (resources.length === 0) return;
  await vscode.commands.executeCommand(
    "vscode.changes",
    t("What would take effect in {0}", session.folder.name),
    resources,
  );
}
