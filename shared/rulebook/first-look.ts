import { needlesOf } from "./needles.ts";

/** A look costs as much as running a compiled expression does: what is used this often is better compiled. */
const looks = 24;

/**
 * Most rules never find anything in a small change, and compiling their expressions is most of what they cost there: a
 * word that every match holds is looked for first.
 */
export class FirstLook {
  readonly #regex: RegExp;
  #left = looks;
  #needles: readonly string[] | undefined;

  constructor(regex: RegExp) {
    this.#regex = regex;
  }

  /** True when no match can be in a text of which comments may be blanked and strings muted; it is given as it was. */
  lacksSource({ text, lower }: { readonly text: string; lower(): string }): boolean {
    const needles = this.#take();
    if (needles.length === 0 || needles.some((one) => mutedMakes.test(one))) return false;
    const source = this.#regex.ignoreCase ? lower() : text;
    return !needles.some((one) => source.includes(one));
  }

  /** True when no match can be in this very text. */
  lacks(text: string): boolean {
    const needles = this.#take();
    if (needles.length === 0 || this.#regex.ignoreCase) return false;
    return !needles.some((one) => text.includes(one));
  }

  #take(): readonly string[] {
    if (this.#left === 0) return [];
    this.#left -= 1;
    this.#needles ??= needlesOf(this.#regex.source, this.#regex.flags) ?? [];
    return this.#needles;
  }
}

/** A muted string is a quote and x after x, a blanked comment is blanks: other characters were there before. */
const mutedMakes = / |(?:^|\W)x/i;
