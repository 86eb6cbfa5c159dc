import { TrashManifest } from "../model/trash.ts";
import { contractIdPattern, runIdPattern } from "../model/names.ts";
import type { TrashItem } from "../ports/trash.ts";
import { isGitName, parts } from "./git-walk.ts";
import { fromBase64 } from "./trash-bytes.ts";

/** `<id>`: the tree of an entry. */
export const trashRefs = "refs/orch/trash/";
/** `<id>/<n>`: where the branches of an entry stood, so that their commits stay. */
export const tipRefs = "refs/orch/tips/";

export function itemOf(manifest: TrashManifest): TrashItem {
  const files = manifest.entries.filter((entry) => entry.kind !== "directory");
  return {
    id: manifest.id,
    by: manifest.by,
    what: manifest.what,
    at: manifest.at,
    files: files.length,
    bytes: files.reduce((sum, entry) => sum + (entry.bytes ?? 0), 0),
    branches: Object.keys(manifest.branches),
    kept: keptContracts(manifest),
  };
}

/** `T1` of `<run>/T1`. */
export function keptContracts({ kept }: Pick<TrashManifest, "kept">): readonly string[] {
  return Object.keys(kept).map((name) => name.slice(name.indexOf("/") + 1));
}

/** Nothing in an entry may lead out of the working tree or into git's own folder, whoever wrote it. */
export function parseManifest(text: string): TrashManifest | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = TrashManifest.safeParse(json);
  if (!parsed.success) return undefined;
  const { entries, index, kept, paths } = parsed.data;
  const names = [...entries.map((entry) => entry.path), ...index.map((entry) => entry.path), ...paths];
  if (!Object.entries(kept).every(isKept)) return undefined;
  return names.every(isSafe) && entries.every(isWhole) ? parsed.data : undefined;
}

function isKept([name, tree]: readonly [string, string]): boolean {
  const [run = "", contract = "", ...more] = name.split("/");
  const isNamed = more.length === 0 && runIdPattern.test(run) && contractIdPattern.test(contract);
  return isNamed && /^[0-9a-f]{40,64}$/.test(tree);
}

function isSafe(path: string): boolean {
  const names = parts(fromBase64(path));
  if (names.some((name) => name === "" || name === "." || name === ".." || name.includes("\0"))) return false;
  return !isGitName(names[0] ?? "");
}

function isWhole(entry: TrashManifest["entries"][number]): boolean {
  if (!/^[0-7]{3,5}$/.test(entry.mode)) return false;
  if (entry.kind === "symlink") return entry.link !== undefined;
  return entry.kind === "directory" || (/^[0-9a-f]{40,64}$/.test(entry.blob ?? "") && entry.sha256 !== undefined);
}
