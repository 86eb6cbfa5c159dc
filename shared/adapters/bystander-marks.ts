import { lstat } from "node:fs/promises";
import { type AbsPath, dirName, inRoot, type RepoPath } from "../base/paths.ts";
import { isInBuildFolder, isToolOutput } from "../model/tool-output.ts";
import type { NestedRepository, Uncommitted } from "../ports/git.ts";

/** What the file system says of one path; of a folder only which one it is, for what lies in it changes. */
export interface Mark {
  readonly path: RepoPath;
  readonly kind: "file" | "symlink" | "folder";
  readonly text: string;
  readonly sizeBytes: number;
}

/** What no commit holds, as far as it lies on the disk; of nested repositories what makes them one, too. */
export async function marksOf(root: AbsPath, { entries, repositories }: Uncommitted): Promise<readonly Mark[]> {
  const files = entries.map(async ({ path, index }): Promise<Mark | undefined> => {
    if (index === "!" || (index === "?" && isToolOutput(path))) return undefined;
    const mark = await markAny(inRoot(root, path));
    return mark === undefined || mark.kind === "folder" ? undefined : { ...mark, path };
  });
  const marks = await Promise.all([...repositories.map((nested) => markOfNested(root, nested)), ...files]);
  return marks.filter((mark) => mark !== undefined);
}

/** Of one that git does not look into, all that can be said is that it is there. */
async function markOfNested(root: AbsPath, { path, seen }: NestedRepository): Promise<Mark | undefined> {
  const at = seen ? (`${path}/.git` as RepoPath) : path;
  const mark = await markAny(inRoot(root, at));
  return mark === undefined ? undefined : { ...mark, path: at };
}

/** The mark as it is now; undefined where nothing of that kind is there any more. */
export async function markAgain(root: AbsPath, { path, kind }: Mark): Promise<Omit<Mark, "path"> | undefined> {
  const mark = await markAny(inRoot(root, path));
  return (mark?.kind === "folder") === (kind === "folder") ? mark : undefined;
}

export async function markAny(at: AbsPath): Promise<Omit<Mark, "path"> | undefined> {
  const stat = await lstat(at, { bigint: true }).catch(() => undefined);
  if (stat?.isDirectory() === true) return { kind: "folder", text: `folder ${stat.dev} ${stat.ino}`, sizeBytes: 0 };
  const kind = stat?.isFile() === true ? "file" : stat?.isSymbolicLink() === true ? "symlink" : undefined;
  if (stat === undefined || kind === undefined) return undefined;
  const text = [kind, stat.dev, stat.ino, stat.mode, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
  return { kind, text, sizeBytes: Number(stat.size) };
}

/** A mount over a link would be one over what it leads to; builds and tools write their own files anew. */
export function shutOf(marks: readonly Mark[], mounts: number): readonly RepoPath[] {
  return marks
    .filter(({ kind, path }) => kind !== "symlink" && !isInBuildFolder(path) && !isToolOutput(path))
    .slice(0, mounts)
    .map(({ path }) => path);
}

/** A file that cannot be written can still be moved away with the folder it lies in. */
export async function foldersAbove(root: AbsPath, paths: readonly RepoPath[]): Promise<ReadonlyMap<string, string>> {
  const folders = new Map<string, string>();
  for (const path of paths) {
    for (let at = dirName(path); at !== "." && !folders.has(at); at = dirName(at)) {
      const stat = await lstat(inRoot(root, at), { bigint: true }).catch(() => undefined);
      folders.set(at, stat === undefined ? "" : `${stat.dev} ${stat.ino}`);
    }
  }
  return folders;
}

export function isMoved(path: RepoPath, was: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): boolean {
  for (let at = dirName(path); at !== "."; at = dirName(at)) if (was.get(at) !== now.get(at)) return true;
  return false;
}
