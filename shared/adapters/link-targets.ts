import { lstat, readdir } from "node:fs/promises";
import type { BigIntStats } from "node:fs";
import path from "node:path";
import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot, type RepoPath } from "../base/paths.ts";
import { hasErrno } from "./git-walk.ts";

/** Every file and folder that the links lead to, each with what no program can set back: inode and ctime. */
export type TargetMarks = ReadonlyMap<string, string>;

const atOnce = 64;

/** Links inside are not followed: what they lead to is either marked itself or no part of the main tree. */
export async function markTargets(
  main: AbsPath,
  linked: readonly RepoPath[],
  signal: AbortSignal,
): Promise<TargetMarks> {
  const marks = new Map<string, string>();
  let folders: string[] = [];
  const note = async (name: string): Promise<void> => {
    const stat = await lstat(inRoot(main, name), { bigint: true }).catch((error: unknown) => {
      if (hasErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return undefined;
      throw error;
    });
    if (stat === undefined) return;
    marks.set(name, markOf(stat));
    if (stat.isDirectory()) folders.push(name);
  };
  for (const name of linked) await note(name);
  while (folders.length > 0) {
    throwIfAborted(signal);
    const now = folders;
    folders = [];
    const names: string[] = [];
    for (const folder of now) {
      const entries = await readdir(inRoot(main, folder)).catch(() => []);
      names.push(...entries.map((name) => path.posix.join(folder, name)));
    }
    for (let at = 0; at < names.length; at += atOnce) {
      throwIfAborted(signal);
      await Promise.all(names.slice(at, at + atOnce).map(note));
    }
  }
  return marks;
}

/** A folder's own times say only what its entries say too, and reading may touch nothing of a file's. */
function markOf(stat: BigIntStats): string {
  if (stat.isDirectory()) return `folder ${stat.mode}`;
  return [stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(" ");
}

export interface TargetChange {
  readonly path: string;
  readonly change: "added" | "changed" | "removed";
}

export function changedTargets(before: TargetMarks, after: TargetMarks): readonly TargetChange[] {
  const changes: TargetChange[] = [];
  for (const [name, mark] of after) {
    const was = before.get(name);
    if (was === undefined) changes.push({ path: name, change: "added" });
    else if (was !== mark) changes.push({ path: name, change: "changed" });
  }
  for (const name of before.keys()) if (!after.has(name)) changes.push({ path: name, change: "removed" });
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
