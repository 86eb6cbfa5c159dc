import { type Expression, isList, isNumeric, type Scalar, typeText, type ValueType } from "./expression.ts";
import { parseFormula } from "./expression-parser.ts";
import type { Computed } from "./plan.ts";
import type { Rules } from "./plan-rules.ts";
import type { Output, Refuse } from "./plan-tables.ts";
import type { Rounding } from "./rational.ts";

/** Each output has one formula: in its own cell or in a rule. Values in between come from rules. */
export function readValues(
  outputs: readonly Output[],
  rules: Rules,
  inputs: ReadonlyMap<string, ValueType>,
  refuse: Refuse,
): readonly Computed[] {
  const pending = new Map<string, { readonly text: string; readonly where: string }>();
  const put = (name: string, text: string, where: string): void => {
    if (pending.has(name)) refuse(where, `${name} is computed twice`);
    else if (inputs.has(name)) refuse(where, `${name} is an input`);
    else pending.set(name, { text, where });
  };
  for (const { name, text, where } of rules.assignments) put(name, text, where);
  for (const { name, rule } of outputs) {
    const inRules = pending.has(name);
    const formula = rule.replace(/^=\s*/, "");
    if (formula !== "" && !inRules) put(name, formula, `Outputs, ${name}`);
    else if (formula === "" && !inRules)
      refuse(`Outputs, ${name}`, "neither its rule nor a numbered rule says how it is computed");
    else if (formula !== "" && inRules)
      refuse(`Outputs, ${name}`, "its rule and a numbered rule both say how it is computed");
  }
  return ordered(pending, outputs, rules, inputs, refuse);
}

function ordered(
  pending: Map<string, { readonly text: string; readonly where: string }>,
  outputs: readonly Output[],
  rules: Rules,
  inputs: ReadonlyMap<string, ValueType>,
  refuse: Refuse,
): readonly Computed[] {
  const scope = new Map(inputs);
  const done: Computed[] = [];
  const open = new Map(pending);
  /** What needs a refused value is refused with it, without a reason of its own. */
  const failed = new Set<string>();
  const reads = (text: string, names: Iterable<string>, but: string): boolean =>
    [...names].some((other) => other !== but && new RegExp(`(?<![\\w"'])${other}(?![\\w"'(])`).test(text));
  for (let progress = true; progress && open.size > 0;) {
    progress = false;
    for (const [name, { text, where }] of open) {
      if (reads(text, open.keys(), name)) continue;
      open.delete(name);
      progress = true;
      if (reads(text, failed, name)) {
        failed.add(name);
        continue;
      }
      const parsed = parseFormula(text, scope);
      if (parsed.kind === "refused") {
        refuse(where, parsed.why);
        failed.add(name);
        continue;
      }
      const declared = outputs.find((output) => output.name === name)?.type;
      const formula = rounded(parsed.value, rules.rounding.get(name));
      const type = declared ?? (isList(formula.type) ? undefined : formula.type);
      if (type === undefined || !fits(formula.type, type))
        refuse(where, `${name} is ${type ?? "no single value"}, its formula gives ${typeText(formula.type)}`);
      if (type === undefined || !fits(formula.type, type)) failed.add(name);
      else {
        done.push({ name, type, formula });
        scope.set(name, type);
      }
    }
  }
  for (const [name, { where }] of open) refuse(where, `${name} needs itself`);
  return done;
}

function rounded(
  formula: Expression,
  rounding: { readonly places: number; readonly mode: Rounding } | undefined,
): Expression {
  if (rounding === undefined || !isNumeric(formula.type)) return formula;
  const places: Expression = {
    kind: "number",
    type: "int",
    value: { n: BigInt(rounding.places), d: 1n },
    text: String(rounding.places),
  };
  return { kind: "call", type: "decimal", fn: "round", args: [formula, places], mode: rounding.mode };
}

const fits = (from: ValueType, to: Scalar): boolean => from === to || (from === "int" && to === "decimal");
