import { literalsOf } from "./tests/flat-text.ts";

/** How many lines around a result belong to what decides about it. */
export const besideLines = 2;

/** Values that programs share by chance. */
export const common = new Set([
  "10",
  "16",
  "32",
  "60",
  "64",
  "24",
  "100",
  "128",
  "255",
  "256",
  "365",
  "1000",
  "1024",
  "3600",
  "utf8",
  "utf-8",
  "0.5",
  "0.1",
]);

/** A number that is compared by order is the threshold of a rule, also where a test asks for exactly it. */
const threshold = /[<>]=?\s*-?\d[\d._]*|(?<![\w.])-?\d[\d._]*\s*[<>]=?/g;

/**
 * Do these lines ask for the input that a test or an example gives, wholly or by a piece of it? A result that is decided
 * otherwise may be what a rule calls its case.
 */
export function asksForInput(lines: readonly string[], inputs: readonly string[], result: string): boolean {
  const asked = literalsOf(lines.join("\n").replace(threshold, " ")).filter((one) => one !== result);
  return inputs.some((input) => asked.some((one) => one === input || isPiece(one, input)));
}

function isPiece(one: string, whole: string): boolean {
  return /\p{L}/u.test(one) && one.trim().length >= 3 && whole.includes(one.trim());
}
