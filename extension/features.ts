import path from "node:path";
import { wordsIn } from "../shared/events/words.ts";
import type { Starter } from "../shared/runner/client.ts";
import { CommandFault } from "./outcome.ts";
import type { Session } from "./session.ts";
import { listIn, shortCommand, textIn } from "../shared/runner/short-command.ts";
import type { Vscode } from "./vscode-api.ts";

export interface FeatureRow {
  readonly target: string;
  readonly domain: string;
  readonly name: string;
  /** The slice's folder, relative to the repository. */
  readonly dir: string;
  readonly testsFile: string;
  readonly registered: boolean;
  readonly complete: boolean;
  readonly missing: readonly string[];
  /** The state in words, the checked-out branch included. */
  readonly state: string;
  readonly onBranch: boolean;
}

export interface RemovedRow {
  readonly id: string;
  readonly what: string;
  readonly detail: string;
}

/** What the repository holds, asked of `orch scan` and kept until something changes. */
export interface Features {
  list(session: Session): Promise<readonly FeatureRow[]>;
  /** The feature whose branch is checked out. */
  current(session: Session): Promise<string | undefined>;
  removed(session: Session): Promise<readonly RemovedRow[]>;
  forget(session: Session): void;
}

const timeoutMs = 60_000;

export function createFeatures(vscode: Vscode, starter: () => Promise<Starter>): Features {
  const kept = new Map<string, Promise<readonly FeatureRow[]>>();

  async function scan(session: Session): Promise<readonly FeatureRow[]> {
    if (session.root === undefined) return [];
    const order = { starter: await starter(), command: "scan", args: [], cwd: session.folder.uri.fsPath, timeoutMs };
    const document = await shortCommand(order, new AbortController().signal);
    if (document.error !== undefined) throw new CommandFault(document.error);
    const branch = await branchOf(vscode, session.root);
    return listIn(document.data, "domains").flatMap((domain) =>
      listIn(domain, "features").map((row) => featureRow(row, branch, vscode.l10n.t)),
    );
  }

  const features: Features = {
    async list(session) {
      const known = kept.get(session.base) ?? scan(session);
      kept.set(session.base, known);
      try {
        return await known;
      } catch (error) {
        kept.delete(session.base);
        throw error;
      }
    },
    async current(session) {
      if (session.root === undefined) return undefined;
      const branch = await branchOf(vscode, session.root);
      return (await features.list(session)).find(({ target }) => isBranchOf(target, branch))?.target;
    },
    async removed(session) {
      const args = ["--dry-run"];
      const order = { starter: await starter(), command: "restore", args, cwd: session.folder.uri.fsPath, timeoutMs };
      const document = await shortCommand(order, new AbortController().signal);
      return listIn(document.data, "entries").map((row) => ({
        id: textIn(row, "id"),
        what: `${textIn(row, "by")}: ${textIn(row, "what")}`,
        detail: typeof row["files"] === "number" ? wordsIn(vscode.l10n.t).filesText(row["files"]) : "",
      }));
    },
    forget: (session) => void kept.delete(session.base),
  };
  return features;
}

function featureRow(
  row: Readonly<Record<string, unknown>>,
  branch: string | undefined,
  t: Vscode["l10n"]["t"],
): FeatureRow {
  const target = textIn(row, "target");
  const at = target.indexOf("/");
  const missing = Array.isArray(row["missing"]) ? row["missing"].map(String) : [];
  const registered = row["registered"] === true;
  const complete = row["complete"] === true;
  const onBranch = isBranchOf(target, branch);
  const words = [
    registered ? t("registered") : t("unregistered"),
    ...(complete ? [] : [t("lacks {0}", missing.join(", "))]),
    ...(onBranch ? [t("on branch {0}", branch ?? "")] : []),
  ];
  return {
    target,
    domain: target.slice(0, at),
    name: target.slice(at + 1),
    dir: textIn(row, "dir"),
    testsFile: textIn(row, "lang") === "python" ? "Tests.py" : "Tests.ts",
    registered,
    complete,
    missing,
    state: words.join(", "),
    onBranch,
  };
}

function isBranchOf(target: string, branch: string | undefined): boolean {
  return branch === target || branch === `modify/${target.slice(target.indexOf("/") + 1)}`;
}

/** The checked-out branch, read from HEAD; git is not started. */
async function branchOf(vscode: Vscode, root: string): Promise<string | undefined> {
  const head = await readText(vscode, path.join(await gitDir(vscode, root), "HEAD"));
  return /^ref: refs\/heads\/(.+)$/m.exec(head ?? "")?.[1]?.trim();
}

/** `.git` is a file in linked worktrees and submodules. */
export async function gitDir(vscode: Vscode, root: string): Promise<string> {
  const at = path.join(root, ".git");
  const link = /^gitdir: (.+)$/m.exec((await readText(vscode, at)) ?? "")?.[1]?.trim();
  return link === undefined ? at : path.resolve(root, link);
}

async function readText(vscode: Vscode, at: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(at)));
  } catch {
    return undefined;
  }
}
