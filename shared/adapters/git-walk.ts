import type { Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import type { AbsPath } from "../base/paths.ts";
import type { ErrorData } from "../model/error-table.ts";
import { OrchError } from "../model/error.ts";

/** What lies on the disk, names as bytes: a name need not be UTF-8, and may hold a line break. */
export interface WalkEntry {
  /** Relative to the root, `/` between parts. */
  readonly path: Uint8Array;
  readonly kind: "file" | "symlink" | "directory" | "other";
  /** Permission bits. */
  readonly mode: number;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  /** Target of a link. */
  readonly link?: Uint8Array;
}

/**
 * The named paths and everything below them, folders before what they hold, links not followed. A path that is not there
 * gives nothing. Refuses (`path.refused`) a path that goes through a link or cannot be read.
 */
export async function walk(
  root: AbsPath,
  paths: readonly Uint8Array[],
  skip: (path: Uint8Array) => boolean,
): Promise<readonly WalkEntry[]> {
  const seen = new Set<string>();
  const out: WalkEntry[] = [];
  const visit = async (path: Uint8Array): Promise<void> => {
    const key = Buffer.from(path).toString("latin1");
    if (seen.has(key) || skip(path)) return;
    seen.add(key);
    const at = inRootBytes(root, path);
    const stat = await readable(path, () => lstat(at));
    if (stat === undefined) return;
    const kind = kindOf(stat);
    const link = kind === "symlink" ? await readable(path, () => readlink(at, "buffer")) : undefined;
    out.push({
      path,
      kind,
      mode: stat.mode & 0o7777,
      sizeBytes: stat.size,
      mtimeMs: stat.mtimeMs,
      ...(link === undefined ? {} : { link }),
    });
    if (kind !== "directory") return;
    const names = (await readable(path, () => readdir(at, { encoding: "buffer" }))) ?? [];
    for (const name of names.toSorted(Buffer.compare)) await visit(joinBytes(path, name));
  };
  for (const path of paths) {
    await checkParents(root, path);
    await visit(path);
  }
  return out;
}

/** A folder on the way that is a link leads elsewhere: what is reached through it is not this path's. */
export async function checkParents(root: AbsPath, path: Uint8Array): Promise<void> {
  if (await isBehindLink(root, path)) throw refusedPath(path, "goes through a symbolic link");
}

/** Refuses (`path.refused`) when that cannot be told. */
export async function isBehindLink(root: AbsPath, path: Uint8Array): Promise<boolean> {
  for (let at = path.indexOf(47); at !== -1; at = path.indexOf(47, at + 1)) {
    const parent = path.subarray(0, at);
    const stat = await readable(parent, () => lstat(inRootBytes(root, parent)));
    if (stat?.isSymbolicLink() === true) return true;
  }
  return false;
}

export function inRootBytes(root: AbsPath, path: Uint8Array): Buffer {
  return path.length === 0 ? Buffer.from(root) : Buffer.concat([Buffer.from(root), slash, path]);
}

export function joinBytes(folder: Uint8Array, name: Uint8Array): Buffer {
  return folder.length === 0 ? Buffer.from(name) : Buffer.concat([folder, slash, name]);
}

/** For people and for reports: bytes that are no UTF-8 become U+FFFD. */
export function shown(path: Uint8Array): string {
  return Buffer.from(path).toString("utf8");
}

export function toBytes(path: string): Buffer {
  return Buffer.from(path, "utf8");
}

export function parts(path: Uint8Array): string[] {
  return Buffer.from(path).toString("latin1").split("/");
}

/** Git's own folder under any of its names; git refuses them in an index. */
export function isGitName(part: string): boolean {
  return /^(?:\.git|git~1)[. ]*$/i.test(part);
}

export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

export function refusedPath(path: Uint8Array, why: string, data: ErrorData = {}): OrchError {
  return new OrchError("path.refused", `${shown(path)} ${why}`, { data: { path: shown(path), ...data } });
}

const slash = Buffer.from("/");

function kindOf(stat: Stats): WalkEntry["kind"] {
  if (stat.isSymbolicLink()) return "symlink";
  if (stat.isDirectory()) return "directory";
  return stat.isFile() ? "file" : "other";
}

/** `undefined` when it is not there (any more). */
async function readable<T>(path: Uint8Array, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    const why = error instanceof Error && "code" in error ? String(error.code) : undefined;
    // The error's own words do not name a path that is given as bytes.
    if (why !== undefined) throw refusedPath(path, `cannot be read (${why})`, { unreadable: true });
    throw error;
  }
}
