import type { Cassette } from "../../model/cassette.ts";

/** What one language's telling of the sample consists of: file names with their texts. */
export interface InvoiceTelling {
  /** More that the prompt for the spec must hold, to tell languages apart. */
  readonly asked: readonly string[];
  /** The same for the prompt that asks for code. */
  readonly shown: readonly string[];
  readonly spec: string;
  /** Rounds the tax of the sum instead of each line, and leaves an import behind, as first tries do. */
  readonly first: Readonly<Record<string, string>>;
  /** Answers the feedback. */
  readonly second: Readonly<Record<string, string>>;
}

/** The sample's story as replies: a spec, spec QA's word, a first try with faults, and its mending. */
export function invoiceCassette({ asked, shown, spec, first, second }: InvoiceTelling): Cassette {
  const rounding = "rounded half up to whole cents";
  const mended = "The tax is rounded on each line now; the unused import is gone";
  return {
    v: 1,
    label: "scripted",
    steps: [
      { role: "spec", step: 1, match: ["Feature: Invoice", ...asked, "tax rounded on each line"], reply: spec },
      { role: "spec-qa", step: 1, match: ["# Invoice", rounding], reply: "VALID" },
      {
        role: "implement",
        step: 1,
        match: ["# Invoice", rounding, ...shown],
        reply: reply(first, "Totals with tax per line"),
      },
      { role: "implement", step: 2, match: [rounding, "Attempt 1 did not pass"], reply: reply(second, mended) },
    ],
  };
}

function reply(files: Readonly<Record<string, string>>, notes: string): string {
  return JSON.stringify({ files, notes }, null, 2);
}
