import { type AbsPath, extName, inRoot, type RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import { Pack } from "../model/pack.ts";
import type { Files } from "../ports/files.ts";

/** A language pack with the texts of its templates: role -> text; `spec` is the template of spec.md. */
export interface LoadedPack {
  readonly pack: Pack;
  readonly templates: Readonly<Record<string, string>>;
}

/** A project's own `.orch/rules/<lang>/pack.json`. Whoever passes it has asked Trust for these bytes. */
export interface PackAddition {
  readonly lang: string;
  readonly path: RepoPath;
  readonly text: string;
}

/**
 * The packs of the installation (`rules/<lang>/pack.json`), sorted by language. An addition stands in for the installed
 * file of its language, or adds a language; templates come from the installation.
 *
 * @throws OrchError `rules.invalid` naming the file
 */
export async function loadPacks(
  files: Files,
  rulesDir: AbsPath,
  additions: readonly PackAddition[] = [],
): Promise<readonly LoadedPack[]> {
  const texts = new Map<string, { readonly place: string; readonly text: string }>();
  for (const { name, kind } of (await files.list(rulesDir)) ?? []) {
    const text = kind === "directory" ? await files.readText(inRoot(rulesDir, name, "pack.json")) : undefined;
    if (text !== undefined) texts.set(name, { place: `rules/${name}/pack.json`, text });
  }
  for (const { lang, path, text } of additions) texts.set(lang, { place: path, text });
  const packs: LoadedPack[] = [];
  for (const [lang, { place, text }] of [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const pack = parsePack(lang, place, text);
    packs.push({ pack, templates: await readTemplates(files, inRoot(rulesDir, lang, "templates"), pack, place) });
  }
  return packs;
}

/** The pack whose role files stand in a slice's folder: most of them, or undefined when there are none. */
export function packOfSlice(packs: readonly LoadedPack[], names: readonly string[]): LoadedPack | undefined {
  const present = new Set(names);
  const ranked = packs
    .map((loaded) => ({ loaded, roles: roleFiles(loaded.pack).filter(({ name }) => present.has(name)).length }))
    .filter(({ roles }) => roles > 0)
    .toSorted((a, b) => b.roles - a.roles);
  return ranked[0]?.loaded;
}

/**
 * The pack of a feature that has no files yet: the language of the folder's manifest (the app's, then the root's), the
 * one with more source files when several have one or none has, else Python, else the first. `paths` are the
 * repository's files.
 */
export function mainPack(
  packs: readonly LoadedPack[],
  paths: readonly RepoPath[],
  appFolder = "",
): LoadedPack | undefined {
  const sources = ({ pack }: LoadedPack): number =>
    paths.filter((path) => pack.extensions.includes(extName(path))).length;
  const bySources = (some: readonly LoadedPack[]): LoadedPack | undefined =>
    some.toSorted((a, b) => sources(b) - sources(a))[0];
  const present = new Set<string>(paths);
  for (const folder of new Set([appFolder, ""])) {
    const having = packs.filter(({ pack }) =>
      pack.manifests.some((name) => present.has(folder === "" ? name : `${folder}/${name}`)),
    );
    if (having.length > 0) return bySources(having);
  }
  const written = packs.filter((loaded) => sources(loaded) > 0);
  return bySources(written) ?? packs.find(({ pack }) => pack.lang === "python") ?? packs[0];
}

/** Roles and their file names, in the pack's order. */
export function roleFiles(pack: Pack): readonly { readonly role: string; readonly name: string }[] {
  return Object.entries(pack.roles).flatMap(([role, name]) => (name === undefined ? [] : [{ role, name }]));
}

/** File names a complete slice of the pack has: spec.md and every role it may not lack. */
export function requiredFiles(pack: Pack, controller: boolean): readonly string[] {
  const roles = roleFiles(pack).filter(
    ({ role }) => !pack.optional.includes(role) || (role === "controller" && controller),
  );
  return ["spec.md", ...roles.map(({ name }) => name)];
}

function parsePack(lang: string, place: string, text: string): Pack {
  const read = readJson(text, Pack);
  if (read.kind === "bad")
    throw new OrchError("rules.invalid", `${place}:${read.fault.line}: ${read.fault.message}`, {
      data: { path: place, line: read.fault.line },
    });
  const pack = read.value;
  const unknown = Object.keys(pack.templates).find((role) => role !== "spec" && !Object.hasOwn(pack.roles, role));
  const problem =
    pack.lang !== lang
      ? `lang is ${pack.lang}, the folder is ${lang}`
      : unknown === undefined
        ? undefined
        : `templates.${unknown} names no role`;
  if (problem !== undefined) throw new OrchError("rules.invalid", `${place}: ${problem}`, { data: { path: place } });
  return pack;
}

async function readTemplates(
  files: Files,
  folder: AbsPath,
  pack: Pack,
  place: string,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [role, name] of Object.entries(pack.templates)) {
    const text = await files.readText(inRoot(folder, name));
    if (text === undefined)
      throw new OrchError("rules.invalid", `${place}: the template ${name} of ${role} is not there`, {
        data: { path: place },
      });
    texts[role] = text;
  }
  return texts;
}
