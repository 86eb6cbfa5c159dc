/**
 * Proof that a person agreed to what goes, in numbers, or passed --yes. Only app/confirm.ts makes one; a verb that
 * discards something asks for it, so nothing can be discarded without the question.
 */
export interface Confirmed {
  readonly __brand: "Confirmed";
  readonly what: string;
  readonly by: "person" | "--yes";
}
