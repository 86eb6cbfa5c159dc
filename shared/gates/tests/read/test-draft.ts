// A test from its name to the end of its body.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf } from "../call-shape.ts";
import { flat, key } from "../flat-text.ts";
import type { OutlineTest } from "../outline.ts";
import { type Context, lineOf, type Reading, type TestDraft, textOf } from "./reading.ts";

export function openTest(reading: Reading, name: string, node: SyntaxNode, context: Context): TestDraft {
  const draft: TestDraft = {
    id: [...context.path, name].join(" > "),
    name,
    line: lineOf(reading, node.start),
    endLine: lineOf(reading, node.end),
    marks: [],
    assertions: [],
    rows: [],
    calls: new Set(),
    body: "",
    asyncMarked: context.asyncMarked,
    waits: false,
    assigned: [],
    empty: false,
    ...(context.suite === undefined ? {} : { suite: context.suite }),
    ...(context.guard === undefined ? {} : { guard: context.guard }),
  };
  reading.tests.push(draft);
  reading.opened.set(draft, node.start);
  return draft;
}

export function readBody(reading: Reading, block: SyntaxNode, context: Context & { readonly test: TestDraft }): void {
  const [only, ...others] = block.children.filter(({ named }) => named);
  const body = only?.type === "statement_list" && others.length === 0 ? only : block;
  reading.bodies.set(context.test, body);
  context.test.body = key(textOf(reading, body));
  const statements = body.children.filter(({ named, type }) => named && !reading.language.is("comments", type));
  context.test.empty = statements.every((one) => /^(?:pass|\.\.\.|""".*"""|;)?$/.test(flat(textOf(reading, one))));
  reading.inside(body, context);
}

export function readAssignment(reading: Reading, node: SyntaxNode, context: Context): void {
  if (context.test === undefined) return;
  const name = fieldOf(node, "left", "name", "pattern");
  const value = fieldOf(node, "right", "value");
  if (name && value)
    (context.test.assigned as OutlineTest["assigned"][number][]).push({
      name: key(textOf(reading, name)),
      value: key(textOf(reading, value)),
      line: lineOf(reading, node.start),
    });
}
