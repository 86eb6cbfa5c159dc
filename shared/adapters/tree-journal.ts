import { lstat, mkdir, open, readdir, readFile, readlink, rename } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { absPath, type AbsPath } from "../base/paths.ts";
import type { RepoPlace } from "../ports/git.ts";
import type { Standing } from "../ports/tree-writes.ts";
import { syncFolder } from "./disk-names.ts";
import { makePrivateFolder, stagingPrefix } from "./git-blobs.ts";
import { hasErrno, inRootBytes } from "./git-walk.ts";
import { digestFile } from "./trash-bytes.ts";

/**
 * What a write into the person's tree is about to do, in a folder of its own on the tree's file system: git's own folder,
 * where nobody lists it, or the root when that lies on another disk.
 *
 *   journal.json   what each path held and shall hold: on the disk before the first file is moved
 *   done.json      its name once everything stands: then what was moved aside may go
 *   new/<n>        made aside, linked into place
 *   old/<path>     what stood there, moved aside
 *   taken/<path>   on the way back: what had been put there
 *
 * A folder without either file moved nothing.
 */
const Mark = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("absent") }),
  z.strictObject({ kind: z.literal("file"), sha256: z.string() }),
  z.strictObject({ kind: z.literal("symlink"), target: z.string() }),
]);

export const TreeJournal = z.strictObject({
  v: z.literal(1),
  by: z.enum(["do", "move", "merge", "apply"]),
  /** False where the file system knows no second name for a file. */
  links: z.boolean(),
  /** In the order they are taken; paths as base64 of their bytes. */
  steps: z.array(z.strictObject({ path: z.string(), old: Mark, next: Mark })),
  /** Folders above the paths with their modes: those that were there. */
  folders: z.array(z.strictObject({ path: z.string(), mode: z.number().int() })),
  /** Folders above the paths that were not there, outermost first; a file may have stood in the place of one. */
  made: z.array(z.string()),
});
export type TreeJournal = z.infer<typeof TreeJournal>;

const prefix = ".orch-writes-";

export async function makeJournalFolder(place: RepoPlace): Promise<AbsPath> {
  const folder = await makePrivateFolder(place, prefix);
  for (const name of ["new", "old", "taken"]) await mkdir(path.join(folder, name));
  return folder;
}

/** Of this checkout, oldest name first. */
export async function journalFolders({ root, gitDir }: RepoPlace): Promise<readonly AbsPath[]> {
  const found: AbsPath[] = [];
  for (const home of [gitDir, root]) {
    const names = await readdir(home).catch(() => []);
    for (const name of names.toSorted()) if (name.startsWith(prefix)) found.push(absPath(path.join(home, name)));
  }
  return found;
}

/**
 * What killed calls left of `withStaging`: copies of what git holds, and nothing else. Files of the tree were
 * moved in there once (`old-0`): such a folder stays, for a person to look into.
 */
export async function stagingLeft({ root, gitDir }: RepoPlace): Promise<readonly AbsPath[]> {
  const found: AbsPath[] = [];
  for (const home of [gitDir, root]) {
    for (const name of await readdir(home).catch(() => [])) {
      if (!name.startsWith(stagingPrefix)) continue;
      const held = await readdir(path.join(home, name)).catch(() => ["old-"]);
      if (!held.some((one) => one.startsWith("old-"))) found.push(absPath(path.join(home, name)));
    }
  }
  return found;
}

/** On the disk when it returns, whole or not at all. */
export async function writeJournal(folder: AbsPath, journal: TreeJournal): Promise<void> {
  const temp = path.join(folder, "journal.tmp");
  const file = await open(temp, "wx", 0o600);
  try {
    // What cannot be read back must not be relied on.
    await file.writeFile(JSON.stringify(TreeJournal.parse(journal)));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temp, path.join(folder, "journal.json"));
  await syncFolder(folder);
}

export async function closeJournal(folder: AbsPath): Promise<void> {
  await rename(path.join(folder, "journal.json"), path.join(folder, "done.json"));
  await syncFolder(folder);
}

export type FoundJournal =
  /** Nothing was moved yet. */
  | { readonly kind: "none" }
  | { readonly kind: "open" | "done"; readonly journal: TreeJournal }
  /** It cannot be read: nothing is put back on its word. */
  | { readonly kind: "damaged" };

export async function readJournal(folder: AbsPath): Promise<FoundJournal> {
  for (const [name, kind] of [
    ["done.json", "done"],
    ["journal.json", "open"],
  ] as const) {
    const text = await readFile(path.join(folder, name), "utf8").catch((error: unknown) => {
      if (hasErrno(error, "ENOENT")) return undefined;
      throw error;
    });
    if (text === undefined) continue;
    const parsed = TreeJournal.safeParse(jsonOf(text));
    return parsed.success ? { kind, journal: parsed.data } : { kind: "damaged" };
  }
  return { kind: "none" };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `undefined`: a folder, a device, or a file that changes while it is read. */
export async function standingAt(at: Buffer | string): Promise<Standing | undefined> {
  try {
    const found = await lstat(at);
    if (found.isSymbolicLink()) return { kind: "symlink", target: await readlink(at) };
    if (!found.isFile()) return undefined;
    const digest = await digestFile(at, "sha1");
    return digest === undefined ? undefined : { kind: "file", sha256: digest.sha256 };
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR")) return { kind: "absent" };
    throw error;
  }
}

export function sameStanding(a: Standing | undefined, b: Standing): boolean {
  switch (b.kind) {
    case "absent":
      return a?.kind === "absent";
    case "file":
      return a?.kind === "file" && a.sha256 === b.sha256;
    case "symlink":
      return a?.kind === "symlink" && a.target === b.target;
  }
}

/** Where `file` lies in a folder of the journal. */
export const asideAt = (folder: AbsPath, name: "old" | "taken", file: Uint8Array): Buffer =>
  inRootBytes(absPath(path.join(folder, name)), file);
export const newAt = (folder: AbsPath, step: number): string => path.join(folder, "new", String(step));

export const parentOf = (at: Buffer): Buffer => at.subarray(0, at.lastIndexOf(47));

/** The folders above a path, outermost first, without the root. */
export function foldersAbove(file: Uint8Array): readonly Uint8Array[] {
  const above: Uint8Array[] = [];
  for (let at = file.indexOf(47); at !== -1; at = file.indexOf(47, at + 1)) above.push(file.subarray(0, at));
  return above;
}
