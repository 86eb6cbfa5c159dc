import type { SpecFact, SpecFacts } from "../ports/gate.ts";
import { parseSpec, plainCell, type Spec, specRows, type SpecSectionName, specSection } from "./spec.ts";

/** Sections whose rows say what must hold. */
const sections = ["Inputs", "Outputs", "Rules", "Errors", "Examples"] as const satisfies readonly SpecSectionName[];

export interface NamedRow extends SpecFact {
  /** What a person would call it: the rule's words, the row's cells. */
  readonly text: string;
  /** Its name in a table; a rule has none. */
  readonly key?: string;
}

/** The rows of a spec, and those that it lost since `before`, as the gates hold the slice to them. */
export function specFacts(spec: string, before: string | undefined): SpecFacts {
  return {
    rows: namedRows(parseSpec(spec)).map(factOf),
    gone: before === undefined ? [] : droppedRows(before, spec).map(factOf),
  };
}

const factOf = ({ section, line, cells }: NamedRow): SpecFact => ({ section, line, cells });

/** More words in common than not: the same row, changed. */
const sameRow = 0.5;

/**
 * Rows of `before` that `after` has no more, in the order of the spec. A row of the same name or with most of its words is
 * the row changed, wherever it stands now; rules may be renumbered.
 */
export function droppedRows(before: string, after: string): readonly NamedRow[] {
  const [old, now] = [namedRows(parseSpec(before)), namedRows(parseSpec(after))];
  return sections.flatMap((section) => {
    const of = (rows: readonly NamedRow[]): NamedRow[] => rows.filter((row) => row.section === section);
    const left = of(now);
    let missing = of(old);
    for (const same of [isEqual, hasSameName, isAlike]) missing = missing.filter((row) => !take(left, row, same));
    return missing;
  });
}

export function namedRowText({ section, text }: NamedRow): string {
  return `${section}: ${text.length > maxChars ? `${text.slice(0, maxChars)}...` : text}`;
}

const maxChars = 120;

function namedRows(spec: Spec): readonly NamedRow[] {
  return sections.flatMap((section): readonly NamedRow[] => {
    if (section === "Rules")
      return (specSection(spec, section)?.items ?? []).map(({ text, line }) => ({
        section,
        line,
        cells: [text],
        text: oneLine(text),
      }));
    return specRows(spec, section).map(({ cells, line }) => ({
      section,
      line,
      cells: cells.map(plainCell),
      text: oneLine(cells.map(plainCell).join(" | ")),
      key: plainCell(cells[0] ?? "").toLowerCase(),
    }));
  });
}

type Same = (a: NamedRow, b: NamedRow) => boolean;

/** Takes the row of `left` that is this one, each at most once. */
function take(left: NamedRow[], row: NamedRow, same: Same): boolean {
  const at = left.findIndex((one) => same(one, row));
  if (at !== -1) left.splice(at, 1);
  return at !== -1;
}

const isEqual: Same = (a, b) => a.text.toLowerCase() === b.text.toLowerCase();
const hasSameName: Same = (a, b) => a.key !== undefined && a.key !== "" && a.key === b.key;
const isAlike: Same = (a, b) => {
  const [one, other] = [wordsOf(a.text), wordsOf(b.text)];
  const common = [...one].filter((word) => other.has(word)).length;
  const all = new Set([...one, ...other]).size;
  return all > 0 && common / all > sameRow;
};

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
