import {
  type AggregateName,
  type BinaryOp,
  type CallName,
  type Expression,
  type Scope,
  type ValueType,
  isList,
  isNumeric,
  typeText,
} from "./expression.ts";
import {
  aggregated,
  binary,
  called,
  conditional,
  not,
  number,
  openList,
  percent,
  Refusal,
  sizeOf,
  widest,
} from "./expression-build.ts";
import { type Token, tokensOf } from "./tokens.ts";

/**
 * Reads the formulas and conditions of spec.md's tables: arithmetic, comparisons, `if ... then ... else ...`, sums over
 * lists, lookups (`by country: DE -> 0.19, otherwise 0`) and the plain words for a condition (`is negative`, `is longer
 * than 40 characters`). What it does not understand it refuses with a reason; it never guesses. Long
 * because the rules of a grammar call each other.
 */
export type Parsed<T> = { readonly kind: "ok"; readonly value: T } | { readonly kind: "refused"; readonly why: string };

export function parseFormula(text: string, scope: Scope): Parsed<Expression> {
  return attempt(text, scope, (reader) => (reader.atWord("by") ? reader.lookup() : reader.expression()));
}

/** A condition over the scope. Fields of a list outside an aggregate mean: of any item. */
export function parseCondition(text: string, scope: Scope): Parsed<Expression> {
  return attempt(text, scope, (reader) => {
    const condition = anyItem(reader.expression());
    if (condition.type !== "bool") throw new Refusal(`it is no condition but a ${typeText(condition.type)}`);
    return condition;
  });
}

/** What must hold for `subject`, from a rule cell: `>= 0`, `between 1 and 10`, `not empty, at most 40 characters`. */
export function parseConstraints(
  text: string,
  subject: Expression,
  scope: Scope,
): Parsed<{ readonly must: readonly Expression[]; readonly fallback?: Expression }> {
  return attempt(text, scope, (reader) => reader.constraints(subject));
}

function attempt<T>(text: string, scope: Scope, read: (reader: Reader) => T): Parsed<T> {
  const tokens = tokensOf(text);
  if (tokens === undefined) return { kind: "refused", why: "it is prose, not a formula" };
  try {
    const reader = new Reader(tokens, scope);
    const value = read(reader);
    reader.end();
    return { kind: "ok", value };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", why: error.message };
    throw error;
  }
}

function anyItem(condition: Expression): Expression {
  const list = openList(condition);
  return list === undefined ? condition : { kind: "aggregate", type: "bool", fn: "any", list, body: condition };
}

const levels: readonly (readonly BinaryOp[])[] = [
  ["or"],
  ["and"],
  ["=", "!=", "<", "<=", ">", ">="],
  ["+", "-"],
  ["*", "/", "%"],
];
const calls: Readonly<Record<string, { readonly fn: CallName; readonly takes: readonly [number, number] }>> = {
  round: { fn: "round", takes: [1, 2] },
  floor: { fn: "floor", takes: [1, 1] },
  ceil: { fn: "ceil", takes: [1, 1] },
  abs: { fn: "abs", takes: [1, 1] },
  min: { fn: "min", takes: [2, 9] },
  max: { fn: "max", takes: [2, 9] },
  length: { fn: "length", takes: [1, 1] },
  len: { fn: "length", takes: [1, 1] },
  upper: { fn: "upper", takes: [1, 1] },
  lower: { fn: "lower", takes: [1, 1] },
  trim: { fn: "trim", takes: [1, 1] },
};
const aggregates: readonly AggregateName[] = ["sum", "count", "min", "max", "any", "all"];

class Reader {
  readonly #tokens: readonly Token[];
  readonly #scope: Scope;
  #at = 0;

  constructor(tokens: readonly Token[], scope: Scope) {
    this.#tokens = tokens;
    this.#scope = scope;
  }

  get #now(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "the end", at: 0 };
  }

  atWord(...words: readonly string[]): boolean {
    return words.every((word, index) => {
      const token = this.#tokens[this.#at + index];
      return token?.kind === "name" && token.text.toLowerCase() === word;
    });
  }

  end(): void {
    if (this.#now.kind !== "end") throw new Refusal(`${JSON.stringify(this.#now.text)} is not understood there`);
  }

  #take(...words: readonly string[]): boolean {
    if (!this.atWord(...words)) return false;
    this.#at += words.length;
    return true;
  }

  #takeSign(sign: string): boolean {
    if (this.#now.kind !== "sign" || this.#now.text !== sign) return false;
    this.#at += 1;
    return true;
  }

  #need(sign: string): void {
    if (!this.#takeSign(sign)) throw new Refusal(`${sign} is missing before ${this.#now.text}`);
  }

  expression(): Expression {
    if (this.#take("if")) {
      const test = this.expression();
      if (!this.#take("then")) throw new Refusal("if needs then and else");
      const yes = this.expression();
      if (!this.#take("else") && !this.#take("otherwise")) throw new Refusal("if needs an else");
      return conditional(test, yes, this.expression());
    }
    const first = this.#level(0);
    if (!this.#take("if")) return first;
    const test = this.#level(0);
    if (!this.#take("else")) throw new Refusal("if needs an else");
    return conditional(test, first, this.expression());
  }

  /** `by country: DE -> 0.19, FR -> 0.2, otherwise 0`. */
  lookup(): Expression {
    this.#take("by");
    const on = this.#level(3);
    this.#need(":");
    const rows: { key: Expression; value: Expression }[] = [];
    for (;;) {
      if (this.#take("otherwise") || this.#take("else")) {
        this.#takeSign("->");
        const otherwise = this.expression();
        const type = widest([otherwise, ...rows.map(({ value }) => value)], "the values of the lookup");
        return { kind: "lookup", type, on, rows, otherwise };
      }
      const key = this.#literal(on.type);
      this.#need("->");
      rows.push({ key, value: this.expression() });
      if (!this.#takeSign(",") && !this.#takeSign(";"))
        throw new Refusal("the lookup does not say what holds otherwise");
    }
  }

  constraints(subject: Expression): { must: readonly Expression[]; fallback?: Expression } {
    const must: Expression[] = [];
    let fallback: Expression | undefined;
    while (this.#now.kind !== "end") {
      if (this.#take("default")) {
        this.#takeSign("=");
        fallback = this.#literal(subject.type);
      } else if (!this.#take("required") && !this.#take("optional") && !this.#take("any"))
        must.push(this.#predicate(subject));
      if (!this.#takeSign(",") && !this.#takeSign(";") && !this.#take("and")) break;
    }
    return fallback === undefined ? { must } : { must, fallback };
  }

  #level(depth: number): Expression {
    const ops = levels[depth];
    if (ops === undefined) return this.#unary();
    if (depth === 2 && this.#take("not")) return not(this.#level(2));
    let left = this.#level(depth + 1);
    for (;;) {
      if (depth === 2 && (this.#take("is") || this.#take("are") || this.#take("must", "be"))) {
        left = this.#predicate(left);
        continue;
      }
      if (depth === 2 && (this.atWord("in") || this.atWord("not", "in"))) {
        const negated = this.#take("not");
        this.#take("in");
        left = this.#oneOf(left, negated);
        continue;
      }
      const op = ops.find((one) =>
        one === "or" || one === "and" ? this.atWord(one) : this.#now.kind === "sign" && this.#now.text === one,
      );
      if (op === undefined) return left;
      this.#at += 1;
      left = depth === 2 ? this.#comparison(op, left) : binary(op, left, this.#level(depth + 1));
    }
  }

  /** A bare word beside a text is that text: `country = DE`. */
  #comparison(op: BinaryOp, left: Expression): Expression {
    return binary(op, left, left.type === "text" && this.#isBareWord() ? this.#literal("text") : this.#level(3));
  }

  #isBareWord(): boolean {
    return this.#now.kind === "name" && !this.#scope.has(this.#now.text) && !this.#now.text.includes("[]");
  }

  /** What follows `is` or `must be`, or stands alone in a rule cell. */
  #predicate(subject: Expression): Expression {
    if (this.#take("not") || this.#take("non")) {
      this.#takeSign("-");
      return not(this.#predicate(subject));
    }
    const sign = this.#now;
    if (sign.kind === "sign" && ["=", "!=", "<", "<=", ">", ">="].includes(sign.text)) {
      this.#at += 1;
      return this.#comparison(sign.text as BinaryOp, subject);
    }
    const sized = this.#sized(subject);
    if (sized !== undefined) return sized;
    if (this.#take("one", "of") || this.#take("in")) return this.#oneOf(subject, false);
    if (this.#take("negative")) return binary("<", subject, number("0"));
    if (this.#take("positive")) return binary(">", subject, number("0"));
    if (this.#take("zero")) return binary("=", subject, number("0"));
    if (this.#take("empty")) return binary("=", sizeOf(subject), number("0"));
    if (this.#take("blank"))
      return binary("=", sizeOf({ kind: "call", type: "text", fn: "trim", args: [subject] }), number("0"));
    if (this.#take("true") && subject.type === "bool") return subject;
    if (this.#take("false") && subject.type === "bool") return not(subject);
    this.#take("equal", "to");
    if (this.#now.kind === "number") return this.#range(subject);
    return binary("=", subject, this.#literal(subject.type));
  }

  /** `at least 3`, `more than 40 characters`, `between 1 and 10`. */
  #sized(subject: Expression): Expression | undefined {
    const words: readonly (readonly [readonly string[], BinaryOp])[] = [
      [["at", "least"], ">="],
      [["at", "most"], "<="],
      [["greater", "than"], ">"],
      [["larger", "than"], ">"],
      [["more", "than"], ">"],
      [["longer", "than"], ">"],
      [["above"], ">"],
      [["over"], ">"],
      [["less", "than"], "<"],
      [["smaller", "than"], "<"],
      [["fewer", "than"], "<"],
      [["lower", "than"], "<"],
      [["shorter", "than"], "<"],
      [["below"], "<"],
      [["under"], "<"],
      [["max"], "<="],
      [["min"], ">="],
    ];
    if (this.#take("between")) {
      const low = this.#level(3);
      if (!this.#take("and")) throw new Refusal("between needs two ends");
      return this.#within(subject, low);
    }
    const found = words.find(([phrase]) => this.#take(...phrase));
    if (found === undefined) return undefined;
    const bound = this.#level(3);
    return binary(found[1], this.#unit(subject), bound);
  }

  /** `1..10`, `1 to 10`, or a plain number to be equal to. */
  #range(subject: Expression): Expression {
    const low = this.#level(3);
    if (!this.#takeSign("..") && !this.#take("to")) return binary("=", this.#unit(subject), low);
    return this.#within(subject, low);
  }

  #within(subject: Expression, low: Expression): Expression {
    const high = this.#level(3);
    const measured = this.#unit(subject);
    return binary("and", binary(">=", measured, low), binary("<=", measured, high));
  }

  /** Of a text its length is meant, of a list its number of items. */
  #unit(subject: Expression): Expression {
    const named =
      this.#take("characters") ||
      this.#take("chars") ||
      this.#take("letters") ||
      this.#take("items") ||
      this.#take("entries");
    return named || subject.type === "text" || isList(subject.type) ? sizeOf(subject) : subject;
  }

  #oneOf(subject: Expression, negated: boolean): Expression {
    const close = this.#takeSign("(") ? ")" : this.#takeSign("[") ? "]" : this.#takeSign("{") ? "}" : undefined;
    const items = [this.#literal(subject.type)];
    while (this.#takeSign(",") || this.#take("or")) {
      this.#take("or");
      items.push(this.#literal(subject.type));
    }
    if (close !== undefined) this.#need(close);
    return { kind: "in", type: "bool", a: subject, items, negated };
  }

  #literal(type: ValueType): Expression {
    const token = this.#now;
    const negative = this.#takeSign("-");
    const value = this.#now;
    this.#at += 1;
    if (value.kind === "number" && isNumeric(type)) return number(`${negative ? "-" : ""}${value.text}`);
    if (value.kind === "percent" && isNumeric(type)) return percent(value.text);
    if (type === "bool" && /^(?:true|yes)$/i.test(value.text)) return { kind: "bool", type, value: true };
    if (type === "bool" && /^(?:false|no)$/i.test(value.text)) return { kind: "bool", type, value: false };
    if (type === "text" && (value.kind === "text" || value.kind === "name" || value.kind === "number"))
      return { kind: "text", type, value: value.text };
    throw new Refusal(`${JSON.stringify(token.text)} is no ${typeText(type)}`);
  }

  #unary(): Expression {
    if (this.#takeSign("-")) {
      const a = this.#unary();
      if (!isNumeric(a.type)) throw new Refusal(`- before a ${typeText(a.type)}`);
      return a.kind === "number" ? number(`-${a.text}`) : { kind: "unary", type: a.type, op: "-", a };
    }
    return this.#atom();
  }

  #atom(): Expression {
    const token = this.#now;
    this.#at += 1;
    if (token.kind === "number") return number(token.text);
    if (token.kind === "percent") return percent(token.text);
    if (token.kind === "text") return { kind: "text", type: "text", value: token.text };
    if (token.kind === "sign" && token.text === "(") {
      const inner = this.expression();
      this.#need(")");
      return inner;
    }
    if (token.kind !== "name") throw new Refusal(`${JSON.stringify(token.text)} is not understood there`);
    if (this.#now.kind === "sign" && this.#now.text === "(") return this.#call(token.text.toLowerCase());
    if (/^(?:true|false)$/i.test(token.text)) return { kind: "bool", type: "bool", value: /^true$/i.test(token.text) };
    return this.#name(token.text);
  }

  #name(text: string): Expression {
    const [list = text, field] = text.split("[]");
    const type = this.#scope.get(list);
    if (type === undefined) throw new Refusal(`${list} is neither an input nor a value that a rule computes`);
    if (field === undefined) return { kind: "name", type, name: text };
    if (!isList(type)) throw new Refusal(`${list} is no list`);
    const name = field.replace(/^\./, "");
    const inner = typeof type.list === "string" ? (name === "" ? type.list : undefined) : type.list[name];
    if (inner === undefined) throw new Refusal(`the items of ${list} have no ${name === "" ? "single value" : name}`);
    return { kind: "field", type: inner, list, field: name };
  }

  #call(name: string): Expression {
    this.#need("(");
    const args = [this.expression()];
    while (this.#takeSign(",")) args.push(this.expression());
    this.#need(")");
    const aggregate = aggregates.find((fn) => fn === name);
    if (aggregate !== undefined && args.length === 1) return aggregated(aggregate, args[0]);
    const call = Object.hasOwn(calls, name) ? calls[name] : undefined;
    if (call === undefined) throw new Refusal(`${name}(...) is not known`);
    if (args.length < call.takes[0] || args.length > call.takes[1])
      throw new Refusal(`${name}(...) takes ${call.takes.join(" to ")} values`);
    return called(call.fn, args);
  }
}
