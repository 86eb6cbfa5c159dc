import type { SpecFact } from "../ports/gate.ts";

/** The words of code or prose, as both may spell them: `roundHalfUp`, `round_half_up` and "Round half up" are the same three. */
export function wordsOf(text: string): ReadonlySet<string> {
  const apart = text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2");
  return new Set(
    (apart.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []).filter((word) => /\p{N}/u.test(word) || word.length > 2),
  );
}

/**
 * Does this piece of code speak of that row? By a word that only that row has, or by most of its words where the rows
 * that are left say the same words.
 */
export function speaksOf(code: string, row: SpecFact, left: readonly SpecFact[]): boolean {
  const spoken = [...wordsOf(code)];
  const said = [...wordsOf(row.cells.join(" "))];
  const others = new Set(left.flatMap(({ cells }) => [...wordsOf(cells.join(" "))]));
  const has = (word: string): boolean => spoken.some((one) => sameStem(one, word));
  if (said.some((word) => !others.has(word) && has(word))) return true;
  return said.length > 0 && said.every((word) => others.has(word)) && said.filter(has).length * 2 > said.length;
}

/** `discount` and `discounts`, `round` and `rounded`: no more than an ending apart. */
function sameStem(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short === long || (short.length > 3 && long.length - short.length < 4 && long.startsWith(short));
}
