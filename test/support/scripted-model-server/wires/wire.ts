import type { Call, Reply, ToolCall } from "../script.ts";

/** Bodies of clients' requests are read by place: their shapes are the clients'. */
export type Body = Readonly<Record<string, unknown>>;

export interface ServerEvent {
  /** The `event:` line, where the protocol has one. */
  readonly event?: string;
  readonly data: unknown;
}

/** One protocol. What the script says in neutral words is put on the wire here, and what came is read into a Talk. */
export interface Wire {
  readonly name: Call["wire"];
  owns(path: string): boolean;
  read(body: Body, path: string): Talk;
  isStream(body: Body, path: string): boolean;
  /** The reply in one body. */
  whole(reply: Reply, call: Call): unknown;
  /** The reply as a stream, without what closes it. */
  events(reply: Reply, call: Call): readonly ServerEvent[];
  error(status: number, message: string, code: string | null): unknown;
  /** Written after the last event of a healthy stream. */
  readonly terminator: string;
}

/** What the newest messages are, oldest first walked. */
export interface Talk {
  readonly model: string;
  readonly system: string;
  /** The newest user text. */
  readonly user: string;
  /** Every user text, oldest first. */
  readonly users: readonly string[];
  /** Assistant messages since then. */
  readonly turn: number;
  readonly tools: readonly { readonly name: string; readonly custom: boolean; readonly namespace?: string }[];
  /** Result of a tool, when that is the newest message. */
  readonly toolResult?: string;
}

export class TalkWalk {
  system = "";
  user = "";
  readonly users: string[] = [];
  turn = 0;
  toolResult: string | undefined;
  #last: "user" | "assistant" | "tool" | undefined;

  said(text: string): void {
    if (text === "") return;
    this.user = this.#last === "user" ? `${this.user}\n${text}` : text;
    this.users.push(text);
    this.turn = 0;
    this.toolResult = undefined;
    this.#last = "user";
  }

  answered(): void {
    if (this.#last !== "assistant") this.turn += 1;
    this.toolResult = undefined;
    this.#last = "assistant";
  }

  ran(text: string): void {
    this.toolResult = text;
    this.#last = "tool";
  }

  talk(model: unknown, tools: Talk["tools"]): Talk {
    return {
      model: typeof model === "string" ? model : "",
      system: this.system,
      user: this.user,
      users: this.users,
      turn: this.turn,
      tools,
      ...(this.toolResult === undefined ? {} : { toolResult: this.toolResult }),
    };
  }
}

export function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.filter((one): one is Body => typeof one === "object" && one !== null) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Text of a content that is a string, or a list of typed parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : contentText(part["content"])))
    .filter((text) => text !== "")
    .join("\n");
}

export function cut(text: string, pieces: number): string[] {
  if (text === "") return [];
  const size = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

/** Unique for the life of the process: clients keep what they saw by id. */
export function freshId(prefix: string): string {
  counter += 1;
  return `${prefix}${String(counter).padStart(6, "0")}`;
}
let counter = 0;

export function callsOf(reply: Reply): readonly ToolCall[] {
  return [...(reply.toolCall === undefined ? [] : [reply.toolCall]), ...(reply.toolCalls ?? [])];
}

export function argumentsText({ arguments: given }: ToolCall): string {
  return typeof given === "string" ? given : JSON.stringify(given);
}

/** What a reply cost; other protocols than OpenAI's chat must tell something. */
export function usageNumbers({ usage }: Reply): {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
} {
  return { input: usage?.input ?? 1000, output: usage?.output ?? 50, cacheRead: usage?.cacheRead ?? 0 };
}
