// Tests and groups that are calls: a name, and a function that is their body.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf, type Shape } from "../call-shape.ts";
import { flat, key } from "../flat-text.ts";
import { callMarks } from "./marks.ts";
import { type Context, inTest, type Reading, textOf } from "./reading.ts";
import { readTable } from "./rows.ts";
import { openTest, readBody } from "./test-draft.ts";

export function isTestCall(reading: Reading, node: SyntaxNode): boolean {
  const given = fieldOf(node, "arguments")?.children.filter(({ named }) => named) ?? [];
  return (
    given[0] !== undefined &&
    (reading.language.is("strings", given[0].type) || given.some(({ type }) => reading.language.is("lambdas", type)))
  );
}

export function readTestCall(reading: Reading, node: SyntaxNode, shape: Shape, context: Context): void {
  const outer: Context = context.test === undefined ? context : { ...context, path: [...context.path] };
  const draft = openTest(reading, nameGiven(reading, node), node, outer);
  draft.marks.push(...callMarks(reading, node));
  const inner = inTest(outer, draft);
  for (const { args, node: one } of shape.steps.slice(0, -1)) {
    if (args !== undefined) readTable(reading, one, inner);
  }
  const given = fieldOf(node, "arguments")?.children.filter(({ named }) => named) ?? [];
  const run = given.findLast(
    ({ type }) => reading.language.is("lambdas", type) || reading.language.is("functions", type),
  );
  if (run === undefined) {
    draft.empty = true;
    return;
  }
  if (run.children.some(({ type }) => type === "async")) draft.asyncMarked = true;
  const body = fieldOf(run, "body") ?? run;
  if (body.type === "statement_block" || body.type === "block") readBody(reading, body, inner);
  else {
    draft.body = key(textOf(reading, body));
    reading.visit(body, inner, []);
  }
}

export function readSuiteCall(reading: Reading, node: SyntaxNode, shape: Shape, context: Context): void {
  reading.marks.push(...callMarks(reading, node));
  const path = [...context.path, nameGiven(reading, node)];
  for (const { args, node: one } of shape.steps.slice(0, -1)) {
    if (args !== undefined) readTable(reading, one, { ...context, path });
  }
  const given = fieldOf(node, "arguments")?.children.filter(({ named }) => named) ?? [];
  for (const child of given) {
    if (reading.language.is("lambdas", child.type) || reading.language.is("functions", child.type))
      reading.inside(fieldOf(child, "body") ?? child, { ...context, path });
  }
}

function nameGiven(reading: Reading, node: SyntaxNode): string {
  const first = fieldOf(node, "arguments")?.children.find(({ named }) => named);
  return first ? flat(textOf(reading, first)).replace(/^["'`]|["'`]$/g, "") : "";
}
