import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot, type RepoPath } from "../base/paths.ts";
import { isOrchError } from "../model/error.ts";
import { isToolOutput } from "../model/tool-output.ts";
import type { TrashEntry, TrashManifest } from "../model/trash.ts";
import type { Bystanders, Touched, TouchedFile, Watch, WatchOrder } from "../ports/bystanders.ts";
import type { Git, Uncommitted } from "../ports/git.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import { foldersAbove, isMoved, type Mark, markAgain, markAny, marksOf, shutOf } from "./bystander-marks.ts";
import { fromBase64, toBase64 } from "./trash-bytes.ts";
import { toBytes } from "./git-walk.ts";

/**
 * Marks before, marks after. A mark is what the file system says of a file, change time included, which no program sets
 * at will; content is read only where the marks differ. A file is stored whole or not at all, and what is too large for
 * that is named.
 */
export interface BystandersDeps {
  readonly git: Pick<Git, "place" | "uncommitted">;
  readonly trash: Pick<Trash, "store" | "look" | "keepOnly" | "purge" | "removeStored">;
  /** Whether programs run in a sandbox that keeps them from writing what `Watch.keep` names. */
  readonly confined: (signal: AbortSignal) => Promise<boolean>;
  /** Told, once each, which files are too large to be stored where no sandbox protects them either. */
  readonly onLarge: (paths: readonly RepoPath[]) => void;
  /** Told, once each, which repositories in the checkout cannot be looked into where no sandbox protects them either. */
  readonly onUnseen: (folders: readonly RepoPath[]) => void;
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

export function createBystanders(deps: BystandersDeps): Bystanders {
  const told = new Set<string>();
  return {
    async watch(order, signal) {
      throwIfAborted(signal);
      if (order.root !== deps.git.place.root) return undefined;
      const before = await deps.git.uncommitted((folder) => isToolOutput(`${folder}/`));
      const marks = await marksOf(order.root, before);
      const confined = await deps.confined(signal);
      const limits = deps.limits ?? usual;
      const shut = new Set<RepoPath>(confined ? shutOf(marks, limits.mounts) : []);
      const parents = await foldersAbove(order.root, [...shut]);
      const { storable, large } = sorted(marks, order, limits);
      const entry = await storeBefore(deps, order, storable);
      const tell = (paths: readonly RepoPath[], on: (some: readonly RepoPath[]) => void): void => {
        const open = paths.filter((path) => !shut.has(path) && !told.has(path));
        for (const path of open) told.add(path);
        if (open.length > 0) on(open);
      };
      tell(large, deps.onLarge);
      tell(
        before.repositories.filter(({ seen }) => !seen).map(({ path }) => path),
        deps.onUnseen,
      );
      return watchOf(deps, order, { before, marks, shut, parents, entry });
    },
  };
}

interface Before {
  readonly before: Uncommitted;
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
  for (const { path, kind, sizeBytes } of marks.toSorted((a, b) => a.sizeBytes - b.sizeBytes)) {
    if (kind === "folder" || elsewhere.has(path)) continue;
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
  const now = await Promise.all(was.marks.map((mark) => markAgain(root, mark)));
  const folders = await foldersAbove(root, [...was.shut]);
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
  const told = new Set<string>(before.entries.flatMap(({ path, oldPath }) => [path, oldPath ?? path]));
  const touched: TouchedFile[] = [];
  for (const { path, index, worktree, folder } of await before.again()) {
    if (told.has(path) || index === "!" || isToolOutput(folder === true ? `${path}/` : path)) continue;
    const mark = await markAny(inRoot(git.place.root, path));
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
