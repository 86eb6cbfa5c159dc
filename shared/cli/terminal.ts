import { createInterface } from "node:readline/promises";
import { shownLine, stripControls } from "../base/lines.ts";
import type { Answer, Question } from "../ports/editor.ts";

/** Asks a person on a terminal. Questions go to stderr, so that stdout stays a document or the command's own lines. */
export async function askInTerminal(question: Question, signal: AbortSignal): Promise<Answer | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(`${shownLine(question.title)}\n`);
    if (question.detail !== undefined) process.stderr.write(`${stripControls(question.detail)}\n`);
    if (question.kind === "text") {
      const text = await lines.question("> ", { signal });
      return { text, by: "person" };
    }
    question.choices.forEach((choice, index) => process.stderr.write(`  ${index + 1}. ${shownLine(choice.label)}\n`));
    const numbers = `1-${question.choices.length}`;
    for (;;) {
      const typed = (
        await lines.question(
          `${numbers}${question.otherwise === undefined ? "" : `, Enter for ${question.otherwise}`}: `,
          { signal },
        )
      ).trim();
      if (typed === "" && question.otherwise !== undefined) return { choice: question.otherwise, by: "person" };
      const chosen = chosenBy(typed, question);
      if (chosen !== undefined) return { choice: chosen, by: "person" };
      process.stderr.write(`Type ${numbers}, or one of ${question.choices.map(({ id }) => id).join(", ")}\n`);
    }
  } catch {
    return undefined;
  } finally {
    lines.close();
  }
}

/** By number, by the choice's id or its first letters; `y` and `yes` mean the first of two, `n` and `no` the second. */
export function chosenBy(typed: string, { choices }: Pick<Question, "choices">): string | undefined {
  const word = typed.trim().toLowerCase();
  if (word === "") return undefined;
  if (/^\d+$/.test(word)) return choices[Number(word) - 1]?.id;
  const exact = choices.find(({ id, label }) => id.toLowerCase() === word || label.toLowerCase() === word);
  if (exact !== undefined) return exact.id;
  if (choices.length === 2 && /^y(?:es)?$/.test(word)) return choices[0]?.id;
  if (choices.length === 2 && /^no?$/.test(word)) return choices[1]?.id;
  const begun = choices.filter(({ id }) => id.toLowerCase().startsWith(word));
  return begun.length === 1 ? begun[0]?.id : undefined;
}

/** A person is there: both ends are terminals. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}
