import type { SyntaxNode } from "../../ports/syntax.ts";
import type { Outline } from "./outline.ts";
import { readAssertStatement } from "./read/assertions.ts";
import { readCall } from "./read/calls.ts";
import { readClass, readFunction } from "./read/definitions.ts";
import { leaves, readBranch, readLoop, readScope, readTry } from "./read/flow.ts";
import type { ReadLanguage } from "./read/language.ts";
import { fileMarks } from "./read/marks.ts";
import { type Context, helperOf, lineOf, type Reading } from "./read/reading.ts";
import { readList } from "./read/rows.ts";
import { lineStarts, withoutComments, wordCounts } from "./read/source-text.ts";
import { readAssignment } from "./read/test-draft.ts";
import { uncalled } from "./read/uncalled.ts";

/** One walk down the tree of a file of tests: every node goes to who reads its kind, in the order of the text. */
export function readOutline(root: SyntaxNode, source: string, path: string, language: ReadLanguage): Outline {
  const clean = withoutComments(root, source, language);
  const starts = lineStarts(source);
  const reading: Reading = {
    language,
    clean,
    starts,
    tests: [],
    helpers: new Map(),
    marks: fileMarks(source, starts, language),
    defined: new Set(),
    taken: new Set(),
    bodies: new Map(),
    opened: new Map(),
    loners: new Set(),
    swallowers: new Set(),
    timesSaid: wordCounts(clean),
    visit: (node, context, marks) => visit(reading, node, context, marks),
    inside: (node, context) => inside(reading, node, context),
  };
  inside(reading, root, {
    path: [],
    owner: helperOf(reading, "", 1),
    under: "",
    asyncMarked: language.asyncMark?.test(source) === true && /pytestmark|asyncio_mode/.test(source),
    collected: true,
    heads: "",
  });
  return {
    path,
    tests: reading.tests,
    helpers: [...reading.helpers.values()]
      .filter(({ assertions, rows }) => assertions.length > 0 || rows.length > 0)
      .map((one) => (reading.loners.has(one) ? { ...one, unused: true } : one)),
    marks: reading.marks,
    defined: reading.defined,
    text: clean,
    imports: clean.match(/^[ \t]*(?:import|from|use|const|let|var)\b[^\n]*/gm) ?? [],
  };
}

/** Children in order: marks stand before what they mark, and after a statement that leaves nothing runs. */
function inside(reading: Reading, node: SyntaxNode, context: Context): void {
  const { is } = reading.language;
  let marks: SyntaxNode[] = [];
  let here = context;
  for (const child of node.children) {
    if (!child.named || is("comments", child.type)) continue;
    if (is("marks", child.type)) {
      marks.push(child);
      continue;
    }
    visit(reading, child, here, marks);
    marks = [];
    const { test } = here;
    if (test && here.hushed === undefined && leaves(reading, child)) {
      const line = lineOf(reading, child.start);
      here = { ...here, hushed: { why: "ended", line } };
      if (reading.bodies.get(test) === node) test.endedLine ??= line;
    }
  }
}

function visit(reading: Reading, node: SyntaxNode, context: Context, marks: readonly SyntaxNode[]): void {
  const { is, isAny } = reading.language;
  const { type } = node;
  if (!isAny(type)) {
    for (const mark of marks) visit(reading, mark, context, []);
    return inside(reading, node, context);
  }
  if (is("functions", type)) return readFunction(reading, node, context, marks);
  if (is("classes", type)) return readClass(reading, node, context, marks);
  if (is("asserts", type)) return readAssertStatement(reading, node, context);
  if (is("branches", type)) return readBranch(reading, node, context);
  if (is("tries", type)) return readTry(reading, node, context);
  if (is("scopes", type)) return readScope(reading, node, context);
  if (is("loops", type)) return readLoop(reading, node, context);
  if (is("lists", type)) readList(reading, node, context, false);
  if (is("assignments", type)) readAssignment(reading, node, context);
  if (is("yields", type) && context.test) context.test.yieldLine ??= lineOf(reading, node.start);
  if (is("awaits", type) && context.test) context.test.waits = true;
  if (is("lambdas", type)) return inside(reading, node, uncalled(reading, node, context));
  if (is("calls", type) && !reading.taken.has(node)) return readCall(reading, node, context);
  for (const mark of marks) visit(reading, mark, context, []);
  inside(reading, node, context);
}
