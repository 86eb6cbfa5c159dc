import { isOrchError } from "../model/error.ts";
import type { Editor } from "../ports/editor.ts";
import type { CommandArgs } from "./context.ts";

/**
 * Carries out `look` for the feature that the words name. Where it is unknown but near misses are, a person is asked
 * which one was meant (at most three), and the words say so from then on; without a person the refusal stands.
 *
 * @throws what `look` throws
 */
export async function askNearMiss<T, A extends Pick<CommandArgs, "words">>(
  editor: Pick<Editor, "interactive" | "ask">,
  args: A,
  signal: AbortSignal,
  look: (args: A) => Promise<T>,
): Promise<{ readonly args: A; readonly found: T }> {
  try {
    return { args, found: await look(args) };
  } catch (error) {
    const near = isOrchError(error, "target.unknown") ? error.data["near"] : undefined;
    if (typeof near !== "string" || !editor.interactive || !isOrchError(error)) throw error;
    const names = near.split(", ").slice(0, 3);
    const choices = [...names.map((name) => ({ id: name, label: name })), { id: "none", label: "None of them" }];
    const title = `${error.message}. Which one did you mean?`;
    const answer = await editor.ask({ kind: "pick", weight: "question", title, choices, otherwise: "none" }, signal);
    const meant = names.find((name) => name === answer?.choice);
    if (meant === undefined) throw error;
    const chosen = { ...args, words: [meant, ...args.words.slice(1)] };
    return { args: chosen, found: await look(chosen) };
  }
}
