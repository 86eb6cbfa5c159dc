import { chmod, constants, copyFile, link, lstat, mkdir, readlink, symlink } from "node:fs/promises";
import path from "node:path";
import type { AbsPath } from "../base/paths.ts";
import { maxNameBytes } from "../model/names.ts";
import type { TrashEntry } from "../model/trash.ts";
import { hasErrno, inRootBytes, joinBytes, shown } from "./git-walk.ts";
import { byteKey, digestFile, fromBase64 } from "./trash-bytes.ts";

export interface Placer {
  readonly restored: readonly string[];
  readonly besides: readonly { readonly path: Uint8Array; readonly wroteTo: Uint8Array }[];
  /** Whether a file, a link or a folder came to be, or got its mode. */
  readonly made: boolean;
  place(entry: TrashEntry): Promise<void>;
  /** Gives the folders their modes, the deepest first: one that forbids writing could not have been filled. */
  finish(): Promise<void>;
}

export interface PlacerOrder {
  readonly root: AbsPath;
  /** Holds each blob as a file named by its id, on the file system of the root where that can be. */
  readonly staging: AbsPath;
  readonly id: string;
  readonly format: "sha1" | "sha256";
  readonly entries: readonly TrashEntry[];
}

/** Puts entries where they were. Whatever stands in the way stays, and the stored one goes beside it under another name. */
export function createPlacer({ root, staging, id, format, entries }: PlacerOrder): Placer {
  const restored: string[] = [];
  const besides: { path: Uint8Array; wroteTo: Uint8Array }[] = [];
  const moved = new Map<string, Uint8Array>();
  const folders: { readonly at: Buffer; readonly mode: number }[] = [];
  const uses = new Map<string | undefined, number>();
  for (const { blob } of entries) uses.set(blob, (uses.get(blob) ?? 0) + 1);
  let copies = 0;
  let made = false;

  /** The folder that stands for `folder` now; made when it is missing. */
  async function folderFor(folder: Uint8Array): Promise<Uint8Array> {
    if (folder.length === 0) return folder;
    const known = moved.get(byteKey(folder));
    if (known !== undefined) return known;
    const { parent, name } = split(folder);
    const inside = await folderFor(parent);
    for (let n = 0; ; n += 1) {
      const candidate = joinBytes(inside, n === 0 ? name : besideName(name, id, n));
      const at = inRootBytes(root, candidate);
      const isNew = await mkdir(at).then(
        () => true,
        (error: unknown) => {
          if (hasErrno(error, "EEXIST")) return false;
          throw error;
        },
      );
      if (!isNew && !(await lstat(at)).isDirectory()) continue;
      made ||= isNew;
      moved.set(byteKey(folder), candidate);
      return candidate;
    }
  }

  async function placeFolder(entry: TrashEntry, own: Uint8Array): Promise<void> {
    const before = await lstat(inRootBytes(root, own)).catch(() => undefined);
    const stands = await folderFor(own);
    if (Buffer.compare(stands, own) !== 0) besides.push({ path: own, wroteTo: stands });
    // A folder that was there keeps the mode it has.
    if (before?.isDirectory() !== true) folders.push({ at: inRootBytes(root, stands), mode: modeOf(entry) });
  }

  async function placeLeaf(entry: TrashEntry, own: Uint8Array): Promise<void> {
    const { parent, name } = split(own);
    const inside = await folderFor(parent);
    for (let n = 0; ; n += 1) {
      const candidate = joinBytes(inside, n === 0 ? name : besideName(name, id, n));
      const at = inRootBytes(root, candidate);
      const isNew = await create(entry, at);
      if (!isNew && !(await isSame(entry, at))) continue;
      made ||= isNew;
      if (Buffer.compare(candidate, own) === 0) restored.push(shown(own));
      else besides.push({ path: own, wroteTo: candidate });
      return;
    }
  }

  /** False when something stands there. The name comes to be with the whole content behind it, or not at all. */
  async function create(entry: TrashEntry, at: Buffer): Promise<boolean> {
    try {
      if (entry.kind === "symlink") {
        await symlink(fromBase64(entry.link ?? ""), at);
        return true;
      }
      if ((await lstat(at).catch(() => undefined)) !== undefined) return false;
      let own = path.join(staging, entry.blob ?? "");
      if ((uses.get(entry.blob) ?? 0) > 1) {
        // Equal contents share one blob; each place gets a file of its own.
        copies += 1;
        await copyFile(own, path.join(staging, `copy-${copies}`), constants.COPYFILE_FICLONE);
        own = path.join(staging, `copy-${copies}`);
      }
      await chmod(own, modeOf(entry));
      await link(own, at).catch(async (error: unknown) => {
        if (!hasErrno(error, "EXDEV", "EPERM", "ENOTSUP", "EMLINK")) throw error;
        await copyFile(own, at, constants.COPYFILE_EXCL);
        await chmod(at, modeOf(entry));
      });
      return true;
    } catch (error) {
      if (hasErrno(error, "EEXIST")) return false;
      throw error;
    }
  }

  async function isSame(entry: TrashEntry, at: Buffer): Promise<boolean> {
    const stat = await lstat(at).catch(() => undefined);
    if (entry.kind === "symlink") {
      return stat?.isSymbolicLink() === true && (await readlink(at, "buffer")).equals(fromBase64(entry.link ?? ""));
    }
    if (stat?.isFile() !== true || stat.size !== entry.bytes) return false;
    const digest = await digestFile(at, format).catch(() => undefined);
    if (digest?.sha256 !== entry.sha256) return false;
    if ((stat.mode & 0o7777) !== modeOf(entry)) {
      await chmod(at, modeOf(entry));
      made = true;
    }
    return true;
  }

  return {
    restored,
    besides,
    get made() {
      return made;
    },
    async place(entry) {
      const own = fromBase64(entry.path);
      await (entry.kind === "directory" ? placeFolder(entry, own) : placeLeaf(entry, own));
    },
    async finish() {
      for (const { at, mode } of folders.toReversed()) await chmod(at, mode);
    },
  };
}

function modeOf(entry: TrashEntry): number {
  return Number.parseInt(entry.mode, 8) & 0o7777;
}

function split(own: Uint8Array): { readonly parent: Uint8Array; readonly name: Uint8Array } {
  const at = own.lastIndexOf(47);
  return { parent: own.subarray(0, Math.max(at, 0)), name: own.subarray(at + 1) };
}

/** `<name>.restored-<id>`, then with a number; a long name is cut so that the whole still is a name. */
function besideName(name: Uint8Array, id: string, n: number): Uint8Array {
  const tail = Buffer.from(`.restored-${id}${n === 1 ? "" : `-${n}`}`);
  return Buffer.concat([name.subarray(0, maxNameBytes - tail.length), tail]);
}
