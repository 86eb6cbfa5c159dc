import type { Expression } from "./expression.ts";
import {
  add,
  compare,
  divide,
  floor,
  isWhole,
  modulo,
  multiply,
  negate,
  one,
  type Rational,
  roundTo,
  subtract,
  whole,
  zero,
} from "./rational.ts";

/** Runs expressions on the values of the tables, exactly, so that a spec is checked against its own examples. */
export type Value = Rational | string | boolean | readonly ItemValue[];
export type ItemValue = Rational | string | boolean | Readonly<Record<string, Rational | string | boolean>>;
export type Values = ReadonlyMap<string, Value>;

/** undefined: it cannot be computed for these values (a division by zero, the smallest of nothing). */
export function evaluate(expression: Expression, values: Values, item?: ItemValue): Value | undefined {
  const run = (inner: Expression): Value | undefined => evaluate(inner, values, item);
  switch (expression.kind) {
    case "number":
    case "text":
    case "bool":
      return expression.value;
    case "name":
      return values.get(expression.name);
    case "field":
      return fieldOf(item, expression.field);
    case "unary": {
      const a = run(expression.a);
      if (expression.op === "not") return typeof a === "boolean" ? !a : undefined;
      return isNumber(a) ? negate(a) : undefined;
    }
    case "binary":
      return binary(expression, run);
    case "if": {
      const test = run(expression.test);
      return test === undefined ? undefined : run(test === true ? expression.yes : expression.otherwise);
    }
    case "call":
      return called(expression, expression.args.map(run));
    case "aggregate":
      return aggregated(expression, values);
    case "in": {
      const a = run(expression.a);
      if (a === undefined) return undefined;
      return expression.items.some((one) => same(run(one), a)) !== expression.negated;
    }
    case "lookup": {
      const on = run(expression.on);
      return on === undefined
        ? undefined
        : run(expression.rows.find(({ key }) => same(run(key), on))?.value ?? expression.otherwise);
    }
  }
}

export function isNumber(value: Value | ItemValue | undefined): value is Rational {
  return typeof value === "object" && "n" in value && typeof value.n === "bigint";
}

export function same(a: Value | undefined, b: Value | undefined): boolean {
  return isNumber(a) && isNumber(b) ? compare(a, b) === 0 : a === b;
}

function fieldOf(item: ItemValue | undefined, field: string): Value | undefined {
  if (item === undefined) return undefined;
  if (typeof item !== "object" || isNumber(item)) return field === "" ? item : undefined;
  return item[field];
}

function binary(
  { op, a, b }: Extract<Expression, { kind: "binary" }>,
  run: (inner: Expression) => Value | undefined,
): Value | undefined {
  const left = run(a);
  // The right side is not looked at where the left one decides, as in the code that is written.
  if (op === "and" && left === false) return false;
  if (op === "or" && left === true) return true;
  const right = run(b);
  if (left === undefined || right === undefined) return undefined;
  if (op === "and" || op === "or") return right;
  if (op === "=") return same(left, right);
  if (op === "!=") return !same(left, right);
  if (op === "+" && typeof left === "string" && typeof right === "string") return left + right;
  if (!isNumber(left) || !isNumber(right)) return undefined;
  switch (op) {
    case "<":
      return compare(left, right) < 0;
    case "<=":
      return compare(left, right) <= 0;
    case ">":
      return compare(left, right) > 0;
    case ">=":
      return compare(left, right) >= 0;
    case "+":
      return add(left, right);
    case "-":
      return subtract(left, right);
    case "*":
      return multiply(left, right);
    case "/":
      return divide(left, right);
    case "%":
      return modulo(left, right);
  }
}

function called(
  { fn, mode = "half-up" }: Extract<Expression, { kind: "call" }>,
  args: readonly (Value | undefined)[],
): Value | undefined {
  const [first, second] = args;
  if (fn === "length")
    return typeof first === "string"
      ? whole(Array.from(first).length)
      : Array.isArray(first)
        ? whole(first.length)
        : undefined;
  if (typeof first === "string") {
    if (fn === "upper") return first.toUpperCase();
    if (fn === "lower") return first.toLowerCase();
    return fn === "trim" ? first.trim() : undefined;
  }
  const numbers = args.filter(isNumber);
  if (!isNumber(first) || numbers.length !== args.length) return undefined;
  switch (fn) {
    case "round":
      return roundTo(first, isNumber(second) ? Number(second.n) : 0, mode);
    case "floor":
      return floor(first);
    case "ceil":
      return isWhole(first) ? first : add(floor(first), one);
    case "abs":
      return first.n < 0n ? negate(first) : first;
    case "min":
      return numbers.reduce((a, b) => (compare(b, a) < 0 ? b : a));
    case "max":
      return numbers.reduce((a, b) => (compare(b, a) > 0 ? b : a));
    case "upper":
    case "lower":
    case "trim":
      return undefined;
  }
}

function aggregated({ fn, list, body }: Extract<Expression, { kind: "aggregate" }>, values: Values): Value | undefined {
  const items = values.get(list);
  if (!Array.isArray(items)) return undefined;
  const results = (items as readonly ItemValue[]).map((item) => evaluate(body, values, item));
  if (results.includes(undefined)) return undefined;
  if (fn === "any") return results.includes(true);
  if (fn === "all") return !results.includes(false);
  if (fn === "count") return whole(results.filter((one) => one === true).length);
  const numbers = results.filter(isNumber);
  if (fn === "sum") return numbers.reduce(add, zero);
  if (numbers.length === 0) return undefined;
  return numbers.reduce((a, b) => (compare(b, a) < 0 === (fn === "min") && compare(a, b) !== 0 ? b : a));
}
