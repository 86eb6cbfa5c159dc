import type { Lexical, TextContext, TextView } from "../model/rule.ts";
import { type Token, tokensOf } from "./tokens.ts";

/** A text made from the original, and for each of its offsets the offset it came from. */
export interface View {
  readonly text: string;
  sourceOf(offset: number): number;
}

/** One source text and everything that is derived from it, each made when first asked for. */
export interface Views {
  /** Line ends are LF, a byte order mark is gone. */
  readonly text: string;
  /** The text in lower case. */
  lower(): string;
  readonly tokens: readonly Token[];
  view(name: TextView): View;
  /** The text with these contexts blanked (comments) or muted (strings); same length. */
  without(contexts: readonly TextContext[]): string;
  /** The token that holds the offset; a string's last character still belongs to it. */
  tokenAt(offset: number): Token | undefined;
  /** 1-based. */
  lineOf(offset: number): number;
  columnOf(offset: number): number;
  lineText(line: number): string;
  /** The comments of the statement that holds the offset, joined. */
  commentsAt(offset: number): string;
  lineCount(): number;
}

export function viewsOf(source: string, lexical: Lexical | undefined): Views {
  const text = normalised(source);
  let tokens: readonly Token[] | undefined;
  let starts: Int32Array | undefined;
  let lower: string | undefined;
  const made = new Map<string, View>();
  const muted = new Map<string, string>();
  const statements: number[][] = [];
  const self: Views = {
    text,
    lower: () => (lower ??= text.toLowerCase()),
    get tokens() {
      tokens ??= lexical ? tokensOf(text, lexical) : [];
      return tokens;
    },
    view(name) {
      let view = made.get(name);
      if (!view) {
        view = make(name);
        made.set(name, view);
      }
      return view;
    },
    without(contexts) {
      if (contexts.length === 0) return text;
      const key = contexts.join();
      let one = muted.get(key);
      if (one === undefined) {
        one = mute(text, self.tokens, new Set(contexts));
        muted.set(key, one);
      }
      return one;
    },
    tokenAt(offset) {
      const at = lastAtOrBefore(self.tokens.length, (i) => self.tokens[i]?.start ?? 0, offset);
      const token = self.tokens[at];
      return token && offset < token.end ? token : undefined;
    },
    lineOf(offset) {
      starts ??= lineStarts(text);
      return lastAtOrBefore(starts.length, (i) => starts?.[i] ?? 0, offset) + 1;
    },
    columnOf(offset) {
      return offset - (text.lastIndexOf("\n", offset - 1) + 1) + 1;
    },
    lineText(line) {
      starts ??= lineStarts(text);
      const from = starts[line - 1] ?? text.length;
      const to = starts[line] ?? text.length + 1;
      return text.slice(from, Math.max(from, to - 1));
    },
    lineCount() {
      starts ??= lineStarts(text);
      return starts.length;
    },
    commentsAt(offset) {
      self.view("logical");
      const at = lastAtOrBefore(statements.length, (i) => statements[i]?.[0] ?? 0, offset);
      const [from = 0, to = 0] = statements[at] ?? [];
      const inside = self.tokens.filter(
        (token) => token.context === "comment" && token.start >= from && token.end <= to,
      );
      return inside.map((token) => text.slice(token.start, token.end)).join("");
    },
  };
  return self;

  function make(name: TextView): View {
    if (name === "joined") return joinedView(text);
    if (name === "text" || !lexical) return { text, sourceOf: (offset) => offset };
    const code = self.without(["comment", "string", "raw-string"]);
    if (name === "code") return { text: code, sourceOf: (offset) => offset };
    statements.length = 0;
    return statementView(text, code, lexical, name === "flat", statements);
  }
}

function normalised(source: string): string {
  const body = source.startsWith("\uFEFF") ? source.slice(1) : source;
  return body.includes("\r") ? body.replace(/\r\n?/g, "\n") : body;
}

/** Comments become blanks; strings keep their prefix and quotes and their contents become x, line ends included. */
function mute(text: string, tokens: readonly Token[], contexts: ReadonlySet<TextContext>): string {
  const parts: string[] = [];
  let at = 0;
  for (const { context, start, end, open, close } of tokens) {
    if (!contexts.has(context)) continue;
    if (context === "comment") parts.push(text.slice(at, start), text.slice(start, end).replace(/[^\n]/g, " "));
    else parts.push(text.slice(at, start + open), "x".repeat(end - start - open - close), text.slice(end - close, end));
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/**
 * One line for each statement. Lines are joined as pycodestyle joins tokens of different rows: with a blank, but not
 * after an opening bracket or before a closing one; after a comma always.
 */
function statementView(text: string, code: string, lexical: Lexical, flat: boolean, statements: number[][]): View {
  const openers = lexical.brackets.map((pair) => pair.charCodeAt(0));
  const closers = lexical.brackets.map((pair) => pair.charCodeAt(1));
  const bracket = new Int8Array(128);
  for (const char of openers) bracket[char] = 1;
  for (const char of closers) bracket[char] = -1;
  const joiner = lexical.continuation?.charCodeAt(0) ?? -1;
  const parts: string[] = [];
  const outAt: number[] = [];
  const srcAt: number[] = [];
  let length = 0;
  let depth = 0;
  let open = false; // a statement has begun and goes on
  let begin = 0;
  let last = 0; // char code of the last character taken, bracket contents included

  const take = (from: number, to: number): void => {
    if (to <= from) return;
    outAt.push(length);
    srcAt.push(from);
    parts.push(code.slice(from, to));
    length += to - from;
  };
  const put = (word: string, from: number): void => {
    outAt.push(length);
    srcAt.push(from);
    parts.push(word);
    length += word.length;
  };
  const scan = (from: number, to: number): void => {
    let piece = from;
    for (let i = from; i < to; i += 1) {
      const char = code.charCodeAt(i);
      const turn = char < 128 ? (bracket[char] ?? 0) : 0;
      if (turn === 0) continue;
      if (flat) {
        if (turn === 1 && depth === 0) take(piece, i + 1);
        if (turn === -1 && depth <= 1) piece = i;
      }
      depth = Math.max(0, depth + turn);
    }
    if (!flat || depth === 0) take(piece, to);
    last = code.charCodeAt(to - 1);
  };

  for (let start = 0; start < code.length;) {
    const newline = code.indexOf("\n", start);
    const end = newline === -1 ? code.length : newline;
    let from = start;
    while (from < end && isBlank(code.charCodeAt(from))) from += 1;
    let to = end;
    while (to > from && isBlank(code.charCodeAt(to - 1))) to -= 1;
    const joined = to > from && code.charCodeAt(to - 1) === joiner;
    if (joined) {
      to -= 1;
      while (to > from && isBlank(code.charCodeAt(to - 1))) to -= 1;
    }
    if (!open && to === from && !joined) {
      const comment = hasText(text, from, end);
      if (comment !== -1) {
        take(start, comment);
        put("#", comment);
      }
      put("\n", end);
    } else {
      if (!open) {
        begin = start;
        take(start, from);
      } else if (to > from && (depth === 0 || !flat)) {
        const next = code.charCodeAt(from);
        if (last === 44 || (!openers.includes(last) && !closers.includes(next))) put(" ", from);
      }
      if (to > from) scan(from, to);
      open = joined || depth > 0;
      if (!open) {
        put("\n", end);
        statements.push([begin, end]);
      }
    }
    start = end + 1;
  }
  if (open) statements.push([begin, code.length]);
  return { text: parts.join(""), sourceOf: mapped(outAt, srcAt, text.length) };
}

/** Literals that stand beside each other, or with a plus between them, become one. */
function joinedView(text: string): View {
  const junction = /(?<=[^\s"'([{,=:])["']\s*(?:\+|\\\n)?\s*["'](?=[^\s"')\]},;:])/g;
  const starts: number[] = [0];
  const sources: number[] = [0];
  const parts: string[] = [];
  let at = 0;
  let length = 0;
  for (let match = junction.exec(text); match; match = junction.exec(text)) {
    parts.push(text.slice(at, match.index));
    length += match.index - at;
    at = match.index + match[0].length;
    starts.push(length);
    sources.push(at);
  }
  if (parts.length === 0) return { text, sourceOf: (offset) => offset };
  parts.push(text.slice(at));
  return { text: parts.join(""), sourceOf: mapped(starts, sources, text.length) };
}

function mapped(starts: readonly number[], sources: readonly number[], most: number): (offset: number) => number {
  return (offset) => {
    const at = lastAtOrBefore(starts.length, (i) => starts[i] ?? 0, offset);
    return Math.min((sources[at] ?? 0) + offset - (starts[at] ?? 0), most);
  };
}

function isBlank(char: number): boolean {
  return char === 32 || char === 9 || char === 12;
}

/** The comment that a blanked line held: offset of the first character that is no blank, or -1. */
function hasText(text: string, from: number, to: number): number {
  for (let i = text.lastIndexOf("\n", from - 1) + 1; i < to; i += 1) if (!isBlank(text.charCodeAt(i))) return i;
  return -1;
}

function lineStarts(text: string): Int32Array {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return Int32Array.from(starts);
}

function lastAtOrBefore(count: number, valueAt: (index: number) => number, value: number): number {
  let low = 0;
  let high = count - 1;
  let found = -1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) <= value) {
      found = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return found;
}
