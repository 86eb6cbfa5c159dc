import { type Spec, specRows, specSection } from "./spec.ts";

/** A place of the spec where a word stands for what should be said there. */
export interface SpecPlaceholder {
  readonly line: number;
  /** `Overview`, `this rule`, `this row of Outputs`. */
  readonly where: string;
  readonly text: string;
}

const later = /^(?:todo|tbd|tba|tbc|fixme|etc|to be (?:defined|decided|determined|done|confirmed|written))$/i;
const before =
  /^(?:unchanged|no changes?|(?:the )?same(?: as (?:before|above))?|as (?:before|above)|(?:stays|remains) (?:as is|the same|unchanged))$/i;

/** Nothing but a mark that it comes later: `TBD`, `...`. */
function saysLater(text: string): boolean {
  return /^[\s([<{]*(?:\.{3,}|\u2026)[\s)\]>}]*$/.test(text) || later.test(bare(text));
}

/** Nothing but a word that it is as it was: `(unchanged)`. Said in a reply, it means the old text. */
export function saysUnchanged(text: string): boolean {
  return before.test(bare(text));
}

function bare(text: string): string {
  return text.replace(/^[\s*_`"'([<{.\u2026-]+|[\s*_`"')\]>}:.\u2026-]+$/g, "").replace(/\s+/g, " ");
}

/** As a model writes it in place of a text: `(unchanged)`, `*same as before*`, `<no change>`. */
function standsForText(text: string): boolean {
  return /^\s*[*_]*[([<{]/.test(text) && saysUnchanged(text);
}

/**
 * In a table "unchanged" or "same as above" can be what is meant: an output that is as it came in, an input like the one
 * above. A rule or an overview that says so says nothing. What an example says is a value: only dots can be none.
 */
export function specPlaceholders(spec: Spec): readonly SpecPlaceholder[] {
  const overview = specSection(spec, "Overview");
  const words = [
    ...(overview === undefined ? [] : [{ line: overview.line, where: "Overview", text: overview.body }]),
    ...(specSection(spec, "Rules")?.items ?? []).map(({ line, text }) => ({ line, where: "this rule", text })),
  ].filter(({ text }) => saysLater(text) || saysUnchanged(text));
  const cells = (["Inputs", "Outputs", "Errors"] as const).flatMap((name) =>
    specRows(spec, name).flatMap((row) => {
      const text = row.cells.slice(1).find((one) => saysLater(one) || standsForText(one));
      return text === undefined ? [] : [{ line: row.line, where: `this row of ${name}`, text }];
    }),
  );
  const said = [...words, ...cells].map((one) => ({ ...one, text: one.text.trim() }));
  const dotted = specRows(spec, "Examples").filter(({ cells }) =>
    cells.some((cell) => /^(?:\.{3,}|\u2026)$/.test(cell)),
  );
  return [...said, ...dotted.map(({ line }) => ({ line, where: "this row of Examples", text: "..." }))];
}
