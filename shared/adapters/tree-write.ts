import { chmod, lstat, mkdir, open } from "node:fs/promises";
import path from "node:path";
import { isDiskFull } from "../base/disk-full.ts";
import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Standing } from "../ports/tree-writes.ts";
import { syncFolder } from "./disk-names.ts";
import { checkParents, hasErrno, inRootBytes, refusedPath, shown } from "./git-walk.ts";
import { goBack } from "./tree-back.ts";
import { linkIn, type TreeDisk, type TreeGround } from "./tree-disk.ts";
import {
  asideAt,
  closeJournal,
  foldersAbove,
  makeJournalFolder,
  newAt,
  parentOf,
  sameStanding,
  standingAt,
  type TreeJournal,
  writeJournal,
} from "./tree-journal.ts";
import { byteKey, digestFile, toBase64 } from "./trash-bytes.ts";

export interface TreeStep {
  readonly path: Uint8Array;
  /** What is replaced: anything else is a person's. */
  readonly old: Standing;
  /** Undefined deletes. */
  readonly next:
    | {
        readonly kind: "file";
        /** Makes the new file aside. */
        fill(at: string): Promise<void>;
        /** From that of the file it replaces; undefined leaves it as it was filled. */
        mode(old: number | undefined): number | undefined;
      }
    | { readonly kind: "symlink"; readonly target: Uint8Array }
    | undefined;
}

export interface TreeOrder {
  readonly by: TreeJournal["by"];
  readonly steps: readonly TreeStep[];
  /** Folders that are empty once their last file went go with it. */
  readonly prune: boolean;
}

export type TreeWritten =
  | { readonly kind: "written" }
  | { readonly kind: "changed"; readonly path: Uint8Array }
  | { readonly kind: "elsewhere"; readonly path: Uint8Array };

/**
 * Takes all steps or none. Nothing is ever written over: what stands at a path is moved aside in one step, looked at
 * there, and the new file is linked in, which fails where somebody saved meanwhile. At each moment the journal tells how
 * to go back. What cannot be seen is a program that keeps a file open and writes into it after the last look.
 */
export async function writeTree(ground: TreeGround, order: TreeOrder): Promise<TreeWritten> {
  const { place, disk } = ground;
  const folder = await makeJournalFolder(place);
  let journal: TreeJournal;
  try {
    journal = await prepare(ground, folder, order);
    await writeJournal(folder, journal);
  } catch (error) {
    await disk.discard(folder);
    throw error;
  }
  let end: TreeWritten;
  try {
    end = await takeAll(ground, folder, order);
    if (end.kind === "written") await closeJournal(folder);
  } catch (error) {
    // The first error is the one to tell. What cannot go back now stays in the folder, for `settleWrites`.
    await backFrom(ground, folder, journal).catch(() => undefined);
    throw error;
  }
  if (end.kind === "written") await disk.discard(folder).catch(() => undefined);
  else await backFrom(ground, folder, journal);
  return end;
}

async function backFrom(ground: TreeGround, folder: AbsPath, journal: TreeJournal): Promise<void> {
  const { left } = await goBack(ground, folder, journal);
  if (left.length === 0) await ground.disk.discard(folder);
}

/** All that can fail for want of room or rights fails here, before a name of the person's is touched. */
async function prepare({ place, disk }: TreeGround, folder: AbsPath, order: TreeOrder): Promise<TreeJournal> {
  const steps: TreeJournal["steps"] = [];
  const folders = new Map<string, number>();
  const made: string[] = [];
  for (const [at, { path: file, old, next }] of order.steps.entries()) {
    steps.push({ path: toBase64(file), old: standingOnly(old), next: await make(newAt(folder, at), next) });
    let isNew = false;
    for (const above of foldersAbove(file)) {
      const key = toBase64(above);
      if (folders.has(key)) continue;
      // Below a link that makes room, folders are only found through it.
      const found = isNew ? undefined : await lstat(inRootBytes(place.root, above)).catch(() => undefined);
      if (found?.isDirectory() === true) {
        folders.set(key, found.mode & 0o7777);
        continue;
      }
      // Also where a file stands that makes room for it.
      isNew = true;
      if (!made.includes(key)) made.push(key);
    }
  }
  return {
    v: 1,
    by: order.by,
    links: await knowsLinks(disk, folder),
    steps,
    folders: [...folders].map(([key, mode]) => ({ path: key, mode })),
    made,
  };
}

/** What is known of it beside that has no place in the journal. */
function standingOnly(old: Standing): Standing {
  switch (old.kind) {
    case "absent":
      return { kind: old.kind };
    case "file":
      return { kind: old.kind, sha256: old.sha256 };
    case "symlink":
      return { kind: old.kind, target: old.target };
  }
}

async function make(at: string, next: TreeStep["next"]): Promise<Standing> {
  if (next === undefined) return { kind: "absent" };
  if (next.kind === "symlink") return { kind: "symlink", target: Buffer.from(next.target).toString("utf8") };
  await next.fill(at);
  const file = await open(at, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  const digest = await digestFile(at, "sha1");
  if (digest === undefined) throw new Error(`${at} changed while it was made`);
  return { kind: "file", sha256: digest.sha256 };
}

async function knowsLinks(disk: TreeDisk, folder: AbsPath): Promise<boolean> {
  const [probe, second] = [path.join(folder, "probe"), path.join(folder, "probe-2")];
  await (await open(probe, "wx")).close();
  try {
    await disk.link(probe, second);
    return true;
  } catch (error) {
    if (hasErrno(error, "EPERM", "ENOTSUP", "EMLINK", "ENOSYS")) return false;
    throw error;
  }
}

async function takeAll(ground: TreeGround, folder: AbsPath, { steps, prune }: TreeOrder): Promise<TreeWritten> {
  const { root } = ground.place;
  for (const [at, step] of steps.entries()) {
    const met = await take(ground, folder, at, step).catch((error: unknown) => {
      throw notWritten(error, step.path);
    });
    if (met !== undefined) return { kind: met, path: step.path };
    if (prune && step.next === undefined) await removeEmptyFolders(ground, step.path);
  }
  // An editor that had a file open may have written into it where it lies now.
  for (const { path: file, old } of steps) {
    if (old.kind === "absent") continue;
    if (!sameStanding(await standingAt(asideAt(folder, "old", file)), old)) return { kind: "changed", path: file };
  }
  const touched = new Map(
    steps.map((step) => parentOf(inRootBytes(root, step.path))).map((above) => [byteKey(above), above]),
  );
  for (const above of touched.values()) await syncFolder(above);
  return { kind: "written" };
}

async function take(
  { place, disk }: TreeGround,
  folder: AbsPath,
  at: number,
  { path: file, old, next }: TreeStep,
): Promise<"changed" | "elsewhere" | undefined> {
  await checkParents(place.root, file);
  const target = inRootBytes(place.root, file);
  // The last look before anything is moved: most saves are met here, and then no name is gone for even a moment.
  if (!sameStanding(await standingAt(target), old)) return "changed";
  let mode: number | undefined;
  if (old.kind !== "absent") {
    const aside = asideAt(folder, "old", file);
    await mkdir(parentOf(aside), { recursive: true });
    const gone = await disk.moveAside(target, aside).then(
      () => undefined,
      (error: unknown) => {
        if (hasErrno(error, "EXDEV")) return "elsewhere" as const;
        if (hasErrno(error, "ENOENT", "ENOTDIR")) return "changed" as const;
        throw error;
      },
    );
    if (gone !== undefined) return gone;
    if (!sameStanding(await standingAt(aside), old)) return "changed";
    if (old.kind === "file") mode = (await lstat(aside)).mode & 0o7777;
  }
  if (next === undefined) return undefined;
  for (const above of foldersAbove(file)) {
    const inTheWay = await disk.mkdir(inRootBytes(place.root, above)).then(
      () => false,
      (error: unknown) => {
        if (hasErrno(error, "EEXIST")) return false;
        if (hasErrno(error, "ENOTDIR")) return true;
        throw error;
      },
    );
    // Saved as a file again, where it makes room for a folder.
    if (inTheWay) return "changed";
  }
  const own = newAt(folder, at);
  const wanted = next.kind === "file" ? next.mode(mode) : undefined;
  if (wanted !== undefined) await chmod(own, wanted);
  try {
    if (next.kind === "symlink") await disk.symlink(Buffer.from(next.target), target);
    else await linkIn(disk, own, target);
    return undefined;
  } catch (error) {
    if (hasErrno(error, "EEXIST", "ENOTDIR")) return "changed";
    if (hasErrno(error, "EXDEV")) return "elsewhere";
    throw error;
  }
}

/** What a person can do something about becomes a refusal that names the path in the repository. */
function notWritten(error: unknown, file: Uint8Array): unknown {
  if (isDiskFull(error))
    return new OrchError("env.disk-full", `The disk is full: ${shown(file)} could not be written`, {
      data: { path: shown(file) },
      cause: error,
    });
  const [, why] = refusals.find(([code]) => hasErrno(error, code)) ?? [];
  return why === undefined ? error : refusedPath(file, why, { protected: true });
}

const refusals = [
  ["EACCES", "may not be changed by you: the permissions of its folder say so"],
  ["EPERM", "may not be changed: the system refuses it"],
  ["EROFS", "lies on a disk that can only be read"],
  ["EBUSY", "is in use by the system, as a mounted file is"],
] as const;

async function removeEmptyFolders({ place, disk }: TreeGround, file: Uint8Array): Promise<void> {
  for (const above of foldersAbove(file).toReversed()) {
    const went = await disk.rmdir(inRootBytes(place.root, above)).then(
      () => true,
      () => false,
    );
    if (!went) return;
  }
}
