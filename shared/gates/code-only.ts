import type { Rulebook } from "../rulebook/load.ts";
import { viewsOf } from "../rulebook/views.ts";

/** A source text without comments and documentation; line numbers stay. */
export function codeOnly(book: Pick<Rulebook, "sets"> | undefined, path: string, text: string): string {
  const lexical = book?.sets.find((set) => set.lexical !== undefined && set.holds(path))?.lexical;
  const views = viewsOf(text, lexical);
  let code = views.without(["comment"]);
  for (const { context, start, end, open } of views.tokens) {
    if (context === "comment" || open < 3) continue;
    code = code.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, " ") + code.slice(end);
  }
  return code;
}
