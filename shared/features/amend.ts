import { linesOf } from "../base/lines.ts";
import { fenced } from "../prompts/fence.ts";
import { parseSpec } from "./spec.ts";
import { saysUnchanged } from "./spec-placeholder.ts";

/**
 * Amending spec.md. What a person wrote is never the price: their amendments, sections that a model left out and text
 * before the first section stay, and without a model the old text stays byte for byte. Pure.
 */
export interface Amendment {
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** The person's words, verbatim. */
  readonly request: string;
}

export interface Amended {
  readonly text: string;
  readonly number: number;
}

/** `old` with the amendment at its end. `body`: the spec as a model amended it; absent, the old one stands. */
export function amended(old: string, amendment: Amendment, body?: string): Amended {
  const { amendments } = parseSpec(old);
  const number = Math.max(amendments.length, ...amendments.map((one) => one.number)) + 1;
  const eol = old.includes("\r\n") ? "\r\n" : "\n";
  const block = `## CONTRACT AMENDMENT ${number} (${amendment.date})\n\n${verbatim(amendment.request)}\n`;
  if (body === undefined) return { text: appended(old, block, eol), number };
  const parts = [mergedBody(old, body), ...blocksOf(old), block.trimEnd()];
  const mark = old.startsWith("\uFEFF") ? "\uFEFF" : "";
  return { text: mark + `${parts.join("\n\n")}\n`.replaceAll("\n", eol), number };
}

/** True when the last amendment is this one already: a run that was cut off after it wrote must not write it again. */
export function endsWithAmendment(text: string, { date, request }: Amendment): boolean {
  const last = parseSpec(text).amendments.at(-1);
  return (
    last !== undefined && last.date === date && last.body === parseSpec(`## x\n${verbatim(request)}`).sections[0]?.body
  );
}

/** Words that could open a section or swallow the next one stand in a fence of their own, as they are. */
function verbatim(request: string): string {
  const words = request.replaceAll("\r\n", "\n").trim();
  return /^ {0,3}(?:#{1,6}\s|`{3,}|~{3,}|=+\s*$|-{2,}\s*$)/m.test(words) ? fenced(words, "text") : words;
}

/** A fence that the old text left open would swallow the block. */
function appended(old: string, block: string, eol: string): string {
  const wanted = parseSpec(old).amendments.length + 1;
  const gap = old.trim() === "" ? "" : old.endsWith("\n") ? eol : `${eol}${eol}`;
  for (const close of ["", "```", "~~~", "``````", "~~~~~~"]) {
    const text = `${old}${close === "" ? gap : `${old.endsWith("\n") ? "" : eol}${close}${eol}${eol}`}${block.replaceAll("\n", eol)}`;
    if (parseSpec(text).amendments.length === wanted) return text;
  }
  return `${old}${gap}${block.replaceAll("\n", eol)}`;
}

/** The model's text without amendments of its own, with what it left out of the old one or only calls unchanged. */
function mergedBody(old: string, body: string): string {
  const before = piecesOf(old);
  const after = piecesOf(body);
  const head = after.preamble.trim() === "" ? before.preamble : after.preamble;
  const said = new Set(before.sections.map(({ name }) => name.toLowerCase()));
  const pieces = after.sections.filter(
    ({ amendment, name, text }) => !amendment && !(said.has(name.toLowerCase()) && saysUnchanged(bodyOf(text))),
  );
  const names = (list: readonly Piece[]): ReadonlySet<string> => new Set(list.map(({ name }) => name.toLowerCase()));
  const order = before.sections.filter(({ amendment }) => !amendment);
  const has = names(pieces);
  for (const [at, piece] of order.entries()) {
    if (has.has(piece.name.toLowerCase())) continue;
    const later = names(order.slice(at + 1));
    const next = pieces.findIndex(({ name }) => later.has(name.toLowerCase()));
    pieces.splice(next === -1 ? pieces.length : next, 0, piece);
  }
  return [
    `${after.title}${head.trim() === "" ? "" : `\n\n${head.trim()}`}`,
    ...pieces.map(({ text }) => text.trimEnd()),
  ].join("\n\n");
}

function bodyOf(section: string): string {
  return section.slice(section.indexOf("\n") + 1);
}

/** Old amendments as they stand, headings included. */
function blocksOf(text: string): readonly string[] {
  return piecesOf(text).sections.flatMap(({ amendment, text: block }) => (amendment ? [block.trimEnd()] : []));
}

interface Piece {
  readonly name: string;
  readonly text: string;
  readonly amendment: boolean;
}

function piecesOf(text: string): {
  readonly title: string;
  readonly preamble: string;
  readonly sections: Piece[];
} {
  const spec = parseSpec(text);
  const lines = linesOf(text.replace(/^\uFEFF/, ""));
  const heads = [
    ...spec.sections.map(({ line, name }) => ({ line, name, amendment: false })),
    ...spec.amendments.map(({ line, number }) => ({ line, name: `amendment ${number}`, amendment: true })),
  ].toSorted((a, b) => a.line - b.line);
  const first = heads[0]?.line ?? lines.length + 1;
  const title = spec.title !== undefined && spec.title.line < first ? spec.title.line : 0;
  return {
    title: lines[title - 1] ?? "",
    preamble: lines.slice(title, first - 1).join("\n"),
    sections: heads.map(({ line, name, amendment }, at) => ({
      name,
      amendment,
      text: lines.slice(line - 1, (heads[at + 1]?.line ?? lines.length + 1) - 1).join("\n"),
    })),
  };
}
