import { count } from "../base/lines.ts";

/** One SEARCH/REPLACE block over a text; line ends are LF here, the caller keeps the file's own. */
export type Applied =
  | { readonly kind: "applied"; readonly text: string }
  | { readonly kind: "refused"; readonly why: string };

interface Way {
  readonly trimmed: boolean;
  /** Lines are the same when their keys are. */
  readonly key: (line: string) => string;
  readonly moves: boolean;
}

/** Exactly; without blank lines around; white space at line ends forgiven; indentation and inner spaces forgiven. */
const ways: readonly Way[] = [
  { trimmed: false, key: (line) => line, moves: false },
  { trimmed: true, key: (line) => line, moves: false },
  { trimmed: true, key: (line) => line.trimEnd(), moves: false },
  { trimmed: true, key: (line) => line.trim().replace(/\s+/g, " "), moves: true },
];

/** Whichever way finds it first, it must be the only place: a guess between two is refused. */
export function applyPatch(text: string, search: string, replace: string): Applied {
  if (search.trim() === "") {
    if (text.trim() === "") return { kind: "applied", text: replace };
    return { kind: "refused", why: "the SEARCH part is empty, but the file is not" };
  }
  const lines = text.split("\n");
  for (const way of ways) {
    const { wanted, put } = way.trimmed
      ? withoutBlankEnds(linesOfPart(search), linesOfPart(replace))
      : { wanted: linesOfPart(search), put: linesOfPart(replace) };
    const places = findLines(lines.map(way.key), wanted.map(way.key));
    if (places.length > 1)
      return { kind: "refused", why: `the SEARCH part fits more than ${count(1, "place")}: add lines around it` };
    const [at] = places;
    if (at === undefined) continue;
    const moved = way.moves ? reindented(put, lines.slice(at, at + wanted.length), wanted) : put;
    if (moved === undefined)
      return { kind: "refused", why: "the SEARCH part is indented differently from line to line" };
    return { kind: "applied", text: [...lines.slice(0, at), ...moved, ...lines.slice(at + wanted.length)].join("\n") };
  }
  return { kind: "refused", why: "the SEARCH part is not in the file" };
}

function linesOfPart(part: string): string[] {
  if (part === "") return [];
  return (part.endsWith("\n") ? part.slice(0, -1) : part).split("\n");
}

/** Blank lines at the ends of SEARCH are habit more than text; as many go from REPLACE, no more. */
function withoutBlankEnds(
  search: readonly string[],
  replace: readonly string[],
): { readonly wanted: string[]; readonly put: string[] } {
  const isText = (line: string): boolean => line.trim() !== "";
  const first = Math.max(0, search.findIndex(isText));
  const last = search.findLastIndex(isText);
  const headBlank = Math.min(first, Math.max(0, replace.findIndex(isText)));
  const tail = search.length - 1 - last;
  const replaceTail = replace.length - 1 - replace.findLastIndex(isText);
  const tailBlank = Math.min(tail, Math.max(0, replaceTail));
  return { wanted: search.slice(first, last + 1), put: replace.slice(headBlank, replace.length - tailBlank) };
}

/** Line indexes where `wanted` stands; two are enough to know that it is not unique. One pass over the joined keys. */
function findLines(keys: readonly string[], wanted: readonly string[]): number[] {
  const hay = `\n${keys.join("\n")}\n`;
  const needle = `\n${wanted.join("\n")}\n`;
  const places: number[] = [];
  for (let at = hay.indexOf(needle); at !== -1 && places.length < 2; at = hay.indexOf(needle, at + 1)) {
    places.push(newlinesBefore(hay, at));
  }
  return places;
}

function newlinesBefore(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** The replacement, moved by what the file's indentation has more or less than SEARCH; undefined when that differs. */
function reindented(
  put: readonly string[],
  actual: readonly string[],
  wanted: readonly string[],
): string[] | undefined {
  let more: string | undefined;
  let less: string | undefined;
  for (const [at, line] of wanted.entries()) {
    if (line.trim() === "") continue;
    const has = indentOf(actual[at] ?? "");
    const says = indentOf(line);
    if (more === undefined && less === undefined) {
      if (has.endsWith(says)) more = has.slice(0, has.length - says.length);
      else if (says.endsWith(has)) less = says.slice(0, says.length - has.length);
      else return undefined;
    }
    if (more !== undefined && has !== more + says) return undefined;
    if (less !== undefined && says !== less + has) return undefined;
  }
  return put.map((line) => {
    if (line.trim() === "") return line;
    if (more !== undefined) return more + line;
    return less !== undefined && line.startsWith(less) ? line.slice(less.length) : line;
  });
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
