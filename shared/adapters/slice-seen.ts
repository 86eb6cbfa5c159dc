import * as z from "zod";
import { type AbsPath, inRoot, type RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import type { Files } from "../ports/files.ts";
import type { Git } from "../ports/git.ts";
import { absent, FileMark, markAt, readMark, sameMark } from "./workspace-state.ts";
import { intended } from "./workspace-write.ts";

export type Marks = Readonly<Record<string, FileMark>>;

/** The base of a look that no worktree was made of yet. */
const pending = "";

/** How a slice looked when a worktree was made of it; kept beside the run, so that a later runner compares with the same. */
const SliceSeen = z.strictObject({
  v: z.literal(1),
  /** What the worktree started from: another one was made of another look. */
  base: z.string(),
  marks: z.record(z.string(), FileMark),
});

export interface SliceGround {
  readonly git: Pick<Git, "place" | "listFiles">;
  readonly files: Files;
  readonly slice: RepoPath;
  readonly registry: RepoPath;
}

export interface BaseGround extends SliceGround {
  readonly git: SliceGround["git"] & Pick<Git, "filesAt" | "wouldCommit" | "checkedOut">;
}

/** What git would commit of the slice, and the registry; what it ignores is nobody's work here. */
export async function markSlice(ground: SliceGround, also: readonly RepoPath[] = []): Promise<Marks> {
  const { git, files, slice, registry } = ground;
  const marks: Record<string, FileMark> = {};
  for (const path of new Set([...(await git.listFiles(slice)), registry, ...also])) {
    // A folder where a file is expected is a difference like any other.
    marks[path] = (await readMark(files, inRoot(git.place.root, path))) ?? { kind: "symlink", target: "" };
  }
  return marks;
}

/** Files that are at none of the contents named for them; one that is not named was absent. */
export async function differing(ground: SliceGround, ...named: readonly [Marks, ...Marks[]]): Promise<RepoPath[]> {
  const known = named.flatMap((marks) => Object.keys(marks)) as RepoPath[];
  const now = await markSlice(ground, known);
  const [seen, ...others] = named;
  return (Object.keys(now) as RepoPath[])
    .filter((path) => {
      const meant = others.filter((marks) => Object.hasOwn(marks, path)).map((marks) => markAt(marks, path));
      return ![markAt(seen, path), ...meant].some((mark) => sameMark(now[path] ?? absent, mark));
    })
    .toSorted();
}

/**
 * Before a worktree is made: a runner that is killed until `rememberSlice` leaves this behind. True when an earlier life
 * has come as far as this.
 */
export async function expectSlice(files: Files, at: AbsPath): Promise<boolean> {
  if ((await loadSeen(files, at)) !== undefined) return true;
  await saveSeen(files, at, { v: 1, base: pending, marks: {} });
  return false;
}

/**
 * The marks of the worktree's first life when it is the same worktree still, else `marks`, just taken. An `earlier` life
 * that had not written its own down may have made the worktree: then it started from `base`, and what lies in the slice
 * otherwise is an edit that came later.
 */
export async function rememberSlice(
  ground: BaseGround,
  at: AbsPath,
  { base, marks, earlier }: { readonly base: string; readonly marks: Marks; readonly earlier: boolean },
): Promise<Marks> {
  const saved = await loadSeen(ground.files, at);
  if (saved?.base === base) return saved.marks;
  const seen = earlier ? await asMade(ground, base, marks) : marks;
  await saveSeen(ground.files, at, { v: 1, base, marks: { ...seen } });
  return seen;
}

/** How the slice looked when `base` was made of it. */
async function asMade({ git, slice, registry }: BaseGround, base: string, now: Marks): Promise<Marks> {
  const there = new Set<RepoPath>([...(await git.filesAt(base, slice)), ...(await git.filesAt(base, registry))]);
  const marks: Record<string, FileMark> = {};
  for (const path of new Set([...(Object.keys(now) as RepoPath[]), ...there])) {
    const mark = now[path];
    if (mark !== undefined && there.has(path) && (await git.wouldCommit(base, path))) marks[path] = mark;
    else marks[path] = there.has(path) ? intended(await git.checkedOut(base, path), absent) : absent;
  }
  return marks;
}

/** @throws OrchError `file.invalid`: guessing could overwrite a person's edit */
async function loadSeen(files: Files, at: AbsPath): Promise<z.infer<typeof SliceSeen> | undefined> {
  const text = await files.readText(at);
  if (text === undefined) return undefined;
  const read = readJson(text, SliceSeen);
  if (read.kind === "ok") return read.value;
  throw new OrchError("file.invalid", `${at} does not tell how the slice looked`, { data: { path: at } });
}

const saveSeen = (files: Files, at: AbsPath, seen: z.input<typeof SliceSeen>): Promise<void> =>
  files.write(at, `${JSON.stringify(seen)}\n`, { mode: 0o600 });
