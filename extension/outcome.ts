import { plain } from "../shared/events/words.ts";
import type { Vscode } from "./vscode-api.ts";

/** What a person may press after a message: words and what they do. */
export interface Action {
  readonly label: string;
  run(): Promise<unknown>;
}

interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** `path:line` where something is to be mended. */
  readonly at?: string | undefined;
}

/** A refusal of the command line, as its document has it. */
export class CommandFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(faultWords(fault));
    this.fault = fault;
  }
}

/** Shows a message with buttons. Resolves when it is answered or goes away. */
export async function tell(
  vscode: Vscode,
  severity: "info" | "warning" | "error",
  words: string,
  actions: readonly Action[],
): Promise<void> {
  const { window } = vscode;
  const labels = actions.map(({ label }) => label);
  const show = {
    info: window.showInformationMessage,
    warning: window.showWarningMessage,
    error: window.showErrorMessage,
  }[severity];
  const picked = await show(words, ...labels);
  await actions.find(({ label }) => label === picked)?.run();
}

/** Buttons that mend what went wrong, by the refusal's code. */
export function fixActions(
  vscode: Vscode,
  fault: Fault,
  again: (overrides: Readonly<Record<string, unknown>>) => Promise<unknown>,
): readonly Action[] {
  const { t } = vscode.l10n;
  const call = (label: string, id: string, ...args: unknown[]): Action => ({
    label,
    run: async () => vscode.commands.executeCommand(id, ...args),
  });
  const log = call(t("Show the log"), "orch.host.showLog");
  switch (fault.code) {
    case "trust.needed":
      return [call(t("Look and decide"), "orch.trust")];
    case "git.not-a-repository":
      return [call(t("Initialize a repository"), "git.init"), call(t("Open another folder"), "vscode.openFolder")];
    case "git.missing":
    case "git.too-old":
      return [call(t("How to install git"), "vscode.open", vscode.Uri.parse("https://git-scm.com/downloads"))];
    case "tree.dirty":
    case "tree.in-progress":
    case "git.conflict":
      return [call(t("Show the changes"), "workbench.view.scm")];
    case "branch.open":
      return [
        { label: t("Go on anyway"), run: async () => again({ allowOpen: true }) },
        call(t("Merge"), "orch.merge"),
      ];
    case "git.no-remote":
    case "git.push-rejected":
      return [{ label: t("Keep it on this machine"), run: async () => again({ push: false }) }, log];
    case "branch.diverged":
      return [{ label: t("Update, then merge"), run: async () => again({ update: true }) }];
    case "run.locked":
      return [call(t("Show runs"), "orch.host.showRuns"), call(t("Cancel the other run"), "orch.cancel")];
    case "run.pending":
      return [call(t("Answer"), "orch.decision.answer")];
    case "model.exhausted":
    case "model.unknown":
    case "env.no-key":
    case "template.refused":
    case "cassette.unknown-prompt":
      return [call(t("Connect a model"), "orch.host.connectModel"), log];
    case "registry.invalid":
    case "config.invalid":
    case "rules.invalid":
    case "persona.invalid":
    case "file.invalid":
    case "spec.not-ready":
      return fault.at === undefined ? [log] : [call(t("Open the file"), "orch.finding.open", fault.at)];
    case "target.missing":
    case "target.unknown":
      return [call(t("New feature"), "orch.new"), call(t("Show features"), "orch.view.features.focus")];
    default:
      return [log];
  }
}

export function faultWords({ message, hint }: Fault): string {
  const what = plain(message);
  const sentence = /[.!?]$/.test(what) ? what : `${what}.`;
  return hint === undefined || hint === "" ? sentence : `${sentence} ${plain(hint)}`;
}
