import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import * as z from "zod";
import { absPath, type AbsPath, inRoot } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import { gitDirBeside, runIdPattern, stateRunsDir } from "../model/run-place.ts";
import type { Files } from "../ports/files.ts";
import type { RepoPlace } from "../ports/git.ts";
import { hasErrno } from "./git-walk.ts";

/**
 * Where the worktrees of a repository lie, one folder each, outside the repository and outside each other:
 *
 *   <home>/<n>/<name>/   the worktree itself, all that a worker gets
 *   <home>/<n>/git/      the git dir that its `.git` file names: the worker's own, made anew for each contract
 *   <home>/<n>/own/      Orch's: the index all comparing starts from, and state.json
 *   <home>/pool/<x>/     the same, waiting for a contract
 *   <home>/gone/<x>/     renamed away, to be deleted
 *   <home>/new-<run>-<x>/  being made by that run
 *
 * A folder gets its number by a rename once its state is written, so whatever a kill leaves tells whose it was.
 */
export const WorktreeState = z.strictObject({
  v: z.literal(1),
  /** `making`: not filled yet. `open`: a contract works in it. `held`: its result waits for a review. */
  phase: z.enum(["making", "open", "rolled-back", "held", "pooled"]),
  run: z.string().optional(),
  contract: z.string().optional(),
  /**
   * Commit that the work is measured against, and the one below it: with the pinned tree it can be made again. Of a pooled
   * worktree, the commit its index was written for.
   */
  base: z.string().optional(),
  parent: z.string().optional(),
  carried: z.array(z.string()).default([]),
  leftBehind: z.array(z.string()).default([]),
  /** sha256 of `own/index` as it was written last: one that differs is not believed. */
  index: z.string().optional(),
  links: z.array(z.strictObject({ path: z.string(), target: z.string() })).default([]),
  /** Top-level entries that stand for `worktree_links`, as the person named them: what they lead to is watched. */
  linked: z.array(z.string()).default([]),
});
export type WorktreeState = z.infer<typeof WorktreeState>;

export interface Slot {
  readonly folder: AbsPath;
  readonly tree: AbsPath;
  readonly git: AbsPath;
  readonly own: AbsPath;
  readonly index: AbsPath;
}

/** @throws OrchError `config.invalid` for a root inside git's own folder */
export function worktreesHome(
  order: { readonly stateDir: AbsPath; readonly configured?: string | undefined },
  place: RepoPlace,
): AbsPath {
  const { commonDir } = place;
  const checkout = path.basename(commonDir) === ".git" ? absPath(path.dirname(commonDir)) : commonDir;
  const named = path.basename(path.dirname(stateRunsDir(order.stateDir, checkout)));
  if (order.configured === undefined) return inRoot(order.stateDir, "wt", named);
  const text = order.configured.replace(/^~(?=$|[\\/])/, homedir());
  const root = absPath(path.resolve(place.root, text));
  const inGit = path.relative(place.commonDir, root);
  if (inGit === "" || (!inGit.startsWith("..") && !path.isAbsolute(inGit))) {
    throw new OrchError("config.invalid", `worktree_root: ${order.configured} lies in git's own folder`, {
      data: { path: "worktree_root" },
    });
  }
  return inRoot(root, named);
}

/** The worktree's folder is named like the checkout: some projects look at the name. */
export function slotAt(folder: AbsPath, root: AbsPath): Slot {
  const name = path.basename(root).replaceAll(/[^A-Za-z0-9._-]/g, "_");
  const own = inRoot(folder, "own");
  const tree = name === "" || name === "git" || name === "own" ? "tree" : name;
  return {
    folder,
    tree: inRoot(folder, tree),
    git: gitDirBeside(inRoot(folder, tree)),
    own,
    index: inRoot(own, "index"),
  };
}

export async function readState(files: Files, slot: Slot): Promise<WorktreeState | undefined> {
  const text = await files.readText(inRoot(slot.own, "state.json"));
  if (text === undefined) return undefined;
  const read = readJson(text, WorktreeState);
  return read.kind === "ok" ? read.value : undefined;
}

export async function writeState(files: Files, slot: Slot, state: WorktreeState): Promise<void> {
  await files.write(inRoot(slot.own, "state.json"), `${JSON.stringify(state)}\n`, { mode: 0o600 });
}

/** Numbers in use, in order. */
export async function numbered(home: AbsPath): Promise<readonly AbsPath[]> {
  const names = (await namesIn(home)).filter((name) => /^[1-9][0-9]*$/.test(name));
  return names.toSorted((a, b) => Number(a) - Number(b)).map((name) => inRoot(home, name));
}

/** Folders that a run was making; the run is read from the name. */
export async function unfinished(
  home: AbsPath,
): Promise<readonly { readonly folder: AbsPath; readonly run: string }[]> {
  return (await namesIn(home)).flatMap((name) => {
    const run = /^new-(.+)-[0-9a-f]+$/.exec(name)?.[1];
    return run === undefined || !runIdPattern.test(run) ? [] : [{ folder: inRoot(home, name), run }];
  });
}

export async function pooled(home: AbsPath): Promise<readonly AbsPath[]> {
  return (await namesIn(inRoot(home, "pool"))).map((name) => inRoot(home, "pool", name));
}

async function namesIn(folder: AbsPath): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** A new folder, or one of the pool, that belongs to `state.run` from now on. */
export async function takeSlot(
  files: Files,
  home: AbsPath,
  root: AbsPath,
  state: WorktreeState & { readonly run: string },
): Promise<{ readonly slot: Slot; readonly from?: WorktreeState }> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const temp = inRoot(home, `new-${state.run}-${mark()}`);
  const from = await fromPool(files, home, root, temp);
  if (from === undefined) await mkdir(inRoot(temp, "own"), { recursive: true, mode: 0o700 });
  await writeState(files, slotAt(temp, root), {
    ...state,
    ...(from?.index === undefined ? {} : { index: from.index }),
  });
  for (let n = 1; ; n += 1) {
    const folder = inRoot(home, String(n));
    if ((await files.stat(folder)) !== undefined) continue;
    if (!(await moved(temp, folder))) continue;
    return { slot: slotAt(folder, root), ...(from === undefined ? {} : { from }) };
  }
}

async function fromPool(files: Files, home: AbsPath, root: AbsPath, to: AbsPath): Promise<WorktreeState | undefined> {
  for (const folder of await pooled(home)) {
    // Whoever renames it first has it.
    if (!(await moved(folder, to))) continue;
    const state = await readState(files, slotAt(to, root));
    if (state?.phase === "pooled") return state;
    await dispose(home, to);
  }
  return undefined;
}

/** False when the source went meanwhile or the target is taken. */
async function moved(from: AbsPath, to: AbsPath): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (hasErrno(error, "ENOENT", "EEXIST", "ENOTEMPTY", "EPERM", "ENOTDIR")) return false;
    throw error;
  }
}

/** Renamed away at once, deleted by a later `sweep`: deleting many files takes seconds. */
export async function dispose(home: AbsPath, folder: AbsPath): Promise<void> {
  await mkdir(inRoot(home, "gone"), { recursive: true, mode: 0o700 });
  await rename(folder, inRoot(home, "gone", mark()));
}

export async function toPool(home: AbsPath, folder: AbsPath): Promise<void> {
  await mkdir(inRoot(home, "pool"), { recursive: true, mode: 0o700 });
  await rename(folder, inRoot(home, "pool", mark()));
}

/** Deletes what was renamed away; the number of folders. */
export async function sweepGone(home: AbsPath): Promise<number> {
  const gone = await namesIn(inRoot(home, "gone"));
  for (const name of gone) await removeAll(inRoot(home, "gone", name));
  return gone.length;
}

/** A worker may have taken the rights of a folder away: they are given back first. */
async function removeAll(folder: AbsPath): Promise<void> {
  const order = { recursive: true, force: true, maxRetries: 3, retryDelay: 20 } as const;
  try {
    await rm(folder, order);
  } catch (error) {
    if (!hasErrno(error, "EACCES", "EPERM", "ENOTEMPTY")) throw error;
    await openFolders(folder);
    await rm(folder, order);
  }
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(path.join(folder, entry.name));
  }
}

const mark = (): string => randomBytes(6).toString("hex");
