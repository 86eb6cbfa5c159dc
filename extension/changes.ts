import path from "node:path";
import type * as vscode from "vscode";
import type { AttemptState } from "../shared/events/run-state.ts";
import type { EventBody } from "../shared/model/event.ts";
import { applyHunks, parsePatch, type PatchFile, reversed } from "../shared/model/patch.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import { Texts } from "./texts.ts";
import type { Vscode } from "./vscode-api.ts";

/** The part of the editor's own git extension that is used. */
interface GitExtension {
  getAPI(version: 1): { getRepository(uri: vscode.Uri): { show(ref: string, path: string): Promise<string> } | null };
}

type Resource = [label: vscode.Uri, original: vscode.Uri | undefined, modified: vscode.Uri | undefined];

interface Found {
  readonly session: Session;
  readonly run: FollowedRun;
}

/** Changes of attempts in the editor's own diff editors. Both sides are read-only texts; nothing is written. */
export class Changes {
  readonly #vscode: Vscode;
  readonly #bases = new Map<string, string>();
  readonly texts: Texts;

  /** `find` resolves once the runs that were there have been read. */
  constructor(vscode: Vscode, find: (run: string) => Promise<Found | undefined>) {
    this.#vscode = vscode;
    this.texts = new Texts(vscode, (uri) => this.#again(uri, find));
  }

  /** What an attempt is measured against is told when it starts. */
  noteBase(run: string, { contract, attempt, base }: EventBody<"attempt.started">): void {
    this.#bases.set(`${run}/${contract}/${attempt}`, base);
  }

  /** Opens an attempt's change: one multi-file diff. False when there is none to show. */
  async open(session: Session, run: FollowedRun, contract: string, attempt: AttemptState): Promise<boolean> {
    const patch = attempt.change?.patch;
    if (patch === undefined) return false;
    const { Uri, commands, l10n } = this.#vscode;
    const resources = await this.#resources(session, run, contract, attempt, patch.path);
    const title = l10n.t("{0}, attempt {1}", contract, attempt.attempt);
    if (resources.length === 0) await commands.executeCommand("vscode.open", Uri.file(path.join(run.dir, patch.path)));
    else await commands.executeCommand("vscode.changes", title, resources);
    return true;
  }

  /** A diff that the window restores after a reload asks for texts that nobody made yet. */
  async #again({ path: name, query }: vscode.Uri, find: (run: string) => Promise<Found | undefined>): Promise<void> {
    const [, id = "", rest = ""] = /^([^/]+)\/(.+)$/.exec(query) ?? [];
    const found = await find(id);
    if (found === undefined) return;
    const [, contract = "", number] = /^(.+)\/attempt-(\d+)\/(?:base|attempt)$/.exec(rest) ?? [];
    const known = found.run.state.contracts.find((one) => one.id === contract);
    const attempt = known?.attempts.find((one) => one.attempt === Number(number));
    const patch = attempt?.change?.patch;
    if (attempt !== undefined && patch !== undefined)
      await this.#resources(found.session, found.run, contract, attempt, patch.path);
    else await this.#side(found.run, name.slice(1), rest);
  }

  /** A text that a run shows, out of its folder. */
  async #side(run: FollowedRun, file: string, relative: string): Promise<vscode.Uri | undefined> {
    const at = path.join(run.dir, relative);
    if (path.relative(run.dir, at).startsWith("..")) return undefined;
    const text = await this.#text(this.#vscode.Uri.file(at));
    return text === undefined ? undefined : this.texts.put(file, `${run.run}/${relative}`, text);
  }

  async #resources(
    session: Session,
    run: FollowedRun,
    contract: string,
    attempt: AttemptState,
    patch: string,
  ): Promise<Resource[]> {
    const { Uri, workspace } = this.#vscode;
    const text = new TextDecoder().decode(await workspace.fs.readFile(Uri.file(path.join(run.dir, patch))));
    const base = this.#bases.get(`${run.run}/${contract}/${attempt.attempt}`);
    const key = `${run.run}/${contract}/attempt-${attempt.attempt}`;
    const resources: Resource[] = [];
    for (const one of parsePatch(text)) {
      const sides = one.binary ? undefined : await this.#sides(session, base, one);
      if (sides === undefined) continue;
      const name = one.newPath ?? one.oldPath ?? "";
      const uri = (side: string, content: string | undefined): vscode.Uri | undefined =>
        content === undefined ? undefined : this.texts.put(name, `${key}/${side}`, content);
      resources.push([Uri.file(path.join(session.base, name)), uri("base", sides.old), uri("attempt", sides.new)]);
    }
    return resources;
  }

  /** A pair of texts that a run shows: `diff.shown`. */
  async show(run: FollowedRun, shown: EventBody<"diff.shown">): Promise<void> {
    const { commands } = this.#vscode;
    const side = async (relative: string): Promise<vscode.Uri> =>
      (await this.#side(run, shown.path, relative)) ?? this.texts.put(shown.path, `${run.run}/${relative}`, "");
    const [left, right] = await Promise.all([side(shown.left.path), side(shown.right.path)]);
    await commands.executeCommand("vscode.diff", left, right, shown.title, { preview: true, preserveFocus: true });
  }

  /** Puts the text of before back, unless somebody has changed the file since. What goes stays in the run's folder. */
  async takeBack(session: Session, run: FollowedRun, shown: EventBody<"diff.shown">): Promise<void> {
    const { Uri, l10n, window, workspace } = this.#vscode;
    const file = Uri.file(path.join(session.base, shown.path));
    const open = workspace.textDocuments.find((one) => one.uri.toString() === file.toString());
    const [left, right, now] = await Promise.all([
      this.#text(Uri.file(path.join(run.dir, shown.left.path))),
      this.#text(Uri.file(path.join(run.dir, shown.right.path))),
      this.#text(file),
    ]);
    if (left === undefined || now !== right || open?.isDirty === true) {
      void window.showWarningMessage(l10n.t("{0} was changed since, so it was left alone.", shown.path));
      return;
    }
    await workspace.fs.writeFile(file, new TextEncoder().encode(left));
  }

  /** Both texts of a file. The old one comes from git, or from the working tree's file with the change taken back. */
  async #sides(
    session: Session,
    base: string | undefined,
    file: PatchFile,
  ): Promise<{ readonly old?: string; readonly new?: string } | undefined> {
    if (file.oldPath === undefined) {
      const made = applyHunks("", file.hunks);
      return made === undefined ? undefined : { new: made };
    }
    const old =
      (base === undefined ? undefined : await this.#atBase(session, base, file.oldPath)) ??
      (await this.#fromTree(session, file));
    if (old === undefined) return undefined;
    if (file.newPath === undefined) return { old };
    const made = applyHunks(old, file.hunks);
    return made === undefined ? undefined : { old, new: made };
  }

  async #atBase(session: Session, base: string, file: string): Promise<string | undefined> {
    const { Uri, extensions } = this.#vscode;
    try {
      const git = extensions.getExtension<GitExtension>("vscode.git");
      const api = git === undefined ? undefined : (git.isActive ? git.exports : await git.activate()).getAPI(1);
      return await api?.getRepository(Uri.file(session.base))?.show(base, path.join(session.base, file));
    } catch {
      return undefined;
    }
  }

  async #fromTree(session: Session, file: PatchFile): Promise<string | undefined> {
    const { Uri } = this.#vscode;
    const now = await this.#text(Uri.file(path.join(session.base, file.newPath ?? file.oldPath ?? "")));
    if (now === undefined) return file.newPath === undefined ? applyHunks("", reversed(file.hunks)) : undefined;
    // A failed attempt was rolled back: the tree holds the old text already.
    if (applyHunks(now, file.hunks) !== undefined) return now;
    return applyHunks(now, reversed(file.hunks));
  }

  async #text(uri: vscode.Uri): Promise<string | undefined> {
    try {
      return new TextDecoder().decode(await this.#vscode.workspace.fs.readFile(uri));
    } catch {
      return undefined;
    }
  }
}
