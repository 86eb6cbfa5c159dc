import type { AssertionKind } from "../../model/test-language.ts";
import type { Finding } from "../../model/finding.ts";
import type { SpecFact } from "../../ports/gate.ts";
import { finding } from "../gate-finding.ts";
import { isErrorName, numbersIn, timesIn, valuesOf } from "../spec-values.ts";
import { apartIn } from "./condition.ts";
import { leavesRoom, lastPlace, onlyValues } from "./example-cell.ts";
import { literalsOf } from "./flat-text.ts";
import type { Outline, OutlineAssertion, OutlineTest } from "./outline.ts";
import { codeOf } from "./outline-code.ts";

/**
 * Does a test hold the code to what the examples of the spec say? A result that is only compared by order, or with room
 * around it, accepts wrong code. A result that stands anywhere else, such as in a table of cases, is left alone, and so is
 * an assertion about another input. It fails where the example is plainly a value; of prose a reviewer judges.
 */
export function weakExamples(tests: Outline, rows: readonly SpecFact[]): readonly Finding[] {
  const all = [...tests.tests, ...tests.helpers].flatMap((owner) =>
    owner.assertions.map((one): Placed => ({ one, room: roomOf(one, tests, owner), owner })),
  );
  const loose = all.filter(({ room }) => room !== undefined);
  if (loose.length === 0) return [];
  const exact = all.filter(({ room }) => room === undefined);
  const code = codeOf(tests);
  const names = rows.filter(({ section }) => section === "Outputs").map(({ cells }) => cells[0] ?? "");
  return rows.flatMap((row) => {
    const [input = "", expected = ""] = row.cells;
    if (row.section !== "Examples" || leavesRoom(expected)) return [];
    const results = [...valuesOf(expected)];
    const weak = results.flatMap((value) => weakFor(value, { input, expected }, { loose, exact }, code));
    const [first] = weak;
    if (first === undefined || weak.length < results.length) return [];
    const sure = weak.every((one) => one.sure) && onlyValues(expected, names);
    return [
      finding("example_weak", sure ? "FAIL" : "WARN", `a test lets other results than this one pass: ${rowText(row)}`, {
        path: tests.path,
        line: first.one.line,
        evidence: first.one.text,
        remedy: "Assert the very value that the row expects, with ==",
      }),
    ];
  });
}

interface Placed {
  readonly one: OutlineAssertion;
  readonly owner: Partial<OutlineTest>;
  /** How far off a result may be; Infinity where only the order, or another value, is asked; undefined where it is exact. */
  readonly room: number | undefined;
}

interface Example {
  readonly input: string;
  readonly expected: string;
}

/** The loose assertion that alone holds a result of an example. */
function weakFor(
  value: string,
  { input, expected }: Example,
  { loose, exact: firm }: { readonly loose: readonly Placed[]; readonly exact: readonly Placed[] },
  code: string,
): readonly { readonly one: OutlineAssertion; readonly sure: boolean }[] {
  const half = lastPlace(expected, value) / 2;
  const here = loose.flatMap((placed) => {
    const { one, room = 0 } = placed;
    // Another claim of the same statement may ask for exactly it.
    const isHeld = firm.some(
      ({ one: other }) => other.line === one.line && other.text === one.text && holds(other, value),
    );
    const exact = room <= half * 1.0001 || (one.kind === "type" && isErrorName(value));
    if (exact || isHeld || timesIn(one.text, value) === 0) return [];
    return [{ ...placed, about: aboutInput(placed, input, value), sure: room > Math.abs(Number(value)) / 100 }];
  });
  // Two claims may stand in one assertion, whose text counts once.
  const texts = new Map(here.map(({ one }) => [`${one.line} ${one.text}`, one.text]));
  const held = timesIn(code, value) - [...texts.values()].reduce((sum, text) => sum + timesIn(text, value), 0);
  const first = here.find(({ about }) => about === "same") ?? here.find(({ about }) => about === "perhaps");
  if (first === undefined || held > 0) return [];
  return [{ one: first.one, sure: first.about === "same" && (Number.isNaN(Number(value)) || first.sure) }];
}

const holds = ({ operands }: OutlineAssertion, value: string): boolean =>
  operands.some((operand) => timesIn(operand, value) > 0);

/** Is the assertion about the row's input? The names it uses stand for what the test gave them. */
function aboutInput({ one, owner }: Placed, input: string, result: string): "same" | "perhaps" | "no" {
  const text = spelledOut(one.operands.join(" "), owner.assigned ?? []);
  const literals = valuesIn(text);
  const named = [...valuesOf(input)];
  // A cell may say a text without quotes: `bad`, `Paris, London`.
  const given = named.length > 0 ? named : (input.match(/[\p{L}\p{N}_-]{3,}/gu) ?? []);
  if (named.length === 0 && !given.some((word) => literals.has(word)))
    return /\[\]|\{\}|\(\)|""|\b(?:[Tt]rue|[Ff]alse|None|null|undefined)\b/.test(text) ? "perhaps" : "no";
  if (given.some((value) => literals.has(value) && value !== result)) return "same";
  if (given.includes(result) && timesIn(text, result) > 1) return "same";
  const others = [...literals].filter((value) => value !== result);
  const body = valuesIn(owner.body ?? "");
  return others.length === 0 && given.every((value) => body.has(value)) ? "perhaps" : "no";
}

/** Texts as a whole: `"a b c d"` does not hold `"a b c"`. */
function valuesIn(text: string): ReadonlySet<string> {
  return new Set([...literalsOf(text), ...numbersIn(text)]);
}

function spelledOut(text: string, assigned: OutlineTest["assigned"]): string {
  const used = new Set<string>();
  let out = text;
  for (let at = 0; at < 3; at += 1) {
    const more = assigned.filter(({ name }) => !used.has(name) && hasWord(out, name));
    for (const { name, value } of more) {
      used.add(name);
      out += ` ${value}`;
    }
  }
  return out;
}

function hasWord(text: string, name: string): boolean {
  return /^[\w$]+$/.test(name) && new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`).test(text);
}

const byOrder: readonly AssertionKind[] = ["greater", "less", "ne", "notnone", "type"];

function roomOf(one: OutlineAssertion, tests: Outline, owner: Partial<OutlineTest>): number | undefined {
  const { kind, operands, text } = one;
  const size = Math.max(0, ...operands.flatMap((operand) => [...numbersIn(operand)]).map(Number));
  if (kind === "almost") {
    const given = one.tolerance ?? Number(/\b(?:abs|rel)_tol\s*=\s*([\d.e-]+)/.exec(text)?.[1] ?? 0);
    const room = /\brel(?:_tol)?\s*=/.test(text) ? given * size : given;
    return room > 0.01 && room > size / 1000 ? room : undefined;
  }
  // `abs(a - b) < limit`: as much room as the limit's name stands for, when that is known.
  const bound = kind === "less" && apartIn(operands[0] ?? "") !== undefined ? operands[1] : undefined;
  if (bound !== undefined) {
    const room = numberNamed(bound, tests, owner);
    return room !== undefined && room > 0.01 && room > size / 1000 ? room : undefined;
  }
  return byOrder.includes(kind) ? Infinity : undefined;
}

function numberNamed(name: string, { text }: Outline, { assigned = [] }: Partial<OutlineTest>): number | undefined {
  if (!/^[\w$]+$/.test(name)) return undefined;
  const word = name.replaceAll("$", "\\$");
  const given =
    assigned.findLast((one) => one.name === name)?.value ??
    new RegExp(`^[ \\t]*(?:const |let |var )?${word}(?::[^=\\n]+)?[ \\t]*=[ \\t]*([\\d._e-]+);?[ \\t]*$`, "m").exec(
      text,
    )?.[1];
  const value = given === undefined ? Number.NaN : Number(given.replaceAll("_", ""));
  return Number.isFinite(value) ? value : undefined;
}

function rowText({ cells }: SpecFact): string {
  return cells.join(" | ").replace(/\s+/g, " ").slice(0, 200);
}
