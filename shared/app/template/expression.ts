import type { Rational, Rounding } from "./rational.ts";

/**
 * What a table's cell means, typed. Made by expression-parser.ts, run by evaluate.ts, written out by
 * render-expression.ts.
 */
export type Scalar = "int" | "decimal" | "text" | "bool";
export type ValueType = Scalar | { readonly list: Scalar | Readonly<Record<string, Scalar>> };

export type BinaryOp = "or" | "and" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%";
export type CallName = "round" | "floor" | "ceil" | "abs" | "min" | "max" | "length" | "upper" | "lower" | "trim";
export type AggregateName = "sum" | "count" | "min" | "max" | "any" | "all";

interface Typed {
  readonly type: ValueType;
}

export type Expression = Typed &
  (
    | { readonly kind: "number"; readonly value: Rational; readonly text: string }
    | { readonly kind: "text"; readonly value: string }
    | { readonly kind: "bool"; readonly value: boolean }
    /** An input, or a value computed before. */
    | { readonly kind: "name"; readonly name: string }
    /** `lines[].quantity` inside an aggregate; the item itself when `field` is empty. */
    | { readonly kind: "field"; readonly list: string; readonly field: string }
    | { readonly kind: "unary"; readonly op: "-" | "not"; readonly a: Expression }
    | { readonly kind: "binary"; readonly op: BinaryOp; readonly a: Expression; readonly b: Expression }
    | { readonly kind: "if"; readonly test: Expression; readonly yes: Expression; readonly otherwise: Expression }
    | {
        readonly kind: "call";
        readonly fn: CallName;
        readonly args: readonly Expression[];
        /** Of `round`; half-up when absent. */ readonly mode?: Rounding;
      }
    | { readonly kind: "aggregate"; readonly fn: AggregateName; readonly list: string; readonly body: Expression }
    | { readonly kind: "in"; readonly a: Expression; readonly items: readonly Expression[]; readonly negated: boolean }
    | {
        readonly kind: "lookup";
        readonly on: Expression;
        readonly rows: readonly { readonly key: Expression; readonly value: Expression }[];
        readonly otherwise: Expression;
      }
  );

/** Names an expression may use, with their types. */
export type Scope = ReadonlyMap<string, ValueType>;

/** Every expression inside, itself included. */
export function* parts(expression: Expression): Generator<Expression> {
  yield expression;
  for (const inner of innerOf(expression)) yield* parts(inner);
}

function innerOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "number":
    case "text":
    case "bool":
    case "name":
    case "field":
      return [];
    case "unary":
      return [expression.a];
    case "binary":
      return [expression.a, expression.b];
    case "if":
      return [expression.test, expression.yes, expression.otherwise];
    case "call":
      return expression.args;
    case "aggregate":
      return [expression.body];
    case "in":
      return [expression.a, ...expression.items];
    case "lookup":
      return [expression.on, ...expression.rows.flatMap(({ key, value }) => [key, value]), expression.otherwise];
  }
}

/** Inputs and computed values that it reads. */
export function namesIn(expression: Expression): ReadonlySet<string> {
  const names = new Set<string>();
  for (const part of parts(expression)) {
    if (part.kind === "name") names.add(part.name);
    if (part.kind === "field" || part.kind === "aggregate") names.add(part.list);
  }
  return names;
}

export function isNumeric(type: ValueType): type is "int" | "decimal" {
  return type === "int" || type === "decimal";
}

export function isList(type: ValueType): type is Exclude<ValueType, Scalar> {
  return typeof type === "object";
}

export function typeText(type: ValueType): string {
  return typeof type === "string" ? type : "list";
}
