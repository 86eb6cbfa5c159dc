import type { SyntaxNode } from "../../../ports/syntax.ts";
import type { ReadLanguage } from "./language.ts";

/** Where every line of a text starts. */
export function lineStarts(source: string): readonly number[] {
  const starts = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The line that an offset is in, counted from one. */
export function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

/** Blanks in place of comments: what else stands in the text keeps its place. */
export function withoutComments(root: SyntaxNode, source: string, language: ReadLanguage): string {
  const parts: string[] = [];
  let at = 0;
  const pending: SyntaxNode[] = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (language.is("comments", node.type)) {
      parts.push(source.slice(at, node.start), source.slice(node.start, node.end).replace(/[^\n]/g, " "));
      at = node.end;
    } else for (let i = node.children.length - 1; i >= 0; i -= 1) pending.push(node.children[i] as SyntaxNode);
  }
  parts.push(source.slice(at));
  return parts.join("");
}

/** How often each word of a text is said. Every word is counted once: a file may hold thousands of functions. */
export function wordCounts(text: string): (word: string) => number {
  let said: Map<string, number> | undefined;
  return (name) => {
    if (said === undefined) {
      said = new Map();
      for (const [word] of text.matchAll(/[\w$]+/g)) said.set(word, (said.get(word) ?? 0) + 1);
    }
    return said.get(name) ?? 0;
  };
}
