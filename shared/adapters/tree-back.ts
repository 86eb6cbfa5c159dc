import { chmod, lstat, mkdir, readlink } from "node:fs/promises";
import type { AbsPath } from "../base/paths.ts";
import type { Standing } from "../ports/tree-writes.ts";
import { hasErrno, inRootBytes, isBehindLink } from "./git-walk.ts";
import { linkIn, type TreeGround } from "./tree-disk.ts";
import { asideAt, foldersAbove, newAt, parentOf, sameStanding, standingAt, type TreeJournal } from "./tree-journal.ts";
import { byteKey, fromBase64, toBase64 } from "./trash-bytes.ts";

export interface WentBack {
  /** Paths that hold again what they held before. */
  readonly putBack: readonly Uint8Array[];
  /** What has no place in the tree, as something newer stands there. It still lies in the journal's folder. */
  readonly left: readonly LeftAside[];
}

export interface LeftAside {
  readonly name: "old" | "taken";
  readonly path: Uint8Array;
}

/**
 * The way back of a write that did not come to its end: a conflict, an error, a kill. It looks at what is there and needs
 * nothing but the journal, so it can be killed and begun again. Only a file that is still exactly what Orch put there is
 * taken away, and nothing is written over: a person's save stands wherever it is met.
 */
export async function goBack(ground: TreeGround, folder: AbsPath, journal: TreeJournal): Promise<WentBack> {
  const { place, disk } = ground;
  const putBack: Uint8Array[] = [];
  const left: LeftAside[] = [];
  for (const [at, step] of [...journal.steps.entries()].toReversed()) {
    const path = fromBase64(step.path);
    const [aside, taken] = [asideAt(folder, "old", path), asideAt(folder, "taken", path)];
    const target = inRootBytes(place.root, path);
    const isNext = async (one: Buffer): Promise<boolean> => sameStanding(await standingAt(one), step.next);
    const begun = step.old.kind === "absent" || (await liesAside(aside, step.old));
    if (!(await isBehindLink(place.root, path).catch(() => true))) {
      if (await liesAside(taken, step.next)) {
        // Killed while it was looked at: a save that was met goes where it was saved.
        if (!(await isNext(taken))) await returned(taken, target);
      } else if (begun && (await isOurs(folder, journal, at, target))) {
        await mkdir(parentOf(taken), { recursive: true });
        await disk.moveAside(target, taken);
        if (!(await isNext(taken))) await returned(taken, target);
        else if (step.old.kind === "absent") putBack.push(path);
      }
      if (begun && step.old.kind !== "absent") {
        // A file that had become a folder: its place is free once that is empty again.
        await removeMade(path);
        if (await returned(aside, target)) putBack.push(path);
      }
    }
    if (await liesAside(aside, step.old)) left.push({ name: "old", path });
    if ((await liesAside(taken, step.next)) && !(await isNext(taken))) left.push({ name: "taken", path });
  }
  await removeMade();
  return { putBack: putBack.toReversed(), left };

  /** The folders that were made, at and below `under`, where they are empty. A link that is back in place is not followed. */
  async function removeMade(under?: Uint8Array): Promise<void> {
    for (const key of journal.made.toReversed()) {
      const own = fromBase64(key);
      if (under !== undefined && ![...foldersAbove(own), own].some((one) => byteKey(one) === byteKey(under))) continue;
      if (await isBehindLink(place.root, own).catch(() => true)) continue;
      const at = inRootBytes(place.root, own);
      const found = await lstat(at).catch(() => undefined);
      if (found?.isDirectory() === true) await disk.rmdir(at).catch(() => undefined);
    }
  }

  /** True when the tree holds it again, at `target`; then it lies aside no more. */
  async function returned(from: Buffer, target: Buffer): Promise<boolean> {
    if (!(await linkBack(from, target))) {
      const own = await standingAt(from);
      // A kill between the two steps leaves both names, and a save may have brought the same.
      if (own === undefined || !sameStanding(await standingAt(target), own)) return false;
    }
    await disk.unlink(from);
    return true;
  }

  async function linkBack(from: Buffer, target: Buffer): Promise<boolean> {
    try {
      const found = await lstat(from);
      // A folder that a person put in a file's place: it has no second name.
      if (found.isDirectory()) return false;
      await makeFolders(target);
      if (found.isSymbolicLink()) await disk.symlink(await readlink(from, "buffer"), target);
      else await linkIn(disk, from, target);
      return true;
    } catch (error) {
      if (hasErrno(error, "EEXIST", "ENOTDIR", "EISDIR")) return false;
      throw error;
    }
  }

  async function makeFolders(target: Buffer): Promise<void> {
    const path = target.subarray(inRootBytes(place.root, new Uint8Array()).length + 1);
    for (const above of foldersAbove(path)) {
      const own = inRootBytes(place.root, above);
      const made = await disk.mkdir(own).then(
        () => true,
        (error: unknown) => {
          if (hasErrno(error, "EEXIST")) return false;
          throw error;
        },
      );
      const mode = journal.folders.find((one) => one.path === toBase64(above))?.mode;
      if (made && mode !== undefined) await chmod(own, mode);
    }
  }
}

/** Still exactly what was put there: the same file and not only the same text, which a person may have saved as well. */
export async function isOurs(
  folder: AbsPath,
  { links, steps }: TreeJournal,
  at: number,
  target: Buffer,
): Promise<boolean> {
  const next: Standing = steps[at]?.next ?? { kind: "absent" };
  if (next.kind === "absent" || !sameStanding(await standingAt(target), next)) return false;
  if (next.kind === "symlink" || !links) return true;
  const [own, there] = await Promise.all([newAt(folder, at), target].map((one) => lstat(one).catch(() => undefined)));
  return own !== undefined && there !== undefined && own.ino === there.ino && own.dev === there.dev;
}

/**
 * Whether something was moved to `at`, where a step's `mark` is what would lie there. A step that has nothing to move
 * there may find a folder that holds what others moved; any other folder is one that a person put in a file's place.
 */
export async function liesAside(at: Buffer, mark: Standing): Promise<boolean> {
  try {
    const found = await lstat(at);
    return !(found.isDirectory() && mark.kind === "absent");
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}
