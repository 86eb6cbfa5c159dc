/**
 * Lines that stand for code which was left out of a file that should be whole. Each needs either dots beside the word or
 * a phrase nobody writes in finished code, so that an honest comment ("keep the rest unchanged") stays one.
 */
const comment = String.raw`^\s*(?:#|//|/\*+|<!--|--|;|%|\*|"""|''')+\s*`;
const dots = String.raw`(?:\.{3,}|\u2026)`;
const left = String.raw`(?:the\s+)?(?:rest|remaining|remainder|existing|previous|other|same|unchanged|omitted|snip|truncated|as\s+before|more|etc)\b`;
const things = String.raw`(?:the\s+|your\s+|this\s+)?(?:code|file|class|function|functions|method|methods|module|implementation|imports|tests?|content|contents)`;
const kept = String.raw`\b(?:unchanged|omitted|(?:same\s+)?as\s+before|(?:stays?|remains?|is|are)\s+the\s+same)\b`;

/** What can be left out, by its name in code: `BASE`, `test_one`, `total()`, imports. A sentence has other words. */
const name = String.raw`(?:${things}|imports?|helpers?|constants?|fields|types|(?=[\w$.]*(?:_|[\p{Ll}\d]\p{Lu}|\p{Lu}{2}|\d|\(\)))[\w$.]+(?:\(\))?)`;
const names = String.raw`["'\x60]?${name}["'\x60]?(?:\s*(?:,|,?\s+and|&)\s*["'\x60]?${name}["'\x60]?){0,12}`;
const end = String.raw`[^\p{L}\p{N}]*$`;

const patterns: readonly RegExp[] = [
  new RegExp(`${comment}\\(?${dots}\\s*\\(?\\s*${left}`, "iu"),
  new RegExp(`${comment}[\\[(<{]?\\s*${left}.{0,80}${dots}`, "iu"),
  new RegExp(`${comment}\\(?${dots}.{0,80}${kept}\\s*\\)?\\s*${dots}${end}`, "iu"),
  new RegExp(`${comment}\\(?${dots}\\s*${names}[\\s(:-]+${kept}${end}`, "u"),
  new RegExp(`${comment}${names}[\\s(:-]+${kept}\\s*\\)?\\s*${dots}${end}`, "u"),
  new RegExp(
    `${comment}[\\[(<{]?\\s*(?:the\\s+)?(?:rest|remainder)\\s+of\\s+${things}\\b.{0,40}\\b(?:unchanged|same|here|omitted|stays|remains|goes|as\\s+is|as\\s+before)\\b`,
    "iu",
  ),
  new RegExp(
    `${comment}[\\[(<{]?\\s*(?:unchanged|omitted|existing\\s+code|code\\s+omitted|same\\s+as\\s+before|snip)\\s*[\\])>}]?\\s*(?:\\*/|-->)?\\s*$`,
    "iu",
  ),
  /\b(?:omitted|truncated|shortened|abbreviated|left out)\s+for\s+brevity\b/iu,
  /^\s*[[<({]\s*(?:\.{3}\s*)?(?:the\s+)?(?:rest|remaining|existing)\b[^\])>}]{0,60}[\])>}]\s*$/iu,
];

export interface Placeholder {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** The first placeholder of a file, or undefined. Longer lines than any comment are not looked at. */
export function findPlaceholder(text: string): Placeholder | undefined {
  let line = 0;
  for (const one of text.split("\n")) {
    line += 1;
    if (one.length <= 400 && patterns.some((pattern) => pattern.test(one))) return { line, text: one.trim() };
  }
  return undefined;
}
