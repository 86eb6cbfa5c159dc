// What leaves tests out, or picks one out: decorators, attributes, options of a call, comments of a tool.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf } from "../call-shape.ts";
import { flat, key } from "../flat-text.ts";
import type { OutlineMark } from "../outline.ts";
import type { CompiledMark, ReadLanguage } from "./language.ts";
import { lineOf, type Reading, textOf } from "./reading.ts";
import { lineAt } from "./source-text.ts";

export interface MarkText {
  readonly text: string;
  readonly line: number;
}

/** Marks that a text holds on lines of their own, comments included. */
export function fileMarks(source: string, starts: readonly number[], language: ReadLanguage): OutlineMark[] {
  const marks: OutlineMark[] = [];
  for (const { pattern, firstLook, unless, kind } of language.fileMarks) {
    if (firstLook.lacks(source)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
      if (match[0] === "") pattern.lastIndex += 1;
      const line = lineAt(starts, match.index + (/^\s*/.exec(match[0])?.[0].length ?? 0));
      marks.push({ kind, text: key(match[0]), line, excused: unless?.test(match[0]) === true });
    }
  }
  return marks;
}

/** Marks of a definition, above it or among its modifiers. */
export function marksAround(
  { language }: Reading,
  node: SyntaxNode,
  before: readonly SyntaxNode[],
): readonly SyntaxNode[] {
  const own = node.children
    .filter(({ type }) => type === "modifiers")
    .flatMap(({ children }) => children.filter((child) => language.is("marks", child.type)));
  return [...before, ...own];
}

export function markTexts(reading: Reading, marks: readonly SyntaxNode[]): readonly MarkText[] {
  return marks.map((mark) => ({ text: flat(textOf(reading, mark)), line: lineOf(reading, mark.start) }));
}

export function callMarks(reading: Reading, node: SyntaxNode): OutlineMark[] {
  const options = fieldOf(node, "arguments")?.children.filter(({ type }) => /object/.test(type)) ?? [];
  const line = lineOf(reading, node.start);
  const texts = [
    { text: flat(textOf(reading, fieldOf(node, "function") ?? node)), line },
    ...options.map((one) => ({ text: flat(textOf(reading, one)), line: lineOf(reading, one.start) })),
  ];
  return marksOf(texts, reading.language.markRows);
}

export function marksOf(texts: readonly MarkText[], rows: readonly CompiledMark[]): OutlineMark[] {
  return texts.flatMap(({ text, line }) => {
    const row = rows.find(({ pattern }) => pattern.test(text));
    return row === undefined
      ? []
      : [
          {
            kind: row.kind,
            text: key(row.pattern.exec(text)?.[0] ?? text),
            line,
            excused: row.unless?.test(text) === true,
          },
        ];
  });
}
