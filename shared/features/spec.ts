import { linesOf } from "../base/lines.ts";

/**
 * spec.md as data, every part with its line. Reading never fails: what is missing or malformed is for spec-check.ts to
 * say. Headings and tables inside code fences are text.
 */
export const specSections = ["Overview", "Inputs", "Outputs", "Rules", "Errors", "Examples", "Dependencies"] as const;
export type SpecSectionName = (typeof specSections)[number];

/** Columns of the sections that are tables. */
export const specTables = {
  Inputs: ["name", "type", "rule"],
  Outputs: ["name", "type", "rule"],
  Errors: ["case", "when", "what the caller gets"],
  Examples: ["input", "expected"],
} as const satisfies Partial<Record<SpecSectionName, readonly string[]>>;

export interface SpecRow {
  readonly line: number;
  /** Cells without surrounding space; `\|` is a bar. */
  readonly cells: readonly string[];
}

export interface SpecTable {
  readonly line: number;
  readonly columns: readonly string[];
  readonly rows: readonly SpecRow[];
}

export interface SpecItem {
  readonly line: number;
  readonly number: number;
  readonly text: string;
}

export interface SpecSection {
  /** As written after `## `. */
  readonly name: string;
  readonly line: number;
  /** Without the heading, without blank lines around it. */
  readonly body: string;
  /** The first table of the section. */
  readonly table?: SpecTable;
  /** Numbered items. */
  readonly items: readonly SpecItem[];
}

export interface SpecAmendment {
  readonly number: number;
  readonly date: string;
  readonly line: number;
  readonly body: string;
}

export interface Spec {
  readonly title?: { readonly text: string; readonly line: number };
  readonly sections: readonly SpecSection[];
  readonly amendments: readonly SpecAmendment[];
}

interface Line {
  readonly line: number;
  readonly text: string;
  /** In a code fence, its marks included. */
  readonly code: boolean;
}

export function parseSpec(text: string): Spec {
  const lines = markFences(linesOf(text.replace(/^\uFEFF/, "")));
  const title = lines.find(({ text: one, code }) => !code && /^#\s+\S/.test(one));
  const heads = lines.flatMap((line, at) => (!line.code && /^##\s+\S/.test(line.text) ? [at] : []));
  const blocks = heads.map((at, index) => ({ head: lines[at], body: lines.slice(at + 1, heads[index + 1]) }));
  const sections: SpecSection[] = [];
  const amendments: SpecAmendment[] = [];
  for (const { head, body } of blocks) {
    if (head === undefined) continue;
    const name = head.text.replace(/^##\s+/, "").replace(/\s+#*\s*$/, "");
    const amendment = /^CONTRACT AMENDMENT (\d+) \(([^)]*)\)$/.exec(name);
    const bodyText = body
      .map((line) => line.text)
      .join("\n")
      .trim();
    if (amendment)
      amendments.push({ number: Number(amendment[1]), date: amendment[2] ?? "", line: head.line, body: bodyText });
    else sections.push({ name, line: head.line, body: bodyText, items: numberedItems(body), ...tableOf(body) });
  }
  return {
    ...(title === undefined ? {} : { title: { text: title.text.replace(/^#\s+/, "").trim(), line: title.line } }),
    sections,
    amendments,
  };
}

/** The section of that name; case does not count. */
export function specSection(spec: Spec, name: SpecSectionName): SpecSection | undefined {
  return spec.sections.find((section) => section.name.toLowerCase() === name.toLowerCase());
}

/** Rows of a section's table; none when it has no table. */
export function specRows(spec: Spec, name: keyof typeof specTables): readonly SpecRow[] {
  return specSection(spec, name)?.table?.rows ?? [];
}

/** `None.`, `None yet`, `-`: the section says that there is nothing. */
export function saysNone(body: string): boolean {
  return /^[*_(]*(?:none|nothing|n\/a|-)(?:\s+yet)?[.)*_]*$/i.test(body.trim());
}

/** A cell without code marks and emphasis around it. */
export function plainCell(cell: string): string {
  return cell.replace(/^(`+|\*{1,2}|_{1,2})(.*)\1$/, "$2").trim();
}

/** Cells of a table line; undefined when it is none. */
function tableCells(text: string): readonly string[] | undefined {
  const trimmed = text.trim();
  if (!trimmed.includes("|")) return undefined;
  const inner = trimmed.replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function markFences(texts: readonly string[]): readonly Line[] {
  let fence: string | undefined;
  return texts.map((text, at) => {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(text);
    const open = fence;
    if (open === undefined && mark?.[1] !== undefined) fence = mark[1];
    else if (open !== undefined && mark?.[1]?.startsWith(open) === true && mark[2]?.trim() === "") fence = undefined;
    return { line: at + 1, text, code: open !== undefined || fence !== undefined };
  });
}

function tableOf(body: readonly Line[]): { readonly table?: SpecTable } {
  const at = body.findIndex(
    (line, index) => !line.code && tableCells(line.text) !== undefined && isDelimiter(body[index + 1]?.text ?? ""),
  );
  const head = body[at];
  if (head === undefined) return {};
  const rows: SpecRow[] = [];
  for (const { text, line, code } of body.slice(at + 2)) {
    const cells = code ? undefined : tableCells(text);
    if (cells === undefined) break;
    rows.push({ line, cells });
  }
  return { table: { line: head.line, columns: tableCells(head.text) ?? [], rows } };
}

function isDelimiter(text: string): boolean {
  return text.includes("-") && /^\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-*:?\s*$/.test(text) && text.includes("|");
}

function numberedItems(body: readonly Line[]): readonly SpecItem[] {
  const items: { line: number; number: number; text: string }[] = [];
  for (const { text, line, code } of body) {
    const start = code ? null : /^ {0,3}(\d+)[.)]\s+(.*)$/.exec(text);
    const last = items.at(-1);
    if (start) items.push({ line, number: Number(start[1]), text: (start[2] ?? "").trim() });
    else if (last !== undefined && /^\s+\S/.test(text)) last.text += `\n${text.trim()}`;
  }
  return items;
}
