/** Typed questions about a state; probabilities warn, revise once or ask, they never fail work by themselves. */
export interface JudgeQuestion {
  readonly id: string;
  readonly type: "noul" | "choice" | "score";
  readonly instructions: string;
  readonly criteria: string;
}
export type Judgement =
  | { readonly kind: "answered"; readonly values: Readonly<Record<string, number | string>> }
  | { readonly kind: "off"; readonly why: string };

export interface Judge {
  ask(questions: readonly JudgeQuestion[], state: string, signal: AbortSignal): Promise<Judgement>;
}
