import { baseName, extName, repoPath } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import { isTestPath } from "../model/test-path.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import type { Rulebook } from "../rulebook/load.ts";
import { asksForInput, besideLines, common } from "./answer-beside.ts";
import { checkAnswers } from "./check-answers.ts";
import { finding, ran } from "./gate-finding.ts";
import { key, literalsOf } from "./tests/flat-text.ts";

/**
 * Does the code hold the answers of the tests instead of computing them? Values that a test gives and expects stand
 * together in added code that decides by them. It cannot be sure, so it warns and hands the place to the reviewer; what
 * stands in a check's own command, and nowhere in the task, fails.
 */
export function createSpecialCasesGate(deps: {
  readonly filesAt?: (treeish: string) => Promise<readonly string[]>;
  /** Tells code from comments and documentation. */
  readonly book?: Pick<Rulebook, "sets">;
}): Gate {
  return {
    id: "special-cases",
    phase: "change",
    async run(input, signal) {
      const found: Finding[] = [...(await checkAnswers(input.change.files.filter(isSource), input, deps.book))];
      const suspects = input.change.files.flatMap(suspectsOf);
      if (suspects.length === 0) return ran(found);
      const records = await testRecords(suspects, input, deps, signal);
      const byValue = new Map<string, TestRecord[]>();
      for (const record of records)
        for (const value of new Set(record.values)) {
          const held = byValue.get(value);
          if (held === undefined) byValue.set(value, [record]);
          else held.push(record);
        }
      const told = new Set(found.map(({ path }) => path));
      for (const suspect of suspects) {
        if (told.has(suspect.path)) continue;
        const known = near(suspect, byValue);
        const special = judged(suspect, known);
        found.push(...(special.length > 0 ? special : await answersReturned(suspect, known, input)));
      }
      return ran(found);
    },
  };
}

const source = /^\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|rb|php|cs|swift|c|cc|cpp|scala)$/;
const comment = /^\s*(?:#|\/\/|\*|\/\*|"""|''')/;
const decides =
  /===?|\bcase\b|=>|\bin\s*[[({]|\.get\(|["'\w)\]]\s*:\s*[\d"'([{-]|\breturn\b|\bif\b|\?|\bswitch\b|\bmatch\b|\bmap\[|\bMap\.of|\bequals\(|\.put\(|\.insert\(|\[[^\]]+\]\s*=/;
const compares = /===?|\bcase\b|=>|\bequals\(|\bin\s*[[({]/;

interface Suspect {
  readonly path: string;
  /** Added lines that decide, with their values. */
  readonly lines: readonly { readonly line: number; readonly text: string; readonly values: readonly string[] }[];
}

function isSource({ path, binary, newMode }: ChangedFile): boolean {
  return !binary && newMode !== "000000" && !isTestPath(path) && source.test(extName(path));
}

/** Runs of added lines that hold values and decide; a long run of them is data. */
function suspectsOf(file: ChangedFile): Suspect[] {
  if (!isSource(file)) return [];
  const { path, hunks } = file;
  return hunks.flatMap(({ added, newStart }) => {
    if (added.length > 400) return [];
    const lines = added.flatMap((text, at) => {
      // Most lines hold no value at all, and looking for one takes them apart.
      if (!/[\d"'`]/.test(text) || comment.test(text) || !decides.test(text)) return [];
      const values = literalsOf(text);
      return values.length === 0 ? [] : [{ line: newStart + at, text, values }];
    });
    return lines.flatMap(({ values }) => values).some(isTelling) ||
      lines.some(({ text }) => constant(text) !== undefined)
      ? [{ path, lines }]
      : [];
  });
}

/** A value that two programs do not share by chance. */
function isTelling(value: string): boolean {
  if (common.has(value)) return false;
  return /^\d[\d._]*$/.test(value) ? value.replace(/\D/g, "").length >= 2 : value.length >= 3;
}

/** What a line returns, when that is nothing but values. */
function constant(text: string): string | undefined {
  const given =
    /(?:\breturn\b|=>|:)\s*((?:&?(?:vec!|new \w+(?:\[\])?|\[\]\w+|List\.of|Arrays\.asList|Some|Ok)?\s*)?[[({][^A-Za-z_]*[\])}])\s*[;,}]*\s*$/.exec(
      text,
    )?.[1];
  return given !== undefined && literalsOf(given).length >= 2 ? key(given) : undefined;
}

interface TestRecord {
  readonly values: readonly string[];
  readonly text: string;
}

const maxTests = 40;
const maxChars = 200_000;

/** Lines of the tests that hold values: an assertion, or a row of a table. Tests named like the suspects come first. */
async function testRecords(
  suspects: readonly Suspect[],
  input: GateInput,
  deps: { readonly filesAt?: (treeish: string) => Promise<readonly string[]> },
  signal: AbortSignal,
): Promise<readonly TestRecord[]> {
  const there = (await deps.filesAt?.(input.change.base)) ?? [];
  const changed = new Set(input.change.files.map(({ path }) => path));
  const stemOf = (path: string): string =>
    baseName(path)
      .replace(/\.\w+$/, "")
      .toLowerCase();
  const stems = [...new Set(suspects.map(({ path }) => stemOf(path)))];
  const isNear = (path: string): boolean => {
    const name = baseName(path).toLowerCase();
    return stems.some((stem) => name.includes(stem));
  };
  const inSource = suspects.map(({ path }) => path).filter((path) => path.endsWith(".rs"));
  const tests = [...there.filter((path) => isTestPath(path) && source.test(extName(path))), ...inSource]
    .map((path, at) => ({ path, at, near: isNear(path) ? 0 : 1 }))
    .toSorted((a, b) => a.near - b.near || a.at - b.at)
    .slice(0, maxTests);
  const records: TestRecord[] = [];
  for (const { path } of tests) {
    signal.throwIfAborted();
    const at = repoPath(path);
    const bytes = at === undefined ? undefined : await (changed.has(path) ? input.readBase(at) : input.read(at));
    if (bytes === undefined || bytes.length > maxChars) continue;
    const text = new TextDecoder("utf-8").decode(bytes);
    const from = path.endsWith(".rs") && !isTestPath(path) ? text.indexOf("#[cfg(test)]") : 0;
    if (from === -1) continue;
    for (const line of text.slice(from).split("\n")) {
      if (!/[\d"'`]/.test(line) || comment.test(line)) continue;
      const values = literalsOf(line);
      if (values.length > 0) records.push({ values, text: key(line) });
    }
  }
  return records;
}

/** Records that share a value with the lines: the others cannot say anything about them. */
function near({ lines }: Suspect, byValue: ReadonlyMap<string, readonly TestRecord[]>): readonly TestRecord[] {
  const values = new Set(lines.flatMap((line) => line.values));
  return [...new Set([...values].flatMap((value) => (byValue.get(value) ?? []).slice(0, 200)))];
}

function judged({ path, lines }: Suspect, records: readonly TestRecord[]): Finding[] {
  if (records.length === 0) return [];
  const here = new Set(lines.flatMap(({ values }) => values));
  const telling = [...here].filter(isTelling);
  // One walk without lists of its own: a big change asks this of hundreds of records, hundreds of times.
  const whole: TestRecord[] = [];
  const expected = new Set<string>();
  const known = new Set<string>();
  for (const record of records) {
    const { values } = record;
    for (const value of values) if (here.has(value)) known.add(value);
    const last = values.at(-1);
    if (last !== undefined && here.has(last)) expected.add(last);
    if (values.length >= 2 && values.every((one) => here.has(one)) && values.some(isTelling)) whole.push(record);
  }
  const distinct = new Set(whole.map(({ values }) => values.join("\0")));
  const answers = telling.filter((one) => expected.has(one));
  const numbers = telling.filter((one) => /^\d[\d._]*$/.test(one));
  const share = telling.length === 0 ? 0 : telling.filter((one) => known.has(one)).length / telling.length;
  const numberShare = numbers.length === 0 ? 0 : numbers.filter((one) => expected.has(one)).length / numbers.length;
  const branches = lines.some(({ text }) => compares.test(text));
  const one = lines.find(({ values }) =>
    values.some((value) => answers.includes(value) || whole.some((record) => record.values.includes(value))),
  );
  const copied = lines.find(({ text }) => {
    const given = branches ? constant(text) : undefined;
    return given !== undefined && records.some((record) => record.text.includes(given));
  });
  if (distinct.size >= 2 && share >= 0.6) return [special(path, one ?? lines[0])];
  if (distinct.size >= 1 && branches && share >= 0.6 && lines.some(({ text }) => /\breturn\b|=>|:|\?/.test(text)))
    return [special(path, one ?? lines[0])];
  if (answers.length >= 2 && numberShare >= 0.6 && numbers.length >= 2) return [special(path, one ?? lines[0])];
  return copied === undefined ? [] : [special(path, copied)];
}

/**
 * Texts that a test expects and that the code returns as they are, after asking for what the test gives. What the task or
 * the file named before may be a name for a case (`"small"`); two that nobody named are answers.
 */
async function answersReturned(
  { path, lines }: Suspect,
  records: readonly TestRecord[],
  input: GateInput,
): Promise<readonly Finding[]> {
  const expected = new Set(records.flatMap(({ values }) => values.at(-1) ?? []).filter(isTelling));
  const returned = lines.flatMap((line) => {
    const value = /\breturn\s+(["'`])(.+)\1\s*;?\s*$/.exec(line.text)?.[2];
    if (value === undefined || !expected.has(value)) return [];
    const beside = lines.filter((one) => Math.abs(one.line - line.line) <= besideLines).map(({ text }) => text);
    const given = records.filter(({ values }) => values.at(-1) === value).flatMap(({ values }) => values.slice(0, -1));
    return asksForInput(beside, given, value) ? [{ line, value }] : [];
  });
  if (new Set(returned.map(({ value }) => value)).size < 2) return [];
  const at = repoPath(path);
  const before = at === undefined ? undefined : await input.readBase(at);
  const named = `${taskText(input)}\n${new TextDecoder("utf-8").decode(before ?? new Uint8Array())}`;
  const unnamed = returned.filter(({ value }) => !named.includes(value));
  return new Set(unnamed.map(({ value }) => value)).size < 2 ? [] : [special(path, unnamed[0]?.line)];
}

function taskText({ contract }: GateInput): string {
  const { title, goal, non_goals, acceptance, approach, pseudo, rules, risks, examples } = contract;
  const criteria = acceptance.map(({ text }) => text);
  const named = examples.map(({ expected }) => expected);
  return [title, goal, ...non_goals, ...criteria, ...approach, pseudo ?? "", ...rules, ...risks, ...named].join("\n");
}

function special(path: string, at: Suspect["lines"][number] | undefined): Finding {
  return finding("test_input_special_case", "WARN", "values of the tests stand in the code", {
    path,
    ...(at === undefined ? {} : { line: at.line }),
    evidence: at?.text.trim() ?? "",
    remedy: "Compute the result; a reviewer looks whether this is a real table",
  });
}
