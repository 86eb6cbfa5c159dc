import { unescaped } from "./check-literals.ts";
import { splitTop, tokenEnd } from "./tests/flat-text.ts";

/** The key of an entry of a literal, or of a branch, and where it stands. */
interface Entry {
  readonly key: string;
  readonly line: number;
}

/**
 * The keys that stand beside this one: in the whole literal that holds it, or in the run of branches that ask the same.
 * One entry a line or all on one line is the same table.
 */
export function keysBeside(code: string, line: number, key: string): readonly string[] {
  const [found = []] = [...literalsAround(code, line), branchesAround(code.split("\n"), line)]
    .filter((entries) => entries.some((entry) => entry.line === line && entry.key === key))
    .sort((one, other) => other.length - one.length);
  return found.map((entry) => entry.key);
}

/** Longer is data, and no table that a check is played to with. */
const maxCode = 200_000;

/** Entries of the brackets that reach over a line, those of nested pairs (`[["a", 1], ["b", 2]]`) by their first value. */
function literalsAround(code: string, line: number): readonly (readonly Entry[])[] {
  if (code.length > maxCode) return [];
  return bracketsAround(code, line).map(([start, end]) => {
    let row = rowOf(code, start);
    return splitTop(code.slice(start, end), /,/).flatMap((text): readonly Entry[] => {
      const key = keyOf(text);
      const before = text.length - text.replace(/^[\s[({]+/, "").length;
      const entry = key === undefined ? [] : [{ key, line: row + newlines(text.slice(0, before)) }];
      row += newlines(text);
      return entry;
    });
  });
}

/** Insides of the brackets that open on the line or before it, and close on it or behind. */
function bracketsAround(code: string, line: number): readonly (readonly [number, number])[] {
  const open: { readonly at: number; readonly row: number }[] = [];
  const found: (readonly [number, number])[] = [];
  let row = 1;
  for (let at = 0; at < code.length;) {
    const char = code[at] ?? "";
    const end = tokenEnd(code, at);
    if ("([{".includes(char)) open.push({ at: at + 1, row });
    else if (")]}".includes(char)) {
      const start = open.pop();
      if (start !== undefined && start.row <= line && row >= line) found.push([start.at, at]);
      if (row > line && open.length === 0) break;
    }
    row += newlines(code.slice(at, end));
    at = end;
  }
  return found;
}

const value = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\x60(?:\\.|[^\x60\\])*\x60|\d[\w.]*`;
const entryKey = new RegExp(String.raw`^[\s[({]*(?:(${value})[\s\])]*(?:$|:|,|=>|->)|([A-Za-z_$][\w$]*)\s*:)`, "u");

function keyOf(text: string): string | undefined {
  const [, literal, word] = entryKey.exec(text) ?? [];
  return literal === undefined ? word : bare(literal);
}

/** Branches that ask one thing for one value after the other, `case` by `case` or `if` by `if`. */
const branch = new RegExp(
  String.raw`^(\s*)(?:\}\s*)?(?:(case)\s+(${value})|(?:(?:else\s+)?(?:if|return)|elif|when|[:?]|)\s*\(?\s*(?:([\w.$]+(?:\([\w.$]*\))?)\s*===?\s*(${value})|(${value})\s*===?\s*([\w.$]+)))`,
  "u",
);

interface Branch extends Entry {
  readonly shape: string;
  readonly indent: number;
}

function branchOf(text: string, line: number): Branch | undefined {
  const [, indent = "", word, one, subject, two, three, other] = branch.exec(text) ?? [];
  const key = one ?? two ?? three;
  if (key === undefined) return undefined;
  return { key: bare(key), line, shape: word ?? subject ?? other ?? "", indent: indent.length };
}

/** What may stand between two branches of a run: what the first one does. */
const maxGap = 4;

function branchesAround(lines: readonly string[], line: number): readonly Entry[] {
  const own = branchOf(lines[line - 1] ?? "", line);
  if (own === undefined) return [];
  return [...walked(lines, own, -1).toReversed(), own, ...walked(lines, own, 1)];
}

function walked(lines: readonly string[], own: Branch, step: 1 | -1): Branch[] {
  const found: Branch[] = [];
  for (let line = own.line + step, gap = 0; gap < maxGap && line > 0 && line <= lines.length; line += step) {
    const text = lines[line - 1] ?? "";
    const one = branchOf(text, line);
    if (text.trim() !== "" && text.search(/\S/) < own.indent) break;
    const isOne = one !== undefined && one.shape === own.shape && one.indent === own.indent;
    if (isOne) found.push(one);
    gap = isOne ? 0 : gap + 1;
  }
  return found;
}

const bare = (literal: string): string =>
  /^\d/.test(literal) ? literal.replaceAll("_", "") : unescaped(literal.slice(1, -1));
const newlines = (text: string): number => text.split("\n").length - 1;
const rowOf = (code: string, at: number): number => newlines(code.slice(0, at)) + 1;
