import { copyFile, stat, utimes } from "node:fs/promises";
import path from "node:path";
import { type GitCall, type GitOptions } from "./git-call.ts";
import { withTempDir, writeBlob, writeBlobs, zeroOid } from "./git-blobs.ts";
import { nulBytes } from "./git-names.ts";
import type { WalkEntry } from "./git-walk.ts";

/** One line of an index; the path as bytes. */
export interface IndexEntry {
  readonly mode: string;
  readonly oid: string;
  readonly stage: number;
  readonly path: Uint8Array;
}

/** Git takes a file that is as young as the index for possibly changed; a copy must not look younger. */
export async function copyIndex(from: string, to: string): Promise<void> {
  const times = await stat(from);
  await copyFile(from, to);
  await utimes(to, times.atime, times.mtime);
}

/** Lines for files and links of the working tree, whose raw bytes are stored as blobs first. */
export async function storedEntries(
  git: GitCall,
  entries: readonly WalkEntry[],
  options: GitOptions = {},
): Promise<readonly IndexEntry[]> {
  const files = entries.filter((entry) => entry.kind === "file");
  const oids = await writeBlobs(
    git,
    files.map((entry) => entry.path),
    options,
  );
  const out: IndexEntry[] = files.map((entry, at) => ({
    mode: entry.mode & 0o100 ? "100755" : "100644",
    oid: oids[at] ?? "",
    stage: 0,
    path: entry.path,
  }));
  for (const entry of entries) {
    if (entry.link !== undefined)
      out.push({ mode: "120000", oid: await writeBlob(git, entry.link, options), stage: 0, path: entry.path });
  }
  return out;
}

export async function indexEntries(
  git: GitCall,
  paths: readonly Uint8Array[],
  options: GitOptions = {},
): Promise<readonly IndexEntry[]> {
  const out = await git.bytes(["ls-files", "-s", "-z"], options);
  return parseEntries(out, /^(\d+) ([0-9a-f]+) (\d)\t/, (m) => ({
    mode: m[1] ?? "",
    oid: m[2] ?? "",
    stage: Number(m[3]),
  })).filter((entry) => paths.some((folder) => isUnder(entry.path, folder)));
}

/** A line of an index that `git status` tells less of than of others: its file is not looked at, or not looked into. */
export interface MarkedEntry {
  readonly path: Uint8Array;
  /** As git prints it: `S` and small letters are flags. */
  readonly letter: string;
  readonly flag?: "skip-worktree" | "assume-unchanged";
  /** A repository of its own: a submodule. */
  readonly isGitlink: boolean;
}

/** For `markedEntries`. */
export const markedListing = ["ls-files", "-v", "--stage", "-z"] as const;

/** Of thousands of lines hardly one is marked: only those are taken apart. */
export function markedEntries(listing: Uint8Array): readonly MarkedEntry[] {
  return nulBytes(listing).flatMap((record) => {
    const letter = String.fromCharCode(record[0] ?? 0);
    const skipped = letter === "S" || letter === "s";
    const flag = skipped ? "skip-worktree" : letter === letter.toUpperCase() ? undefined : "assume-unchanged";
    const isGitlink = record[2] === gitlink[0] && record[3] === gitlink[1];
    if (flag === undefined && !isGitlink) return [];
    const path = record.slice(record.indexOf(9) + 1);
    return [{ path, letter, isGitlink, ...(flag === undefined ? {} : { flag }) }];
  });
}

/** What the mode of no other line begins with. */
const gitlink = Buffer.from("16");

export async function treeEntries(git: GitCall, treeish: string): Promise<readonly IndexEntry[]> {
  const out = await git.bytes(["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", treeish]);
  return parseEntries(out, /^(\d+) \w+ ([0-9a-f]+)\t/, (m) => ({ mode: m[1] ?? "", oid: m[2] ?? "", stage: 0 }));
}

function parseEntries(
  out: Uint8Array,
  head: RegExp,
  read: (match: RegExpExecArray) => Omit<IndexEntry, "path">,
): readonly IndexEntry[] {
  return nulBytes(out).flatMap((record) => {
    const tab = record.indexOf(9);
    const match = head.exec(Buffer.from(record.subarray(0, tab + 1)).toString("latin1"));
    return match === null ? [] : [{ ...read(match), path: record.slice(tab + 1) }];
  });
}

/** Removes and adds lines of an index, in this order; removal is needed where a file became a folder. */
export async function editIndex(
  git: GitCall,
  edit: { readonly remove: readonly Uint8Array[]; readonly add: readonly IndexEntry[] },
  options: GitOptions,
): Promise<void> {
  if (edit.remove.length === 0 && edit.add.length === 0) return;
  const zero = await zeroOid(git);
  const lines: Uint8Array[] = [];
  for (const name of edit.remove) lines.push(Buffer.from(`0 ${zero}\t`), name, nul);
  for (const entry of edit.add) lines.push(Buffer.from(`${entry.mode} ${entry.oid} ${entry.stage}\t`), entry.path, nul);
  await git.bytes(["update-index", "-z", "--index-info"], { ...options, stdin: Buffer.concat(lines) });
}

/** An index of ours beside the person's, which is neither read nor locked. */
export async function withTempIndex<T>(
  work: (options: GitOptions & { readonly indexFile: string }) => Promise<T>,
): Promise<T> {
  return withTempDir((folder) =>
    work({ indexFile: path.join(folder, "index"), settings: [["core.splitIndex", "false"]] }),
  );
}

export function isUnder(file: Uint8Array, folder: Uint8Array): boolean {
  if (folder.length === 0) return true;
  if (file.length < folder.length || Buffer.compare(file.subarray(0, folder.length), folder) !== 0) return false;
  return file.length === folder.length || file[folder.length] === 47;
}

const nul = Buffer.from("\0");
