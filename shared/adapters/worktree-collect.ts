import { chmod, lstat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { failed, type GitCall, type GitOptions } from "./git-call.ts";
import { copyIndex, editIndex, storedEntries, withTempIndex } from "./git-index.ts";
import { nulBytes } from "./git-names.ts";
import { checkParents, inRootBytes, isBehindLink, isGitName, parts, shown, walk, type WalkEntry } from "./git-walk.ts";
import { dotGit, exactStat, fileHash, foldersOf } from "./worktree-tree.ts";
import type { Slot } from "./worktree-place.ts";

export interface CollectOrder {
  readonly slot: Slot;
  /** Commit the tree was made from, and the hash of the index that says so. */
  readonly base: string;
  readonly index: string | undefined;
  /** Ignore rules of the base; links that are as they were made are among them. */
  readonly rules: string;
}

export interface Collected {
  readonly tree: string;
  /** Differing from the base by git's own look, as bytes; new files are among them. */
  readonly files: readonly Uint8Array[];
  /** Hidden by the rules, or by a repository inside the tree; folders end with `/`. */
  readonly ignored: readonly Uint8Array[];
}

/**
 * The working tree as a tree object, by the base's ignore rules and by an index that the worker never had. Files of a
 * repository inside the tree count like any others.
 */
export async function collectTree(main: GitCall, order: CollectOrder): Promise<Collected> {
  const { slot } = order;
  const git = main.at(slot.tree);
  return withTempIndex(async (temp) => {
    const options = { ...temp, settings: exactStat };
    if (order.index !== undefined && (await fileHash(slot.index)) === order.index)
      await copyIndex(slot.index, temp.indexFile);
    else await git.bytes(["read-tree", order.base], options);
    const rules = path.join(path.dirname(temp.indexFile), "rules");
    await writeFile(rules, order.rules);
    const [changed, others, hidden] = await Promise.all([
      git.bytes(["diff-files", "--name-only", "--no-renames", "--ignore-submodules=none", "-z"], {
        ...options,
        startsPrograms: true,
      }),
      listOthers(slot, git, ["--others", "-X", rules], options),
      listOthers(slot, git, ["--others", "--ignored", "--directory", "-X", rules], options),
    ]);
    const touched = [
      ...new Map(nulBytes(changed).map((name) => [Buffer.from(name).toString("latin1"), name])).values(),
    ];
    const loose = others.filter((name) => name.at(-1) !== slash);
    const nested = others.filter((name) => name.at(-1) === slash);
    await openForReading(slot, [...touched, ...loose]);
    await stage(git, [...touched, ...loose], options);
    const inside = await stageNested(git, nested, options);
    const all = [...hidden, ...inside.gitDirs, ...(await unlisted(git, options))];
    const unseen = [...new Map(all.map((name) => [Buffer.from(name).toString("latin1"), name])).values()];
    const plain = touched.length === 0 && others.length === 0;
    const tree = plain
      ? await git.text(["rev-parse", `${order.base}^{tree}`])
      : await git.text(["write-tree"], options);
    return { tree, files: [...touched, ...loose, ...inside.files], ignored: unseen };
  });
}

/** A folder that cannot be read hides what is in it, so its rights are given back until every one can be. */
async function listOthers(
  slot: Slot,
  git: GitCall,
  args: readonly string[],
  options: GitOptions,
): Promise<readonly Uint8Array[]> {
  const verb = ["ls-files", "-z", ...args];
  const opened = new Set<string>();
  for (;;) {
    const answer = await git.answer(verb, options);
    if (answer.code !== 0) throw failed(verb, answer);
    const closed = /could not open directory '([^\n]*)'/.exec(answer.stderr)?.[1];
    if (closed === undefined) return nulBytes(answer.stdout);
    if (opened.has(closed) || !(await openFolder(slot, closed))) {
      throw new OrchError("path.refused", `${closed} in the worktree cannot be read`, {
        data: { path: closed, unreadable: true },
      });
    }
    opened.add(closed);
  }
}

async function openFolder(slot: Slot, shownName: string): Promise<boolean> {
  const name = Buffer.from(shownName.replace(/\/$/, ""));
  const at = inRootBytes(slot.tree, name);
  try {
    await checkParents(slot.tree, name);
    const found = await lstat(at);
    if (!found.isDirectory()) return false;
    await chmod(at, (found.mode & 0o7777) | 0o700);
    return true;
  } catch {
    return false;
  }
}

/** A worker may have taken its own files' rights away; they are its own, so they can be given back. */
async function openForReading(slot: Slot, files: readonly Uint8Array[]): Promise<void> {
  for (const file of files) {
    if (await isBehindLink(slot.tree, file)) continue;
    const at = inRootBytes(slot.tree, file);
    const found = await lstat(at).catch(() => undefined);
    if (found?.isFile() === true && (found.mode & 0o400) === 0) await chmod(at, (found.mode & 0o7777) | 0o600);
  }
}

async function stage(git: GitCall, files: readonly Uint8Array[], options: GitOptions): Promise<void> {
  if (files.length === 0) return;
  const stdin = Buffer.concat(files.flatMap((name) => [name, nul]));
  const args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  const answer = await git.answer(args, { ...options, stdin, startsPrograms: true });
  if (answer.code === 0) return;
  // Attributes that a worker wrote may ask for what its files are not (an encoding, say): the bytes as they are, then.
  const there: WalkEntry[] = [];
  for (const file of files) there.push(...(await lyingAt(git.place.root, file)));
  const add = await storedEntries(git, there, options);
  await editIndex(git, { remove: files, add }, options);
}

/**
 * A file that is not there is deleted, and so is one whose folder is a link now. One that cannot be read is neither: the
 * tree would be judged without it.
 * @throws OrchError `path.refused`
 */
export async function lyingAt(root: AbsPath, file: Uint8Array): Promise<readonly WalkEntry[]> {
  return (await isBehindLink(root, file)) ? [] : walk(root, [file], () => false);
}

/** Git would show such a folder as one entry, or as a submodule: its files are taken as they are, its git dir is not. */
async function stageNested(
  git: GitCall,
  folders: readonly Uint8Array[],
  options: GitOptions,
): Promise<{ readonly files: readonly Uint8Array[]; readonly gitDirs: readonly Uint8Array[] }> {
  if (folders.length === 0) return { files: [], gitDirs: [] };
  const gitDirs: Uint8Array[] = [];
  const tops = folders.map((name) => name.subarray(0, -1));
  const found = await walk(git.place.root, tops, (file) => {
    if (!isGitName(parts(file).at(-1) ?? "")) return false;
    gitDirs.push(Buffer.concat([file, Buffer.from("/")]));
    return true;
  });
  const add = await storedEntries(git, found, options);
  await editIndex(git, { remove: [], add }, options);
  return { files: add.map((entry) => entry.path), gitDirs };
}

/** What no listing of git's shows: git dirs in folders of the tree, and what lies in the empty folder of a submodule. */
async function unlisted(git: GitCall, options: GitOptions): Promise<readonly Uint8Array[]> {
  const { folders, submodules } = foldersOf(await git.bytes(["ls-files", "--stage", "-z"], options));
  const out: Uint8Array[] = [];
  for (const folder of folders) {
    if (folder.length === 0) continue;
    const name = Buffer.concat([folder, dotGit]);
    const found = await lstat(inRootBytes(git.place.root, name)).catch(() => undefined);
    if (found !== undefined) out.push(found.isDirectory() ? Buffer.concat([name, Buffer.from("/")]) : name);
  }
  const found: WalkEntry[] = [];
  for (const submodule of submodules) found.push(...(await lyingAt(git.place.root, submodule)));
  return [...out, ...found.filter(({ kind }) => kind !== "directory").map((entry) => entry.path)];
}

export const shownPaths = (paths: readonly Uint8Array[]): string[] => paths.map(shown);

const slash = 47;
const nul = Buffer.from("\0");
