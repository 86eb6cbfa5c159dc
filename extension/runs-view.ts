import type * as vscode from "vscode";
import { type Disposable, DisposableStore, toDisposable } from "../shared/base/disposable.ts";
import { tree, type TreeNode } from "../shared/events/project.ts";
import { plain, type Words, wordsIn } from "../shared/events/words.ts";
import type { AttemptState, GateState, RunState } from "../shared/events/run-state.ts";
import { isResumable } from "../shared/events/standing.ts";
import { type FollowedRun, isActive } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

/**
 * A row of the runs view: run -> contract -> attempt -> gate -> finding, and a contract's reviews and merge, as
 * events/project.ts makes it.
 */
export interface RunRow {
  readonly session: Session;
  readonly run: string;
  readonly node: TreeNode;
  /** The newest of its siblings: the attempt that is looked at. */
  readonly last: boolean;
}
export type Row = RunRow | { readonly session: Session; readonly older: number };

/** The editor waits for 200 quiet milliseconds before it reads a tree again: firing more often would starve it. */
const repaintMs = 260;

const icons: Readonly<Record<TreeNode["tone"], readonly [icon: string, color: string | undefined]>> = {
  idle: ["circle-outline", undefined],
  busy: ["loading~spin", undefined],
  good: ["pass", "testing.iconPassed"],
  bad: ["error", "testing.iconFailed"],
  attention: ["bell", "notificationsWarningIcon.foreground"],
};

export class RunsView implements vscode.TreeDataProvider<Row>, Disposable {
  readonly #vscode: Vscode;
  readonly #words: Words;
  readonly #sessions: () => readonly Session[];
  readonly #changed: vscode.EventEmitter<Row | undefined>;
  readonly #store = new DisposableStore();
  readonly view: vscode.TreeView<Row>;
  readonly onDidChangeTreeData: vscode.Event<Row | undefined>;
  #timer: NodeJS.Timeout | undefined;

  constructor(vscode: Vscode, sessions: () => readonly Session[]) {
    this.#vscode = vscode;
    this.#words = wordsIn(vscode.l10n.t);
    this.#sessions = sessions;
    this.#changed = this.#store.add(new vscode.EventEmitter<Row | undefined>());
    this.onDidChangeTreeData = this.#changed.event;
    this.view = this.#store.add(
      vscode.window.createTreeView("orch.view.runs", { treeDataProvider: this, showCollapseAll: true }),
    );
    this.#store.add(toDisposable(() => clearTimeout(this.#timer)));
    this.#store.add(this.view.onDidChangeVisibility(({ visible }) => visible && this.#changed.fire(undefined)));
  }

  /** Called on every change; an unseen view costs nothing. */
  paint(): void {
    if (this.#timer !== undefined || !this.view.visible) return;
    this.#changed.fire(undefined);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#changed.fire(undefined);
    }, repaintMs);
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) return this.#sessions().flatMap((session) => this.#top(session));
    if (!("node" in row)) {
      row.session.feed.readOlder();
      return [];
    }
    const { children } = row.node;
    return children.map((node, index) => ({
      session: row.session,
      run: row.run,
      node,
      last: index === children.length - 1,
    }));
  }

  getParent(): undefined {
    return undefined;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { TreeItem, TreeItemCollapsibleState, ThemeIcon, ThemeColor, l10n } = this.#vscode;
    if (!("node" in row)) {
      const item = new TreeItem(l10n.t("{0} older runs", row.older), TreeItemCollapsibleState.Collapsed);
      item.id = `older/${row.session.base}/${row.older}`;
      item.iconPath = new ThemeIcon("history");
      return item;
    }
    const { node } = row;
    const open = folding(row);
    const item = new TreeItem(node.label, TreeItemCollapsibleState[open]);
    item.id = node.id;
    item.description = node.detail;
    const [icon, color] = icons[node.tone];
    item.iconPath = color === undefined ? new ThemeIcon(icon) : new ThemeIcon(icon, new ThemeColor(color));
    item.tooltip = `${node.label}: ${node.detail}`;
    item.accessibilityInformation = { label: `${this.#kindWord(node)}${node.label}, ${node.detail}` };
    item.contextValue = this.#context(row);
    const command = this.#command(row);
    if (command !== undefined) item.command = command;
    return item;
  }

  dispose(): void {
    this.#store.dispose();
  }

  #top(session: Session): Row[] {
    const runs = session.feed.runs.filter(({ state }) => state.seq > 0);
    const states = runs.map(({ state }) => state);
    const rows: Row[] = runs.map((one) => ({
      session,
      run: one.run,
      node: named(one, states, this.#words),
      last: false,
    }));
    return session.feed.olderCount === 0 ? rows : [...rows, { session, older: session.feed.olderCount }];
  }

  /** The label of an attempt says what it is. */
  #kindWord({ kind }: TreeNode): string {
    return kind === "attempt" ? "" : `${this.#words.kindText(kind)} `;
  }

  #context(row: RunRow): string {
    const run = row.session.feed.get(row.run);
    if (run === undefined) return row.node.kind;
    const flags: string[] = [row.node.kind];
    if (row.node.kind === "run") {
      if (isActive(run)) flags.push("runActive");
      if (isResumable(run.standing)) flags.push("runResumable");
    }
    const attempt = row.node.kind === "attempt" ? attemptOf(run, row.node.id) : undefined;
    if (attempt !== undefined) {
      if (attempt.change?.patch !== undefined) flags.push("hasDiff");
      if (attempt.verdict !== undefined) flags.push("hasReport");
      if (attempt.feedback !== undefined) flags.push("hasFeedback");
      if (attempt.change?.patch !== undefined && attempt.decision !== undefined && attempt.decision.kind !== "accept")
        flags.push("canApply");
    }
    if (row.node.kind === "gate" && gateOf(run, row.node.id)?.log !== undefined) flags.push("hasLog");
    return flags.join(" ");
  }

  #command(row: RunRow): vscode.Command | undefined {
    const { t } = this.#vscode.l10n;
    if (row.node.kind === "ask") return { command: "orch.decision.answer", title: t("Answer"), arguments: [row] };
    if (row.node.kind === "finding") return { command: "orch.finding.open", title: t("Open"), arguments: [row] };
    return undefined;
  }
}

/** A run is called by its command and what it works on. */
function named(run: FollowedRun, runs: readonly RunState[], words: Words): TreeNode {
  const node = tree(run.state, run.alive, runs, words);
  const [contract] = run.state.contracts;
  const { command, title } = run.state;
  const subject =
    contract?.feature ??
    (title === command || title.startsWith(`${command} `) ? title.slice(command.length + 1) : title);
  const whole = plain(`${command} ${subject}`);
  const label = whole.length > 60 ? `${whole.slice(0, 59)}…` : whole;
  const { startedAt, lastAt } = run.state;
  const took = startedAt === undefined || lastAt === undefined ? "" : `, ${words.durationText(lastAt - startedAt)}`;
  return { ...node, label: label === "" ? node.label : label, detail: `${node.detail}${took}` };
}

/** What runs is open, and the attempt that decided a failure; the rest is a click away. */
function folding({ node, last }: RunRow): "None" | "Collapsed" | "Expanded" {
  if (node.children.length === 0) return "None";
  const open =
    node.kind === "contract" || node.tone === "busy" || (node.kind === "attempt" && last && node.tone !== "good");
  return open ? "Expanded" : "Collapsed";
}

/** The attempt that a row's id names: `run/contract/attempt-N[/gate[/finding]]`. */
export function attemptOf(run: FollowedRun, id: string): AttemptState | undefined {
  for (const contract of run.state.contracts) {
    for (const attempt of contract.attempts) {
      const own = `${run.run}/${contract.id}/attempt-${attempt.attempt}`;
      if (id === own || id.startsWith(`${own}/`)) return attempt;
    }
  }
  return undefined;
}

export function contractOfRow(run: FollowedRun, id: string): string | undefined {
  return run.state.contracts.find(
    (contract) => id === `${run.run}/${contract.id}` || id.startsWith(`${run.run}/${contract.id}/`),
  )?.id;
}

export function gateOf(run: FollowedRun, id: string): GateState | undefined {
  const attempt = attemptOf(run, id);
  return attempt?.gates.find(({ gate }) => id.endsWith(`/attempt-${attempt.attempt}/${gate}`));
}
