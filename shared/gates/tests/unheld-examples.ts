import type { AssertionKind } from "../../model/test-language.ts";
import type { Finding } from "../../model/finding.ts";
import type { SpecFact } from "../../ports/gate.ts";
import { finding } from "../gate-finding.ts";
import { timesIn, valuesOf } from "../spec-values.ts";
import { isTrivial } from "./cannot-fail.ts";
import { leavesRoom, onlyValues } from "./example-cell.ts";
import { splitTop } from "./flat-text.ts";
import type { Outline, OutlineAssertion, OutlineTest } from "./outline.ts";
import { codeOf } from "./outline-code.ts";

/**
 * Results of examples that the tests name and that no failure comes of: in an assertion that is swallowed, never reached
 * or always true, as a message, under a name nobody asks for, in a test that asserts nothing. A result that stands
 * anywhere else, such as in a table of cases, is left alone.
 */
export function unheldExamples(tests: Outline, rows: readonly SpecFact[]): readonly Finding[] {
  const places = silentPlaces(tests);
  if (places.length === 0) return [];
  const code = codeOf(tests);
  const names = rows.filter(({ section }) => section === "Outputs").map(({ cells }) => cells[0] ?? "");
  return rows.flatMap((row) => {
    const [, expected = ""] = row.cells;
    if (row.section !== "Examples" || leavesRoom(expected)) return [];
    const results = [...valuesOf(expected)];
    const unheld = results.flatMap((value) => {
      const here = places.filter((place) => place.times(value) > 0);
      const held = timesIn(code, value) - here.reduce((sum, place) => sum + place.times(value), 0);
      return here.length > 0 && held <= 0 ? here.slice(0, 1) : [];
    });
    const [first] = unheld;
    if (first === undefined || unheld.length < results.length) return [];
    return [
      finding(
        "example_weak",
        onlyValues(expected, names) ? "FAIL" : "WARN",
        `no test fails when this row gives another result: ${row.cells.join(" | ").replace(/\s+/g, " ").slice(0, 200)}`,
        {
          path: tests.path,
          line: first.line,
          evidence: first.text,
          remedy: "Assert the very value that the row expects, with ==, where a failure fails the test",
        },
      ),
    ];
  });
}

/** Code that names values and does not hold the feature to them. */
interface SilentPlace {
  readonly line: number;
  readonly text: string;
  times(value: string): number;
}

type Holder = Pick<OutlineTest, "assertions"> & Partial<OutlineTest>;

function silentPlaces(tests: Outline): readonly SilentPlace[] {
  const lines = codeOf(tests).split("\n");
  const silent = silentHelpers(tests);
  const own = new Set([...builtIns, ...namesFromTheSlice(tests.text), ...silent]);
  const inTests = tests.tests.flatMap((one) =>
    one.assertions.length === 0 && [...one.calls].every((name) => own.has(name))
      ? [checksNothing(one, lines)]
      : [...silentStatements(one, silent), ...unusedNames(one, silent, tests.text)],
  );
  const inHelpers = tests.helpers.flatMap((one) =>
    one.unused === true ? one.assertions.map(unasked) : silentStatements(one, silent),
  );
  return [...inTests, ...inHelpers, ...[...tests.tests, ...tests.helpers].flatMap(conditions)];
}

/** Claims that accept many results: beside them a value in a message is all that a test says of it. */
const vague: ReadonlySet<AssertionKind> = new Set(["truthy", "falsy", "notnone", "type", "ne", "greater", "less"]);

/** Does the claim hold the feature to something, so that a wrong result fails the test? */
function isFirm(one: OutlineAssertion, holder: Holder, silent: ReadonlySet<string>): boolean {
  return !cannotFail(one, holder) && !vague.has(one.kind) && !isSilentCheck(one, silent);
}

function cannotFail(one: OutlineAssertion, holder: Holder): boolean {
  const { kind, operands, hushed, either } = one;
  const isHushed =
    hushed !== undefined && hushed.excused !== true && !(hushed.why === "swallowed" && hushed.own !== true);
  return (
    isHushed ||
    isTrivial(one, holder) ||
    asked(one, holder) !== undefined ||
    either.length > 0 ||
    isOneOfSeveral(kind, operands)
  );
}

const standIn =
  /^(?:\w+\.)?(?:(?:Magic|Async|NonCallable)?Mock|create_autospec|(?:mock|vi|jest)\.fn|sinon\.(?:stub|fake))\(/;

/** The stand-in whose answer an assertion is about, as the test itself told it what to say. */
function asked(
  { kind, operands }: OutlineAssertion,
  { assigned = [] }: Holder,
): OutlineTest["assigned"][number] | undefined {
  if (kind === "called" || kind === "calledwith") return undefined;
  const called = operands.flatMap((operand) => /^(?:await )?(\w+)\(/.exec(operand)?.[1] ?? []);
  return assigned.find(({ name, value }) => called.includes(name) && standIn.test(value));
}

/** `result in (200, 350)`, `[200, 350].includes(result)`: a list that is written out, with more than one value. */
function isOneOfSeveral(kind: AssertionKind, [list = ""]: readonly string[]): boolean {
  const inner = list.replace(/^[([{]|[)\]}]$/g, "");
  return kind === "contains" && !/[()[\]{}]/.test(inner) && splitTop(inner, /,/).length > 1;
}

function isSilentCheck({ kind, operands: [called = ""] }: OutlineAssertion, silent: ReadonlySet<string>): boolean {
  return kind === "custom" && silent.has(/(\w+)!?\(\)$/.exec(called)?.[1] ?? "");
}

/** Functions of the file that look like checks, none of which can fail. */
function silentHelpers({ helpers }: Outline): ReadonlySet<string> {
  return new Set(
    helpers.flatMap((one) => {
      const isSilent = one.assertions.length > 0 && one.assertions.every((claim) => cannotFail(claim, one));
      return one.name !== "" && isSilent ? one.name : [];
    }),
  );
}

/** A statement may make several claims: one that can fail holds what the statement names. */
function silentStatements(holder: Holder, silent: ReadonlySet<string>): readonly SilentPlace[] {
  const statements = Map.groupBy(holder.assertions, ({ line, text }) => `${line}\0${text}`);
  return [...statements.values()].flatMap((claims) => {
    const [first] = claims;
    if (first === undefined || claims.some((one) => isFirm(one, holder, silent))) return [];
    const can = claims.filter((one) => !cannotFail(one, holder) && !isSilentCheck(one, silent));
    // What is no part of a claim is its message.
    const isSaid = (value: string): boolean =>
      can.some(({ operands }) => operands.some((one) => timesIn(one, value) + timesIn(apart(one), value) > 0));
    const { line, text } = first;
    return [{ line, text, times: (value) => (isSaid(value) ? 0 : timesIn(text, value)) }];
  });
}

/** Code without blanks writes a list of numbers as one number. */
const apart = (operand: string): string => operand.replaceAll(",", ", ");

/** A value under a name that nothing asks for, or that a stand-in was told, in a test that asks for nothing exact. */
function unusedNames(test: OutlineTest, silent: ReadonlySet<string>, text: string): readonly SilentPlace[] {
  if (test.assertions.some((one) => isFirm(one, test, silent))) return [];
  const told = new Set(test.assertions.flatMap((one) => asked(one, test) ?? []));
  const isUnused = (name: string): boolean =>
    /^\w+$/.test(name) && text.split(new RegExp(`(?<![\\w$])${name}(?![\\w$])`)).length === 2;
  return test.assigned.flatMap((one) => {
    const { name, value, line } = one;
    if (!told.has(one) && !isUnused(name)) return [];
    return [{ line, text: `${name} = ${value}`, times: (wanted) => timesIn(value, wanted) }];
  });
}

/** A function whose name is said by nobody, and that no test program takes for a test. */
function unasked({ line, text }: OutlineAssertion): SilentPlace {
  return { line, text, times: (value) => timesIn(text, value) };
}

/** What is asked before an assertion is asserted by nobody. */
function conditions({ assertions }: Holder): readonly SilentPlace[] {
  const asked = assertions.flatMap(({ hushed }) =>
    hushed?.text === undefined ? [] : [[hushed.line, hushed.text] as const],
  );
  return [...new Map(asked)].map(([line, text]) => ({ line, text, times: (value) => timesIn(text, value) }));
}

/** A test that calls the feature, or nothing but what every program has, and looks at nothing that comes of it. */
function checksNothing({ line, endLine, name }: OutlineTest, lines: readonly string[]): SilentPlace {
  const text = lines.slice(line - 1, endLine).join("\n");
  return { line, text: name, times: (value) => timesIn(text, value) };
}

const builtIns =
  "print log len list tuple dict set sum str int float range sorted repr zip enumerate map String Number".split(" ");

/** What the tests take from files beside them, in the two forms that languages with tests of their own have. */
function namesFromTheSlice(text: string): readonly string[] {
  const lists = [
    ...text.matchAll(/^[ \t]*from[ \t]+\.[\w.]*[ \t]+import[ \t]+(\([^)]*\)|[^\n(]*)/gm),
    ...text.matchAll(/\bimport\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["']\.\.?\//g),
  ];
  return lists.flatMap(([, list = ""]) => list.match(/[\w$]+/g) ?? []);
}
