import {
  type AggregateName,
  type BinaryOp,
  type CallName,
  type Expression,
  isList,
  isNumeric,
  type Scalar,
  typeText,
  type ValueType,
} from "./expression.ts";
import { rational, whole } from "./rational.ts";

/** Makes typed expressions; what does not go together is refused with a reason. */
export class Refusal extends Error {}

/** The list whose fields are used outside an aggregate. */
export function openList(expression: Expression): string | undefined {
  const lists = new Set<string>();
  const walk = (one: Expression): void => {
    if (one.kind === "field") lists.add(one.list);
    else if (one.kind === "aggregate") return;
    else if (one.kind === "unary") walk(one.a);
    else if (one.kind === "binary") [one.a, one.b].forEach(walk);
    else if (one.kind === "if") [one.test, one.yes, one.otherwise].forEach(walk);
    else if (one.kind === "call") one.args.forEach(walk);
    else if (one.kind === "in") [one.a, ...one.items].forEach(walk);
    else if (one.kind === "lookup") [one.on, one.otherwise, ...one.rows.map(({ value }) => value)].forEach(walk);
  };
  walk(expression);
  if (lists.size > 1) throw new Refusal("it walks two lists at once");
  return [...lists][0];
}

export function aggregated(fn: AggregateName, arg: Expression | undefined): Expression {
  if (arg === undefined) throw new Refusal(`${fn}(...) is empty`);
  const whole = arg.kind === "name" && isList(arg.type) ? arg : undefined;
  if (whole !== undefined) {
    const type = whole.type as Exclude<ValueType, Scalar>;
    if (fn === "count") return { kind: "call", type: "int", fn: "length", args: [whole] };
    if (typeof type.list !== "string") throw new Refusal(`${fn}(${whole.name}) does not say which field of its items`);
    return aggregated(fn, { kind: "field", type: type.list, list: whole.name, field: "" });
  }
  const list = openList(arg);
  if (list === undefined) throw new Refusal(`${fn}(...) needs a list: write the fields of its items as list[].field`);
  const wantsBool = fn === "any" || fn === "all" || fn === "count";
  if (wantsBool !== (arg.type === "bool")) throw new Refusal(`${fn}(...) of a ${typeText(arg.type)}`);
  if (!wantsBool && !isNumeric(arg.type)) throw new Refusal(`${fn}(...) of a ${typeText(arg.type)}`);
  return {
    kind: "aggregate",
    type: fn === "count" ? "int" : fn === "any" || fn === "all" ? "bool" : arg.type,
    fn,
    list,
    body: arg,
  };
}

export function called(fn: CallName, args: readonly Expression[]): Expression {
  const [first, second] = args;
  if (first === undefined) throw new Refusal(`${fn}(...) is empty`);
  const texts = fn === "upper" || fn === "lower" || fn === "trim";
  if (fn === "length") return sizeOf(first);
  if (texts ? first.type !== "text" : !args.every(({ type }) => isNumeric(type)))
    throw new Refusal(`${fn}(...) of a ${typeText(first.type)}`);
  if (
    fn === "round" &&
    second !== undefined &&
    (second.kind !== "number" || second.type !== "int" || second.value.n < 0n || second.value.n > 12n)
  ) {
    throw new Refusal("round(...) needs a plain number of decimals, 0 to 12");
  }
  if (texts) return { kind: "call", type: "text", fn, args };
  const places = second?.kind === "number" ? second.value.n : 0n;
  const type: Scalar =
    fn === "floor" || fn === "ceil" || (fn === "round" && places === 0n)
      ? "int"
      : fn === "round"
        ? "decimal"
        : widest(args, fn);
  return { kind: "call", type, fn, args: fn === "round" ? [first, second ?? number("0")] : args };
}

export function sizeOf(subject: Expression): Expression {
  if (subject.type !== "text" && !isList(subject.type)) throw new Refusal(`a ${typeText(subject.type)} has no length`);
  return { kind: "call", type: "int", fn: "length", args: [subject] };
}

export function number(text: string): Expression {
  const value = rational(text) ?? whole(0);
  return { kind: "number", type: text.includes(".") ? "decimal" : "int", value, text };
}

export function percent(text: string): Expression {
  const shifted = text.replace(/^(\d+)(?:\.(\d+))?$/, (_, left: string, right: string | undefined) => {
    const digits = left.padStart(3, "0");
    return `${digits.slice(0, -2)}.${digits.slice(-2)}${right ?? ""}`;
  });
  return number(shifted);
}

export function not(a: Expression): Expression {
  if (a.type !== "bool") throw new Refusal(`not before a ${typeText(a.type)}`);
  return negation(a);
}

/** The opposite of a condition, without a not where it can be said plainly. */
export function negation(a: Expression): Expression {
  if (a.kind === "in") return { ...a, negated: !a.negated };
  const opposite = { "=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<" } as const;
  if (a.kind === "binary" && a.op in opposite) return { ...a, op: opposite[a.op as keyof typeof opposite] };
  if (a.kind === "binary" && (a.op === "and" || a.op === "or"))
    return { ...a, op: a.op === "and" ? "or" : "and", a: negation(a.a), b: negation(a.b) };
  if (a.kind === "unary") return a.a;
  return { kind: "unary", type: "bool", op: "not", a };
}

export function conditional(test: Expression, yes: Expression, otherwise: Expression): Expression {
  if (test.type !== "bool") throw new Refusal("what follows if is no condition");
  return { kind: "if", type: widest([yes, otherwise], "the two sides of the if"), test, yes, otherwise };
}

export function binary(op: BinaryOp, a: Expression, b: Expression): Expression {
  const both = (test: (type: ValueType) => boolean): boolean => test(a.type) && test(b.type);
  const wrong = (): never => {
    throw new Refusal(`${op} between a ${typeText(a.type)} and a ${typeText(b.type)}`);
  };
  switch (op) {
    case "or":
    case "and":
      return both((type) => type === "bool") ? { kind: "binary", type: "bool", op, a, b } : wrong();
    case "=":
    case "!=":
      return both(isNumeric) || (a.type === b.type && !isList(a.type))
        ? { kind: "binary", type: "bool", op, a, b }
        : wrong();
    case "<":
    case "<=":
    case ">":
    case ">=":
      return both(isNumeric) ? { kind: "binary", type: "bool", op, a, b } : wrong();
    case "+":
      if (both((type) => type === "text")) return { kind: "binary", type: "text", op, a, b };
      return both(isNumeric) ? { kind: "binary", type: widest([a, b], op), op, a, b } : wrong();
    case "-":
    case "*":
      return both(isNumeric) ? { kind: "binary", type: widest([a, b], op), op, a, b } : wrong();
    case "/":
      return both(isNumeric) ? { kind: "binary", type: "decimal", op, a, b } : wrong();
    case "%":
      return both((type) => type === "int") ? { kind: "binary", type: "int", op, a, b } : wrong();
  }
}

/** One type for all: int widens to decimal. */
export function widest(expressions: readonly Expression[], what: string): Scalar {
  const types = new Set(expressions.map(({ type }) => type));
  const [first] = types;
  if (types.size === 1 && first !== undefined && !isList(first)) return first;
  if ([...types].every(isNumeric)) return "decimal";
  throw new Refusal(`${what}: not of one type`);
}
