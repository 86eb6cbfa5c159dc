import type { AskedAgain } from "../features/asked-again.ts";
import { type ChatMessage, noReplyText, type PromptRole } from "../model/completion.ts";
import type { Model, ModelSubject } from "../ports/model.ts";
import type { RepoContext } from "./context.ts";

export interface SpecQuestion {
  readonly role: Extract<PromptRole, "spec" | "amend">;
  readonly subject: ModelSubject;
  messages(again: AskedAgain | undefined): readonly ChatMessage[];
  /** The spec in a reply, and what is wrong with it. */
  read(reply: string): { readonly text: string | undefined; readonly problems: readonly string[] };
}

export type SpecAnswer =
  | {
      readonly kind: "text";
      readonly text: string;
      /** What is still wrong with it. */
      readonly problems: readonly string[];
      readonly by: string;
      readonly label?: string;
    }
  | { readonly kind: "none"; readonly why: string };

/** A reply that is not well-formed is asked for once more. */
const maxRounds = 2;

/**
 * Asks a model for a spec. Prompts and replies go to the run folder; nothing is written to the tree. What the caller
 * passes on has no secrets in it any more. Rejects only with an AbortError.
 */
export async function askForSpec(
  { sink, config }: Pick<RepoContext, "sink" | "config">,
  model: Model,
  question: SpecQuestion,
  signal: AbortSignal,
): Promise<SpecAnswer> {
  let last:
    | (AskedAgain & { readonly text: string | undefined; readonly by: string; readonly label?: string })
    | undefined;
  let failure = "";
  for (let round = 1; round <= maxRounds; round += 1) {
    const messages = question.messages(last);
    const shown = messages.map(({ role, content }) => `[${role}]\n${content}\n`).join("\n");
    await sink.sidecar(`spec/prompt-${round}.md`, shown);
    const again = round === 1 ? "asking" : "asking again";
    sink.append({ type: "progress.noted", text: `spec.md: ${again} ${model.label ?? model.id}` });
    const { role, subject } = question;
    const timeoutMs = config.models.timeout_s * 1000;
    const said = await model.complete({ role, step: round, messages, timeoutMs, subject }, signal);
    if (said.kind !== "ok") {
      failure = noReplyText(said);
      break;
    }
    await sink.sidecar(`spec/reply-${round}.md`, said.text);
    const { text, problems } = question.read(said.text);
    const label = said.label === undefined ? {} : { label: said.label };
    last = { reply: said.text, text, problems, by: said.model, ...label };
    if (text !== undefined && problems.length === 0) break;
  }
  if (last === undefined) return { kind: "none", why: failure };
  const { text, problems, by, label } = last;
  if (text === undefined) return { kind: "none", why: `${by} gave no spec` };
  return { kind: "text", text, problems, by, ...(label === undefined ? {} : { label }) };
}
