import { DomainName, FeatureName } from "../model/names.ts";

/** `HTTPServerError_v2` -> `http`, `server`, `error`, `v`, `2`. */
export function wordsOf(name: string): readonly string[] {
  const parts = name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu) ?? [];
  return parts.map((part) => part.toLowerCase());
}

/** True when the words of `keyword` stand in a row among the words of `name`. */
export function holdsKeyword(name: string, keyword: string): boolean {
  const wanted = wordsOf(keyword);
  const words = wordsOf(name);
  if (wanted.length === 0) return false;
  return words.some((_, at) => wanted.every((word, offset) => words[at + offset] === word));
}

/** Why the names cannot be used, or undefined. */
export function nameProblem(domain: string, name: string): string | undefined {
  const badDomain = DomainName.safeParse(domain);
  if (!badDomain.success)
    return `domain ${quoted(domain)}: ${badDomain.error.issues[0]?.message ?? "not a domain name"}`;
  const badName = FeatureName.safeParse(name);
  if (!badName.success) return `feature ${quoted(name)}: ${badName.error.issues[0]?.message ?? "not a feature name"}`;
  return undefined;
}

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);

/** Edits (insert, delete, replace, swap of neighbours) from `a` to `b`; more than `limit` is told as `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return Math.min(last[b.length] ?? 0, limit + 1);
}

/** At most three of `candidates` that look like `text`, nearest first; case does not count, an exact match is none. */
export function nearMisses(text: string, candidates: readonly string[]): readonly string[] {
  const wanted = text.toLowerCase();
  const limit = Math.max(1, Math.min(3, Math.floor(wanted.length / 3)));
  return [...new Set(candidates)]
    .filter((candidate) => candidate !== text)
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase(), limit) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
