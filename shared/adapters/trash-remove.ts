import { chmod, lstat, readlink, rmdir, unlink } from "node:fs/promises";
import type { AbsPath } from "../base/paths.ts";
import type { TrashEntry, TrashManifest } from "../model/trash.ts";
import type { RemovedStored } from "../ports/trash.ts";
import type { GitCall } from "./git-call.ts";
import { objectFormat } from "./git-blobs.ts";
import { checkParents, hasErrno, inRootBytes, shown, walk } from "./git-walk.ts";
import { digestFile, fromBase64 } from "./trash-bytes.ts";

/** Compares and removes, file by file; whatever differs from what was stored stays where it is. */
export async function removeStored(git: GitCall, manifest: TrashManifest): Promise<RemovedStored> {
  const { root } = git.place;
  const format = await objectFormat(git);
  const removed: string[] = [];
  const opened = new Map<string, { readonly folder: Buffer; readonly mode: number }>();
  for (const entry of manifest.entries) {
    if (entry.kind === "directory") continue;
    const path = fromBase64(entry.path);
    const at = inRootBytes(root, path);
    if (!(await isReachable(root, path)) || !(await isAsStored(at, entry, format))) continue;
    if (await inWritableFolder(at, opened, () => unlink(at))) removed.push(shown(path));
  }
  const folders = manifest.entries.filter((entry) => entry.kind === "directory").map((entry) => fromBase64(entry.path));
  for (const folder of folders.toReversed()) {
    const at = inRootBytes(root, folder);
    if (!(await isReachable(root, folder))) continue;
    await inWritableFolder(at, opened, () => rmdir(at));
  }
  for (const { folder, mode } of opened.values()) await chmod(folder, mode).catch(() => undefined);
  return { removed, kept: await leftIn(root, manifest) };
}

async function isReachable(root: AbsPath, path: Uint8Array): Promise<boolean> {
  return checkParents(root, path).then(
    () => true,
    () => false,
  );
}

/** The last look is right before the removal, so an editor's save in between is seen. */
async function isAsStored(at: Buffer, entry: TrashEntry, format: "sha1" | "sha256"): Promise<boolean> {
  try {
    const before = await lstat(at, { bigint: true });
    if (entry.kind === "symlink") {
      return before.isSymbolicLink() && (await readlink(at, "buffer")).equals(fromBase64(entry.link ?? ""));
    }
    if (!before.isFile()) return false;
    const digest = await digestFile(at, format);
    const after = await lstat(at, { bigint: true });
    const still =
      before.ino === after.ino &&
      before.size === after.size &&
      before.mtimeNs === after.mtimeNs &&
      before.ctimeNs === after.ctimeNs;
    return still && digest?.sha256 === entry.sha256;
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM", "EISDIR")) return false;
    throw error;
  }
}

/** True when it went. A folder that forbids it is opened, and closed again afterwards if it is still there. */
async function inWritableFolder(
  at: Buffer,
  opened: Map<string, { readonly folder: Buffer; readonly mode: number }>,
  remove: () => Promise<void>,
): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    try {
      await remove();
      return true;
    } catch (error) {
      if (hasErrno(error, "ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR")) return false;
      if (tries > 0 || !hasErrno(error, "EACCES", "EPERM")) throw error;
      const folder = at.subarray(0, at.lastIndexOf(47));
      const mode = (await lstat(folder)).mode & 0o7777;
      opened.set(folder.toString("latin1"), { folder, mode });
      await chmod(folder, mode | 0o700);
    }
  }
}

async function leftIn(root: AbsPath, manifest: TrashManifest): Promise<readonly string[]> {
  const named = [];
  for (const path of manifest.paths.map(fromBase64)) if (await isReachable(root, path)) named.push(path);
  const left = await walk(root, named, () => false);
  return left.filter((entry) => entry.kind !== "directory").map((entry) => shown(entry.path));
}
