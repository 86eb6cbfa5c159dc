import type { TemplateLanguage } from "../../model/template-language.ts";
import type { ItemValue, Value } from "./evaluate.ts";
import { isNumber } from "./evaluate.ts";
import { type Expression, isList, type Scalar, type ValueType } from "./expression.ts";
import { alt, type Doc, group, joined, nest, softLine, spaceLine } from "./layout.ts";
import { decimalText } from "./rational.ts";

/** Formulas and values in the words of one language. Precedence decides about brackets, the layout about line ends. */
export interface Writer {
  expression(expression: Expression): Doc;
  /** A value of an example: arguments of tests. `record` names the class of a list's items. */
  value(value: Value, type: ValueType, record: string): Doc;
  /** The same as decoded outside data: exact numbers as texts. */
  data(value: Value, type: ValueType): Doc;
  text(value: string): Doc;
  form(name: string, slots: Readonly<Record<string, Doc>>): Doc;
  list(parts: readonly Doc[]): Doc;
  /** A long right side stands in brackets of its own. */
  wrapped(doc: Doc): Doc;
}

interface Bound {
  readonly doc: Doc;
  readonly level: number;
}

export function createWriter(
  language: TemplateLanguage,
  inputs: ReadonlySet<string>,
  itemOf: (list: string) => string,
): Writer {
  const form = (name: string, slots: Readonly<Record<string, Doc>>): Doc => fill(formOf(language, name).text, slots);
  const text = (value: string): Doc => textDoc(value);

  const bound = (name: string, slots: Readonly<Record<string, Expression | Doc>>): Bound => {
    const { level, inner } = formOf(language, name);
    const filled = Object.fromEntries(
      Object.entries(slots).map(([slot, one]) => [slot, isExpression(one) ? at(one, inner) : one]),
    );
    return { doc: form(name, filled), level };
  };

  /** With brackets when it binds less than its place needs. */
  const at = (expression: Expression, level: number): Doc => {
    const one = write(expression);
    return one.level >= level ? one.doc : group(["(", nest([softLine, one.doc]), softLine, ")"]);
  };

  const binary = ({ op, a, b }: Extract<Expression, { kind: "binary" }>): Bound => {
    if (op === "/" && a.type === "int" && b.type === "int") return bound("divide-ints", { a, b });
    const { sign, level } = operatorOf(language, op);
    const isComparison = ["=", "!=", "<", "<=", ">", ">="].includes(op);
    return { doc: group([at(a, isComparison ? level + 1 : level), spaceLine, `${sign} `, at(b, level + 1)]), level };
  };

  const call = ({ fn, args, type, mode }: Extract<Expression, { kind: "call" }>): Bound => {
    const [first, second] = args;
    if (fn !== "round")
      return bound(fn, {
        ...(first === undefined ? {} : { 0: first }),
        args: joined(
          args.map((one) => at(one, 1)),
          [",", spaceLine],
        ),
      });
    const name = type === "int" ? "round-int" : mode === undefined || mode === "half-up" ? "round" : `round-${mode}`;
    return bound(name, {
      ...(first === undefined ? {} : { 0: first }),
      ...(second === undefined ? {} : { places: second }),
    });
  };

  const aggregate = ({ fn, list, body, type }: Extract<Expression, { kind: "aggregate" }>): Bound => {
    const name =
      fn === "sum" ? `sum-${type === "int" ? "int" : "decimal"}` : fn === "min" || fn === "max" ? `${fn}-of` : fn;
    return bound(name, { body, item: itemOf(list), list: form("input", { name: list }) });
  };

  const tuple = (parts: readonly Doc[]): Doc =>
    form(parts.length === 1 ? "tuple-one" : "tuple", { args: joined(parts, [",", spaceLine]) });

  const write = (expression: Expression): Bound => {
    switch (expression.kind) {
      case "number":
        return expression.type === "decimal"
          ? bound("decimal", { text: text(expression.text) })
          : { doc: expression.text, level: expression.text.startsWith("-") ? operatorOf(language, "negate").level : 9 };
      case "text":
        return { doc: text(expression.value), level: 9 };
      case "bool":
        return bound(String(expression.value), {});
      case "name":
        return bound(inputs.has(expression.name) ? "input" : "value", { name: expression.name });
      case "field":
        return expression.field === ""
          ? { doc: itemOf(expression.list), level: 9 }
          : bound("field", { item: itemOf(expression.list), field: expression.field });
      case "unary": {
        const { sign, level } = operatorOf(language, expression.op === "-" ? "negate" : "not");
        return { doc: [sign, at(expression.a, level)], level };
      }
      case "binary":
        return binary(expression);
      case "if":
        return bound("if", { test: expression.test, yes: expression.yes, otherwise: expression.otherwise });
      case "call":
        return call(expression);
      case "aggregate":
        return aggregate(expression);
      case "in":
        return bound(expression.negated ? "not-in" : "in", {
          a: expression.a,
          tuple: tuple(expression.items.map((one) => at(one, 1))),
        });
      case "lookup":
        return bound("lookup", {
          on: expression.on,
          otherwise: expression.otherwise,
          rows: joined(
            expression.rows.map(({ key, value }) => form("lookup-row", { key: at(key, 1), value: at(value, 1) })),
            [",", spaceLine],
          ),
        });
    }
  };

  const scalar = (value: ItemValue, type: Scalar, exactAsText: boolean): Doc => {
    if (typeof value === "boolean") return form(String(value), {});
    if (typeof value === "string") return text(value);
    if (!isNumber(value)) return "";
    const digits = decimalText(value) ?? "0";
    if (type === "int") return digits;
    return exactAsText ? text(digits) : form("decimal", { text: text(digits) });
  };

  const fields = (
    item: ItemValue,
    types: Readonly<Record<string, Scalar>>,
  ): readonly (readonly [string, ItemValue, Scalar])[] =>
    Object.entries(types).map(
      ([name, type]) => [name, typeof item === "object" && !isNumber(item) ? (item[name] ?? "") : item, type] as const,
    );

  return {
    expression: (one) => write(one).doc,
    text,
    form,
    list: (parts) => joined(parts, [",", spaceLine]),
    wrapped: (doc) => group([alt("", "("), nest([softLine, doc]), softLine, alt("", ")")]),
    value(value, type, record) {
      if (!isList(type)) return scalar(value as ItemValue, type, false);
      const inner = type.list;
      const items = (value as readonly ItemValue[]).map((item) => {
        if (typeof inner === "string") return scalar(item, inner, false);
        const keywords = fields(item, inner).map(([name, one, of]) =>
          form("keyword", { name, value: scalar(one, of, false) }),
        );
        return form("call", { name: record, args: joined(keywords, [",", spaceLine]) });
      });
      return items.length === 0 ? "()" : tuple(items);
    },
    data(value, type) {
      if (!isList(type)) return scalar(value as ItemValue, type, true);
      const inner = type.list;
      const items = (value as readonly ItemValue[]).map((item) => {
        if (typeof inner === "string") return scalar(item, inner, true);
        const rows = fields(item, inner).map(([name, one, of]) =>
          form("dict-row", { key: text(name), value: scalar(one, of, true) }),
        );
        return form("dict", { args: joined(rows, [",", spaceLine]) });
      });
      return group(["[", nest([softLine, joined(items, [",", spaceLine])]), softLine, "]"]);
    },
  };
}

function isExpression(one: Expression | Doc): one is Expression {
  return typeof one === "object" && "kind" in one && "type" in one;
}

function formOf(language: TemplateLanguage, name: string): TemplateLanguage["forms"][string] {
  const found = Object.hasOwn(language.forms, name) ? language.forms[name] : undefined;
  if (found === undefined) throw new TypeError(`language.json has no form ${name}`);
  return found;
}

function operatorOf(language: TemplateLanguage, name: string): TemplateLanguage["operators"][string] {
  const found = Object.hasOwn(language.operators, name) ? language.operators[name] : undefined;
  if (found === undefined) throw new TypeError(`language.json has no operator ${name}`);
  return found;
}

/** A pattern with its slots: brackets open a group that may break inside. */
export function fill(pattern: string, slots: Readonly<Record<string, Doc>>): Doc {
  const tokens = pattern.match(/\{\w+\}|<<|>>|[()[\]~]|[^{}()[\]~<>]+|[<>{}]/g) ?? [];
  const read = (from: number, close: string | undefined): { readonly doc: Doc[]; readonly next: number } => {
    const doc: Doc[] = [];
    let at = from;
    while (at < tokens.length) {
      const token = tokens[at] ?? "";
      at += 1;
      if (token === close) return { doc, next: at };
      const ends: Readonly<Record<string, readonly [string, string, string]>> = {
        "(": ["(", ")", ")"],
        "[": ["[", "]", "]"],
        "<<": ["{", "}", ">>"],
      };
      const bracket = ends[token];
      const slot = /^\{(\w+)\}$/.exec(token)?.[1];
      if (bracket !== undefined) {
        const inside = read(at, bracket[2]);
        const isEmpty = inside.doc.length === 0;
        doc.push(
          isEmpty
            ? `${bracket[0]}${bracket[1]}`
            : group([bracket[0], nest([softLine, inside.doc]), softLine, bracket[1]]),
        );
        at = inside.next;
      } else if (slot !== undefined) doc.push(slots[slot] ?? "");
      else doc.push(token === "~" ? spaceLine : token);
    }
    return { doc, next: at };
  };
  return read(0, undefined).doc;
}

const chunkChars = 56;

/** A text literal; a long one becomes several beside each other when its group breaks. */
function textDoc(value: string): Doc {
  const flat = JSON.stringify(value).replaceAll("\u007F", "\\x7f");
  if (flat.length <= chunkChars) return flat;
  const chunks = value.match(/[\s\S]{1,55}(?=\s|$)|[\s\S]{1,56}/g) ?? [value];
  return alt(
    flat,
    joined(
      chunks.map((chunk) => JSON.stringify(chunk)),
      spaceLine,
    ),
  );
}
