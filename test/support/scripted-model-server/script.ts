/**
 * What a scripted model server answers: an ordered list of steps. Each call is matched from the top; the first step that
 * matches and has uses left answers it. A call that no step matches gets HTTP 418, so that a test notices it.
 */
export interface Script {
  /** Ids that the model list names. */
  readonly models?: readonly string[];
  readonly steps: readonly Step[];
  readonly otherwise?: Reply;
}

export interface Step {
  readonly name?: string;
  readonly match?: Match;
  /** How many calls it may answer; unlimited when absent. */
  readonly times?: number;
  /** Awaited before it answers: what a person does while the model writes. */
  readonly after?: () => Promise<void>;
  readonly reply?: Reply;
  readonly fail?: Failure;
}

/** Regular expressions, `.` matching line ends too; all given ones must match. */
export interface Match {
  readonly model?: string;
  readonly system?: string;
  /** The newest user text. */
  readonly user?: string;
  /** Assistant messages since the newest user text: the step of an agent's loop. */
  readonly turn?: number;
  /** False for side calls (titles, probes), which offer none. */
  readonly offersTools?: boolean;
  /** The newest result of a tool. */
  readonly toolResult?: string;
}

export interface ToolCall {
  readonly name: string;
  /** A text is sent as it is: for tools that take free text. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

export interface Reply {
  readonly text?: string;
  readonly thinking?: string;
  readonly usage?: {
    readonly input?: number;
    readonly output?: number;
    readonly cacheRead?: number;
    readonly costUsd?: number;
  };
  /** `length` ends the reply the way a used-up token limit does. */
  readonly stop?: "stop" | "length" | "content_filter";
  /** Number of pieces the text is streamed in; 3 when absent. */
  readonly pieces?: number;
  /** Answers in one JSON body although a stream was asked for, as some endpoints do. */
  readonly whole?: boolean;
  /** Calls this tool instead of answering. */
  readonly toolCall?: ToolCall;
  readonly toolCalls?: readonly ToolCall[];
}

export type Failure =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message?: string;
      readonly code?: string;
      readonly retryAfterSeconds?: number;
    }
  /** 200 and nothing else. */
  | { readonly kind: "empty-body" }
  /** Accepts the call and never answers. */
  | { readonly kind: "hang" }
  /** Streams a part of `text`, then ends without a finish marker. */
  | { readonly kind: "truncate"; readonly text: string }
  /** Streams a part of `text`, then falls silent with the socket open. */
  | { readonly kind: "stall"; readonly text: string }
  /** Streams a part of `text`, then breaks the connection. */
  | { readonly kind: "break"; readonly text: string }
  /** Breaks the connection before any byte. */
  | { readonly kind: "reset" }
  /** 200 and a page, not a reply. */
  | { readonly kind: "html"; readonly body?: string }
  /** 200 and a stream whose data is no JSON. */
  | { readonly kind: "garbage" }
  /** 200 and an error object in the stream. */
  | { readonly kind: "stream-error"; readonly message: string; readonly code: number };

/** One model call, reduced to what matching and assertions need. */
export interface Call {
  readonly wire: "openai-chat" | "openai-responses" | "anthropic" | "gemini";
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly user: string;
  /** Every user text of the conversation, oldest first. */
  readonly users: readonly string[];
  readonly offersTools: boolean;
  readonly tools: readonly { readonly name: string; readonly custom: boolean; readonly namespace?: string }[];
  readonly turn: number;
  readonly toolResult?: string;
  /** Header names in lower case; the key is not kept, only whether there was one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly authorized: boolean;
  /** Name or number of the step that answered. */
  answeredBy: string;
}

export class ScriptRunner {
  readonly #uses = new Map<Step, number>();
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  get models(): readonly string[] {
    return this.#script.models ?? ["scripted"];
  }

  next(call: Call): Step | undefined {
    for (const [index, step] of this.#script.steps.entries()) {
      const used = this.#uses.get(step) ?? 0;
      if (used >= (step.times ?? Number.POSITIVE_INFINITY) || !matches(step.match, call)) continue;
      this.#uses.set(step, used + 1);
      return { name: `step ${index + 1}`, ...step };
    }
    return this.#script.otherwise === undefined ? undefined : { name: "otherwise", reply: this.#script.otherwise };
  }
}

function matches(match: Match | undefined, call: Call): boolean {
  const test = (pattern: string | undefined, text: string): boolean =>
    pattern === undefined || new RegExp(pattern, "s").test(text);
  return (
    match === undefined ||
    (test(match.model, call.model) &&
      test(match.system, call.system) &&
      test(match.user, call.user) &&
      (match.turn === undefined || match.turn === call.turn) &&
      (match.offersTools === undefined || match.offersTools === call.offersTools) &&
      (match.toolResult === undefined || (call.toolResult !== undefined && test(match.toolResult, call.toolResult))))
  );
}
