import { lstat } from "node:fs/promises";
import path from "node:path";
import { inRoot, type AbsPath, type RepoPath } from "../base/paths.ts";
import { isOrchError } from "../model/error.ts";
import type { GitUncommitted, NestedRepository, StatusEntry } from "../ports/git.ts";
import type { GitCall, GitOptions } from "./git-call.ts";
import { copyIndex, type MarkedEntry, markedEntries, markedListing, withTempIndex } from "./git-index.ts";
import { fromGit } from "./git-names.ts";
import { parseStatus, statusArgs } from "./git-status.ts";
import { inRootBytes, isBehindLink, shown, toBytes } from "./git-walk.ts";
import { byteKey } from "./trash-bytes.ts";

/** Looked into; each costs a few git calls. */
const maxRepositories = 50;

/** One repository of the checkout, the outer one first; `hidden`: its files with a flag that lay on the disk. */
interface Looked {
  readonly git: GitCall;
  /** Its folder; empty for the outer one. */
  readonly under: string;
  readonly hidden: Set<string>;
}

interface Look {
  readonly skip: (folder: RepoPath) => boolean;
  readonly openNested: (folder: AbsPath) => Promise<GitCall>;
  readonly root: AbsPath;
  readonly looked: Looked[];
  readonly repositories: NestedRepository[];
}

export function createGitUncommitted(git: GitCall, openNested: Look["openNested"]): GitUncommitted {
  return {
    async uncommitted(skip) {
      const look: Look = { skip, openNested, root: git.place.root, looked: [], repositories: [] };
      const entries = await lookInto(look, { git, under: "", hidden: new Set() });
      return { entries, repositories: look.repositories, again: () => lookAgain(look.looked) };
    },
  };
}

async function lookInto(look: Look, at: Looked): Promise<StatusEntry[]> {
  const { entries, submodules } = await statusOf(at);
  look.looked.push(at);
  const untracked = entries.flatMap(({ path: folder, folder: is }) =>
    is === true && !look.skip(folder) ? folder : [],
  );
  const all = [...entries];
  for (const folder of [...submodules, ...untracked]) all.push(...(await lookIntoNested(look, folder)));
  return all;
}

/** Nothing where no repository lies: a submodule that is not checked out, a link in its place. */
async function lookIntoNested(look: Look, folder: RepoPath): Promise<readonly StatusEntry[]> {
  const at = inRoot(look.root, folder);
  const isThere = (await lstat(at).catch(() => undefined))?.isDirectory() === true;
  if (!isThere || (await isBehindLink(look.root, toBytes(folder)))) return [];
  if ((await lstat(inRoot(at, ".git")).catch(() => undefined)) === undefined) return [];
  const place = look.repositories.length;
  look.repositories.push({ path: folder, seen: false });
  if (place >= maxRepositories) return [];
  const entries = await unlessRefused(async () => {
    const git = await look.openNested(at);
    // Git went on upwards: what lies here is none.
    if (git.place.root !== at) return undefined;
    return await lookInto(look, { git, under: folder, hidden: new Set() });
  });
  if (entries !== undefined) look.repositories[place] = { path: folder, seen: true };
  return entries ?? [];
}

/** One that git does not look into any more has lost its `.git`, which is compared by itself. */
async function lookAgain([outer, ...nested]: readonly Looked[]): Promise<readonly StatusEntry[]> {
  const all = outer === undefined ? [] : [...(await statusOf(outer)).entries];
  for (const at of nested) all.push(...((await unlessRefused(() => statusOf(at)))?.entries ?? []));
  return all;
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isOrchError(error)) return undefined;
    throw error;
  }
}

interface Status {
  readonly entries: readonly StatusEntry[];
  readonly submodules: readonly RepoPath[];
}

async function statusOf({ git, under, hidden }: Looked): Promise<Status> {
  const marked = markedEntries(await git.bytes(markedListing));
  const flagged = marked.filter(({ flag, isGitlink }) => flag !== undefined && !isGitlink);
  for (const entry of await lyingThere(git.place.root, flagged)) hidden.add(byteKey(entry.path));
  const looked = flagged.filter((entry) => hidden.has(byteKey(entry.path)));
  // A missing object is fetched by programs that the repository names.
  const options: GitOptions = {
    startsPrograms: true,
    ...(under === "" ? {} : { extra: { GIT_NO_LAZY_FETCH: "1" } }),
  };
  const out = looked.length === 0 ? await git.bytes(statusArgs, options) : await statusWithout(git, looked, options);
  const inOuter = (file: string): RepoPath => (under === "" ? file : `${under}/${file}`) as RepoPath;
  return {
    entries: parseStatus(out).map((entry) => ({
      ...entry,
      path: inOuter(entry.path),
      ...(entry.oldPath === undefined ? {} : { oldPath: inOuter(entry.oldPath) }),
    })),
    submodules: marked.filter(({ isGitlink }) => isGitlink).map((entry) => inOuter(fromGit(shown(entry.path)))),
  };
}

/** What git says when the flags are gone, from an index of ours: the person's keeps them. */
async function statusWithout(git: GitCall, flagged: readonly MarkedEntry[], options: GitOptions): Promise<Uint8Array> {
  const stdin = Buffer.concat(flagged.flatMap((entry) => [entry.path, Buffer.from("\0")]));
  return await withTempIndex(async (temp) => {
    await copyIndex(path.join(git.place.gitDir, "index"), temp.indexFile);
    // A line can have both, and git takes one away at a time.
    for (const flag of ["skip-worktree", "assume-unchanged"])
      await git.bytes(["update-index", `--no-${flag}`, "-z", "--stdin"], { ...options, ...temp, stdin });
    return await git.bytes(statusArgs, { ...options, ...temp });
  });
}

/** In a sparse checkout most are not, in folders that are not there either: each such folder is asked for once. */
async function lyingThere(root: AbsPath, entries: readonly MarkedEntry[]): Promise<readonly MarkedEntry[]> {
  const absent = new Set<string>();
  const there: MarkedEntry[] = [];
  for (const entry of entries) {
    const names = byteKey(entry.path).split("/");
    const above = names.slice(0, -1).map((_, n) => names.slice(0, n + 1).join("/"));
    if (above.some((folder) => absent.has(folder))) continue;
    if (await isThere(root, entry.path)) there.push(entry);
    else
      for (const folder of above) {
        if (await isThere(root, Buffer.from(folder, "latin1"))) continue;
        absent.add(folder);
        break;
      }
  }
  return there;
}

async function isThere(root: AbsPath, file: Uint8Array): Promise<boolean> {
  return lstat(inRootBytes(root, file)).then(
    () => true,
    () => false,
  );
}
