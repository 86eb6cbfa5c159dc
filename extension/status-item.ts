import type * as vscode from "vscode";
import { type Disposable, DisposableStore } from "../shared/base/disposable.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import { statusOf, type StatusView, tooltipCommands } from "./status.ts";
import type { Vscode } from "./vscode-api.ts";

export interface StatusItem extends Disposable {
  paint(runs: readonly FollowedRun[], open: readonly FollowedRun[]): void;
  /** What it says now. */
  readonly view: StatusView;
}

/** One item, left. It is painted from the runs alone and shown as soon as a folder is open. */
export function createStatusItem(vscode: Vscode): StatusItem {
  const store = new DisposableStore();
  const item = store.add(vscode.window.createStatusBarItem("status", vscode.StatusBarAlignment.Left, 50));
  item.name = "Orch";
  item.command = "orch.host.showRuns";
  let view = statusOf([], [], vscode.l10n.t);
  const show = (): void => {
    item.text = view.text;
    const words: vscode.MarkdownString = new vscode.MarkdownString(view.tooltip, true);
    words.isTrusted = { enabledCommands: tooltipCommands };
    item.tooltip = words;
    item.backgroundColor =
      view.tone === "plain" ? undefined : new vscode.ThemeColor(`statusBarItem.${view.tone}Background`);
    item.accessibilityInformation = { label: view.spoken, role: "status" };
  };
  show();
  item.show();
  return {
    get view() {
      return view;
    },
    paint(runs, open) {
      const next = statusOf(runs, open, vscode.l10n.t);
      if (next.text === view.text && next.tooltip === view.tooltip && next.tone === view.tone) return;
      view = next;
      show();
    },
    dispose: () => store.dispose(),
  };
}
