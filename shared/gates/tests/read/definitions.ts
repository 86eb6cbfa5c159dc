// Functions and classes: tests by name or by mark, groups of them, and the functions that help them.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf } from "../call-shape.ts";
import { flat } from "../flat-text.ts";
import { marksAround, marksOf, markTexts } from "./marks.ts";
import { type Context, helperOf, inTest, lineOf, type Reading, textOf } from "./reading.ts";
import { readTableMark } from "./rows.ts";
import { swallowedAt } from "./swallowed.ts";
import { openTest, readBody } from "./test-draft.ts";
import { isOnlyCalled, uncalled } from "./uncalled.ts";

/** A function is a test, a helper that may assert for tests, or a part of the test around it. */
export function readFunction(
  reading: Reading,
  node: SyntaxNode,
  context: Context,
  before: readonly SyntaxNode[],
): void {
  const { test } = reading.language;
  const named = fieldOf(node, "name");
  const name = named ? textOf(reading, named) : "";
  const marks = marksAround(reading, node, before);
  const texts = markTexts(reading, marks);
  if (name !== "") reading.defined.add(name);
  const body = fieldOf(node, "body") ?? node;
  const header = flat(reading.clean.slice(node.start, body.start));
  const byName = test.name?.test(name) === true;
  const byMark = test.mark !== undefined && texts.some(({ text }) => test.mark?.test(text) === true);
  const isTest =
    context.collected &&
    context.test === undefined &&
    (byName || byMark) &&
    (test.header === undefined || test.header.test(header));
  if (!isTest) {
    for (const mark of marks)
      reading.visit(mark, { ...context, owner: helperOf(reading, name, lineOf(reading, node.start)) }, []);
    if (context.test) return reading.inside(node, uncalled(reading, node, context));
    const owner = helperOf(reading, name, lineOf(reading, node.start));
    if (marks.length === 0 && isOnlyCalled(reading, name, context)) reading.loners.add(owner);
    return reading.inside(node, { ...context, owner, path: [...context.path, name], heads: context.heads + header });
  }
  const draft = openTest(reading, name, node, context);
  draft.marks.push(...marksOf(texts, reading.language.markRows));
  if (node.children.some(({ type }) => type === "async")) draft.asyncLine = lineOf(reading, node.start);
  if (reading.language.asyncMark !== undefined && texts.some(({ text }) => reading.language.asyncMark?.test(text)))
    draft.asyncMarked = true;
  const plain = inTest(context, draft);
  const calmed = texts.find(({ text }) => reading.swallowers.has(/^@(?:\w+\.)*(\w+)/.exec(text)?.[1] ?? ""));
  const inner = calmed === undefined ? plain : { ...plain, hushed: swallowedAt(calmed.line) };
  for (const mark of marks) readTableMark(reading, mark, inner);
  readBody(reading, body, inner);
}

/** A class may be a group of tests. */
export function readClass(reading: Reading, node: SyntaxNode, context: Context, before: readonly SyntaxNode[]): void {
  const { suite, asyncMark } = reading.language;
  const named = fieldOf(node, "name");
  const name = named ? textOf(reading, named) : "";
  if (name !== "") reading.defined.add(name);
  const texts = markTexts(reading, marksAround(reading, node, before));
  const tests = reading.tests.length;
  const body = fieldOf(node, "body") ?? node;
  const header = flat(reading.clean.slice(node.start, body.start));
  reading.inside(body, {
    ...context,
    path: [...context.path, name],
    suite: header,
    collected: context.collected && (suite.header === undefined || suite.header.test(header)),
    asyncMarked:
      context.asyncMarked ||
      asyncMark?.test(header) === true ||
      texts.some(({ text }) => asyncMark?.test(text) === true),
  });
  // A mark on a group without tests is a matter of the source.
  if (reading.tests.length > tests) reading.marks.push(...marksOf(texts, reading.language.markRows));
}
