import type * as vscode from "vscode";
import { type Disposable, DisposableStore } from "../shared/base/disposable.ts";
import { openAsks } from "../shared/events/open-runs.ts";
import { plain } from "../shared/events/words.ts";
import type { PendingAsk } from "../shared/events/run-state.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

export interface InboxRow {
  readonly session: Session;
  readonly run: FollowedRun;
  readonly ask: PendingAsk;
}

/** What waits for a person in any run, decisions first. The badge counts decisions, not activity. */
export class InboxView implements vscode.TreeDataProvider<InboxRow>, Disposable {
  readonly #vscode: Vscode;
  readonly #sessions: () => readonly Session[];
  readonly #store = new DisposableStore();
  readonly #changed: vscode.EventEmitter<undefined>;
  readonly view: vscode.TreeView<InboxRow>;
  readonly onDidChangeTreeData: vscode.Event<undefined>;
  #shown = "";

  constructor(vscode: Vscode, sessions: () => readonly Session[]) {
    this.#vscode = vscode;
    this.#sessions = sessions;
    this.#changed = this.#store.add(new vscode.EventEmitter<undefined>());
    this.onDidChangeTreeData = this.#changed.event;
    this.view = this.#store.add(vscode.window.createTreeView("orch.view.inbox", { treeDataProvider: this }));
  }

  paint(): void {
    const rows = this.getChildren();
    const shown = rows.map(({ run, ask }) => `${run.run}/${ask.id}`).join();
    if (shown === this.#shown) return;
    this.#shown = shown;
    const decisions = rows.filter(({ ask }) => ask.weight === "decision").length;
    const { t } = this.#vscode.l10n;
    this.view.badge =
      decisions === 0
        ? undefined
        : {
            value: decisions,
            tooltip: decisions === 1 ? t("1 decision waits for you") : t("{0} decisions wait for you", decisions),
          };
    this.#changed.fire(undefined);
  }

  getChildren(row?: InboxRow): InboxRow[] {
    if (row !== undefined) return [];
    return waiting(this.#sessions());
  }

  getTreeItem({ run, ask }: InboxRow): vscode.TreeItem {
    const { TreeItem, ThemeIcon, l10n } = this.#vscode;
    const item = new TreeItem(plain(ask.title));
    item.id = `${run.run}/${ask.id}`;
    item.description = `${run.state.command} ${run.run}`;
    if (ask.detail !== undefined) item.tooltip = ask.detail;
    item.iconPath = new ThemeIcon(ask.weight === "decision" ? "bell-dot" : "question");
    item.contextValue = "decision";
    item.command = {
      command: "orch.decision.answer",
      title: l10n.t("Answer"),
      arguments: [{ session: undefined, run: run.run, ask: ask.id }],
    };
    const kind = ask.weight === "decision" ? l10n.t("decision") : l10n.t("question");
    item.accessibilityInformation = { label: `${kind}: ${plain(ask.title)}` };
    return item;
  }

  dispose(): void {
    this.#store.dispose();
  }
}

export function waiting(sessions: readonly Session[]): InboxRow[] {
  const rows = sessions.flatMap((session) =>
    session.feed.open.flatMap((run) => openAsks(run).map((ask) => ({ session, run, ask }))),
  );
  return rows.toSorted((a, b) => weight(a) - weight(b) || a.ask.askedAt - b.ask.askedAt);
}

function weight({ ask }: InboxRow): number {
  return ask.weight === "decision" ? 0 : 1;
}
