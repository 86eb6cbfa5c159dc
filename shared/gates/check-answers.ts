import { linesOf } from "../base/lines.ts";
import { repoPath } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Finding, Severity } from "../model/finding.ts";
import type { GateInput } from "../ports/gate.ts";
import type { Rulebook } from "../rulebook/load.ts";
import { besideLines, common } from "./answer-beside.ts";
import { keysBeside } from "./answer-table.ts";
import { type CheckRecord, checkRecords, unescaped } from "./check-literals.ts";
import { codeOnly } from "./code-only.ts";
import { finding } from "./gate-finding.ts";
import { literalsOf } from "./tests/flat-text.ts";

/**
 * Does the code hold what a check's own command gives, and what it expects? The command is in the contract, so a worker
 * knows it. A value that nobody but the check named, asked for beside its answer, is no rule: it fails.
 */
export async function checkAnswers(
  files: readonly ChangedFile[],
  input: GateInput,
  book: Pick<Rulebook, "sets"> | undefined,
): Promise<readonly Finding[]> {
  const records = checkRecords(input.contract);
  if (records.length === 0) return [];
  const found: Finding[] = [];
  for (const file of files) {
    const one = judged(await addedCode(file, input, book), records, await namedIn(file, input));
    if (one !== undefined) found.push(told(file.path, one));
  }
  return found;
}

interface AddedCode {
  readonly lines: readonly CodeLine[];
  /** The whole file. */
  readonly code: string;
}

interface CodeLine {
  readonly line: number;
  /** Pieces that are put together stand as one, escapes as what they mean. */
  readonly text: string;
  readonly values: readonly string[];
  readonly shown: string;
}

/** Added lines of the file that are code, with their values; texts put together from pieces are one value. */
async function addedCode(
  { path, hunks }: ChangedFile,
  input: GateInput,
  book: Pick<Rulebook, "sets"> | undefined,
): Promise<AddedCode> {
  const at = repoPath(path);
  const bytes = at === undefined ? undefined : await input.read(at);
  if (bytes === undefined) return { lines: [], code: "" };
  const code = codeOnly(book, path, new TextDecoder("utf-8").decode(bytes));
  const all = linesOf(code);
  const lines = hunks.flatMap(({ newStart, added }) =>
    added.length > maxAdded
      ? []
      : added.flatMap((_, index): readonly CodeLine[] => {
          const text = all[newStart - 1 + index] ?? "";
          if (!/[\d"'`]/.test(text)) return [];
          const joined = text.replace(/(["'`])\s*\+\s*\1/g, "").replace(/(?<=\w)(["'])\s+\1(?=\w)/g, "");
          return [
            {
              line: newStart + index,
              text: unescaped(joined),
              values: literalsOf(joined).map(unescaped),
              shown: text.trim(),
            },
          ];
        }),
  );
  return { lines, code };
}

/** More is data. */
const maxAdded = 400;

/** What the task says in words, and what the file said before. Examples are the check's own pairs, and excuse none. */
async function namedIn({ path, oldPath }: ChangedFile, { contract, readBase }: GateInput): Promise<string> {
  const at = repoPath(oldPath ?? path);
  const before = at === undefined ? undefined : await readBase(at);
  const { title, goal, non_goals, acceptance, approach, pseudo, rules, risks } = contract;
  const criteria = acceptance.map(({ text }) => text);
  const task = [title, goal, ...non_goals, ...criteria, ...approach, pseudo ?? "", ...rules, ...risks];
  return `${task.join("\n")}\n${new TextDecoder("utf-8").decode(before ?? new Uint8Array())}`;
}

interface Place {
  readonly at: CodeLine;
  readonly severity: Severity;
}

function judged(added: AddedCode, records: readonly CheckRecord[], named: string): Place | undefined {
  let doubtful: Place | undefined;
  for (const record of records)
    for (const given of new Set(record.given)) {
      if (isNamed(given, named)) continue;
      for (const at of added.lines) {
        const place = placed(at, given, record, added, records);
        if (place?.severity === "FAIL") return place;
        doubtful ??= place;
      }
    }
  return doubtful;
}

function placed(
  at: CodeLine,
  given: string,
  record: CheckRecord,
  { lines, code }: AddedCode,
  records: readonly CheckRecord[],
): Place | undefined {
  const literal = at.values.find((one) => isAlike(one, given));
  const how = literal === undefined ? undefined : placeOf(literal, at.text);
  if (literal === undefined || how === undefined) return undefined;
  const near = lines.filter(({ line }) => Math.abs(line - at.line) <= besideLines);
  const others = record.values.filter((value) => value !== given);
  const holds = (among: readonly CodeLine[], value: string): boolean =>
    among.some(({ values }) => values.includes(value));
  const next = near.filter(({ line }) => line === at.line || line === at.line + 1);
  const isReturned = (value: string): boolean => value !== "" && next.some(({ text }) => returns(text, value));
  const isInTable = (): boolean =>
    isTable(near, records, record) || isOneOfMany(keysBeside(code, at.line, literal), records);
  if (isStrange(given)) {
    const where = answering(literal, at.text, lines);
    const close = where.filter((line) => near.includes(line));
    // A number far away is there for something else.
    const far = others.find((value) => isTelling(value) && holds(isNumber(value) ? close : where, value));
    if (how === "named") return far === undefined ? undefined : { at, severity: "FAIL" };
    if (isInTable()) return { at, severity: "WARN" };
    // A name like `sha256` may be a case of a rule: only an answer that nobody writes by chance tells.
    const isName = /^\w+$/.test(given);
    // An argument alone says nothing of its answer: any value that is returned for it is one.
    const isBare = record.values.length === 1 && next.some(({ text }) => /(?:\breturn\b|=>|:)\s*["'`\d]/.test(text));
    const isAnswered = isBare || others.some(isReturned);
    return { at, severity: far !== undefined || (!isName && isAnswered) ? "FAIL" : "WARN" };
  }
  if (how === "named" || !isNumber(given) || common.has(given)) return undefined;
  const answers = others.filter((value) => isReturned(value) || (isOwnNumber(value) && holds(near, value)));
  if (!answers.some((answer) => isLong(given) || isLong(answer))) return undefined;
  return isInTable() ? undefined : { at, severity: "FAIL" };
}

/** Is the value asked for (compared, a key, one of a list), or only given a name? */
function placeOf(value: string, text: string): "asked" | "named" | undefined {
  const one = literalOf(value);
  if (new RegExp(isNumber(value) ? askedNumber(one) : askedText(one), "u").test(text)) return "asked";
  return new RegExp(`(?<![=!<>])=\\s*${one}`, "u").test(text) ? "named" : undefined;
}

/** What is handed to a call is said and not asked for (`Error("...")`), but for calls that ask. */
function askedText(one: string): string {
  const asks = String.raw`\b(?:get|has|includes|contains|containsKey|startsWith|startswith|endsWith|endswith|equals|index|indexOf|__eq__|fullmatch)\(\s*`;
  const group = String.raw`(?:(?<![\w)\]]\s*)|(?<=\b(?:in|if|elif|and|or|not|return|case|while|when|match|switch)\s*))\(\s*`;
  return String.raw`(?:===?\s*|\bcase\s+|\bin\s*|[[{]\s*|${asks}|${group})${one}|(?<!\?\s*)${one}\s*(?::|===?|=>|\bin\b)`;
}

/** A number stands in many places by chance: as a bound, an argument, one of a list. */
function askedNumber(one: string): string {
  const key = String.raw`(?:^|[{,])\s*(?:${one}|[([]\s*${one}\s*,?\s*[)\]])\s*:`;
  const pair = String.raw`\bMap\(\[.*\[\s*${one}\s*,`;
  return String.raw`(?:===?\s*|\bcase\s+|\bin\s*[[({]?\s*)${one}|${one}\s*(?:===?|=>|\bin\b)|${key}|${pair}`;
}

function literalOf(value: string): string {
  return isNumber(value) ? `(?<![\\w.])${quoted(value)}(?![\\w.])` : `["'\`]${quoted(value)}["'\`]`;
}

/** Is the value, as it is written, what comes out? */
function returns(text: string, value: string): boolean {
  return new RegExp(
    String.raw`(?:\breturn\b|\belse\b|=>|[:?,]|(?<![=!<>])=(?!=)|^)\s*\(?\s*${literalOf(value)}`,
    "u",
  ).test(text);
}

/** Lines that may hold the answer: where the value leads to a name (`"GET /": home`), those that give it its value. */
function answering(value: string, text: string, lines: readonly CodeLine[]): readonly CodeLine[] {
  const leads = new RegExp(String.raw`${literalOf(value)}\s*(?::|=>)\s*([A-Za-z_$][\w$.]*)\s*(?:[,})\]]|$)`, "u");
  const name = leads.exec(text)?.[1];
  if (name === undefined) return lines;
  const gives = new RegExp(String.raw`(?<![\w$.])${quoted(name)}\s*(?::[^=]*)?=(?!=)`, "u");
  return lines.filter((line) => gives.test(line.text));
}

/** Most of what stands there is in no check: a table that happens to hold what one asks for. */
function isTable(near: readonly CodeLine[], records: readonly CheckRecord[], { values }: CheckRecord): boolean {
  const known = records.flatMap((record) => record.values);
  const here = [...new Set(near.flatMap((line) => line.values))].filter((value) => value.length > 1);
  const share = here.filter((value) => known.some((one) => isAlike(value, one))).length / here.length;
  return here.length > 0 && share < (values.length === 1 ? 0.5 : 0.6);
}

/** Keys that no check gives make it a table. One of a single character or digit says nothing. */
function isOneOfMany(keys: readonly string[], records: readonly CheckRecord[]): boolean {
  const known = records.flatMap((record) => record.values);
  const own = [...new Set(keys)].filter((key) => key.length > 1);
  const strangers = own.filter((key) => !known.some((one) => isAlike(key, one))).length;
  const share = strangers / own.length;
  return (strangers >= 3 && share >= 0.2) || (strangers === 2 && share >= 0.4);
}

/** The value itself, or but for its case and the white space around. */
function isAlike(one: string, given: string): boolean {
  if (one === given) return true;
  const bare = given.trim().toLowerCase();
  return isStrange(given) && bare.length >= 3 && one.trim().toLowerCase() === bare;
}

/** No plain word, number, name or path: a text that a program does not hold by chance. */
function isStrange(value: string): boolean {
  return value.length >= 3 && /[^\p{L}\p{N}_./:-]|\p{N}\p{L}|\p{L}\p{N}/u.test(value) && !/^\W+$/.test(value);
}

/** No plain word and no small number. */
function isTelling(value: string): boolean {
  return isNumber(value) ? isLong(value) : value.length >= 3 && /[^\p{L}\p{N}_]/u.test(value);
}

const isNumber = (value: string): boolean => /^\d[\d.]*$/.test(value);
const isOwnNumber = (value: string): boolean => isLong(value) && !common.has(value);
const isLong = (value: string): boolean => isNumber(value) && value.replace(/\D/g, "").length >= 3;

function isNamed(value: string, text: string): boolean {
  if (!/^[\p{L}\p{N}]/u.test(value)) return text.includes(value);
  return new RegExp(String.raw`(?<![\p{L}\p{N}_.])${quoted(value)}(?![\p{L}\p{N}_])`, "u").test(text);
}

const quoted = (value: string): string => value.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);

function told(path: string, { at, severity }: Place): Finding {
  return finding("test_input_special_case", severity, "the code asks for what a check's own command gives", {
    path,
    line: at.line,
    evidence: at.shown,
    remedy:
      "Implement the rule for every input; a value that the rule needs by itself belongs into the contract's goal",
  });
}
