import { parseSpec, type Spec } from "../../features/spec.ts";
import { type Expression, namesIn, type Scalar, type ValueType } from "./expression.ts";
import { parseConstraints } from "./expression-parser.ts";
import { distinct, readConstraints, readErrors } from "./plan-failures.ts";
import { readRules } from "./plan-rules.ts";
import { readInputs, readOutputs, rowsOf } from "./plan-tables.ts";
import { readValues } from "./plan-values.ts";
import { createRefusals, type Refusal } from "./refusal.ts";

/**
 * What the tables of spec.md determine: inputs with their constraints, values in the order of their computing, errors
 * with their conditions. Whatever is prose is a refusal that names the row; a plan is only made of what was understood.
 */
export interface Plan {
  readonly inputs: readonly Input[];
  /** Every value that is computed, outputs among them, in an order in which each has what it needs. */
  readonly values: readonly Computed[];
  readonly outputs: readonly { readonly name: string; readonly type: Scalar }[];
  /** In the order of the table; then the input rules, as errors of their own. */
  readonly errors: readonly Failure[];
}

export interface Input {
  readonly name: string;
  readonly type: ValueType;
  readonly fallback?: Expression;
}

export interface Computed {
  readonly name: string;
  readonly type: Scalar;
  readonly formula: Expression;
}

export interface Failure {
  readonly case: string;
  readonly when: Expression;
  /** The exception's name as the table has it; undefined: the feature's own. */
  readonly raises?: string;
  readonly message: string;
  /** False: from an input's rule, not from the errors table. */
  readonly named: boolean;
}

export type Planned =
  | { readonly kind: "ok"; readonly plan: Plan; readonly spec: Spec }
  | ({ readonly kind: "refused" } & Refusal);

export function planOf(specText: string): Planned {
  const spec = parseSpec(specText);
  const { refuse, found } = createRefusals(spec);
  for (const { number } of spec.amendments)
    refuse(`amendment ${number}`, "it is prose; bring it into the tables", "amendment");
  const inputs = readInputs(spec, refuse);
  const outputs = readOutputs(spec, refuse);
  const rules = readRules(spec, inputs, outputs, refuse);
  const scope = new Map<string, ValueType>(inputs.map(({ name, type }) => [name, type]));
  const values = readValues(outputs, rules, scope, refuse);
  for (const { name, type } of values) scope.set(name, type);
  const errors = distinct([...readErrors(spec, scope, refuse), ...readConstraints(spec, rules, inputs, scope, refuse)]);
  if (outputs.length === 0 && found() === undefined) refuse("Outputs", "it names nothing to compute");
  const refusal = found();
  if (refusal !== undefined) return { kind: "refused", ...refusal };
  const withDefaults = inputs.map((input) => ({ ...input, ...fallbackOf(spec, input, scope) }));
  return {
    kind: "ok",
    spec,
    plan: { inputs: withDefaults, values, outputs: outputs.map(({ name, type }) => ({ name, type })), errors },
  };
}

function fallbackOf(
  spec: Spec,
  input: Input,
  scope: ReadonlyMap<string, ValueType>,
): { readonly fallback?: Expression } {
  const rule = rowsOf(spec, "Inputs").find(({ name }) => name === input.name)?.rule ?? "";
  const subject: Expression = { kind: "name", type: input.type, name: input.name };
  const parsed = rule === "" ? undefined : parseConstraints(rule, subject, scope);
  return parsed?.kind === "ok" && parsed.value.fallback !== undefined ? { fallback: parsed.value.fallback } : {};
}

/** Errors that the inputs alone decide come before anything is computed. */
export function onlyInputs(plan: Plan, failure: Failure): boolean {
  const names = new Set(plan.inputs.map(({ name }) => name));
  return [...namesIn(failure.when)].every((name) => names.has(name));
}
