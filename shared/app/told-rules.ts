import type { PromptRule } from "../prompts/sections.ts";
import type { Rulebook } from "../rulebook/load.ts";

/** What a model is told before it writes: the rules of its language, one line each, what is only noted marked as such. */
export function toldRules(book: Rulebook, lang: string): readonly PromptRule[] {
  const told = new Set<string>();
  return (
    book.sets
      .filter(({ set }) => set === lang)
      .flatMap(({ rules }) => rules)
      // What the tree must hold is named elsewhere in the prompt, or is no business of a slice.
      .filter(({ rule }) => rule.kind !== "tree")
      .flatMap(({ rule, severity }): readonly PromptRule[] => {
        const message = rule.message.replaceAll("{name}", "a name");
        // Rules that say the same in several ways are one to a reader.
        if (told.has(message)) return [];
        told.add(message);
        return [{ id: rule.id, message, ...(severity === "FAIL" ? {} : { mild: true }) }];
      })
  );
}
