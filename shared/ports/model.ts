import type { ChatMessage, PromptRole } from "../model/completion.ts";
import type { ErrorCode } from "../model/error-table.ts";
import type { Pack } from "../model/pack.ts";
import type { Target } from "../model/target.ts";
import type { Usage } from "../model/usage.ts";

/**
 * What the prompt is about, as data. Whoever builds a ModelRequest for a feature (the completion worker for
 * `implement`, the commands `new` and `modify` for `spec` and `amend`) fills it from the same texts that the messages
 * hold, so that a rule-based model never has to read prose. A language model's lane ignores it, and it never leaves
 * the machine.
 */
export interface ModelSubject {
  readonly target: Target;
  /** The slice's folder, relative to the repository's root, with `/`. */
  readonly dir: string;
  readonly pack: Pack;
  /** False with --no-controller. */
  readonly controller: boolean;
  /** The person's words; empty when there are none. */
  readonly request: string;
  /** Whole text of `spec.md`; absent for role `spec`. */
  readonly spec?: string;
  /** The slice's text files: name in the slice -> whole text. */
  readonly files: Readonly<Record<string, string>>;
}

export interface ModelRequest {
  readonly role: PromptRole;
  /** Attempt or round number, from 1. */
  readonly step: number;
  readonly messages: readonly ChatMessage[];
  readonly timeoutMs: number;
  readonly contract?: string;
  readonly attempt?: number;
  readonly subject?: ModelSubject;
}

/**
 * `auth` (a refused credential) stops a provider, the others let the chain go on to the next model. `refused`: the lane
 * understood and will not (a template or cassette that does not know the prompt). `unavailable`: it could not be asked
 * at all. `exhausted`: only from a chain, when no model gave anything usable.
 */
export type FailureWhy =
  | "auth"
  | "rate-limit"
  | "timeout"
  | "network"
  | "protocol"
  | "unknown-model"
  | "refused"
  | "error"
  | "unavailable"
  | "exhausted";
export type UnusableWhy = "empty" | "tool-markup" | "truncated";

/** One model of a chain that gave nothing usable, and what it said. */
export interface TriedModel {
  readonly model: string;
  readonly why: FailureWhy | UnusableWhy;
  readonly detail: string;
}

/**
 * `detail` is for a person: what happened, in one line, without secrets. Usage a lane is not told is "unknown", never
 * 0.
 */
export type Completion =
  | {
      readonly kind: "ok";
      readonly text: string;
      readonly model: string;
      readonly usage: Usage;
      readonly label?: string;
    }
  | {
      readonly kind: "unusable";
      readonly why: UnusableWhy;
      readonly model: string;
      readonly usage: Usage;
      readonly detail: string;
    }
  | {
      readonly kind: "failed";
      readonly why: FailureWhy;
      readonly model: string;
      readonly detail: string;
      /** The next keystroke. */
      readonly hint?: string;
      /** The refusal a caller throws when it cannot go on without a reply. */
      readonly code?: ErrorCode;
      /** With `exhausted`: every model of the chain in order. */
      readonly tried?: readonly TriedModel[];
      /** With `exhausted`: what the replies cost that came and could not be used. */
      readonly usage?: Usage;
    };

export type Lane = "pi" | "openai" | "vscode-lm" | "demo" | "template" | "chain";

/**
 * One completion, one model, one try: no retries of its own. Rejects only with an AbortError when `signal` aborts, or
 * for a bug.
 */
export interface Model {
  /**
   * Full id, e.g. `openrouter/poolside/laguna-s-2.1:free`, `builtin/template`; a chain's is that of its first model.
   */
  readonly id: string;
  /** What a refused credential stops: the part of the id before the first `/`. */
  readonly provider: string;
  readonly lane: Lane;
  /** What the lane must say of itself on every line: `scripted`, `builtin/template`. */
  readonly label?: string;
  complete(request: ModelRequest, signal: AbortSignal): Promise<Completion>;
}

export type OpenedModel =
  | { readonly kind: "model"; readonly model: Model }
  | {
      readonly kind: "unavailable";
      readonly why: string;
      readonly hint: string;
      /** The refusal of whoever cannot go on without this very model. */
      readonly code?: ErrorCode;
    };

/** Turns ids into models. `unavailable` names why a model cannot be asked at all (no pi, no key). */
export interface ModelSource {
  open(id: string, signal: AbortSignal): Promise<OpenedModel>;
}
