// The cases of a test that runs once for each row of a table.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { flat, key } from "../flat-text.ts";
import { type Context, lineOf, type Reading, textOf } from "./reading.ts";

/** A mark may hold the table of cases. */
export function readTableMark(reading: Reading, mark: SyntaxNode, context: Context): void {
  const text = flat(textOf(reading, mark));
  if (reading.language.tables?.test(text) !== true) return;
  if (!readTable(reading, mark, context))
    context.owner.rows.push({ key: key(text), line: lineOf(reading, mark.start), text });
}

/** The first list in a node that gives a table holds its cases; false when it holds none. */
export function readTable(reading: Reading, node: SyntaxNode, context: Context): boolean {
  const list = firstList(reading, node);
  if (list) readList(reading, list, context, true);
  return list !== undefined;
}

/** A list of compound values is taken as rows wherever it stands; another one only as a table of cases. */
export function readList(reading: Reading, node: SyntaxNode, context: Context, table: boolean): void {
  if (reading.taken.has(node)) return;
  const { is } = reading.language;
  const elements = node.children.filter(({ named, type }) => named && !is("comments", type));
  const inner = (one: SyntaxNode): SyntaxNode =>
    is("elements", one.type) ? inner(one.children.find(({ named }) => named) ?? one) : one;
  const compound =
    elements.length > 1 &&
    elements.every((one) =>
      /tuple|list|array|object|dict|literal_value|composite|expression_list/.test(inner(one).type),
    );
  if (!table && !compound) return;
  reading.taken.add(node);
  for (const one of elements)
    context.owner.rows.push({
      key: key(textOf(reading, one)),
      line: lineOf(reading, one.start),
      text: flat(textOf(reading, one)),
    });
}

function firstList(reading: Reading, node: SyntaxNode): SyntaxNode | undefined {
  const pending = [...node.children];
  for (let one = pending.shift(); one; one = pending.shift()) {
    if (reading.language.is("lists", one.type)) return one;
    pending.push(...one.children);
  }
  return undefined;
}
