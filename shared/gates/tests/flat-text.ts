/** Text of code on one line, so that layout does not count: the ground on which assertions are compared. */

const string =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/y;
const space = /\s+/y;

/** White space becomes single blanks, strings keep theirs; a quote is a double quote; no comma before a closer. */
export function flat(text: string): string {
  // Most code stands on one line and needs nothing: asked first, because every assertion of a big change comes by here.
  if (!/[\n\r\t']| {2}|[([{] | [)\]},.;]|,[)\]}]/.test(text)) return text.trim();
  let out = "";
  let from = 0;
  for (let at = 0; at < text.length;) {
    const end = tokenEnd(text, at);
    if (isSpace(text.charCodeAt(at))) {
      out += `${text.slice(from, at)} `;
      from = end;
    } else if (text.charCodeAt(at) === singleQuote && end > at + 1) {
      out += text.slice(from, at) + quoted(text.slice(at, end));
      from = end;
    }
    at = end;
  }
  return (out + text.slice(from))
    .replace(/(?<=[([{]) | (?=[)\]},.;])/g, "")
    .replace(/,(?=[)\]}])/g, "")
    .trim();
}

/** As `flat`, without any blank that separates no words: equal keys are the same code. */
export function key(text: string): string {
  if (!/[\s']|,[)\]}]/.test(text)) return text;
  const one = flat(text);
  let out = "";
  let from = 0;
  for (let at = 0; at < one.length;) {
    const end = tokenEnd(one, at);
    if (
      end === at + 1 &&
      one.charCodeAt(at) === blank &&
      !(isWord(one.charCodeAt(at - 1)) && isWord(one.charCodeAt(end)))
    ) {
      out += one.slice(from, at);
      from = end;
    }
    at = end;
  }
  return out + one.slice(from);
}

/** Text cut at a separator that stands outside of brackets and strings. */
export function splitTop(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  const sticky = new RegExp(separator.source, "y");
  for (let at = 0; at < text.length;) {
    if (depth === 0) {
      sticky.lastIndex = at;
      const match = sticky.exec(text);
      if (match && match[0] !== "" && at >= from) {
        parts.push(text.slice(from, at));
        from = at + match[0].length;
      }
    }
    const char = text[at] ?? "";
    if ("([{".includes(char)) depth += 1;
    if (")]}".includes(char)) depth = Math.max(0, depth - 1);
    at = tokenEnd(text, at);
  }
  parts.push(text.slice(from));
  return parts;
}

export function argsOf(inner: string): string[] {
  return splitTop(inner, /,/)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** `(a)` -> `a`, as often as it takes. */
export function bare(text: string): string {
  let out = text.trim();
  while (out.startsWith("(") && closes(out)) out = out.slice(1, -1).trim();
  return out;
}

function closes(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const end = tokenEnd(text, at);
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    at = end;
    if (depth === 0) return at === text.length;
  }
  return false;
}

/** Numbers and strings of a text, strings without their quotes. */
export function literalsOf(text: string): string[] {
  const found: string[] = [];
  let start = -1;
  const endWord = (at: number): void => {
    if (start !== -1 && isDigit(text.charCodeAt(start))) found.push(text.slice(start, at).replaceAll("_", ""));
    start = -1;
  };
  let at = 0;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (isWord(char)) {
      if (start === -1) start = at;
      at += 1;
      continue;
    }
    if (char === point && start !== -1 && /^\d+$/.test(text.slice(start, at))) {
      at += 1;
      continue;
    }
    endWord(at);
    const end = tokenEnd(text, at);
    if (end > at + 1 && isQuote(char)) {
      const marks = end - at >= 6 && text.startsWith((text[at] ?? "").repeat(3), at) && char !== backtick ? 3 : 1;
      found.push(text.slice(at + marks, end - marks));
    }
    at = end;
  }
  endWord(at);
  return found;
}

/** True for one number, string, or word that means a value. */
export function isLiteral(text: string): boolean {
  const one = text.trim();
  return (
    /^-?\d[\w.]*$/.test(one) ||
    /^(?:True|False|true|false|None|nil|null|undefined)$/.test(one) ||
    /^[furb]{0,2}(["'`])(?:\\.|(?!\1)[\s\S])*\1$/.test(one)
  );
}

const [tab, return_, blank, doubleQuote, singleQuote, point, backtick] = [9, 13, 32, 34, 39, 46, 96] as const;

/** Where the token at a place ends: a string, white space, or one character. */
export function tokenEnd(text: string, at: number): number {
  const char = text.charCodeAt(at);
  const whole = isQuote(char) ? string : isSpace(char) ? space : undefined;
  if (whole === undefined) return at + 1;
  whole.lastIndex = at;
  return whole.test(text) ? whole.lastIndex : at + 1;
}

function isQuote(char: number): boolean {
  return char === doubleQuote || char === singleQuote || char === backtick;
}

function isSpace(char: number): boolean {
  return char === blank || (char >= tab && char <= return_) || (char > 127 && /\s/.test(String.fromCharCode(char)));
}

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57;
}

/** A letter, digit, `_` or `$`. */
function isWord(char: number): boolean {
  return isDigit(char) || (char >= 65 && char <= 90) || (char >= 97 && char <= 122) || char === 95 || char === 36;
}

function quoted(text: string): string {
  if (!text.startsWith("'") || text.startsWith("'''")) return text;
  const inner = text.slice(1, -1);
  return inner.includes('"') ? text : `"${inner}"`;
}
