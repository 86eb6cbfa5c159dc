import { createRedactor, secretsOf } from "../adapters/redact.ts";
import { createChain } from "../engine/chain.ts";
import type { CommandResult } from "../model/command-result.ts";
import { type ChatMessage, noReplyText } from "../model/completion.ts";
import { CompletionPrompt } from "../model/completion-file.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { ModelSource } from "../ports/model.ts";
import type { AnywhereContext } from "./anywhere.ts";
import { configuredKeys } from "./configured-keys.ts";
import type { ModelOrder } from "./models.ts";

/** The document of `model --ask --json`. */
export interface AskedData {
  readonly reply: string;
  readonly model: string;
  /** What the lane says of itself: `scripted`, `builtin/template`. */
  readonly label?: string;
  readonly text: readonly string[];
}

type AskContext = Pick<AnywhereContext, "clock" | "machine" | "settings"> & {
  readonly order: ModelOrder;
  readonly source: ModelSource;
};

/**
 * One completion by the person's own models, in their order, outside of any run: to try them, and for an editor's model
 * picker. It writes nothing and runs nothing of a repository. Keys of the environment are taken out of what is sent and
 * of what is said about a failure.
 *
 * @throws OrchError `usage.invalid` without words; `model.exhausted`, or the code of the one model that was asked
 */
export async function askModels(context: AskContext, words: string, signal: AbortSignal): Promise<CommandResult> {
  const { clock, machine, order, settings, source } = context;
  const redactor = createRedactor([...secretsOf(machine.env), ...configuredKeys(settings.config, machine.env)]);
  const messages = messagesOf(words).map(({ role, content }) => ({ role, content: redactor.text(content) }));
  if (order.ids.length === 0)
    throw new OrchError("model.exhausted", `no model can be asked: ${order.why}`, { data: { models: "none" } });
  const chain = createChain({ ids: order.ids, source, sink: silent, clock });
  const timeoutMs = settings.config.models.timeout_s * 1000;
  const said = await chain.complete({ role: "chat", step: 1, messages, timeoutMs }, signal);
  if (said.kind !== "ok") {
    const code = said.kind === "failed" && said.code !== undefined ? said.code : "model.exhausted";
    throw new OrchError(code, redactor.text(noReplyText(said)), {
      data: {
        models: order.ids.join(", "),
        ...(said.kind === "failed" && said.hint !== undefined ? { how: redactor.text(said.hint) } : {}),
      },
    });
  }
  const data: AskedData = {
    reply: said.text,
    model: said.model,
    ...(said.label === undefined ? {} : { label: said.label }),
    text: said.text.trimEnd().split("\n"),
  };
  return { ok: true, code: 0, summary: `${said.label ?? said.model} answered`, next: [], data };
}

/** A whole conversation as one JSON document, as an editor hands it over; else what a person typed. */
function messagesOf(words: string): readonly ChatMessage[] {
  if (words.trim() === "")
    throw new OrchError("usage.invalid", "--ask takes words, or - and words on standard input", {
      data: { command: "model" },
    });
  const read = words.trimStart().startsWith("{") ? readJson(words, CompletionPrompt) : undefined;
  return read?.kind === "ok" ? read.value.messages : [{ role: "user", content: words }];
}

/** There is no run to tell it to. */
const silent: EventSink = {
  append: () => undefined,
  sidecar: () => Promise.reject(new TypeError("a question outside of a run keeps no files")),
};
