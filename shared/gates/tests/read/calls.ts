// Calls: each one a test, a group of tests, an assertion, or code that may hold some.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf, shapeOf } from "../call-shape.ts";
import { flat } from "../flat-text.ts";
import { keepClaims, readAssertCall } from "./assertions.ts";
import { marksOf } from "./marks.ts";
import { type Context, lineOf, type Reading, textOf } from "./reading.ts";
import { readTable } from "./rows.ts";
import { passesOver, swallowed } from "./swallowed.ts";
import { isTestCall, readSuiteCall, readTestCall } from "./test-calls.ts";

/** Everything that a chain of calls is, and what stands in its arguments. */
export function readCall(reading: Reading, node: SyntaxNode, context: Context): void {
  const { test, suite, rows, is } = reading.language;
  const shape = shapeOf(node, reading.clean);
  for (const { node: inner } of shape.steps) reading.taken.add(inner);
  if (test.call?.test(shape.text) === true && isTestCall(reading, node))
    return readTestCall(reading, node, shape, context);
  if (suite.call?.test(shape.text) === true && isTestCall(reading, node))
    return readSuiteCall(reading, node, shape, context);
  const text = flat(textOf(reading, node));
  if (context.test) {
    context.test.calls.add(shape.steps.at(-1)?.name ?? "");
    const found = marksOf([{ text, line: lineOf(reading, node.start) }], reading.language.bodyMarks);
    for (const mark of found) {
      const excused =
        mark.excused || reading.language.bodyMarks.some(({ unless }) => unless?.test(context.under) === true);
      context.test.marks.push({ ...mark, excused });
    }
  }
  const row = rows.find((one) => one.shape.test(shape.text));
  if (row) readAssertCall(reading, node, shape, row, context);
  else if (reading.language.customs.test(shape.text) && (context.test !== undefined || context.owner.name !== ""))
    keepClaims(reading, node, [{ kind: "custom", operands: [shape.text, ...shape.args] }], context);
  for (const [at, { node: inner }] of shape.steps.entries()) {
    const within = passesOver(reading, shape, at) ? swallowed(reading, node, context) : context;
    // What an error is looked at with is no part of what is asked to fail.
    const asked = at === shape.steps.findIndex(({ args }) => args !== undefined) && row?.kind === "raises";
    const given = fieldOf(inner, "arguments") ?? inner.children.find(({ type }) => type === "token_tree");
    if (given === undefined) continue;
    if (reading.language.tables?.test(shape.text) === true) readTable(reading, given, context);
    const parts = given.children.filter(({ named, type }) => named && !is("comments", type));
    for (const [place, child] of parts.entries()) {
      // A function handed to a call is the callee's to run.
      if (is("lambdas", child.type) || is("functions", child.type))
        reading.inside(child, asked && place === 0 ? swallowed(reading, node, context) : within);
      else reading.visit(child, context, []);
    }
  }
  const base = shape.steps[0]?.node;
  if (base !== undefined && base !== node && !is("calls", base.type)) reading.inside(base, context);
}
