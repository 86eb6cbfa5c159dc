import path from "node:path";
import type { Command } from "../shared/app/commands.ts";
import { plain, wordsIn } from "../shared/events/words.ts";
import { isResumable } from "../shared/events/standing.ts";
import { isActive } from "../shared/runner/run-feed.ts";
import type { Features } from "./features.ts";
import { waiting } from "./inbox-view.ts";
import type { Session } from "./session.ts";
import type { TitleOf } from "./titles.ts";
import type { Vscode } from "./vscode-api.ts";

interface PickOrder {
  readonly command: Command;
  readonly session: Session;
  /** Whether the command takes several. */
  readonly many: boolean;
}

type Picker = (order: PickOrder) => Promise<string | readonly string[] | undefined>;

/** What a command's argument may be, by the table's `completes`; undefined when dismissed, or when there is nothing. */
export function createPickers(
  vscode: Vscode,
  features: Features,
  titleOf: TitleOf,
): Readonly<Record<string, Picker | undefined>> {
  const { t } = vscode.l10n;
  const words = wordsIn(t);
  return {
    "contract-file": ({ command, session, many }) => pickContracts(command, session, many),
    contract: ({ session }) => pickContract(session),
    run: ({ command, session }) => pickRun(command, session),
    trash: ({ session }) => pickTrash(session),
    decision: ({ session }) => pickDecision(session),
    attempt: ({ session }) => pickAttempt(session),
  };

  async function pickRun(command: Command, session: Session): Promise<string | undefined> {
    const fits = session.feed.runs.filter(
      (run) => command.name !== "cancel" || isActive(run) || isResumable(run.standing),
    );
    if (fits.length === 0) {
      void vscode.window.showInformationMessage(
        command.name === "cancel" ? t("Nothing runs here.") : t("There is no run to continue."),
      );
      return undefined;
    }
    if (fits.length === 1 && command.name !== "status") return fits[0]?.run;
    const items = fits.map((run) => ({
      label: plain(run.state.title === "" ? run.state.command : run.state.title),
      description: words.standingText(run.standing),
      detail: run.run,
      run: run.run,
    }));
    return (await vscode.window.showQuickPick(items, { title: titleOf(command.name), matchOnDetail: true }))?.run;
  }

  /** Files of `.orch/contracts`; several where the command takes several. */
  async function pickContracts(
    command: Command,
    session: Session,
    many: boolean,
  ): Promise<readonly string[] | undefined> {
    const pattern = new vscode.RelativePattern(vscode.Uri.file(session.base), ".orch/contracts/*.json");
    const files = (await vscode.workspace.findFiles(pattern)).map(({ fsPath }) => fsPath).toSorted();
    if (files.length === 0) {
      void vscode.window.showInformationMessage(t("There is no contract in .orch/contracts yet."));
      return undefined;
    }
    const items = files.map((file) => ({ label: path.basename(file, ".json"), file }));
    const title = titleOf(command.name);
    const picked = many
      ? await vscode.window.showQuickPick(items, { title, canPickMany: true })
      : await vscode.window.showQuickPick(items, { title });
    const chosen = [picked].flat().flatMap((one) => (one === undefined ? [] : [one.file]));
    return chosen.length === 0 ? undefined : chosen;
  }

  /** Contracts that runs here carried out, those that wait for a review first. */
  async function pickContract(session: Session): Promise<string | undefined> {
    const known = session.feed.runs
      .flatMap(({ alive, state }) => state.contracts.map((contract) => ({ ...contract, alive })))
      .filter(({ feature }) => feature === undefined);
    const items = [...new Map(known.map((one) => [one.id, one])).values()]
      .toSorted((a, b) => Number(b.phase === "awaiting-review") - Number(a.phase === "awaiting-review"))
      .map((one) => ({ label: one.id, description: words.phaseText(one, one.alive), detail: plain(one.title) }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage(t("No run of this folder carried out a contract yet."));
      return undefined;
    }
    return (await vscode.window.showQuickPick(items, { title: t("Which contract?"), matchOnDetail: true }))?.label;
  }

  async function pickTrash(session: Session): Promise<string | undefined> {
    const stored = await features.removed(session);
    if (stored.length === 0) {
      void vscode.window.showInformationMessage(t("Nothing was removed that could be restored."));
      return undefined;
    }
    const items = stored.map(({ id, what, detail }) => ({ label: what, description: id, detail, id }));
    return (await vscode.window.showQuickPick(items, { title: t("What is to come back?"), matchOnDescription: true }))
      ?.id;
  }

  async function pickDecision(session: Session): Promise<string | undefined> {
    const rows = waiting([session]);
    if (rows.length === 0) {
      void vscode.window.showInformationMessage(t("No decision is waiting for you."));
      return undefined;
    }
    const items = rows.map(({ ask, run }) => ({ label: plain(ask.title), description: run.state.command, id: ask.id }));
    return items.length === 1
      ? items[0]?.id
      : (await vscode.window.showQuickPick(items, { title: t("Which one?") }))?.id;
  }

  async function pickAttempt(session: Session): Promise<string | undefined> {
    const items = session.feed.runs.flatMap((run) =>
      run.state.contracts.flatMap((contract) =>
        contract.attempts
          .filter(
            ({ change, decision }) =>
              change?.patch !== undefined && decision !== undefined && decision.kind !== "accept",
          )
          .map(({ attempt, change }) => ({
            label: `${plain(contract.title)}, ${t("attempt {0}", attempt)}`,
            description: `+${change?.added ?? 0} -${change?.removed ?? 0}`,
            detail: `${run.run}/${contract.id}/attempt-${attempt}`,
          })),
      ),
    );
    if (items.length === 0) {
      void vscode.window.showInformationMessage(t("No failed attempt kept a change."));
      return undefined;
    }
    return (await vscode.window.showQuickPick(items, { title: t("Which change?"), matchOnDetail: true }))?.detail;
  }
}
