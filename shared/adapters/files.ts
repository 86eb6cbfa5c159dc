import fs from "node:fs/promises";
import path from "node:path";
import { isDiskFull } from "../base/disk-full.ts";
import { absPath, type AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Files, FileStat } from "../ports/files.ts";
import { renamed, syncFolder, tornName } from "./disk-names.ts";
import { notPlain, readPlainFile } from "./plain-file.ts";

/** The machine's files. A write leaves the old file or the new one, never a part: temp, fsync, rename, fsync of both. */
export function createFiles(): Files {
  return {
    read: (at) => absent(at, () => readPlainFile(at).then((bytes) => new Uint8Array(bytes))),
    readText: (at) => absent(at, () => readPlainFile(at).then((bytes) => bytes.toString("utf8"))),
    stat: (at) =>
      absent(at, () =>
        fs.lstat(at).then((found) => ({
          kind: kindOf(found),
          sizeBytes: found.size,
          mode: found.mode & 0o7777,
          mtimeMs: found.mtimeMs,
        })),
      ),
    async list(at) {
      const entries = await absent(at, () => fs.readdir(at, { withFileTypes: true }));
      return entries
        ?.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    },
    realPath: (at) => absent(at, () => fs.realpath(at).then(absPath)),
    write: (at, data, options) => translated(at, () => replace(at, data, options?.mode)),
    createOnce: (at, data) => translated(at, () => linkOnce(at, data)),
    async makeDir(at, options) {
      await translated(at, async () => {
        await fs.mkdir(at, { recursive: true, ...options }).catch(async (error: unknown) => {
          if (!hasCode(error, "ENOENT")) throw error;
          await makeOneByOne(at, options);
        });
      });
    },
    remove: (at) => translated(at, () => fs.rm(at, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })),
    async removeEmptyDir(at) {
      try {
        await fs.rmdir(at);
        return true;
      } catch (error) {
        if (hasCode(error, "ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR")) return false;
        throw translate(at, error);
      }
    },
    rename: (from, to) => translated(to, () => renamed(from, to)),
    symlink: (target, at) => translated(at, () => fs.symlink(target, at)),
    linkFolder: (folder, at) => translated(at, () => linkToFolder(folder, at)),
    readLink: (at) => absent(at, () => fs.readlink(at)),
    chmod: (at, mode) => translated(at, () => fs.chmod(at, mode)),
  };
}

async function replace(at: AbsPath, data: string | Uint8Array, mode: number | undefined): Promise<void> {
  const target = await throughLink(at);
  const before = await fs.stat(target).catch(() => undefined);
  if (before?.isDirectory() === true) throw isFolder(at);
  if (before?.isFile() === false) throw notPlain(at);
  const temp = besideOf(target);
  try {
    await writeSynced(temp, data, mode ?? (before === undefined ? undefined : before.mode & 0o7777));
    await renamed(temp, target);
  } catch (error) {
    await fs.rm(temp, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(target));
}

async function linkOnce(at: AbsPath, data: string | Uint8Array): Promise<boolean> {
  const temp = besideOf(at);
  try {
    await writeSynced(temp, data, undefined);
    await fs.link(temp, at);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await fs.rm(temp, { force: true });
  }
  await syncFolder(path.dirname(at));
  return true;
}

/** Where a write lands: the end of the chain of links at `at`, also when that file is not there yet. */
async function throughLink(at: AbsPath): Promise<string> {
  let target: string = at;
  for (let hops = 0; hops < 40; hops += 1) {
    const link = await fs.readlink(target).catch(() => undefined);
    if (link === undefined) return target;
    target = path.resolve(path.dirname(target), link);
  }
  throw new OrchError("path.refused", `${at} is a symbolic link that leads in a circle`);
}

async function linkToFolder(folder: AbsPath, at: AbsPath): Promise<boolean> {
  try {
    await fs.symlink(folder, at, process.platform === "win32" ? "junction" : "dir");
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function writeSynced(at: string, data: string | Uint8Array, mode: number | undefined): Promise<void> {
  const file = await fs.open(at, "wx", mode ?? 0o666);
  try {
    await file.writeFile(data);
    // The umask took its part of the mode at open; a kept mode must be exact.
    if (mode !== undefined) await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

function besideOf(target: string): string {
  return path.join(path.dirname(target), tornName(path.basename(target)));
}

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: Kinds): FileStat["kind"] {
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}

async function absent<T>(at: AbsPath, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EINVAL")) return undefined;
    throw translate(at, error);
  }
}

/** Node says ENOENT for every folder of a read-only disk. One by one, the system's own word comes out. */
async function makeOneByOne(at: string, options?: { readonly mode?: number }): Promise<void> {
  const missing: string[] = [];
  for (let part = at; (await fs.stat(part).catch(() => undefined)) === undefined; part = path.dirname(part))
    missing.unshift(part);
  for (const part of missing)
    await fs.mkdir(part, options).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
}

async function translated<T>(at: AbsPath, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(at, error);
  }
}

/** What a person can do something about becomes a refusal; the rest stays the bug it is. */
function translate(at: string, error: unknown): unknown {
  if (isDiskFull(error))
    return new OrchError("env.disk-full", `The disk is full: ${at} could not be written`, {
      data: { path: at },
      cause: error,
    });
  if (hasCode(error, "EROFS"))
    return new OrchError("env.read-only", `The disk is read-only: ${at} could not be written`, {
      data: { path: at },
      cause: error,
    });
  if (hasCode(error, "EISDIR")) return isFolder(at, error);
  const [, why] = refusedPaths.find(([code]) => hasCode(error, code)) ?? [];
  return why === undefined
    ? error
    : new OrchError("path.refused", `${at} ${why}`, { data: { path: at }, cause: error });
}

/** The system's words for a person. */
const refusedPaths = [
  ["EACCES", "may not be read or written by you: its permissions say so"],
  ["EPERM", "may not be changed: the system refuses it"],
  ["ELOOP", "is a link that leads back to itself"],
  ["ENAMETOOLONG", "is a longer name than the disk can hold"],
  ["ERR_INVALID_ARG_VALUE", "is no name of a file"],
  ["ENXIO", "is a device or a pipe, and a file is needed"],
  ["ERR_FS_FILE_TOO_LARGE", "is larger than Orch reads: 2 GiB"],
  ["ERR_STRING_TOO_LONG", "is larger than Orch reads as text: 512 MiB"],
] as const;

function isFolder(at: string, cause?: unknown): OrchError {
  const about = { data: { path: at, folder: true } };
  return new OrchError("path.refused", `${at} is a folder, and a file is needed`, {
    ...about,
    ...(cause === undefined ? {} : { cause }),
  });
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return typeof error === "object" && error !== null && "code" in error && codes.includes(String(error.code));
}
