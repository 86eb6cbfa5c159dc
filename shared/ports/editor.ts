import type { Finding } from "../model/finding.ts";
import type { ActiveBuffer, HostName } from "../model/run-files.ts";

/**
 * Everything the core may ask of a person's editor. Seven verbs; an eighth needs a decision record. Answers that are
 * `undefined` mean: dismissed, or nobody is there; the caller then uses the question's stated default or refuses.
 */
export interface Editor {
  readonly host: HostName;
  /** False in CI and with --no-input: `ask` answers undefined at once. */
  readonly interactive: boolean;
  activeFile(): Promise<ActiveBuffer | undefined>;
  ask(question: Question, signal: AbortSignal): Promise<Answer | undefined>;
  notify(notice: Notice): void;
  progress(text: string): void;
  showDiff(diff: DiffView): Promise<void>;
  showFindings(findings: readonly Finding[]): void;
  open(at: { readonly path: string; readonly line?: number }): Promise<void>;
}

export interface Question {
  readonly kind: "pick" | "confirm" | "text";
  /** A question has a stated default after a time; a decision waits for ever. */
  readonly weight: "question" | "decision";
  readonly title: string;
  readonly detail?: string;
  readonly choices: readonly { readonly id: string; readonly label: string }[];
  /** The choice taken when nobody answers; absent means the command refuses. */
  readonly otherwise?: string;
}

export interface Answer {
  readonly choice?: string;
  readonly text?: string;
  readonly by: string;
}

export interface Notice {
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
  readonly hint?: string;
}

export interface DiffView {
  readonly title: string;
  readonly path: string;
  readonly left: string;
  readonly right: string;
}
