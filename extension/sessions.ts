import type * as vscode from "vscode";
import { type Disposable, DisposableStore } from "../shared/base/disposable.ts";
import { Emitter } from "../shared/base/emitter.ts";
import { type FollowedRun, isActive } from "../shared/runner/run-feed.ts";
import { openSession, type Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

/** One session for each folder of the window; folders come and go. */
export class Sessions implements Disposable {
  readonly onOpened: Emitter<Session>;
  readonly onClosed: Emitter<Session>;
  readonly #vscode: Vscode;
  readonly #onError: (error: unknown) => void;
  readonly #store = new DisposableStore();
  readonly #byFolder = new Map<string, Session>();

  constructor(vscode: Vscode, onError: (error: unknown) => void) {
    this.#vscode = vscode;
    this.#onError = onError;
    this.onOpened = this.#store.add(new Emitter(onError));
    this.onClosed = this.#store.add(new Emitter(onError));
  }

  get all(): readonly Session[] {
    return [...this.#byFolder.values()];
  }

  /** Those of the window's own folders: what a command works on. */
  get opened(): readonly Session[] {
    const { workspace } = this.#vscode;
    return this.all.filter(({ folder }) => workspace.getWorkspaceFolder(folder.uri) !== undefined);
  }

  /** Runs that work or wait, of every folder. */
  get active(): readonly FollowedRun[] {
    return this.all.flatMap(({ feed }) => feed.runs).filter(isActive);
  }

  /** The session whose run it is. */
  ofRun(run: string): Session | undefined {
    return this.all.find(({ feed }) => feed.get(run) !== undefined);
  }

  ofFile(uri: vscode.Uri): Session | undefined {
    const folder = this.#vscode.workspace.getWorkspaceFolder(uri);
    return folder === undefined ? undefined : this.#byFolder.get(folder.uri.toString());
  }

  async open(): Promise<void> {
    const { workspace } = this.#vscode;
    this.#store.add(
      workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        for (const folder of removed) this.#close(folder);
        for (const folder of added) void this.#open(folder).catch(this.#onError);
      }),
    );
    for (const folder of workspace.workspaceFolders ?? []) await this.#open(folder);
  }

  /** The session of a folder that may not be open in this window: `init` begins with one. */
  async borrow(uri: vscode.Uri): Promise<Session> {
    const parts = uri.path.split("/");
    await this.#open({ uri, name: parts.at(-1) || uri.fsPath, index: -1 });
    const session = this.#byFolder.get(uri.toString());
    if (session === undefined) throw new TypeError(`no folder of a disk: ${uri.toString()}`);
    return session;
  }

  dispose(): void {
    for (const session of this.all) session.dispose();
    this.#store.dispose();
  }

  async #open(folder: vscode.WorkspaceFolder): Promise<void> {
    const key = folder.uri.toString();
    if (folder.uri.scheme !== "file" || this.#byFolder.has(key)) return;
    const session = openSession(folder, this.#onError);
    this.#byFolder.set(key, session);
    this.onOpened.fire(session);
    await session.feed.start();
  }

  #close(folder: vscode.WorkspaceFolder): void {
    const session = this.#byFolder.get(folder.uri.toString());
    if (session === undefined) return;
    this.#byFolder.delete(folder.uri.toString());
    session.dispose();
    this.onClosed.fire(session);
  }
}
