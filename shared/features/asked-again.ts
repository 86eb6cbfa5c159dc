import type { ChatMessage } from "../model/completion.ts";

/** A reply that could not be taken as it is, and why. */
export interface AskedAgain {
  readonly reply: string;
  readonly problems: readonly string[];
}

/** The same question, then the reply it got, what is wrong with that, and what to reply instead. */
export function withAgain(
  first: readonly ChatMessage[],
  again: AskedAgain | undefined,
  words: { readonly what: string; readonly ask: string },
): readonly ChatMessage[] {
  if (again === undefined) return first;
  const problems = again.problems.map((problem) => `- ${problem}`).join("\n");
  return [
    ...first,
    { role: "assistant", content: again.reply },
    { role: "user", content: `${words.what}:\n${problems}\n\n${words.ask}` },
  ];
}

/** The two messages of a question. */
export function question(system: string, user: string): readonly ChatMessage[] {
  return [
    { role: "system", content: system },
    { role: "user", content: user },
  ];
}
