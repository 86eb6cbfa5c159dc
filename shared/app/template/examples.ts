import { plainCell, type Spec, specRows } from "../../features/spec.ts";
import { readCell } from "./cell-values.ts";
import { evaluate, isNumber, type ItemValue, same, type Value, type Values } from "./evaluate.ts";
import { type Expression, parts, type ValueType } from "./expression.ts";
import { type Failure, onlyInputs, type Plan } from "./plan.ts";
import { createRefusals, type Refusal } from "./refusal.ts";
import { add, decimalText, rational, subtract, whole, zero } from "./rational.ts";

/**
 * One test for each row of Examples and of Errors. Every example is run against the plan first: a spec whose examples
 * contradict its rules is refused, so no test can be green by repeating what the code does.
 */
export type Case =
  | { readonly kind: "result"; readonly name: string; readonly inputs: Values; readonly expected: Values }
  | { readonly kind: "error"; readonly name: string; readonly inputs: Values; readonly failure: Failure };

export type Cases = { readonly kind: "ok"; readonly cases: readonly Case[] } | ({ readonly kind: "refused" } & Refusal);

export function casesOf(spec: Spec, plan: Plan): Cases {
  const cases: Case[] = [];
  const { refuse, found } = createRefusals(spec);
  const outputTypes = new Map<string, ValueType>(plan.outputs.map(({ name, type }) => [name, type]));
  for (const [
    index,
    {
      cells: [input = "", expected = ""],
    },
  ] of specRows(spec, "Examples").entries()) {
    const where = `example ${index + 1}`;
    const inputs = readInputs(input, plan);
    if (inputs.kind === "refused") refuse(where, inputs.why);
    else {
      const ran = run(plan, inputs.values);
      const wanted = wantedError(plainCell(expected), plan);
      const name = `example_${index + 1}`;
      if (ran.kind === "undefined") refuse(where, `${ran.name} cannot be computed for it`);
      else if (wanted !== undefined && ran.kind === "error" && ran.failure === wanted)
        cases.push({ kind: "error", name, inputs: inputs.values, failure: wanted });
      else if (wanted !== undefined)
        refuse(
          where,
          `it expects the error ${wanted.case}, the tables give ${ran.kind === "error" ? `the error ${ran.failure.case}` : "a result"}`,
          "wrong",
        );
      else if (ran.kind === "error")
        refuse(where, `it expects a result, the tables give the error ${ran.failure.case}`, "wrong");
      else {
        const outputs = readCell(expected, outputTypes);
        const wrong =
          outputs.kind === "ok"
            ? [...outputs.values].find(([output, value]) => !same(value, ran.values.get(output)))
            : undefined;
        if (outputs.kind === "refused") refuse(where, outputs.why);
        else if (wrong !== undefined)
          refuse(
            where,
            `it expects ${wrong[0]} = ${valueText(wrong[1])}, the rules give ${valueText(ran.values.get(wrong[0]))}`,
            "wrong",
          );
        else if (outputs.values.size === 0) refuse(where, "it expects nothing", "wrong");
        else cases.push({ kind: "result", name, inputs: inputs.values, expected: outputs.values });
      }
    }
  }
  const valid = cases.filter((one) => one.kind === "result");
  if (valid.length === 0 && found() === undefined)
    refuse("Examples", "there is none with a result, so nothing says what a test expects");
  for (const failure of plan.errors.filter(({ named }) => named)) {
    if (cases.some((one) => one.kind === "error" && one.failure === failure)) continue;
    const inputs = valid.map((one) => provoke(plan, failure, one.inputs)).find((found) => found !== undefined);
    if (inputs !== undefined) cases.push({ kind: "error", name: `error_${wordOf(failure.case)}`, inputs, failure });
    else if (found() === undefined)
      refuse(`Errors, ${failure.case}`, "no example shows it, and none could be derived; add a row to Examples");
  }
  const refusal = found();
  return refusal === undefined ? { kind: "ok", cases: distinct(cases) } : { kind: "refused", ...refusal };
}

type Ran =
  | { readonly kind: "values"; readonly values: Values }
  | { readonly kind: "error"; readonly failure: Failure }
  | { readonly kind: "undefined"; readonly name: string };

/** What the written code does, in the same order: errors of the inputs, the values, errors of the values. */
function run(plan: Plan, inputs: Values): Ran {
  const early = plan.errors.filter((failure) => onlyInputs(plan, failure));
  for (const failure of early) {
    const met = evaluate(failure.when, inputs);
    if (met === undefined) return { kind: "undefined", name: `the error ${failure.case}` };
    if (met === true) return { kind: "error", failure };
  }
  const values = new Map(inputs);
  for (const { name, formula } of plan.values) {
    const value = evaluate(formula, values);
    if (value === undefined) return { kind: "undefined", name };
    values.set(name, value);
  }
  for (const failure of plan.errors.filter((one) => !early.includes(one))) {
    const met = evaluate(failure.when, values);
    if (met === undefined) return { kind: "undefined", name: `the error ${failure.case}` };
    if (met === true) return { kind: "error", failure };
  }
  return { kind: "values", values };
}

function readInputs(cell: string, plan: Plan): ReturnType<typeof readCell> {
  const read = readCell(cell, new Map(plan.inputs.map(({ name, type }) => [name, type])));
  if (read.kind === "refused") return read;
  const values = new Map(read.values);
  for (const { name, fallback } of plan.inputs) {
    if (values.has(name)) continue;
    const value = fallback === undefined ? undefined : evaluate(fallback, values);
    if (value === undefined) return { kind: "refused", why: `it gives no ${name}` };
    values.set(name, value);
  }
  return { kind: "ok", values };
}

/** The error that an example's expected cell names: its case, its exception with the message, or the message alone. */
function wantedError(expected: string, plan: Plan): Failure | undefined {
  const text = expected.replaceAll("`", "").toLowerCase();
  const named = plan.errors.filter(({ named: one }) => one);
  const byWord = (word: (failure: Failure) => string): readonly Failure[] =>
    named.filter((failure) => hasWords(text, word(failure).toLowerCase()));
  const longest = byWord((failure) => failure.case).toSorted((a, b) => b.case.length - a.case.length)[0];
  const byMessage = byWord(({ message }) => message)[0];
  const byName = byWord(({ raises = "" }) => raises);
  const says = /^(?:an? )?(?:error|raises?|refused|rejected)\b/.test(text);
  return longest !== undefined && (says || hasWords(longest.case.toLowerCase(), text) || !/[=:]/.test(text))
    ? longest
    : (byMessage ?? (byName.length === 1 ? byName[0] : undefined) ?? longest);
}

function hasWords(text: string, words: string): boolean {
  return words !== "" && ` ${text.replace(/\W+/g, " ")} `.includes(` ${words.replace(/\W+/g, " ").trim()} `);
}

/** Inputs that give exactly this error: a valid example, changed in one place, then in two. */
function provoke(plan: Plan, failure: Failure, from: Values): Values | undefined {
  const hits = (values: Values): boolean => {
    const ran = run(plan, values);
    return ran.kind === "error" && ran.failure === failure;
  };
  const once = plan.inputs.flatMap(({ name, type }) =>
    candidates(from.get(name), type, failure.when).map((value) => new Map(from).set(name, value)),
  );
  const found = once.find(hits);
  if (found !== undefined) return found;
  for (const changed of once.slice(0, 200)) {
    for (const { name, type } of plan.inputs) {
      const twice = candidates(changed.get(name), type, failure.when)
        .map((value) => new Map(changed).set(name, value))
        .find(hits);
      if (twice !== undefined) return twice;
    }
  }
  return undefined;
}

function candidates(now: Value | undefined, type: ValueType, when: Expression): readonly Value[] {
  if (typeof type === "string") return scalars(type, when);
  if (!Array.isArray(now)) return [[]];
  const items = now as readonly ItemValue[];
  const first = items[0];
  const inner = type.list;
  if (first === undefined) return [[]];
  const replaced =
    typeof inner === "string"
      ? scalars(inner, when)
      : Object.entries(inner).flatMap(([field, of]) =>
          scalars(of, when).map((value) => ({ ...(first as object), [field]: value })),
        );
  const sizes = numbersIn(when)
    .filter(({ n, d }) => d === 1n && n >= 0n && n < 50n)
    .map(({ n }) => Array.from({ length: Number(n) + 1 }, () => first));
  return [[], ...replaced.map((value) => [value, ...items.slice(1)]), ...sizes] as readonly Value[];
}

/** Values at and around what the condition compares with, and the usual nasty ones. */
function scalars(type: Exclude<ValueType, object>, when: Expression): readonly Exclude<Value, readonly unknown[]>[] {
  const numbers = numbersIn(when);
  switch (type) {
    case "bool":
      return [true, false];
    case "int":
    case "decimal": {
      const step = type === "int" ? whole(1) : (rational("0.01") ?? whole(1));
      const near = numbers.flatMap((bound) => [
        bound,
        subtract(bound, step),
        add(bound, step),
        subtract(bound, whole(1)),
        add(bound, whole(1)),
      ]);
      return [zero, whole(-1), ...near, whole(1), whole(1_000_000), whole(-1_000_000)].filter(
        (value) => type === "decimal" || value.d === 1n,
      );
    }
    case "text": {
      const lengths = numbers.filter(({ n, d }) => d === 1n && n >= 0n && n < 2000n).map(({ n }) => Number(n));
      const words = [...parts(when)].flatMap((part) => (part.kind === "text" ? [part.value] : []));
      return [
        "",
        " ",
        "?",
        "unlisted",
        ...words,
        ...lengths.flatMap((length) => [
          "x".repeat(length),
          "x".repeat(length + 1),
          "x".repeat(Math.max(0, length - 1)),
        ]),
      ];
    }
  }
}

function numbersIn(when: Expression) {
  return [...parts(when)].flatMap((part) => (part.kind === "number" ? [part.value] : []));
}

function valueText(value: Value | undefined): string {
  if (value === undefined) return "nothing";
  if (isNumber(value)) return decimalText(value) ?? `${value.n}/${value.d}`;
  return typeof value === "string"
    ? JSON.stringify(value)
    : value === true
      ? "true"
      : value === false
        ? "false"
        : "a list";
}

function wordOf(text: string): string {
  const word = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 40);
  return word === "" ? "case" : word;
}

/** Test names must differ. */
function distinct(cases: readonly Case[]): readonly Case[] {
  const seen = new Map<string, number>();
  return cases.map((one) => {
    const count = (seen.get(one.name) ?? 0) + 1;
    seen.set(one.name, count);
    return count === 1 ? one : { ...one, name: `${one.name}_${count}` };
  });
}
