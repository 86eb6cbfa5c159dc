import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, dirName, inRoot, type RepoPath } from "../base/paths.ts";
import { isOrchError } from "../model/error.ts";
import { isInBuildFolder, isToolOutput } from "../model/tool-output.ts";
import type { TrashEntry, TrashManifest } from "../model/trash.ts";
import type { Bystanders, Touched, TouchedFile, Watch, WatchOrder } from "../ports/bystanders.ts";
import type { Git, StatusEntry } from "../ports/git.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import { fromBase64, toBase64 } from "./trash-bytes.ts";
import { toBytes } from "./git-walk.ts";

/**
 * Marks before, marks after. A mark is what the file system says of a file, change time included, which no program sets
 * at will; content is read only where the marks differ. A file is stored whole or not at all, and what is too large for
 * that is named.
 */
export interface BystandersDeps {
  readonly git: Pick<Git, "place" | "status">;
  readonly trash: Pick<Trash, "store" | "look" | "keepOnly" | "purge" | "removeStored">;
  /** Whether programs run in a sandbox that keeps them from writing what `Watch.keep` names. */
  readonly confined: (signal: AbortSignal) => Promise<boolean>;
  /** Told, once each, which files are too large to be stored where no sandbox protects them either. */
  readonly onLarge: (paths: readonly RepoPath[]) => void;
  readonly onStored: (item: TrashItem) => void;
  /** For tests; the defaults are below. */
  readonly limits?: Limits;
}

interface Limits {
  readonly fileBytes: number;
  readonly allBytes: number;
  readonly files: number;
  /** Each is a mount of its own. */
  readonly mounts: number;
}

const mib = 1024 * 1024;
const usual: Limits = { fileBytes: 64 * mib, allBytes: 256 * mib, files: 5000, mounts: 200 };

interface Mark {
  readonly path: RepoPath;
  readonly kind: "file" | "symlink";
  readonly text: string;
  readonly sizeBytes: number;
  readonly untracked: boolean;
}

export function createBystanders(deps: BystandersDeps): Bystanders {
  const told = new Set<string>();
  return {
    async watch(order, signal) {
      throwIfAborted(signal);
      if (order.root !== deps.git.place.root) return undefined;
      const before = await deps.git.status();
      const marks = await marksOf(deps, before);
      const confined = await deps.confined(signal);
      const shut = new Set<RepoPath>(confined ? shutOf(marks, deps.limits ?? usual) : []);
      const parents = await foldersAbove(deps, [...shut]);
      const { storable, large } = sorted(marks, order, deps.limits ?? usual);
      const entry = await storeBefore(deps, order, storable);
      const open = large.filter((path) => !shut.has(path) && !told.has(path));
      for (const path of open) told.add(path);
      if (open.length > 0) deps.onLarge(open);
      return watchOf(deps, order, { before, marks, shut, parents, entry });
    },
  };
}

interface Before {
  readonly before: readonly StatusEntry[];
  readonly marks: readonly Mark[];
  readonly shut: ReadonlySet<RepoPath>;
  readonly parents: ReadonlyMap<string, string>;
  readonly entry: TrashManifest | undefined;
}

function watchOf(deps: BystandersDeps, order: WatchOrder, was: Before): Watch {
  const { root } = deps.git.place;
  return {
    keep: [...was.shut].map((path) => inRoot(root, path)),
    async done() {
      const files = [...(await heldTouched(deps, order, was)), ...(await othersTouched(deps, was))];
      return await settle(deps, was.entry, files);
    },
    async takeAway(paths) {
      const item = await deps.trash.store({ by: order.by, what: `${order.what}, new files they left`, paths });
      if (item.files === 0) {
        await deps.trash.purge([item.id]);
        return undefined;
      }
      deps.onStored(item);
      await deps.trash.removeStored(item.id);
      return item.id;
    },
  };
}

/** Only what is lost without it stays in the list of `restore`. */
async function settle(
  { trash, onStored }: BystandersDeps,
  entry: TrashManifest | undefined,
  files: readonly TouchedFile[],
): Promise<Touched> {
  if (entry === undefined) return { files };
  const needed = files.filter(({ kept }) => kept === "entry").map(({ path }) => path);
  if (needed.length === 0) {
    await trash.purge([entry.id]);
    return { files };
  }
  onStored(await trash.keepOnly(entry.id, needed));
  return { files, entry: entry.id };
}

/** What no commit holds, as far as it lies on the disk. A nested repository is its own matter. */
async function marksOf({ git }: BystandersDeps, status: readonly StatusEntry[]): Promise<readonly Mark[]> {
  const marks = await Promise.all(
    status.map(async ({ path, index }): Promise<Mark | undefined> => {
      const untracked = index === "?";
      if (index === "!" || (untracked && isToolOutput(path))) return undefined;
      const mark = await markOf(inRoot(git.place.root, path));
      return mark === undefined ? undefined : { ...mark, path, untracked };
    }),
  );
  return marks.filter((mark) => mark !== undefined);
}

async function markOf(at: AbsPath): Promise<Pick<Mark, "kind" | "text" | "sizeBytes"> | undefined> {
  const stat = await lstat(at, { bigint: true }).catch(() => undefined);
  const kind = stat?.isFile() === true ? "file" : stat?.isSymbolicLink() === true ? "symlink" : undefined;
  if (stat === undefined || kind === undefined) return undefined;
  const text = [kind, stat.dev, stat.ino, stat.mode, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
  return { kind, text, sizeBytes: Number(stat.size) };
}

/** A mount over a link would be one over what it leads to; builds and tools write their own files anew. */
function shutOf(marks: readonly Mark[], { mounts }: Limits): readonly RepoPath[] {
  return marks
    .filter(({ kind, path }) => kind === "file" && !isInBuildFolder(path) && !isToolOutput(path))
    .slice(0, mounts)
    .map(({ path }) => path);
}

/** A file that cannot be written can still be moved away with the folder it lies in. */
async function foldersAbove({ git }: BystandersDeps, paths: readonly RepoPath[]): Promise<ReadonlyMap<string, string>> {
  const folders = new Map<string, string>();
  for (const path of paths) {
    for (let at = dirName(path); at !== "." && !folders.has(at); at = dirName(at)) {
      const stat = await lstat(inRoot(git.place.root, at), { bigint: true }).catch(() => undefined);
      folders.set(at, stat === undefined ? "" : `${stat.dev} ${stat.ino}`);
    }
  }
  return folders;
}

/** The small ones first, so that one large file costs no other its place. */
function sorted(
  marks: readonly Mark[],
  { known }: WatchOrder,
  limits: Limits,
): { readonly storable: readonly RepoPath[]; readonly large: readonly RepoPath[] } {
  const elsewhere = new Set<string>(known);
  const storable: RepoPath[] = [];
  const large: RepoPath[] = [];
  let left = limits.allBytes;
  for (const { path, sizeBytes } of marks.toSorted((a, b) => a.sizeBytes - b.sizeBytes)) {
    if (elsewhere.has(path)) continue;
    if (sizeBytes > limits.fileBytes || sizeBytes > left || storable.length === limits.files) large.push(path);
    else {
      storable.push(path);
      left -= sizeBytes;
    }
  }
  return { storable, large };
}

/** A file that is written all the time (a server's log) or cannot be read is no reason not to test: it goes without. */
async function storeBefore(
  { trash }: BystandersDeps,
  { by, what }: WatchOrder,
  storable: readonly RepoPath[],
): Promise<TrashManifest | undefined> {
  let paths = storable;
  while (paths.length > 0) {
    try {
      const item = await trash.store({ by, what: `uncommitted files before the ${what}`, paths, quick: true });
      return await trash.look(item.id);
    } catch (error) {
      if (!isOrchError(error) || (error.code !== "tree.changed" && error.code !== "path.refused")) throw error;
      const { paths: several, path: one } = error.data;
      const named = new Set([...(Array.isArray(several) ? several : []), one].map(String));
      const rest = paths.filter((path) => !named.has(path));
      if (rest.length === paths.length) throw error;
      paths = rest;
    }
  }
  return undefined;
}

async function heldTouched(deps: BystandersDeps, order: WatchOrder, was: Before): Promise<TouchedFile[]> {
  const { root } = deps.git.place;
  const known = new Set<string>(order.known);
  const stored = new Map(was.entry?.entries.map((entry) => [entry.path, entry]));
  const now = await Promise.all(was.marks.map(({ path }) => markOf(inRoot(root, path))));
  const folders = await foldersAbove(deps, [...was.shut]);
  const touched: TouchedFile[] = [];
  for (const [n, mark] of was.marks.entries()) {
    const { path } = mark;
    const after = now[n];
    if (after?.text === mark.text) continue;
    const entry = stored.get(toBase64(toBytes(path)));
    const how = after === undefined ? "vanished" : await changeOf(inRoot(root, path), mark, after, entry);
    if (how === undefined) continue;
    const moved = was.shut.has(path) && isMoved(path, was.parents, folders);
    // The sandbox let the programs not write it, so it is the person's own edit.
    if (was.shut.has(path) && !moved) continue;
    const kept = known.has(path) || how === "grew" ? "elsewhere" : entry === undefined ? "no" : "entry";
    touched.push({ path, how, was: "uncommitted", kept, surely: moved });
  }
  return touched;
}

function isMoved(path: RepoPath, was: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): boolean {
  for (let at = dirName(path); at !== "."; at = dirName(at)) if (was.get(at) !== now.get(at)) return true;
  return false;
}

/** Undefined where it holds what it held: saved again, or its times set. */
async function changeOf(
  at: AbsPath,
  before: Mark,
  after: Pick<Mark, "kind" | "sizeBytes">,
  entry: TrashEntry | undefined,
): Promise<"changed" | "grew" | undefined> {
  if (entry === undefined || before.kind !== after.kind) return "changed";
  if (entry.kind === "symlink") {
    const link = await readlink(at, "buffer").catch(() => undefined);
    return link?.equals(fromBase64(entry.link ?? "")) === true ? undefined : "changed";
  }
  const size = entry.bytes ?? 0;
  if (after.sizeBytes < size || (await beginningOf(at, size)) !== entry.sha256) return "changed";
  if (after.sizeBytes > size) return "grew";
  const mode = (await lstat(at).catch(() => undefined))?.mode;
  return mode !== undefined && (mode & 0o7777) === Number.parseInt(entry.mode, 8) ? undefined : "changed";
}

async function beginningOf(at: AbsPath, bytes: number): Promise<string | undefined> {
  const hash = createHash("sha256");
  if (bytes === 0) return hash.digest("hex");
  try {
    for await (const piece of createReadStream(at, { end: bytes - 1 })) hash.update(piece as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

/** What git did not tell before and tells now: files that were as the index has them, and new ones. */
async function othersTouched({ git }: BystandersDeps, { before }: Before): Promise<TouchedFile[]> {
  const told = new Set<string>(before.flatMap(({ path, oldPath }) => [path, oldPath ?? path]));
  const touched: TouchedFile[] = [];
  for (const { path, index, worktree } of await git.status()) {
    if (told.has(path) || index === "!" || isToolOutput(path)) continue;
    const mark = await markOf(inRoot(git.place.root, path));
    if (index === "?" && mark !== undefined)
      touched.push({ path, how: "appeared", was: "absent", kept: "elsewhere", surely: false });
    // A change that only the index has is no program's that wrote files.
    else if (index !== "?" && worktree !== ".")
      touched.push({
        path,
        how: mark === undefined ? "vanished" : "changed",
        was: "clean",
        kept: "elsewhere",
        surely: false,
      });
  }
  return touched;
}
