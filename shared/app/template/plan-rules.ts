import { saysNone, type Spec, specSection } from "../../features/spec.ts";
import type { Input } from "./plan.ts";
import type { Output, Refuse } from "./plan-tables.ts";
import type { Rounding } from "./rational.ts";

/** What the numbered rules are: assignments, rounding, constraints on inputs. */
export interface Rules {
  readonly assignments: readonly { readonly name: string; readonly text: string; readonly where: string }[];
  readonly rounding: ReadonlyMap<string, { readonly places: number; readonly mode: Rounding }>;
  readonly constraints: readonly { readonly name: string; readonly text: string; readonly where: string }[];
}

const roundingWords =
  /^(?:round(?:ing)?:?\s+)?(?<subject>.*?)\s*(?:(?:is|are|be)\s+)?(?:rounded\s+)?(?:(?<mode1>half[- ]up|half[- ]even|up|down)\s+)?to\s+(?<places>\d+|two|three)\s+(?:decimals?|decimal places|places|digits)(?:[,\s]+(?<mode2>half[- ]up|half[- ]even|up|down))?\.?$/i;
const everyWords =
  /^(?:all|every|each|the)?\s*(?:money|amounts?|money amounts?|results?|outputs?|values?|totals?|of them)?(?:\s+in outputs)?$/i;

export function readRules(spec: Spec, inputs: readonly Input[], outputs: readonly Output[], refuse: Refuse): Rules {
  const section = specSection(spec, "Rules");
  const assignments: Rules["assignments"][number][] = [];
  const constraints: Rules["constraints"][number][] = [];
  const rounding = new Map<string, { places: number; mode: Rounding }>();
  if (section !== undefined && section.items.length === 0 && section.body !== "" && !saysNone(section.body))
    refuse("Rules", "they are not numbered");
  for (const { name, rounds } of outputs) {
    const round = rounds === undefined ? undefined : roundingWords.exec(rounds)?.groups;
    if (round !== undefined) rounding.set(name, roundingOf(round));
    else if (rounds !== undefined) refuse(`Outputs, ${name}`, `${JSON.stringify(rounds)} is not understood`);
  }
  for (const { number, text } of section?.items ?? []) {
    const where = `rule ${number}`;
    const plain = text.replaceAll("`", "").replace(/\s+/g, " ").trim();
    const round = /\bround/i.test(plain) && !/\bround\(/i.test(plain) ? roundingWords.exec(plain)?.groups : undefined;
    const assignment = /^([A-Za-z]\w*)\s*(?:=|:=)\s*(?![=])(.+)$/.exec(plain);
    const constraint = /^([A-Za-z]\w*(?:\[\]\.\w+)?)\s+(?:must be|must|is always|is|has to be)\s+(.+)$/i.exec(plain);
    if (assignment?.[1] !== undefined && assignment[2] !== undefined)
      assignments.push({ name: assignment[1], text: assignment[2], where });
    else if (round !== undefined) {
      const names = roundedNames(round["subject"] ?? "", outputs);
      if (names.length === 0) refuse(where, "it does not say which outputs are rounded");
      for (const name of names) rounding.set(name, roundingOf(round));
    } else if (constraint?.[1] !== undefined && inputs.some(({ name }) => name === constraint[1]?.split("[]")[0])) {
      constraints.push({ name: constraint[1], text: constraint[2] ?? "", where });
    } else refuse(where, 'it is prose; write it as name = formula, as "input must be ...", or as a rounding');
  }
  return { assignments, rounding, constraints };
}

function roundingOf(groups: Readonly<Record<string, string | undefined>>): {
  readonly places: number;
  readonly mode: Rounding;
} {
  const { places = "0", mode1, mode2 } = groups;
  const mode = (mode1 ?? mode2 ?? "half-up").toLowerCase().replace(" ", "-") as Rounding;
  return { places: places === "two" ? 2 : places === "three" ? 3 : Number(places), mode };
}

function roundedNames(subject: string, outputs: readonly Output[]): readonly string[] {
  const decimals = outputs.filter(({ type }) => type === "decimal").map(({ name }) => name);
  const words = subject.replace(/\b(?:is|are|be)$/i, "").trim();
  if (everyWords.test(words)) return decimals;
  const named = words.split(/\s*(?:,|\band\b)\s*/).filter((word) => word !== "");
  return named.every((word) => decimals.includes(word)) ? named : [];
}
