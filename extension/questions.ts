import type * as vscode from "vscode";
import { type Disposable, DisposableStore, toDisposable } from "../shared/base/disposable.ts";
import { plain } from "../shared/events/words.ts";
import type { PendingAsk } from "../shared/events/run-state.ts";
import { isOrchError } from "../shared/model/error.ts";
import { dropReply } from "../shared/runner/drop.ts";
import type { FollowedRun, RunFeed } from "../shared/runner/run-feed.ts";
import { runnerAlive } from "../shared/runner/tail.ts";
import type { Vscode } from "./vscode-api.ts";

interface Choice extends vscode.QuickPickItem {
  readonly choice?: string;
}

/**
 * Asks what a run asks, and drops the reply into its folder. One question is open at a time; when another host answers
 * first, it closes by itself. A dismissed one stays in the Inbox.
 */
export class Questions implements Disposable {
  readonly #vscode: Vscode;
  readonly #goOn: (run: FollowedRun) => Promise<void>;
  readonly #store = new DisposableStore();
  readonly #asked = new Set<string>();
  #open: { readonly key: string; readonly close: () => void } | undefined;
  #queue: (() => Promise<void>)[] = [];
  #busy = false;

  /** `goOn` resumes a parked run once it has its answer. */
  constructor(vscode: Vscode, goOn: (run: FollowedRun) => Promise<void>) {
    this.#vscode = vscode;
    this.#goOn = goOn;
    this.#store.add(toDisposable(() => this.#open?.close()));
  }

  /** Follows one run: shows what it asks anew, retracts what was answered elsewhere. */
  follow(run: FollowedRun, feed: RunFeed): void {
    const keys = new Set(run.state.pending.map((ask) => keyOf(run, ask)));
    if (this.#open !== undefined && this.#open.key.startsWith(`${run.run}/`) && !keys.has(this.#open.key))
      this.#open.close();
    if (!run.own || run.standing === "interrupted") return;
    for (const ask of run.state.pending) {
      if (this.#asked.has(keyOf(run, ask))) continue;
      this.#asked.add(keyOf(run, ask));
      this.#enqueue(() => this.answer(run, ask, feed));
    }
  }

  /** Asks now. Resolves once it was answered, here or elsewhere, or dismissed. */
  async answer(run: FollowedRun, ask: PendingAsk, feed: RunFeed): Promise<void> {
    const still = feed.get(run.run)?.state.pending.some(({ id }) => id === ask.id) ?? false;
    if (!still) return;
    const said = ask.kind === "text" ? await this.#text(run, ask) : await this.#pick(run, ask);
    if (said === undefined) return;
    if (!this.drop(run, ask.id, said)) {
      const { t } = this.#vscode.l10n;
      void this.#vscode.window.showInformationMessage(t("It was answered already; the first answer stands."));
      return;
    }
    if (runnerAlive(run.dir)) return;
    try {
      await this.#goOn(run);
    } catch (error) {
      // Another host was quicker.
      if (!isOrchError(error, "run.locked") && !isOrchError(error, "run.finished")) throw error;
    }
  }

  /** False when an answer stands already. */
  drop(run: FollowedRun, id: string, said: { readonly choice: string } | { readonly text: string }): boolean {
    return dropReply(run.dir, { v: 1, id, by: "person", host: "vscode", at: Date.now(), ...said });
  }

  dispose(): void {
    this.#queue = [];
    this.#store.dispose();
  }

  #enqueue(ask: () => Promise<void>): void {
    this.#queue.push(ask);
    if (this.#busy) return;
    this.#busy = true;
    void this.#drain(); // it reports its own errors
  }

  async #drain(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        await next();
      } catch (error) {
        void this.#vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
      }
    }
    this.#busy = false;
  }

  #pick(run: FollowedRun, ask: PendingAsk): Promise<{ readonly choice: string } | undefined> {
    const { t } = this.#vscode.l10n;
    const picker = this.#vscode.window.createQuickPick<Choice>();
    picker.title = plain(ask.title);
    picker.placeholder =
      ask.detail === undefined ? t("Pick an answer; Escape leaves it in the Inbox") : plain(ask.detail);
    picker.ignoreFocusOut = true;
    const more: Choice[] =
      (ask.detail?.length ?? 0) > 100 ? [{ label: `$(info) ${t("Read all of it")}`, alwaysShow: true }] : [];
    picker.items = [
      ...ask.choices.map(({ id, label }) => ({
        label: plain(label),
        choice: id,
        ...(id === ask.otherwise ? { description: t("taken when nobody answers") } : {}),
      })),
      ...more,
    ];
    // Enter alone must neither trust nor remove anything.
    const safe = picker.items.find(({ choice }) => choice === (ask.otherwise ?? "no"));
    if (safe !== undefined) picker.activeItems = [safe];
    return this.#shown(keyOf(run, ask), picker, (answer) => {
      picker.onDidAccept(() => {
        const picked = picker.selectedItems[0];
        if (picked?.choice !== undefined) answer({ choice: picked.choice });
        else if (picked !== undefined) void this.#detail(ask);
      });
    });
  }

  #text(run: FollowedRun, ask: PendingAsk): Promise<{ readonly text: string } | undefined> {
    const box = this.#vscode.window.createInputBox();
    box.title = plain(ask.title);
    if (ask.detail !== undefined) box.prompt = plain(ask.detail);
    box.ignoreFocusOut = true;
    return this.#shown(keyOf(run, ask), box, (answer) => {
      box.onDidAccept(() => box.value.trim() !== "" && answer({ text: box.value }));
    });
  }

  #shown<T>(key: string, input: vscode.QuickInput, arm: (answer: (value: T) => void) => void): Promise<T | undefined> {
    return new Promise<T | undefined>((resolve) => {
      const end = (value: T | undefined): void => {
        if (this.#open?.key === key) this.#open = undefined;
        resolve(value);
        input.dispose();
      };
      this.#open = { key, close: () => end(undefined) };
      arm(end);
      input.onDidHide(() => end(undefined));
      input.show();
    });
  }

  async #detail(ask: PendingAsk): Promise<void> {
    const { window, workspace } = this.#vscode;
    const content = `${ask.title}\n\n${ask.detail ?? ""}\n`;
    await window.showTextDocument(await workspace.openTextDocument({ content }), {
      preserveFocus: true,
      preview: true,
    });
  }
}

function keyOf(run: FollowedRun, ask: PendingAsk): string {
  return `${run.run}/${ask.id}`;
}
