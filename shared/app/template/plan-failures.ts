import { plainCell, type Spec, specRows } from "../../features/spec.ts";
import type { Expression, ValueType } from "./expression.ts";
import { negation } from "./expression-build.ts";
import { parseCondition, parseConstraints, parseFormula } from "./expression-parser.ts";
import type { Failure, Input } from "./plan.ts";
import type { Rules } from "./plan-rules.ts";
import { type Refuse, rowsOf } from "./plan-tables.ts";

export function readErrors(spec: Spec, scope: ReadonlyMap<string, ValueType>, refuse: Refuse): readonly Failure[] {
  return specRows(spec, "Errors").flatMap(({ cells: [name = "", when = "", gets = ""] }) => {
    const label = plainCell(name);
    const where = `Errors, ${label}`;
    const parsed = parseCondition(when, scope);
    if (parsed.kind === "refused") refuse(where, parsed.why);
    const plain = gets.replaceAll("`", "").trim();
    if (/\b(?:HTTP|status)\b|^[1-5]\d\d\b/i.test(plain))
      refuse(where, "an HTTP status is beyond it; name the error that is raised");
    else if (/^(?:returns?|null|none|nothing|an? empty)\b/i.test(plain))
      refuse(where, "it returns something; an error is raised");
    else if (parsed.kind === "ok") return [{ case: label, when: parsed.value, ...raised(plain, label), named: true }];
    return [];
  });
}

/** `ValueError: quantity must be positive`, `an InvoiceError saying "no lines"`, `the message no lines`. */
function raised(gets: string, label: string): { readonly raises?: string; readonly message: string } {
  const name = /\b[A-Z]\w*(?:Error|Exception)\b/.exec(gets)?.[0];
  const quoted = /["\u201C]([^"\u201D]+)["\u201D]/.exec(gets)?.[1];
  const rest = (name === undefined ? gets : gets.slice(gets.indexOf(name) + name.length))
    .replace(/^[\s:,(]+|[)\s]+$/g, "")
    .replace(/^(?:saying|with(?: the)? message|message)\s*:?\s*/i, "");
  const message = quoted ?? (rest === "" ? label : rest);
  return name === undefined ? { message } : { raises: name, message };
}

/** A rule of an input that is broken is an error too, with words of its own. */
export function readConstraints(
  spec: Spec,
  rules: Rules,
  inputs: readonly Input[],
  scope: ReadonlyMap<string, ValueType>,
  refuse: Refuse,
): readonly Failure[] {
  const cells = rowsOf(spec, "Inputs").map(({ name, rule }) => ({ name, text: rule, where: `Inputs, ${name}` }));
  return [...cells, ...rules.constraints].flatMap(({ name, text, where }) => {
    const subject = inputs.some((input) => input.name === name.split("[]")[0]) ? parseFormula(name, scope) : undefined;
    if (subject?.kind !== "ok" || text === "") return [];
    const parsed = parseConstraints(text, subject.value, scope);
    if (parsed.kind === "refused") {
      refuse(where, parsed.why);
      return [];
    }
    return parsed.value.must.map((must) => {
      const broken = parseNegation(must, name);
      return {
        case: `${name} ${text}`,
        when: broken,
        message: `${name.replace("[].", " ")}: ${text.replaceAll("`", "")}`,
        named: false,
      };
    });
  });
}

function parseNegation(must: Expression, name: string): Expression {
  const list = name.includes("[].") ? name.split("[]")[0] : undefined;
  const negated = negation(must);
  return list === undefined ? negated : { kind: "aggregate", type: "bool", fn: "any", list, body: negated };
}

/** An input's rule that an error of the table already covers, word for word, is not checked twice. */
export function distinct(failures: readonly Failure[]): readonly Failure[] {
  const seen = new Set<string>();
  return failures.filter(({ when, named }) => {
    const key = JSON.stringify(when, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    const isNew = !seen.has(key);
    seen.add(key);
    return named || isNew;
  });
}
