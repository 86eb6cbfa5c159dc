import { isList, type Scalar, type ValueType } from "./expression.ts";
import type { ItemValue, Value } from "./evaluate.ts";
import { isWhole, rational } from "./rational.ts";

/**
 * The values of an example's cell: `quantity = 2, unit_price = 9.50`, JSON, or one bare value where there is one name.
 * Loose about quotes, strict about types.
 */
export type CellValues =
  | { readonly kind: "ok"; readonly values: ReadonlyMap<string, Value> }
  | { readonly kind: "refused"; readonly why: string };

/** A value before its type is known: a word keeps its text, so that `2.50` stays exact. */
type Raw = string | Quoted | readonly Raw[] | RawRecord;
interface Quoted {
  readonly quoted: string;
}
interface RawRecord {
  readonly entries: readonly (readonly [string, Raw])[];
}

export function readCell(cell: string, types: ReadonlyMap<string, ValueType>): CellValues {
  const text = cell.replaceAll("`", "").trim();
  const reader = new CellReader(text);
  const record = reader.record();
  const only = [...types][0];
  if (record === undefined && types.size === 1 && only !== undefined) {
    const value = typed(new CellReader(text).whole(), only[1]);
    return value === undefined
      ? refuse(`${JSON.stringify(text)} is no value for ${only[0]}`)
      : { kind: "ok", values: new Map([[only[0], value]]) };
  }
  if (record === undefined)
    return refuse(
      `${JSON.stringify(text)} does not say which value belongs to which name: write name = value, name = value`,
    );
  const values = new Map<string, Value>();
  for (const [name, raw] of record.entries) {
    const type = types.get(name);
    if (type === undefined) return refuse(`${name} is not in the table`);
    const value = typed(raw, type);
    if (value === undefined) return refuse(`the value of ${name} is not of its type`);
    values.set(name, value);
  }
  return { kind: "ok", values };
}

const refuse = (why: string): CellValues => ({ kind: "refused", why });

function typed(raw: Raw | undefined, type: ValueType): Value | undefined {
  if (raw === undefined) return undefined;
  if (!isList(type)) return scalar(raw, type);
  if (!Array.isArray(raw)) return undefined;
  const items = (raw as readonly Raw[]).map((one) => item(one, type.list));
  return items.includes(undefined) ? undefined : items.filter((one) => one !== undefined);
}

function item(raw: Raw, type: Scalar | Readonly<Record<string, Scalar>>): ItemValue | undefined {
  if (typeof type === "string") return scalar(raw, type);
  if (typeof raw !== "object" || !("entries" in raw) || typeof raw.entries === "function") return undefined;
  const found: Record<string, Exclude<ItemValue, Readonly<Record<string, unknown>>>> = {};
  for (const [name, inner] of raw.entries) {
    const of = Object.hasOwn(type, name) ? type[name] : undefined;
    const value = of === undefined ? undefined : scalar(inner, of);
    if (value === undefined) return undefined;
    found[name] = value;
  }
  return Object.keys(type).every((name) => Object.hasOwn(found, name)) ? found : undefined;
}

function scalar(raw: Raw, type: Scalar): Exclude<ItemValue, Readonly<Record<string, unknown>>> | undefined {
  const quoted = typeof raw === "object" && "quoted" in raw;
  if (typeof raw !== "string" && !quoted) return undefined;
  const text = typeof raw === "string" ? raw : raw.quoted;
  switch (type) {
    case "text":
      return text;
    case "bool":
      return /^(?:true|yes)$/i.test(text) ? true : /^(?:false|no)$/i.test(text) ? false : undefined;
    case "decimal":
      return rational(text);
    case "int": {
      const value = quoted ? undefined : rational(text);
      return value !== undefined && isWhole(value) && !text.includes(".") ? value : undefined;
    }
  }
}

class CellReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The whole text as one record, with or without braces; undefined when it is none. */
  record(): RawRecord | undefined {
    const braced = this.#skip("{");
    const found = this.#entries(braced ? "}" : undefined);
    return found !== undefined && (!braced || this.#skip("}")) && this.#ended() ? { entries: found } : undefined;
  }

  /** The whole text as one value. */
  whole(): Raw | undefined {
    const first = this.#text[0];
    if (first !== "[" && first !== "{" && first !== '"' && first !== "'") return this.#text;
    const value = this.#value();
    return this.#ended() ? value : undefined;
  }

  #entries(close: string | undefined): (readonly [string, Raw])[] | undefined {
    const entries: (readonly [string, Raw])[] = [];
    for (;;) {
      this.#space();
      if (close !== undefined && this.#text[this.#at] === close) return entries;
      const name = /^(?:"(\w+)"|'(\w+)'|(\w+))\s*[=:]\s*/.exec(this.#text.slice(this.#at));
      if (!name) return undefined;
      this.#at += name[0].length;
      const value = this.#value();
      if (value === undefined) return undefined;
      entries.push([name[1] ?? name[2] ?? name[3] ?? "", value]);
      if (!this.#skip(",") && !this.#skip(";")) return entries;
    }
  }

  #value(): Raw | undefined {
    this.#space();
    const first = this.#text[this.#at];
    if (first === "[") return this.#list();
    if (first === "{") {
      this.#at += 1;
      const entries = this.#entries("}");
      return entries !== undefined && this.#skip("}") ? { entries } : undefined;
    }
    if (first === '"' || first === "'") {
      const end = this.#text.indexOf(first, this.#at + 1);
      if (end === -1) return undefined;
      const quoted = this.#text.slice(this.#at + 1, end);
      this.#at = end + 1;
      return { quoted };
    }
    const word = /^[^,;\]}]*/.exec(this.#text.slice(this.#at))?.[0] ?? "";
    this.#at += word.length;
    return word.trim();
  }

  #list(): Raw | undefined {
    this.#at += 1;
    const items: Raw[] = [];
    for (;;) {
      if (this.#skip("]")) return items;
      const value = this.#value();
      if (value === undefined) return undefined;
      items.push(value);
      if (!this.#skip(",") && !this.#skip(";")) return this.#skip("]") ? items : undefined;
    }
  }

  #skip(sign: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #ended(): boolean {
    this.#space();
    return this.#at >= this.#text.length;
  }
}
