import path from "node:path";
import type * as vscode from "vscode";
import { type Disposable, DisposableStore, toDisposable } from "../shared/base/disposable.ts";
import { gitDir, type FeatureRow, type Features } from "./features.ts";
import type { Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

export interface FeatureItem {
  readonly session: Session;
  readonly feature: FeatureRow;
}
type Row =
  | FeatureItem
  | { readonly session: Session; readonly domain: string; readonly rows: readonly FeatureRow[] }
  | { readonly fault: string };

const settleMs = 300;

/** Features by domain, with their state and branch. Read again when the registry, the slices or the branch change. */
export class FeaturesView implements vscode.TreeDataProvider<Row>, Disposable {
  readonly #vscode: Vscode;
  readonly #features: Features;
  readonly #sessions: () => readonly Session[];
  readonly #store = new DisposableStore();
  readonly #changed: vscode.EventEmitter<undefined>;
  readonly view: vscode.TreeView<Row>;
  readonly onDidChangeTreeData: vscode.Event<undefined>;
  readonly #watched = new Set<Session>();
  #timer: NodeJS.Timeout | undefined;

  constructor(vscode: Vscode, features: Features, sessions: () => readonly Session[]) {
    this.#vscode = vscode;
    this.#features = features;
    this.#sessions = sessions;
    this.#changed = this.#store.add(new vscode.EventEmitter<undefined>());
    this.onDidChangeTreeData = this.#changed.event;
    this.view = this.#store.add(
      vscode.window.createTreeView("orch.view.features", { treeDataProvider: this, showCollapseAll: true }),
    );
    this.#store.add(toDisposable(() => clearTimeout(this.#timer)));
  }

  /** Watches what changes the list: the registry, specs, and HEAD, which is outside the editor's own watchers. */
  async watch(session: Session): Promise<void> {
    const { RelativePattern, Uri, workspace } = this.#vscode;
    if (session.root === undefined || this.#watched.has(session)) return;
    this.#watched.add(session);
    const patterns = [
      new RelativePattern(Uri.file(session.base), "**/{.features.json,spec.md}"),
      new RelativePattern(Uri.file(await gitDir(this.#vscode, session.root)), "HEAD"),
    ];
    for (const pattern of patterns) {
      const watcher = this.#store.add(workspace.createFileSystemWatcher(pattern));
      const again = (): void => this.refresh(session);
      watcher.onDidChange(again);
      watcher.onDidCreate(again);
      watcher.onDidDelete(again);
    }
  }

  refresh(session?: Session): void {
    for (const one of session === undefined ? this.#sessions() : [session]) {
      this.#features.forget(one);
      void this.watch(one); // it may have become a repository
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#changed.fire(undefined), settleMs);
  }

  async getChildren(row?: Row): Promise<Row[]> {
    if (row !== undefined) {
      return "rows" in row ? row.rows.map((feature) => ({ session: row.session, feature })) : [];
    }
    const rows: Row[] = [];
    const sessions = this.#sessions();
    for (const session of sessions) {
      try {
        const list = await this.#features.list(session);
        const domains = [...new Set(list.map(({ domain }) => domain))];
        rows.push(...domains.map((domain) => ({ session, domain, rows: list.filter((one) => one.domain === domain) })));
      } catch (error) {
        rows.push({ fault: error instanceof Error ? error.message : String(error) });
      }
    }
    // Before a folder is open nobody knows.
    const none = sessions.length > 0 && rows.length === 0;
    void this.#vscode.commands.executeCommand("setContext", "orch.noFeature", none);
    return rows;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, Uri, l10n } = this.#vscode;
    if ("fault" in row) {
      const item = new TreeItem(row.fault);
      item.iconPath = new ThemeIcon("error");
      item.command = { command: "orch.host.showLog", title: l10n.t("Show the log") };
      return item;
    }
    if ("rows" in row) {
      const item = new TreeItem(row.domain, TreeItemCollapsibleState.Expanded);
      item.id = `${row.session.base}/${row.domain}`;
      item.description = String(row.rows.length);
      item.iconPath = new ThemeIcon("symbol-namespace");
      return item;
    }
    const { feature, session } = row;
    const item = new TreeItem(feature.name);
    item.id = `${session.base}/${feature.target}`;
    item.description = feature.state;
    item.tooltip = `${feature.target}: ${feature.state}`;
    const icon = feature.complete ? "symbol-class" : "circle-outline";
    item.iconPath = feature.onBranch
      ? new ThemeIcon("git-branch", new ThemeColor("charts.green"))
      : new ThemeIcon(icon);
    item.contextValue = feature.onBranch ? "feature onBranch" : "feature";
    item.resourceUri = Uri.file(path.join(session.base, feature.dir, "spec.md"));
    item.label = feature.name;
    item.accessibilityInformation = { label: `${feature.target}, ${feature.state}` };
    item.command = { command: "orch.feature.spec", title: l10n.t("Open spec.md"), arguments: [row] };
    return item;
  }

  dispose(): void {
    this.#store.dispose();
  }
}
