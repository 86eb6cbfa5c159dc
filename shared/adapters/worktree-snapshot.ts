import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { isInside, type RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Snapshot } from "../ports/worktrees.ts";
import { decode, type GitCall, type GitOptions } from "./git-call.ts";
import { copyIndex, withTempIndex } from "./git-index.ts";
import { fromGit, nulBytes } from "./git-names.ts";
import { hasErrno, toBytes } from "./git-walk.ts";

export interface SnapshotOrder {
  /** Ignore-file patterns of untracked files that come along. */
  readonly include: readonly string[];
  /** Folders and files: what lies there, untracked and not ignored, comes along. */
  readonly below?: readonly RepoPath[];
  /** Instead of HEAD and the uncommitted changes. */
  readonly startFrom?: string;
}

export interface TakenSnapshot extends Snapshot {
  /** Of a commit that was made for it: no ref of the person's holds it. */
  readonly made?: { readonly tree: string; readonly parent: string };
}

/** Nothing of Orch's own goes to a worker: contracts name the hidden checks. */
const orchs = ".orch/";

/**
 * HEAD, the uncommitted tracked changes and the carried files as a commit on no branch, made on a copy of the index: the
 * person's own is neither locked nor changed. The same tree on the same commit is the same snapshot, at any time.
 *
 * @throws OrchError `tree.unborn`, `tree.in-progress` while files are unmerged
 */
export async function takeSnapshot(git: GitCall, order: SnapshotOrder): Promise<TakenSnapshot> {
  const [seen, withheld] = await Promise.all([lookAt(git), trackedOfOrch(git)]);
  if (seen.unmerged.length > 0) {
    throw new OrchError("tree.in-progress", `files are unmerged: ${seen.unmerged.slice(0, 5).join(", ")}`, {
      data: { operation: "merge" },
    });
  }
  const from = order.startFrom === undefined ? undefined : await git.text(["rev-parse", `${order.startFrom}^{commit}`]);
  const parent = from ?? seen.head;
  if (parent === undefined) throw new OrchError("tree.unborn", "HEAD has no commit yet");
  const asItIs = from !== undefined || (seen.changed.length === 0 && !seen.staged);
  // A folder in this list is a repository of its own.
  const loose = seen.untracked.filter(
    (file) => !file.endsWith("/") && order.below?.some((top) => isInside(file, top)) === true,
  );
  if (asItIs && loose.length === 0 && order.include.length === 0 && withheld.length === 0) {
    return { commit: parent, carried: [], leftBehind: leftOf(seen.untracked, []) };
  }
  return withTempIndex(async (options) => {
    await (from === undefined ? startIndex(git, options, parent) : git.bytes(["read-tree", from], options));
    if (from === undefined) await stage(git, seen.changed, options);
    await stage(git, loose.map(toBytes), options);
    const carried = [...loose, ...(await carry(git, order.include, options))];
    if (withheld.length > 0) {
      await git.bytes(["update-index", "--force-remove", "-z", "--stdin"], { ...options, stdin: withheld });
    }
    const tree = await git.text(["write-tree"], options);
    const commit = await snapshotCommit(git, tree, parent);
    return { commit, made: { tree, parent }, carried, leftBehind: leftOf(seen.untracked, carried) };
  });
}

/** Git is only asked where the index may name such a file at all: its bytes are searched first. */
async function trackedOfOrch(git: GitCall): Promise<Uint8Array> {
  const index = await readFile(path.join(git.place.gitDir, "index")).catch(() => undefined);
  // In a split index the names are elsewhere; version 4 leaves out what a name shares with the one before it.
  if (index !== undefined && !index.includes("orch/") && !index.includes("link")) return new Uint8Array();
  return git.bytes(["ls-files", "-z", "--", ".orch"]);
}

function leftOf(untracked: readonly RepoPath[], carried: readonly RepoPath[]): readonly RepoPath[] {
  const kept = new Set<string>(carried);
  return untracked.filter((file) => !kept.has(file) && !file.startsWith(orchs));
}

interface Seen {
  readonly head: string | undefined;
  /** Tracked files whose content in the working tree is not the index's, as bytes. */
  readonly changed: readonly Uint8Array[];
  /** The index is not what HEAD holds. */
  readonly staged: boolean;
  readonly untracked: readonly RepoPath[];
  readonly unmerged: readonly string[];
}

/** One `git status` tells all of it; its cost is the floor of a snapshot. */
async function lookAt(git: GitCall): Promise<Seen> {
  const args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"];
  const out = await git.bytes([...args, "--ignore-submodules=dirty"], { startsPrograms: true });
  let head: string | undefined;
  let staged = false;
  const changed: Uint8Array[] = [];
  const untracked: RepoPath[] = [];
  const unmerged: string[] = [];
  for (const record of nulBytes(out)) {
    const line = Buffer.from(record).toString("latin1");
    const name = (fields: number): Buffer => Buffer.from(line.split(" ").slice(fields).join(" "), "latin1");
    if (line.startsWith("# branch.oid ")) head = /^[0-9a-f]{40,64}$/.exec(line.slice(13))?.[0];
    else if (line.startsWith("1 ")) {
      if (line.charAt(2) !== ".") staged = true;
      if (line.charAt(3) !== ".") changed.push(name(8));
    } else if (line.startsWith("u ")) unmerged.push(decode(name(10)));
    else if (line.startsWith("? ")) untracked.push(fromGit(decode(name(1))));
  }
  return { head, changed, staged, untracked, unmerged };
}

/** A commit by nobody, at the time of its parent: it can be made again whenever git has pruned it. */
export async function snapshotCommit(git: GitCall, tree: string, parent: string): Promise<string> {
  const who = { NAME: "Orch", EMAIL: "orch@localhost", DATE: "@0 +0000" };
  return git.text(["commit-tree", tree, "-p", parent, "-F", "-"], {
    stdin: "orch: what the work starts from\n",
    extra: Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((role) =>
        Object.entries(who).map(([key, value]) => [`GIT_${role}_${key}`, value]),
      ),
    ),
  });
}

async function startIndex(
  git: GitCall,
  options: GitOptions & { readonly indexFile: string },
  head: string,
): Promise<void> {
  const index = path.join(git.place.gitDir, "index");
  try {
    await copyIndex(index, options.indexFile);
  } catch (error) {
    if (!hasErrno(error, "ENOENT")) throw error;
    await git.bytes(["read-tree", head], options);
  }
}

async function stage(git: GitCall, files: readonly Uint8Array[], options: GitOptions): Promise<void> {
  if (files.length === 0) return;
  const stdin = Buffer.concat(files.flatMap((name) => [name, Buffer.from("\0")]));
  const args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  await git.bytes(args, { ...options, stdin, startsPrograms: true });
}

async function carry(
  git: GitCall,
  patterns: readonly string[],
  options: GitOptions & { readonly indexFile: string },
): Promise<readonly RepoPath[]> {
  if (patterns.length === 0) return [];
  const file = path.join(path.dirname(options.indexFile), "include");
  await writeFile(file, `${patterns.join("\n")}\n`);
  const found = nulBytes(await git.bytes(["ls-files", "--others", "--ignored", "-z", "-X", file], options)).filter(
    // A folder in this list is a repository of its own.
    (name) => name.at(-1) !== slash && !decode(name).startsWith(orchs),
  );
  if (found.length === 0) return [];
  await stage(git, found, options);
  return found.map((name) => fromGit(decode(name)));
}

const slash = 47;

/** Lines of `.worktreeinclude`, or a contract's globs, which are anchored at the root. */
export function includePatterns(globs: readonly string[], worktreeInclude: string | undefined): readonly string[] {
  if (globs.length > 0) return globs.map((glob) => (glob.startsWith("/") ? glob : `/${glob}`));
  return (worktreeInclude ?? "").split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
}
