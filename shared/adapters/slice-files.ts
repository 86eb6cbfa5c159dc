import { type AbsPath, baseName, dirName, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import { isTornName } from "./disk-names.ts";
import { leadsOut } from "./link-parents.ts";

/** What lies in a slice. Nested repositories' own folders (`.git`) are not looked into. */
export interface SliceFiles {
  readonly files: readonly RepoPath[];
  readonly folders: readonly RepoPath[];
  /** `__pycache__`, `.pytest_cache` and the like, in the slice and beside its parent folders. */
  readonly caches: readonly RepoPath[];
}

/** The last is what a plugin of pytest makes and leaves empty. */
const cacheNames = new Set(["__pycache__", ".pytest_cache", ".benchmarks"]);

export async function walkSlice(files: Files, root: AbsPath, slice: RepoPath): Promise<SliceFiles> {
  const found = { files: [] as RepoPath[], folders: [] as RepoPath[], caches: [] as RepoPath[] };
  await walk(files, root, slice, found);
  for (const parent of parentsOf(slice)) {
    for (const name of cacheNames) {
      const path = below(parent, name);
      if ((await files.stat(inRoot(root, path)))?.kind === "directory") found.caches.push(path);
    }
  }
  return found;
}

async function walk(
  files: Files,
  root: AbsPath,
  dir: RepoPath,
  found: { files: RepoPath[]; folders: RepoPath[]; caches: RepoPath[] },
): Promise<void> {
  const stat = await files.stat(inRoot(root, dir));
  if (stat?.kind !== "directory") {
    if (stat !== undefined) found.files.push(dir);
    return;
  }
  found.folders.push(dir);
  for (const entry of (await files.list(inRoot(root, dir))) ?? []) {
    const path = below(dir, entry.name);
    if (entry.name === ".git") continue;
    if (entry.kind !== "directory") found.files.push(path);
    else if (cacheNames.has(entry.name)) found.caches.push(path);
    else await walk(files, root, path, found);
  }
}

/**
 * Removes caches that were not there before: compiled Python and pytest's folder, by content and not by name alone, so
 * that a person's folder of that name keeps what is not a cache.
 */
export async function removeNewCaches(
  files: Files,
  root: AbsPath,
  slice: RepoPath,
  before: readonly string[],
): Promise<void> {
  const { caches } = await walkSlice(files, root, slice);
  for (const cache of caches) {
    const at = inRoot(root, cache);
    if (before.includes(cache) || (await leadsOut(files, root, at))) continue;
    if (baseName(cache) === ".pytest_cache") {
      if ((await files.stat(inRoot(at, "CACHEDIR.TAG"))) !== undefined) await files.remove(at);
      continue;
    }
    for (const entry of (await files.list(at)) ?? []) {
      if (entry.kind === "file" && /\.pyc(\.\d+)?$/.test(entry.name)) await files.remove(inRoot(at, entry.name));
    }
    await files.removeEmptyDir(at);
  }
}

/** Temporary files of an atomic write that a kill left behind, beside `path`. */
export async function removeTornWrites(files: Files, root: AbsPath, path: RepoPath): Promise<void> {
  const folder = dirName(path) === "." ? root : inRoot(root, dirName(path));
  if (await leadsOut(files, root, inRoot(root, path))) return;
  const name = baseName(path).slice(0, 100);
  for (const entry of (await files.list(folder)) ?? []) {
    if (entry.kind === "file" && isTornName(entry.name, name)) await files.remove(inRoot(folder, entry.name));
  }
}

/** Whether a path is named as the temporary file of an atomic write is. */
export function isTornWrite(path: string): boolean {
  return isTornName(baseName(path));
}

/** Folders above `path`, nearest first, the root (as "") last. */
export function parentsOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(0, parts.length - 1 - at).join("/"));
}

function below(dir: string, name: string): RepoPath {
  const path = repoPath(dir === "" ? name : `${dir}/${name}`);
  if (path === undefined) throw new TypeError(`not a repository path: ${dir}/${name}`);
  return path;
}
