import { plainCell, type Spec, specRows, specSection, specSections } from "../../features/spec.ts";

/** Why no code can be written from a spec, and where the first of it stands. */
export interface Refusal {
  readonly reasons: readonly string[];
  readonly at?: Place;
}

/**
 * `wrong`: the spec contradicts itself, no model can mend that. `amendment`: prose that the tables must say first.
 * `beyond`: it may be right, and is not said in a way that the tables' reader knows.
 */
export interface Place {
  readonly line: number;
  readonly kind: "wrong" | "amendment" | "beyond";
}

/** Collects refusals; `where` names a row: `example 2`, `rule 1`, `Inputs, quantity`. */
export function createRefusals(spec: Spec): {
  refuse(where: string, why: string, kind?: Place["kind"]): void;
  readonly found: () => Refusal | undefined;
} {
  const reasons: string[] = [];
  let at: Place | undefined;
  return {
    refuse(where, why, kind = "beyond") {
      reasons.push(`${where}: ${why}`);
      const line = lineOf(spec, where);
      if (reasons.length === 1 && line !== undefined) at = { line, kind };
    },
    found: () => (reasons.length === 0 ? undefined : { reasons, ...(at === undefined ? {} : { at }) }),
  };
}

function lineOf(spec: Spec, where: string): number | undefined {
  const [, word = "", number = ""] = /^(example|rule|amendment) (\d+)$/.exec(where) ?? [];
  const n = Number(number);
  if (word === "example") return specRows(spec, "Examples")[n - 1]?.line;
  if (word === "rule") return specSection(spec, "Rules")?.items.find((item) => item.number === n)?.line;
  if (word === "amendment") return spec.amendments.find((one) => one.number === n)?.line;
  const [, section = "", name] = /^(\w+)(?:, (.*))?$/.exec(where) ?? [];
  const known = specSections.find((one) => one === section);
  const found = known === undefined ? undefined : specSection(spec, known);
  const rows = found?.table?.rows ?? [];
  return (
    (name === undefined ? undefined : rows.find(({ cells }) => plainCell(cells[0] ?? "") === name)?.line) ?? found?.line
  );
}
