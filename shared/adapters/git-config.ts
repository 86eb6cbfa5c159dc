import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import type { RepoPlace } from "../ports/git.ts";
import { plainMergeDriver, programKey } from "./git-program-keys.ts";

/** One value of `git config --list`; the repository's own scopes are `local` and `worktree`, includes counted to them. */
export interface ConfigEntry {
  readonly scope: string;
  readonly origin: string;
  readonly key: string;
  readonly value: string;
}

/** What the repository's configuration would have run, and the settings that keep it from running. */
export interface Defused {
  readonly settings: readonly (readonly [key: string, value: string])[];
  /** Filters without any command left, by name; true when the configuration calls them required. */
  readonly deadFilters: ReadonlyMap<string, boolean>;
  /** Unapproved local keys, for a refusal to name. */
  readonly unapproved: readonly ConfigEntry[];
}

export const listConfigArgs = ["config", "--list", "-z", "--show-scope", "--show-origin"] as const;

/** Records are `scope NUL origin NUL key LF value NUL`; a key without a value means true. */
export function parseConfig(bytes: Uint8Array): readonly ConfigEntry[] {
  const fields = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\0");
  const entries: ConfigEntry[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = "", origin = "", pair = ""] = fields.slice(at, at + 3);
    const end = pair.indexOf("\n");
    const key = end === -1 ? pair : pair.slice(0, end);
    // The settings of our own environment are listed, too; they are nobody's configuration.
    if (scope !== "command") entries.push({ scope, origin, key, value: end === -1 ? "true" : pair.slice(end + 1) });
  }
  return entries;
}

export const isLocal = (entry: ConfigEntry): boolean => entry.scope === "local" || entry.scope === "worktree";

/** The last value wins, as in git. */
export function valueOf(entries: readonly ConfigEntry[], key: string): string | undefined {
  return entries.findLast((entry) => entry.key === key)?.value;
}

/** The repository's keys that could run a program, with their values. */
export function localPrograms(entries: readonly ConfigEntry[]): readonly ConfigEntry[] {
  return entries.filter((entry) => isLocal(entry) && programKey(entry.key) !== undefined && entry.value !== "");
}

export function defuse(entries: readonly ConfigEntry[], approved: (entry: ConfigEntry) => boolean): Defused {
  const settings: [string, string][] = [];
  const unapproved = localPrograms(entries).filter((entry) => !approved(entry));
  const outer = entries.filter((entry) => !isLocal(entry));
  const filters = new Set<string>();
  for (const key of new Set(unapproved.map((entry) => entry.key))) {
    const row = programKey(key);
    const own = valueOf(outer, key);
    if (row?.instead !== undefined) settings.push([key, own ?? row.instead]);
    const filter = /^filter\.(.+)\.(?:clean|smudge|process)$/.exec(key)?.[1];
    if (filter !== undefined) filters.add(filter);
  }
  const deadFilters = new Map<string, boolean>();
  for (const filter of filters) {
    const alive = ["clean", "smudge", "process"].some((verb) =>
      entries.some((entry) => entry.key === `filter.${filter}.${verb}` && (!isLocal(entry) || approved(entry))),
    );
    if (alive) continue;
    deadFilters.set(filter, isTrue(valueOf(entries, `filter.${filter}.required`)));
    // Without a command git would die in the middle of a checkout; a verb that must not go on asks `deadFilters` first.
    settings.push([`filter.${filter}.required`, "false"]);
  }
  if (unapproved.some((entry) => /^credential\.(?:.+\.)?helper$/.test(entry.key))) {
    // Helpers are a list: an empty one forgets those before it, then the user's own are said again.
    settings.push(["credential.helper", ""]);
    for (const entry of outer) {
      if (/^credential\.(?:.+\.)?helper$/.test(entry.key)) settings.push([entry.key, entry.value]);
    }
  }
  return { settings, deadFilters, unapproved };
}

/** Every merge driver of every scope becomes git's own text merge: what gates judge must not depend on a program. */
export function plainMergeDrivers(entries: readonly ConfigEntry[]): readonly (readonly [string, string])[] {
  const keys = entries.filter((entry) => /^merge\..+\.driver$/.test(entry.key)).map((entry) => entry.key);
  return [...new Set(keys)].map((key) => [key, plainMergeDriver] as const);
}

/** Every filter of every scope off: git would start it in a folder whose files a worker wrote. */
export function noFilters(entries: readonly ConfigEntry[]): readonly (readonly [string, string])[] {
  const names = entries.flatMap(({ key }) => /^filter\.(.+)\.(?:clean|smudge|process|required)$/.exec(key)?.[1] ?? []);
  return [...new Set(names)].flatMap((name) => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
}

export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
}

/**
 * What must be unchanged for a list read earlier to hold: every file it came from, every file it would include if that
 * came to be, and HEAD (includes may depend on the branch). ctime is part of it, which no program can set back.
 */
export async function configStamp(
  place: RepoPlace,
  entries: readonly ConfigEntry[],
  env: NodeJS.Dict<string>,
): Promise<string> {
  const home = env["HOME"] ?? env["USERPROFILE"] ?? homedir();
  const xdg = env["XDG_CONFIG_HOME"] ?? path.join(home, ".config");
  const files = new Set([
    path.join(place.commonDir, "config"),
    path.join(place.gitDir, "config.worktree"),
    path.join(place.gitDir, "HEAD"),
    env["GIT_CONFIG_GLOBAL"] ?? path.join(home, ".gitconfig"),
    path.join(xdg, "git", "config"),
    "/etc/gitconfig",
  ]);
  for (const { origin, key, value } of entries) {
    const file = origin.startsWith("file:") ? path.resolve(place.root, origin.slice(5)) : undefined;
    if (file !== undefined) files.add(file);
    if (/^include(?:if\..*)?\.path$/.test(key)) {
      files.add(
        value.startsWith("~/")
          ? path.join(home, value.slice(2))
          : path.resolve(path.dirname(file ?? place.root), value),
      );
    }
  }
  const marks = await Promise.all([...files].map(async (file) => `${file}\0${await markOf(file)}`));
  return marks.join("\0");
}

async function markOf(file: string): Promise<string> {
  try {
    const found: BigIntStats = await stat(file, { bigint: true });
    return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
  } catch {
    return "absent";
  }
}
