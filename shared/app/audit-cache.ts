import { createHash } from "node:crypto";
import { type AbsPath, inRoot } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import type { BrokenRule } from "../model/rule.ts";
import type { FileAnswer } from "../ports/pool.ts";

export type CachedAnswer = FileAnswer;

/**
 * Answers kept between audits of one working tree. They count only under the same key (rules, switches, engine, grammars,
 * interpreter) and for the same bytes. Losing the file costs time and nothing else: a damaged one is an empty one.
 */
export interface AuditCache {
  get(path: string, id: string | undefined): CachedAnswer | undefined;
  set(path: string, id: string | undefined, answer: CachedAnswer): void;
  /** Rules that were left out when the kept answers were made. */
  broken: readonly BrokenRule[];
  /** Writes what changed; `present` are the files that are still there, when the caller knows all of them. */
  save(present: ReadonlySet<string> | undefined): Promise<void>;
}

interface Entry {
  readonly id: string;
  readonly answer: CachedAnswer;
}

export async function openAuditCache(
  files: Pick<Files, "readText" | "write" | "makeDir">,
  folder: AbsPath,
  root: AbsPath,
  key: string,
): Promise<AuditCache> {
  const place = inRoot(folder, `${hashOf(root).slice(0, 20)}.json`);
  const { entries, broken } = parse(await files.readText(place), key);
  let changed = false;
  const cache: AuditCache = {
    broken,
    get(path, id) {
      const entry = id === undefined ? undefined : entries.get(path);
      return entry?.id === id ? entry?.answer : undefined;
    },
    set(path, id, answer) {
      if (id === undefined || entries.get(path)?.id === id) return;
      entries.set(path, { id, answer });
      changed = true;
    },
    async save(present) {
      if (present) for (const path of entries.keys()) if (!present.has(path)) changed = entries.delete(path) || changed;
      if (!changed) return;
      const text = JSON.stringify({ v: 1, key, broken: cache.broken, files: Object.fromEntries(entries) });
      try {
        await files.makeDir(folder, { mode: 0o700 });
        await files.write(place, text);
      } catch {
        // A full or read-only disk must not spoil an audit that is done.
      }
      changed = false;
    },
  };
  return cache;
}

export function hashOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** Written by this program into the user's own cache folder; checked for shape, not believed for anything else. */
function parse(text: string | undefined, key: string): { entries: Map<string, Entry>; broken: readonly BrokenRule[] } {
  const none = { entries: new Map<string, Entry>(), broken: [] };
  if (text === undefined || !text.startsWith(`{"v":1,"key":${JSON.stringify(key)},"broken":[`)) return none;
  try {
    const value = JSON.parse(text) as {
      readonly broken: readonly BrokenRule[];
      readonly files: Readonly<Record<string, Entry>>;
    };
    const good = Object.entries(value.files).filter(([path, entry]) => isEntry(path, entry));
    return { entries: new Map(good), broken: value.broken };
  } catch {
    return none;
  }
}

function isEntry(path: string, entry: Partial<Entry>): boolean {
  const answer = entry.answer;
  if (typeof entry.id !== "string" || answer?.path !== path) return false;
  return answer.kind === "skipped" || (Array.isArray(answer.findings) && Array.isArray(answer.facts));
}
