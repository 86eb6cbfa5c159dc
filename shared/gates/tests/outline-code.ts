import type { Outline } from "./outline.ts";

/** What runs of a file of tests, lines as they were: a text that stands for itself is documentation. */
export function codeOf({ text }: Pick<Outline, "text">): string {
  return text.replace(/^[ \t]*[rR]?("""|''')[\s\S]*?\1/gm, (doc) => doc.replace(/[^\n]/g, ""));
}
