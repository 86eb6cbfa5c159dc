import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type AbsPath, absPath } from "../base/paths.ts";
import type { StateChange } from "../model/state-change.ts";
import type { RepoPlace } from "../ports/git.ts";
import { decode, type GitCall } from "./git-call.ts";
import { isLocal } from "./git-config.ts";
import { markedEntries, markedListing } from "./git-index.ts";
import { shown } from "./git-walk.ts";
import type { HookNow } from "./hook-watch.ts";
import type { Slot } from "./worktree-place.ts";

/**
 * What git's own files were before an attempt, to be held against what they are after it. There are two places:
 *
 *   the worktree's   its `.git` file and the git dir that names: made by Orch for this contract, and nobody but the
 *                    worker has any business there. A change is the worker's, always, and is taken back.
 *   the repository's configuration (without `branch.*` and `remote.*`, which commands of a person change all the time),
 *                    hooks, attributes, exclude files. A person works here too, so a change is the worker's only when
 *                    something says so: see `traceOf`.
 */
export interface SealPlaces {
  readonly main: GitCall;
  readonly slot: Slot;
}

interface Mark {
  readonly kind: StateChange["kind"];
  readonly place: "worktree" | "repository";
  /** What it says, for comparing. */
  readonly value: string;
  /** The file behind it, when it is one, to be put back. */
  readonly file?: { readonly at: AbsPath; readonly bytes?: Uint8Array; readonly link?: string; readonly mode: number };
}

/** By name: `core.hookspath`, `hooks/pre-commit`, `info/attributes`, `HEAD`. The worktree's begin with `worktree `. */
export type RepositorySeal = ReadonlyMap<string, Mark>;

export interface SealBreak {
  readonly name: string;
  readonly what: string;
  readonly place: Mark["place"];
  readonly kind: StateChange["kind"];
  readonly change: StateChange["change"];
  readonly before: Mark | undefined;
  readonly after: Mark | undefined;
}

const commonFiles = [
  "info/attributes",
  "info/exclude",
  "info/sparse-checkout",
  "info/grafts",
  "objects/info/alternates",
];

export async function sealOf({ main, slot }: SealPlaces): Promise<RepositorySeal> {
  const seal = new Map<string, Mark>();
  const { commonDir, gitDir } = main.place;
  await sealConfig(main, seal);
  for (const name of commonFiles)
    await sealFile(seal, { name, at: path.join(commonDir, name), place: "repository", kind: "config" });
  await sealHooks(seal, main.place, hooksPathIn(seal));
  if (gitDir !== commonDir)
    await sealFile(seal, {
      name: "config.worktree",
      at: path.join(gitDir, "config.worktree"),
      place: "repository",
      kind: "config",
    });
  const own = { place: "worktree", kind: "config" } as const;
  await sealFile(seal, { ...own, kind: "head", name: "worktree HEAD", at: path.join(slot.git, "HEAD") });
  await sealFile(seal, { ...own, name: "worktree .git", at: path.join(slot.tree, ".git") });
  for (const name of ["config", "config.worktree", "commondir", "gitdir", ...commonFiles])
    await sealFile(seal, { ...own, name: `worktree ${name}`, at: path.join(slot.git, name) });
  await sealFolder(seal, {
    place: "worktree",
    kind: "hooks",
    name: "worktree hooks",
    at: path.join(slot.git, "hooks"),
  });
  await sealFlags(main, slot, seal);
  return seal;
}

/** Each key with all its values, includes counted. */
async function sealConfig(main: GitCall, seal: Map<string, Mark>): Promise<void> {
  const values = new Map<string, string[]>();
  for (const { key, value } of (await main.config()).filter(isLocal)) {
    if (/^(?:branch|remote)\./.test(key)) continue;
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  for (const [key, all] of values) seal.set(key, { kind: "config", place: "repository", value: JSON.stringify(all) });
}

function hooksPathIn(seal: RepositorySeal): string | undefined {
  const value = seal.get("core.hookspath")?.value;
  return value === undefined ? undefined : (JSON.parse(value) as string[]).at(-1);
}

async function sealHooks(seal: Map<string, Mark>, { commonDir, root }: RepoPlace, hooksPath = ""): Promise<void> {
  const own = hooksPath === "" || hooksPath.startsWith("~") ? [] : [path.resolve(root, hooksPath)];
  for (const folder of new Set([path.join(commonDir, "hooks"), ...own])) {
    const shownAs = path.dirname(folder) === commonDir ? "hooks" : path.relative(root, folder);
    await sealFolder(seal, { name: shownAs, at: folder, place: "repository", kind: "hooks" });
  }
}

/** The repository's hooks as they are now, but for git's samples, which never run. */
export async function hooksNow(place: RepoPlace, hooksPath: string | undefined): Promise<readonly HookNow[]> {
  const seal = new Map<string, Mark>();
  await sealHooks(seal, place, hooksPath);
  return [...seal].flatMap(([name, { value, file }]) =>
    name.endsWith(".sample") ? [] : [{ name, value, ...(file === undefined ? {} : { at: file.at }) }],
  );
}

interface Sealed {
  readonly name: string;
  readonly at: string;
  readonly place: Mark["place"];
  readonly kind: StateChange["kind"];
}

async function sealFile(seal: Map<string, Mark>, { name, at, place, kind }: Sealed): Promise<void> {
  const stat = await lstat(at).catch(() => undefined);
  if (stat === undefined) return;
  const mode = stat.mode & 0o7777;
  if (stat.isSymbolicLink()) {
    const link = await readlink(at);
    seal.set(name, { kind, place, value: `link ${link}`, file: { at: absPath(at), link, mode } });
  } else if (stat.isFile()) {
    const bytes = await readFile(at);
    const value = `${mode.toString(8)} ${createHash("sha256").update(bytes).digest("hex")}`;
    seal.set(name, { kind, place, value, file: { at: absPath(at), bytes, mode } });
  } else seal.set(name, { kind, place, value: "folder", file: { at: absPath(at), mode } });
}

const maxHooks = 500;

async function sealFolder(seal: Map<string, Mark>, { name, at, place, kind }: Sealed): Promise<void> {
  const stat = await lstat(at).catch(() => undefined);
  if (stat?.isSymbolicLink() === true) return sealFile(seal, { name, at, place, kind });
  const names = (await readdir(at).catch(() => [])).toSorted();
  // Too many to read are a change by their number alone: a hook does not hide behind them.
  if (names.length > maxHooks) {
    const all = createHash("sha256").update(names.join("\0")).digest("hex");
    seal.set(`${name} (more than ${maxHooks} files)`, { kind, place, value: all });
  }
  for (const one of names.slice(0, maxHooks))
    await sealFile(seal, { name: `${name}/${one}`, at: path.join(at, one), place, kind });
}

/** Files that the worker's own index does not look at: they hide nothing from Orch, whose index is another, but from readers. */
async function sealFlags(main: GitCall, slot: Slot, seal: Map<string, Mark>): Promise<void> {
  const answer = await main.at(slot.tree).answer(markedListing, { indexFile: path.join(slot.git, "index") });
  if (answer.code !== 0) {
    const value = decode(answer.stdout).slice(0, 100);
    seal.set("worktree index", { kind: "index-flag", place: "worktree", value: `unreadable ${value}` });
    return;
  }
  for (const { path: file, letter, flag } of markedEntries(answer.stdout)) {
    if (flag === undefined) continue;
    seal.set(`worktree flag ${shown(file)}`, { kind: "index-flag", place: "worktree", value: letter });
  }
}

export function brokenBy(before: RepositorySeal, after: RepositorySeal): readonly SealBreak[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name): SealBreak[] => {
    const [was, is] = [before.get(name), after.get(name)];
    const mark = is ?? was;
    if (mark === undefined || was?.value === is?.value) return [];
    const change = was === undefined ? "added" : is === undefined ? "removed" : "changed";
    const what = mark.kind === "index-flag" ? name.replace(/^worktree (?:flag )?/, "") : shownName(name);
    return [{ name, what, place: mark.place, kind: mark.kind, change, before: was, after: is }];
  });
}

function shownName(name: string): string {
  const own = /^worktree (.*)$/.exec(name)?.[1];
  return own === undefined ? name : `${own} of the worktree`;
}

export interface TraceFacts {
  /** A sandbox kept the worker from writing there. */
  readonly confined: boolean;
  /** What the worker's client said it did, tool calls included. */
  readonly transcript: string;
  /** Names that only this attempt's worker has a reason to write: its worktree, its own folders. */
  readonly marks: readonly string[];
}

/**
 * Whose change is it? The worktree's own places are the worker's. In the repository's a change is the worker's when it
 * could write there at all and either its content leads to the worker (a hook or a value that names the worktree), or
 * the worker's own transcript names the file or the key. That somebody's change came at the same time proves nothing:
 * then nobody can say, and it is left alone.
 */
export function traceOf(
  one: Pick<SealBreak, "name" | "place" | "kind" | "before" | "after">,
  facts: TraceFacts,
): Pick<StateChange, "traced" | "why"> {
  if (one.place === "worktree") return { traced: true, why: "nobody else works in the worktree" };
  if (facts.confined) return { traced: false, why: "the worker's sandbox let it write nothing there" };
  const { before, after } = one;
  const content = after?.file === undefined ? (after?.value ?? "") : contentOf(after.file);
  const mark = facts.marks.find((name) => name !== "" && content.includes(name));
  if (mark !== undefined) return { traced: true, why: `what it holds now names ${mark}` };
  const at = after?.file?.at ?? before?.file?.at;
  const said = facts.transcript.toLowerCase();
  const named = [one.name, ...(at === undefined ? [] : [at])].find((name) => said.includes(name.toLowerCase()));
  if (named !== undefined) return { traced: true, why: `the worker's transcript names ${named}` };
  return { traced: false, why: "a person or another program may have made it" };
}

const contentOf = ({ link, bytes }: NonNullable<Mark["file"]>): string =>
  link ?? (bytes === undefined ? "" : decode(bytes));

/** Takes a change of the repository's back. The caller stored what is there now; the worktree's places are made anew. */
export async function putBack(main: GitCall, one: SealBreak): Promise<void> {
  const { before, after } = one;
  const at = before?.file?.at ?? after?.file?.at;
  if (at !== undefined) return putFileBack(at, before?.file);
  if (one.kind !== "config") return;
  // Key by key, so that a branch or remote that a person set meanwhile stays.
  await main.answer(["config", "--local", "--unset-all", one.name]);
  for (const value of before === undefined ? [] : (JSON.parse(before.value) as string[])) {
    await main.bytes(["config", "--local", "--add", one.name, value]);
  }
}

async function putFileBack(at: AbsPath, was: Mark["file"]): Promise<void> {
  await rm(at, { recursive: true, force: true });
  if (was === undefined) return;
  await mkdir(path.dirname(at), { recursive: true });
  if (was.link !== undefined) return symlink(was.link, at);
  if (was.bytes === undefined) {
    await mkdir(at);
    return;
  }
  await writeFile(at, was.bytes);
  await chmod(at, was.mode);
}
