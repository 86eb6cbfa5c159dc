/** One message list for one completion. Lanes without a system role fold it into the first user message. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** What a prompt is for; the demo cassette matches on it, logs name it. `chat`: a question outside of any run. */
export type PromptRole = "spec" | "spec-qa" | "implement" | "amend" | "judge" | "plan" | "chat";

/** Why there is no reply, in one line. A chain's detail names its models itself; any other reason is one model's. */
export function noReplyText(said: {
  readonly kind: "failed" | "unusable";
  readonly why: string;
  readonly model: string;
  readonly detail: string;
}): string {
  if (said.kind === "unusable") return `${said.model} gave nothing usable: ${said.detail}`;
  return said.why === "exhausted" ? `no model gave anything usable. ${said.detail}` : `${said.model}: ${said.detail}`;
}

/** A model and what its lane says of itself, once where the two are the same word. */
export function modelText(model: string, label: string | undefined): string {
  return label === undefined || label === model ? model : `${model} (${label})`;
}
