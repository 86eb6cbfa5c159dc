/** The next keystroke in words, and the whole commands of this product that the words name: `next` of a refusal. */
export interface Hint {
  readonly text: string;
  readonly next: readonly string[];
}

interface Typed {
  readonly line: string;
}

/** A command in a hint that a person can paste as it stands. One with a placeholder in it stays plain text. */
export const orch = (words: string): Typed => ({ line: `orch ${words}`.trimEnd() });

/** A hint whose commands are marked where they stand, so that its text and its `next` cannot differ. */
export function say(texts: TemplateStringsArray, ...parts: readonly (string | Typed)[]): Hint {
  const told = parts.map((part) => (typeof part === "string" ? part : part.line));
  return {
    text: texts
      .map((text, at) => `${text}${told[at] ?? ""}`)
      .join("")
      .trimEnd(),
    next: [...new Set(parts.flatMap((part) => (typeof part === "string" ? [] : [part.line])))],
  };
}
