/**
 * Texts of which one stands in whatever a regular expression matches, or nothing where it tells none. Most rules look
 * for words that honest code does not hold: looking for the word first leaves the expression unused, and uncompiled.
 * In doubt it says nothing: a text too few would hide findings.
 */
export function needlesOf(pattern: string, flags: string): readonly string[] | undefined {
  // The syntax read here is that of expressions without these.
  if (/[uv]/.test(flags)) return undefined;
  const reader = new Reader(pattern);
  const whole = reader.alternatives();
  if (whole === undefined || !reader.atEnd()) return undefined;
  const found = neededOf(whole)?.filter((one, at, all) => all.indexOf(one) === at);
  if (found === undefined || found.some(({ length }) => length < shortest)) return undefined;
  return flags.includes("i") ? found.map((one) => one.toLowerCase()) : found;
}

/** Shorter ones stand in most texts. */
const shortest = 3;
const most = 16;

/** `exact`: it matches these texts and no other. `needed`: one of these is in every match. */
interface Part {
  readonly exact?: readonly string[];
  readonly needed?: readonly string[];
}

const nothing: Part = { exact: [""] };
const anything: Part = {};

function neededOf({ exact, needed }: Part): readonly string[] | undefined {
  return exact ?? needed;
}

class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  atEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  /** Up to the end or a closing parenthesis; undefined for syntax that this does not know. */
  alternatives(): Part | undefined {
    const parts: Part[] = [];
    do {
      const part = this.#sequence();
      if (part === undefined) return undefined;
      parts.push(part);
    } while (this.#takes("|"));
    return eitherOf(parts);
  }

  #sequence(): Part | undefined {
    const parts: Part[] = [];
    while (!this.atEnd() && !this.#sees("|") && !this.#sees(")")) {
      const part = this.#repeated();
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return inARow(parts);
  }

  #repeated(): Part | undefined {
    const part = this.#single();
    if (part === undefined) return undefined;
    const match = /^(?:[*+?]|\{(\d+)(,\d*)?\})\??/.exec(this.#pattern.slice(this.#at, this.#at + 16));
    if (match === null) return part;
    this.#at += match[0].length;
    const least = match[1] === undefined ? (match[0].startsWith("+") ? 1 : 0) : Number(match[1]);
    if (least === 0) return anything;
    const [only, ...others] = part.exact ?? [];
    if (match[1] !== undefined && only !== undefined && others.length === 0 && least * only.length <= 64) {
      const repeated = only.repeat(least);
      return match[2] === undefined ? { exact: [repeated] } : { needed: [repeated] };
    }
    const needed = neededOf(part);
    return needed === undefined ? anything : { needed };
  }

  #single(): Part | undefined {
    const char = this.#pattern[this.#at] ?? "";
    if (char === "(") return this.#group();
    if (char === "[") return this.#class();
    if (char === "\\") return this.#escape();
    if ("*+?{".includes(char)) return undefined;
    this.#at += 1;
    if (char === "^" || char === "$") return nothing;
    return char === "." ? anything : { exact: [char] };
  }

  #group(): Part | undefined {
    const opened = /^\((?:\?(?:[:=!]|<[=!]|<[A-Za-z_$][\w$]*>))?/.exec(
      this.#pattern.slice(this.#at, this.#at + 80),
    )?.[0];
    if (opened === undefined || (opened === "(" && this.#pattern[this.#at + 1] === "?")) return undefined;
    this.#at += opened.length;
    const inner = this.alternatives();
    if (inner === undefined || !this.#takes(")")) return undefined;
    // What stands around a match is no part of it.
    return /[=!]$/.test(opened) ? nothing : inner;
  }

  #class(): Part | undefined {
    let at = this.#at + 1;
    const chars: string[] = [];
    let plain = this.#pattern[at] !== "^";
    for (; at < this.#pattern.length && this.#pattern[at] !== "]"; at += 1) {
      const char = this.#pattern[at] ?? "";
      if (char === "\\") {
        at += 1;
        plain = false;
      } else if (char === "-") plain = false;
      chars.push(char);
    }
    if (at >= this.#pattern.length) return undefined;
    this.#at = at + 1;
    return plain && chars.length > 0 && chars.length <= 4 ? { exact: chars } : anything;
  }

  #escape(): Part | undefined {
    const char = this.#pattern[this.#at + 1] ?? "";
    const code = /^\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))/.exec(this.#pattern.slice(this.#at, this.#at + 6));
    if (code !== null) {
      this.#at += code[0].length;
      return { exact: [String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? "", 16))] };
    }
    this.#at += 2;
    if (char === "b" || char === "B") return nothing;
    if ("dDwWsS".includes(char) && char !== "") return anything;
    const control = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v" }[char];
    if (control !== undefined) return { exact: [control] };
    // What is left of letters and digits has a meaning of its own, or one that is not worth knowing.
    return char === "" || /[A-Za-z0-9]/.test(char) ? undefined : { exact: [char] };
  }

  #sees(char: string): boolean {
    return this.#pattern[this.#at] === char;
  }

  #takes(char: string): boolean {
    if (!this.#sees(char)) return false;
    this.#at += 1;
    return true;
  }
}

function eitherOf(parts: readonly Part[]): Part {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const exact = allOf(parts.map((part) => part.exact));
  if (exact !== undefined) return { exact };
  const needed = allOf(parts.map(neededOf));
  return needed === undefined ? anything : { needed };
}

function allOf(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const all: string[] = [];
  for (const list of lists) {
    if (list === undefined || all.length + list.length > most) return undefined;
    all.push(...list);
  }
  return all;
}

/** Parts of which the texts are known grow together; of the others the best one counts. */
function inARow(parts: readonly Part[]): Part {
  let run: readonly string[] = [""];
  let best: readonly string[] | undefined;
  let exact = true;
  const consider = (some: readonly string[] | undefined): void => {
    if (some !== undefined && worthOf(some) > worthOf(best ?? [])) best = some;
  };
  for (const part of parts) {
    const longer = part.exact === undefined ? undefined : productOf(run, part.exact);
    if (longer !== undefined) {
      run = longer;
      continue;
    }
    exact = false;
    consider(run);
    consider(neededOf(part));
    run = part.exact !== undefined && part.exact.length <= most ? part.exact : [""];
  }
  if (exact) return { exact: run };
  consider(run);
  return best === undefined ? anything : { needed: best };
}

function productOf(first: readonly string[], second: readonly string[]): readonly string[] | undefined {
  if (first.length * second.length > most) return undefined;
  return first.flatMap((one) => second.map((two) => one + two));
}

/** The longer the shortest of them, the rarer they are; the fewer they are, the cheaper. */
function worthOf(texts: readonly string[]): number {
  if (texts.length === 0) return 0;
  return Math.min(...texts.map(({ length }) => length)) * 100 - texts.length;
}
