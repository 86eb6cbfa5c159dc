import { extName } from "../base/paths.ts";
import type { RuleSettings, RuleSource } from "../ports/pool.ts";

/**
 * The settings without installed sets that hold none of these files: reading a set costs more than asking its rules
 * about a small change. A project's own rules may add to any set, so then all are kept.
 */
export function settingsFor(settings: RuleSettings, paths: readonly string[]): RuleSettings {
  if (settings.sources.some(({ project }) => project)) return settings;
  const there = new Set<unknown>(["*", ...paths.map(extName)]);
  const sources = settings.sources.filter((source) => extensionsOf(source)?.some((one) => there.has(one)) !== false);
  return { ...settings, sources };
}

const known = new WeakMap<RuleSource, readonly unknown[] | "unreadable">();

/** undefined for a file that only a full reading can tell what is wrong with. */
function extensionsOf(source: RuleSource): readonly unknown[] | undefined {
  const before = known.get(source);
  const found = before ?? peek(source.text) ?? "unreadable";
  known.set(source, found);
  return found === "unreadable" ? undefined : found;
}

function peek(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const extensions =
      typeof value === "object" && value !== null && "extensions" in value ? value.extensions : undefined;
    return Array.isArray(extensions) ? extensions : undefined;
  } catch {
    return undefined;
  }
}
