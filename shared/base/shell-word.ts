/** The text as one word of a POSIX shell, whatever it holds: nothing inside of single quotes is anything else. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Plain in every shell, at the start of a word, too: `~`, `=` and `@` mean something there. */
const plain = /^[\w./+:-][\w./@+:=-]*$/;

// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for here
const control = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/;

/**
 * A word of a command that is printed for a person to paste: what it holds is never run or replaced by their shell, for
 * a title, a branch or a file's name is the repository's. A line of a terminal has no line end in it, and `$'..'` is not
 * POSIX: such a word is left for the person to give.
 */
export function shellWord(word: string): string {
  if (plain.test(word)) return word;
  return control.test(word) ? '"..."' : quotedWord(word);
}
