import { applyEdits, type Edit, findNodeAtLocation, type JSONPath, modify, type Node, parseTree } from "jsonc-parser";
import { type AbsPath, dirName, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { FeaturesFile } from "../model/feature.ts";
import { readJson } from "../model/json-text.ts";
import type { Target } from "../model/target.ts";
import type { Files } from "../ports/files.ts";

/**
 * `.features.json`: this module is its only reader and writer. A rewrite touches the entry it is about and nothing else:
 * unknown keys, key order, comments, indentation, line ends, byte order mark and the final line end stay. A file that
 * cannot be read in full is never written.
 */
export const registryName = ".features.json";
export const rootRegistry = registryName as RepoPath;

export interface Registry {
  readonly path: RepoPath;
  /** False: there is no file yet, `file` holds the defaults. */
  readonly exists: boolean;
  readonly file: FeaturesFile;
}

/** @throws OrchError `registry.invalid` with path, line and what is wrong. */
export async function readRegistry(files: Files, root: AbsPath, path: RepoPath = rootRegistry): Promise<Registry> {
  const bytes = await files.read(inRoot(root, path));
  return {
    path,
    exists: bytes !== undefined,
    file: parseRegistry(bytes === undefined ? undefined : textOf(bytes, path), path),
  };
}

/** @throws OrchError `registry.invalid` */
export function parseRegistry(text: string | undefined, path: RepoPath): FeaturesFile {
  if (text === undefined) return FeaturesFile.parse({});
  if (text.replace(/^\uFEFF/, "").trim() === "") throw invalid(path, 1, "the file is empty; write {} or remove it");
  const read = readJson(text, FeaturesFile);
  if (read.kind === "bad") throw invalid(path, read.fault.line, read.fault.message);
  checkFolders(read.value, path);
  return read.value;
}

/** The text with the feature registered; `text` absent makes the file. Pure. */
export function withFeature(text: string | undefined, target: Target): string {
  if (text === undefined) {
    const file = { features_dir: "features", known_features: { [target.name]: target.domain } };
    return `${JSON.stringify(file, null, 2)}\n`;
  }
  return edited(text, ["known_features", target.name], target.domain);
}

/** The text without the feature; the same text when it is not in it. Pure. */
export function withoutFeature(text: string, name: string): string {
  return edited(text, ["known_features", name], undefined);
}

/** The text with the feature under its new name and domain, where the old entry stood; a new entry when there is none. Pure. */
export function withMoved(text: string, from: Target, to: Target): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(mark.length);
  const tree = parseTree(body, [], { disallowComments: false });
  const value = tree === undefined ? undefined : findNodeAtLocation(tree, ["known_features", from.name]);
  const key = value?.parent?.children?.[0];
  if (value === undefined || key === undefined) return withFeature(text, to);
  const put = (at: Node, word: string): Edit => ({
    offset: at.offset,
    length: at.length,
    content: JSON.stringify(word),
  });
  return mark + applyEdits(body, [put(key, to.name), put(value, to.domain)]);
}

export interface RegistryUpdate {
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
}

/**
 * Reads, edits and writes. `edit` gets the current text (absent when there is no file) and is called again when somebody
 * else changed the file in between, so that nobody's entry is lost. Processes that may write at the same time hold the
 * repository lock; inside one process the updates of a file queue up.
 *
 * @throws OrchError `registry.invalid` when the file before or after the edit is broken; nothing is written then.
 */
export function updateRegistry(
  files: Files,
  root: AbsPath,
  path: RepoPath,
  edit: (text: string | undefined) => string,
): Promise<RegistryUpdate> {
  const place = inRoot(root, path);
  const turn = (queues.get(place) ?? Promise.resolve()).then(() => update(files, place, path, edit));
  const settled = turn.then(
    () => undefined,
    () => undefined,
  );
  queues.set(place, settled);
  void settled.then(() => (queues.get(place) === settled ? queues.delete(place) : false)); // settled never rejects
  return turn;
}

/** Puts the bytes of before back, unless somebody changed the file since: then only the entry is taken out. */
export async function revertRegistry(
  files: Files,
  root: AbsPath,
  path: RepoPath,
  update: RegistryUpdate,
  name: string,
): Promise<void> {
  const place = inRoot(root, path);
  const now = await files.read(place);
  if (now === undefined) return;
  if (!sameBytes(now, update.after)) {
    await updateRegistry(files, root, path, (text) => withoutFeature(text ?? "{}", name));
  } else if (update.before === undefined) {
    await files.remove(place);
  } else {
    await files.write(place, update.before);
  }
}

const queues = new Map<string, Promise<void>>();
const maxTries = 50;

async function update(
  files: Files,
  place: AbsPath,
  path: RepoPath,
  edit: (text: string | undefined) => string,
): Promise<RegistryUpdate> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const before = await files.read(place);
    const text = before === undefined ? undefined : textOf(before, path);
    parseRegistry(text, path);
    const next = edit(text);
    parseRegistry(next, path);
    const after = new TextEncoder().encode(next);
    if (before !== undefined && sameBytes(before, after)) return { before, after };
    if (before === undefined) {
      if (await files.createOnce(place, after)) return { before, after };
    } else if (sameBytes(await files.read(place), before)) {
      await files.write(place, after);
      return { before, after };
    }
  }
  throw new OrchError("registry.invalid", `${path} keeps changing while it is written`, { data: { path } });
}

function edited(text: string, at: JSONPath, value: string | undefined): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(mark.length);
  const indent = /^([ \t]+)\S/m.exec(body)?.[1] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: body.includes("\r\n") ? "\r\n" : "\n",
  };
  return mark + applyEdits(body, modify(body, at, value, { formattingOptions }));
}

function textOf(bytes: Uint8Array, path: RepoPath): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new OrchError("registry.invalid", `${path} is not UTF-8 text`, { data: { path }, cause: error });
  }
}

/** Folders of a registry stay in the repository: this is checked before anything is joined to a path. */
function checkFolders(file: FeaturesFile, path: RepoPath): void {
  const folders = [
    ["features_dir", file.features_dir] as const,
    ...Object.entries(file.apps ?? {}).map(([key, app]) => [`apps.${key}.features_dir`, app.features_dir] as const),
  ];
  for (const [key, folder] of folders) {
    const parts = repoPath(folder)?.split("/");
    if (parts === undefined)
      throw invalid(path, undefined, `${key} is ${JSON.stringify(folder)}: it must be a folder inside the repository`);
    // Files there have an effect by lying there: hooks, personas, contracts. Some disks take other cases for the same.
    if (parts.some((part) => /^(?:\.git|git~1)[. ]*$/i.test(part)) || /^\.orch[. ]*$/i.test(parts[0] ?? ""))
      throw invalid(
        path,
        undefined,
        `${key} is ${JSON.stringify(folder)}: git's and Orch's own folders hold no features`,
      );
  }
}

function invalid(path: RepoPath, line: number | undefined, message: string): OrchError {
  const where = line === undefined ? path : `${path}:${line}`;
  return new OrchError("registry.invalid", `${where}: ${message}`, {
    data: { path, ...(line === undefined ? {} : { line }) },
  });
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** The folder a registry stands in; empty for the root. */
export function registryFolder(path: RepoPath): string {
  const folder = dirName(path);
  return folder === "." ? "" : folder;
}
