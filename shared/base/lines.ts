/** Lines without their ends (LF or CRLF); a final line end does not add an empty line. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** 1-based line of a character offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** At most `maxChars` characters, head and tail kept, with a line that says how much is missing. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = Math.ceil(maxChars * 0.6);
  const tail = maxChars - head;
  const cut = text.length - head - tail;
  return `${text.slice(0, head)}\n[... ${cut} characters cut ...]\n${text.slice(text.length - tail)}`;
}

/** Removes terminal control sequences and other control characters but tab and line ends: model text is data. */
export function stripControls(text: string): string {
  const escapes = /\u001B(?:\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])/g;
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is removed here
  return text.replace(escapes, "").replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g, "");
}

/**
 * A line as a terminal shows it. What follows a line end inside of it (a file's name may hold one) goes on behind a bar:
 * nothing that came from outside may begin a line of ours.
 */
export function shownLine(text: string): string {
  const indent = /^ */.exec(text)?.[0] ?? "";
  return stripControls(text).replaceAll(/\r?\n/g, `\n${indent}  | `);
}

/** What stands before the first line end: a summary is one line. */
export function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? "";
}

/** `1 file`, `2 files`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}
