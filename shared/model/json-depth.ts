/** No file of a person's nests nearly as deep; readers that go down by calls come to the end of the stack far beyond. */
const maxDepth = 100;

/** Offset of what opens the 101st level of a JSON text with comments, undefined where none does. A loop, no calls. */
export function tooDeepAt(text: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') at = endOfString(text, at);
    else if (letter === "/" && text[at + 1] === "/") at = end(text, "\n", at);
    else if (letter === "/" && text[at + 1] === "*") at = end(text, "*/", at + 2);
    else if (letter === "[" || letter === "{") {
      depth += 1;
      if (depth > maxDepth) return at;
    } else if (letter === "]" || letter === "}") depth -= 1;
  }
  return undefined;
}

/**
 * The quote that closes what opens at `from`, the first one with an even number of backslashes before it; at the latest
 * the end of its line, for no string of JSON has two.
 */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === "\\") before -= 1;
    if ((quote - before) % 2 === 0) return lineEnd(text.slice(from, quote), from) ?? quote;
  }
  return end(text, "\n", from);
}

function lineEnd(text: string, from: number): number | undefined {
  const at = text.indexOf("\n");
  return at === -1 ? undefined : from + at;
}

function end(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at;
}
