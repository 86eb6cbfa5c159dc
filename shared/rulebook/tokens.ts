import type { Lexical, TextContext } from "../model/rule.ts";

/** A comment or string of a text. `open` and `close` are the lengths of its delimiters, the prefix letters included. */
export interface Token {
  readonly context: TextContext;
  readonly start: number;
  readonly end: number;
  readonly open: number;
  readonly close: number;
}

type Literal = Lexical["literals"][number];

interface Opener {
  readonly open: string;
  readonly multiline: boolean;
  /** What closes it, for a comment. */
  readonly comment?: string;
  readonly literal?: Literal;
}

/**
 * Cuts a text into comments and strings as the language's data says. Never fails: a string that is not closed ends with
 * its line, or with the text when it may hold line ends. Linear: closers are found by search, not by a regular expression.
 */
export function tokensOf(text: string, lexical: Lexical): Token[] {
  const openers: readonly Opener[] = [
    ...lexical.comments.map((one) => ({ open: one.open, comment: one.close ?? "\n", multiline: true })),
    ...lexical.strings.map((one) => ({ open: one.open, multiline: one.multiline })),
    ...lexical.literals.map((one) => ({ open: one.open, literal: one, multiline: false })),
  ].toSorted((a, b) => b.open.length - a.open.length);
  if (openers.length === 0) return [];
  const start = new RegExp(openers.map((one) => escaped(one.open)).join("|"), "g");
  const byOpen = new Map(openers.map((one) => [one.open, one]));
  const out: Token[] = [];
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const opener = byOpen.get(match[0]);
    if (!opener) continue;
    const from = match.index;
    if (opener.literal !== undefined) {
      const end = isOperand(text, from, opener.literal, out.at(-1)) ? literalEnd(text, from, opener.open) : undefined;
      if (end === undefined) continue;
      out.push({ context: "raw-string", start: from, end, open: 1, close: 1 });
      start.lastIndex = end;
      continue;
    }
    if (opener.comment !== undefined) {
      const end = commentEnd(text, from + opener.open.length, opener.comment);
      out.push({ context: "comment", start: from, end, open: opener.open.length, close: 0 });
      start.lastIndex = end;
      continue;
    }
    const prefix = prefixBefore(text, from, lexical.prefixes);
    const raw = Array.from(prefix.toLowerCase()).some((letter) => lexical.raw.includes(letter));
    const { end, closed } = stringEnd(text, from + opener.open.length, opener.open, opener.multiline);
    out.push({
      context: raw ? "raw-string" : "string",
      start: from - prefix.length,
      end,
      open: prefix.length + opener.open.length,
      close: closed ? opener.open.length : 0,
    });
    start.lastIndex = end;
  }
  return out;
}

/** True where a value is due: an operator there would have nothing on its left. */
function isOperand(text: string, at: number, { after, words }: Literal, before: Token | undefined): boolean {
  let from = at;
  while (from > 0 && /\s/.test(text[from - 1] ?? "")) from -= 1;
  if (before?.end === from) {
    if (before.context !== "comment") return false;
    return isOperand(text, before.start, { open: "", after, words }, undefined);
  }
  if (from === 0) return true;
  const char = text[from - 1] ?? "";
  if (after.includes(char)) return true;
  if (!/[\w$]/.test(char)) return false;
  let word = from - 1;
  while (word > 0 && at - word < 40 && /[\w$]/.test(text[word - 1] ?? "")) word -= 1;
  return text[word - 1] !== "." && words.includes(text.slice(word, from));
}

function literalEnd(text: string, from: number, close: string): number | undefined {
  let inside = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\n") return undefined;
    if (char === "\\") at += 1;
    else if (char === "[") inside = true;
    else if (char === "]") inside = false;
    else if (char === close && !inside) return at + 1;
  }
  return undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function commentEnd(text: string, from: number, close: string): number {
  const at = text.indexOf(close, from);
  if (at === -1) return text.length;
  return close === "\n" ? at : at + close.length;
}

function stringEnd(text: string, from: number, close: string, multiline: boolean): { end: number; closed: boolean } {
  let at = from;
  for (;;) {
    const found = text.indexOf(close, at);
    const newline = multiline ? -1 : unescapedNewline(text, at, found === -1 ? text.length : found);
    if (newline !== -1) return { end: newline, closed: false };
    if (found === -1) return { end: text.length, closed: false };
    if (!isEscaped(text, found, from)) return { end: found + close.length, closed: true };
    at = found + 1;
  }
}

function unescapedNewline(text: string, from: number, to: number): number {
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) {
    if (!isEscaped(text, at, from)) return at;
  }
  return -1;
}

function isEscaped(text: string, at: number, from: number): boolean {
  let slashes = 0;
  while (at - slashes - 1 >= from && text.charCodeAt(at - slashes - 1) === 92) slashes += 1;
  return slashes % 2 === 1;
}

function prefixBefore(text: string, at: number, letters: string): string {
  if (letters === "") return "";
  let from = at;
  while (from > 0 && at - from < 3 && letters.includes((text[from - 1] ?? "").toLowerCase())) from -= 1;
  return from > 0 && /[\w]/.test(text[from - 1] ?? "") ? "" : text.slice(from, at);
}
