import type { PatternRow } from "../model/rule.ts";

export interface Redacted {
  readonly text: string;
  /** What was taken out, by the pattern's name; empty when the text is as it was. */
  readonly taken: readonly string[];
}

export type Redact = (text: string) => Redacted;

export interface Redacting {
  clean(text: string): string;
  /** Every text in a value that could stand in a JSON file, whole, before any of it is cut to its room. */
  cleanAll<T extends object>(value: T): T;
  /** Grows with what was taken out of any of them, each kind once. */
  readonly taken: ReadonlySet<string>;
}

/** Redacts the texts of one prompt. */
export function redacting(redact: Redact): Redacting {
  const taken = new Set<string>();
  const clean = (text: string): string => {
    const done = redact(text);
    for (const kind of done.taken) taken.add(kind);
    return done.text;
  };
  return {
    clean,
    cleanAll: <T extends object>(value: T): T =>
      JSON.parse(JSON.stringify(value), (_key, one: unknown) => (typeof one === "string" ? clean(one) : one)) as T,
    taken,
  };
}

/** Where an answer holds a mark. */
export interface LeftMark {
  readonly mark: string;
  /** 1-based. */
  readonly line: number;
}

/** A mark that a prompt showed and that an answer put where the secret stood: with it the secret would be gone. */
export function markLeft(answer: string, prompt: string, before: string): LeftMark | undefined {
  for (const mark of new Set(prompt.match(/\[redacted [^\]\n]{1,60}\]/g))) {
    const places = answer.split(mark);
    if (places.length > before.split(mark).length) return { mark, line: (places[0] ?? "").split("\n").length };
  }
  return undefined;
}

/** A shorter value would turn up in ordinary text. */
const minKnown = 8;

/**
 * Takes secrets out of texts before they are sent to a model, by the same table of patterns that the gates use
 * (`rules/diff/core.json`). Only the value goes: the lines around it stay, so that the file is still worth showing.
 * `known` are the person's own keys, which need no shape to be found.
 */
export function createRedact(rows: readonly PatternRow[], known: readonly string[] = []): Redact {
  const literals = [...new Set(known)]
    .filter((value) => value.length >= minKnown)
    .toSorted(byLength)
    .map(wholeWord);
  const compiled = rows.map((row) => ({
    name: row.name ?? "secret",
    pattern: new RegExp(row.pattern, `${row.flags}gmd`),
    ...(row.unless === undefined ? {} : { unless: new RegExp(row.unless, row.flags) }),
    ...(row.entropy === undefined ? {} : { entropy: row.entropy }),
  }));
  return (text) => {
    const taken: string[] = [];
    let now = text;
    for (const literal of literals) {
      const without = now.replaceAll(literal, "[redacted key]");
      if (without !== now) taken.push("key");
      now = without;
    }
    for (const row of compiled) {
      now = withoutMatches(now, row, () => taken.push(row.name));
    }
    return { text: now, taken };
  };
}

/** One key may begin with another. */
const byLength = (a: string, b: string): number => b.length - a.length;

/** Part of a longer word is no key. */
const wholeWord = (value: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}(?![\\p{L}\\p{N}_])`, "gu");

interface CompiledRow {
  readonly name: string;
  readonly pattern: RegExp;
  readonly unless?: RegExp;
  readonly entropy?: number;
}

function withoutMatches(text: string, row: CompiledRow, onTaken: () => void): string {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(row.pattern)) {
    const value = match.groups?.["value"] ?? match[0];
    const [start, end] = match.indices?.groups?.["value"] ??
      match.indices?.[0] ?? [match.index, match.index + value.length];
    if (value === "" || start < from || row.unless?.test(value) === true) continue;
    if (row.entropy !== undefined && entropyOf(value) < row.entropy) continue;
    parts.push(text.slice(from, start), `[redacted ${row.name}]`);
    from = end;
    onTaken();
  }
  return from === 0 ? text : parts.join("") + text.slice(from);
}

/** Shannon entropy in bits for each character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  return [...counts.values()].reduce((sum, n) => sum - (n / total) * Math.log2(n / total), 0);
}
