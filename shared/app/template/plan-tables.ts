import { plainCell, saysNone, type Spec, specRows } from "../../features/spec.ts";
import { isList, type Scalar, type ValueType } from "./expression.ts";
import type { Input } from "./plan.ts";

/** Inputs and outputs, from their tables. */

const types: Readonly<Record<string, Scalar>> = {
  int: "int",
  integer: "int",
  count: "int",
  decimal: "decimal",
  number: "decimal",
  money: "decimal",
  amount: "decimal",
  percentage: "decimal",
  text: "text",
  str: "text",
  string: "text",
  bool: "bool",
  boolean: "bool",
  "true/false": "bool",
};

export type Refuse = (where: string, why: string) => void;

interface Row {
  readonly name: string;
  readonly typeWord: string;
  readonly rule: string;
}

export function rowsOf(spec: Spec, section: "Inputs" | "Outputs"): readonly Row[] {
  return specRows(spec, section).map(({ cells: [name = "", type = "", rule = ""] }) => ({
    name: plainCell(name),
    typeWord: plainCell(type).toLowerCase(),
    rule: saysNone(rule) ? "" : rule.trim(),
  }));
}

const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;

export function readInputs(spec: Spec, refuse: Refuse): readonly Input[] {
  const found = new Map<string, ValueType>();
  for (const { name, typeWord } of rowsOf(spec, "Inputs")) {
    const [list = "", field] = name.split("[].");
    const item = /^(?:list|array|sequence)(?:(?:\s+of\s+|[[<(]\s*)([a-z/]+?)s?[\])>]?)?$/.exec(typeWord);
    if (!namePattern.test(list) || (field !== undefined && !namePattern.test(field)))
      refuse(`Inputs, ${name}`, "its name is no identifier");
    else if (field !== undefined) {
      const before = found.get(list);
      const type = types[typeWord];
      if (type === undefined) refuse(`Inputs, ${name}`, typeWords(typeWord));
      else
        found.set(list, {
          list: {
            ...(before !== undefined && isList(before) && typeof before.list !== "string" ? before.list : {}),
            [field]: type,
          },
        });
    } else if (item) {
      const inner = item[1] === undefined ? undefined : (types[item[1]] ?? types[`${item[1]}s`]);
      if (!found.has(list)) found.set(list, { list: inner ?? {} });
    } else if (types[typeWord] === undefined) refuse(`Inputs, ${name}`, typeWords(typeWord));
    else if (found.has(list)) refuse(`Inputs, ${name}`, "it stands twice");
    else found.set(list, types[typeWord]);
  }
  for (const [name, type] of found) {
    if (isList(type) && typeof type.list !== "string" && Object.keys(type.list).length === 0) {
      refuse(`Inputs, ${name}`, `say what its items are: list of decimal, or one row ${name}[].field for each field`);
    }
  }
  return [...found].map(([name, type]) => ({ name, type }));
}

function typeWords(word: string): string {
  if (word === "float" || word === "double") return "a float is not exact; write decimal";
  return `the type ${JSON.stringify(word)} is not one it knows (int, decimal, text, bool, list)`;
}

export interface Output {
  readonly name: string;
  readonly type: Scalar;
  readonly rule: string;
  /** Words about rounding after the formula. */
  readonly rounds?: string;
}

export function readOutputs(spec: Spec, refuse: Refuse): readonly Output[] {
  return rowsOf(spec, "Outputs").flatMap(({ name, typeWord, rule }) => {
    const type = types[typeWord];
    if (!namePattern.test(name)) refuse(`Outputs, ${name}`, "its name is no identifier");
    else if (type === undefined)
      refuse(`Outputs, ${name}`, typeWord.startsWith("list") ? "lists in Outputs are beyond it" : typeWords(typeWord));
    else {
      const [, formula = rule, rounds] = /^(.*?)(?:^|[,;])\s*(round(?:ed|ing)\b.*)$/i.exec(rule) ?? [];
      return [{ name, type, rule: formula.trim(), ...(rounds === undefined ? {} : { rounds }) }];
    }
    return [];
  });
}
