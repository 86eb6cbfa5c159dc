import { OrchError } from "../model/error.ts";
import type { Confirmed } from "../model/confirmed.ts";
import type { Editor } from "../ports/editor.ts";

export interface Confirmation {
  /** The question, with the numbers of what goes. */
  readonly title: string;
  /** The list behind the numbers. */
  readonly detail: string;
  /** What the yes does, as a verb: `Discard it`. */
  readonly yes: string;
}

/**
 * The only place that makes a `Confirmed`: after a person said yes, or with --yes. `undefined` means the person said no
 * or dismissed it. Call it without holding the repository lock: a person may think for an hour.
 *
 * @throws OrchError `confirm.needed` when nobody is there to ask and --yes was not given
 */
export async function confirm(
  editor: Editor,
  answeredYes: boolean,
  question: Confirmation,
  signal: AbortSignal,
): Promise<Confirmed | undefined> {
  if (answeredYes) return mint(question.title, "--yes");
  if (!editor.interactive) {
    throw new OrchError("confirm.needed", `${question.title} Nobody is here to answer`, {
      data: { detail: question.detail },
    });
  }
  const answer = await editor.ask(
    {
      kind: "confirm",
      weight: "decision",
      title: question.title,
      detail: question.detail,
      choices: [
        { id: "yes", label: question.yes },
        { id: "no", label: "Keep everything" },
      ],
    },
    signal,
  );
  return answer?.choice === "yes" ? mint(question.title, "person") : undefined;
}

function mint(what: string, by: Confirmed["by"]): Confirmed {
  return { __brand: "Confirmed", what, by };
}
