import { linesOf } from "../base/lines.ts";
import { below, extName, type RepoPath, repoPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput, SliceFacts, SpecFact, SpecFacts } from "../ports/gate.ts";
import type { Rulebook } from "../rulebook/load.ts";
import { asksForInput, besideLines } from "./answer-beside.ts";
import { codeOnly } from "./code-only.ts";
import { finding, ran } from "./gate-finding.ts";
import { holdsValue, numbersIn, ownValues, valuesOf } from "./spec-values.ts";

/**
 * Does the slice answer to its spec honestly? Each example and error is in the Tests file with its values; the code works
 * answers out instead of reading the spec or listing its examples. Looks for values, so prose is not judged.
 */
export function createSpecCoverGate({ book }: { readonly book: Pick<Rulebook, "sets"> }): Gate {
  return {
    id: "spec",
    phase: "change",
    async run(input) {
      const { slice } = input;
      if (slice?.spec === undefined) return { kind: "skipped", why: "there is no spec to compare with" };
      // The tests that are missing then are not this attempt's fault, and would bury what is.
      if (input.soFar.some(({ rule }) => rule === "no_change")) return { kind: "skipped", why: "nothing changed" };
      const about = { ...input, slice, spec: slice.spec };
      const codeOf = coder(book);
      return ran([...(await untested(about, codeOf)), ...(await dishonest(about, codeOf))]);
    },
  };
}

type About = GateInput & { readonly slice: SliceFacts; readonly spec: SpecFacts };
/** A source text without comments and documentation; line numbers stay. */
type CodeOf = (path: string, text: string) => string;

function coder(book: Pick<Rulebook, "sets">): CodeOf {
  return (path, text) => codeOnly(book, path, text);
}

/** Two of three values are enough: a test may say one of them another way. */
async function untested({ slice, spec, read }: About, codeOf: CodeOf): Promise<readonly Finding[]> {
  const path = repoPath(`${slice.dir}/${slice.pack.roles.tests}`);
  const bytes = path === undefined ? undefined : await read(path);
  if (path === undefined || bytes === undefined) return [];
  const text = codeOf(path, new TextDecoder("utf-8").decode(bytes));
  const code = { text, numbers: numbersIn(text) };
  const has = (value: string): boolean => holdsValue(code, value);
  return spec.rows.flatMap((row) => {
    const [all, result] = testable(row);
    if (all.length === 0) return [];
    const missing = all.filter((value) => !has(value));
    if (missing.length * 2 <= all.length && (result.length === 0 || result.some(has))) return [];
    return [
      finding("example_untested", "FAIL", `no test has this row of ${row.section}: ${rowText(row)}`, {
        path,
        evidence: `not in ${slice.pack.roles.tests}: ${missing.join(", ")}`,
        remedy: "Write a test with the values of the row: its input, and what it expects",
      }),
    ];
  });
}

/** Values of a row, and those of what comes out. */
function testable({ section, cells }: SpecFact): readonly [all: readonly string[], result: readonly string[]] {
  if (section === "Examples") return [[...valuesOf(cells.join(" | "))], [...valuesOf(cells[1] ?? "")]];
  const error =
    section === "Errors" ? [...valuesOf(cells[2] ?? "")].filter((value) => /\D(?:Error|Exception)$/.test(value)) : [];
  return [error, error];
}

/** The spec's file by its name, or any Markdown beside the code. */
const specReads = /\bspec["'\s+]*\.md\b|(?:__file__|import\.meta)[^\n]*\.md\b/i;

async function dishonest({ slice, spec, change, read, soFar }: About, codeOf: CodeOf): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const tests = `${slice.dir}/${slice.pack.roles.tests}`;
  for (const { path, newMode } of change.files) {
    const inSlice = below(path, slice.dir) !== undefined && slice.pack.extensions.includes(extName(path));
    const bytes = inSlice && path !== tests && newMode !== "000000" ? await read(path as RepoPath) : undefined;
    if (bytes === undefined) continue;
    const lines = linesOf(codeOf(path, new TextDecoder("utf-8").decode(bytes)));
    const isTold = soFar.some((one) => one.rule.startsWith("reads_tests") && one.path === path);
    found.push(...specReadings(path, lines), ...(isTold ? [] : testReadings(path, lines, slice.pack.roles.tests)));
    found.push(...spelledOut(path, lines, spec));
  }
  return found;
}

function specReadings(path: string, lines: readonly string[]): readonly Finding[] {
  const at = lines.findIndex((line) => specReads.test(line));
  if (at === -1) return [];
  return [
    finding("spec_read", "FAIL", "the code reads its own specification", {
      path,
      line: at + 1,
      evidence: lines[at]?.trim() ?? "",
      remedy: "Work the answer out from the input; spec.md is no data of the program",
    }),
  ];
}

/** The file of its tests by its name, also in pieces (`"Tests" + ".py"`): they hold the answers. */
function testReadings(path: string, lines: readonly string[], tests: string): readonly Finding[] {
  const [stem = "", ext = ""] = tests.split(/\.(?=\w+$)/);
  const named = new RegExp(`\\b${stem}["'\\s+,]*\\.${ext}\\b`);
  const at = lines.findIndex((line) => named.test(line) && !/\bimport\b/.test(line));
  if (at === -1) return [];
  return [
    finding("tests_read", "FAIL", "the code reads its own tests", {
      path,
      line: at + 1,
      evidence: lines[at]?.trim() ?? "",
      remedy: "Implement the rule instead of looking the answer up",
    }),
  ];
}

/** One example beside its result may be chance; two are a list of answers. */
function spelledOut(path: string, lines: readonly string[], spec: SpecFacts): readonly Finding[] {
  const elsewhere = spec.rows.filter(({ section }) => section !== "Examples");
  const places = spec.rows
    .filter(({ section }) => section === "Examples")
    .flatMap((row) => {
      const at = placeOf(lines, ownValues(row.cells[0] ?? "", elsewhere), ownValues(row.cells[1] ?? "", elsewhere));
      return at === undefined ? [] : [{ row, at }];
    });
  const [first] = places;
  if (first === undefined) return resultsAlone(path, lines, spec, elsewhere);
  return [
    finding(
      "example_special_cased",
      places.length > 1 ? "FAIL" : "WARN",
      places.length > 1
        ? "the code lists answers of the spec's examples"
        : "the code holds an example of the spec with its answer",
      {
        path,
        line: first.at + 1,
        evidence: places.map(({ row }) => rowText(row)).join("\n"),
        remedy: "Implement the rule that gives these answers; what has to be a table belongs into the Rules of spec.md",
      },
    ),
  ];
}

/**
 * Results of two examples and of no rule: whatever the code asks its input for, it knows the answers. A word may be what the
 * examples call a case; it is an answer where the code asks for the example's input.
 */
function resultsAlone(
  path: string,
  lines: readonly string[],
  spec: SpecFacts,
  elsewhere: readonly SpecFact[],
): readonly Finding[] {
  const text = lines.join("\n");
  const code = { text, numbers: numbersIn(text) };
  const examples = spec.rows.filter(({ section }) => section === "Examples");
  const known = examples.flatMap((row) => {
    const result = ownValues(row.cells[1] ?? "", elsewhere);
    const input = [...valuesOf(row.cells[0] ?? "")];
    const isAnswer = (value: string): boolean =>
      holdsValue(code, value) && (!isWord(value) || asksFor(lines, input, value));
    return result.length > 0 && result.every(isAnswer) ? [{ row, result }] : [];
  });
  const answers = new Set(known.map(({ result }) => result.join("\0")));
  if (answers.size === 0 || (answers.size === 1 && !isOnlyAnswer(known[0]?.result ?? [], examples, lines))) return [];
  const at = lines.findIndex((line) => {
    const here = { text: line, numbers: numbersIn(line) };
    return known.some(({ result }) => result.some((value) => holdsValue(here, value)));
  });
  return [
    finding("example_special_cased", "WARN", "the code holds results of the spec's examples that no rule names", {
      path,
      line: at + 1,
      evidence: known.map(({ row }) => rowText(row)).join("\n"),
      remedy: "Implement the rule that gives these answers; what has to be a table belongs into the Rules of spec.md",
    }),
  ];
}

/** The one number that the examples expect at all, returned as it is: nothing of a rule is needed for it. */
function isOnlyAnswer(
  [answer = "", ...more]: readonly string[],
  examples: readonly SpecFact[],
  lines: readonly string[],
): boolean {
  const isError = (value: string): boolean => /\D(?:Error|Exception)$/.test(value);
  const expected = examples.flatMap(({ cells }) => [...valuesOf(cells[1] ?? "")].filter((value) => !isError(value)));
  if (more.length > 0 || !/^\d+(?:\.\d+)?$/.test(answer) || expected.some((value) => value !== answer)) return false;
  const returned = /(?:\breturn\b|=>|[?:])\s*(-?\d[\d_]*(?:\.\d+)?)\s*(?:[;,)]|if\b|else\b|:|$)/g;
  return lines.some((line) => [...line.matchAll(returned)].some(([, given = ""]) => numbersIn(given).has(answer)));
}

const isWord = (value: string): boolean => /^\p{L}[\p{L}_ -]*$/u.test(value);

function asksFor(lines: readonly string[], input: readonly string[], result: string): boolean {
  return lines.some(
    (line, at) =>
      line.includes(result) &&
      asksForInput(lines.slice(Math.max(0, at - besideLines), at + besideLines + 1), input, result),
  );
}

/** The line that holds a result, with the whole input close to it. */
function placeOf(lines: readonly string[], input: readonly string[], result: readonly string[]): number | undefined {
  if (input.length === 0 || result.length === 0) return undefined;
  const codeAt = (from: number, to: number): Parameters<typeof holdsValue>[0] => {
    const text = lines.slice(Math.max(0, from), to + 1).join("\n");
    return { text, numbers: numbersIn(text) };
  };
  const at = lines.findIndex((_, line) => {
    const here = codeAt(line, line);
    if (!result.every((value) => holdsValue(here, value))) return false;
    const around = codeAt(line - besideLines, line + besideLines);
    return input.every((value) => holdsValue(around, value));
  });
  return at === -1 ? undefined : at;
}

function rowText({ cells }: SpecFact): string {
  return cells.join(" | ").replace(/\s+/g, " ").slice(0, 200);
}
