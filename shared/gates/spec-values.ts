import type { SpecFact } from "../ports/gate.ts";

/** What a cell of an example names that code can be searched for: numbers, quoted texts, errors. Prose names nothing. */
export function valuesOf(text: string): ReadonlySet<string> {
  const plain = text.replace(/[`*]/g, "");
  const texts = [...plain.matchAll(/"([^"\n]+)"|(?<![\p{L}\p{N}])'([^'\n]+)'/gu)].map(
    ([, one, other]) => one ?? other ?? "",
  );
  const errors = plain.match(/\b[A-Z]\w*(?:Error|Exception)\b/g) ?? [];
  return new Set([
    ...texts.filter((one) => one.trim() !== "" && !/^[\d.,_ -]+$/.test(one)),
    ...errors,
    ...numbersIn(plain),
  ]);
}

/** `1_500`, `1,500` and `1500.0` are one number, wherever it stands. */
export function numbersIn(text: string): ReadonlySet<string> {
  return new Set(everyNumber(text));
}

function everyNumber(text: string): readonly string[] {
  const found = text.match(/(?<![\p{L}\p{N}_])\d+(?:[_,]\d{3})*(?:\.\d+)?/gu) ?? [];
  return found.map((one) => String(Number(one.replace(/[_,]/g, ""))));
}

/** Is the value written in this code? */
export function holdsValue(
  code: { readonly text: string; readonly numbers: ReadonlySet<string> },
  value: string,
): boolean {
  return isNumber(value) ? code.numbers.has(value) : code.text.includes(value);
}

/** How often the value is written in this code. */
export function timesIn(text: string, value: string): number {
  return isNumber(value) ? everyNumber(text).filter((one) => one === value).length : text.split(value).length - 1;
}

/** An error's class is the value: nothing else of it can be compared. */
export const isErrorName = (value: string): boolean => /^[A-Z]\w*(?:Error|Exception)$/.test(value);

const isNumber = (value: string): boolean => /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(value);

/** Values that only this example has: what the rest of the spec says may stand in the code for a good reason. */
export function ownValues(cell: string, elsewhere: readonly SpecFact[]): readonly string[] {
  const known = new Set(elsewhere.flatMap(({ cells }) => [...valuesOf(cells.join(" | "))]));
  const text = elsewhere.map(({ cells }) => cells.join(" | ")).join("\n");
  return [...valuesOf(cell)].filter(
    (value) => !isCommon(value) && !known.has(value) && !(/\D/.test(value) && text.includes(value)),
  );
}

/** Zero, digits, round numbers and short texts stand in most code. */
function isCommon(value: string): boolean {
  return /^\d(?:0*)$/.test(value) || value.length < 2;
}
