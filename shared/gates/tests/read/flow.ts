// Code that runs only sometimes, or whose failure goes nowhere: what is asserted in it is hushed.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf } from "../call-shape.ts";
import { claimsOf } from "../condition.ts";
import { flat } from "../flat-text.ts";
import { asksWhatIsGiven, callsWhatItIsGiven, gathers, ofTheMachine, rethrows } from "../hush.ts";
import type { Hush, OutlineAssertion } from "../outline.ts";
import { keepClaims } from "./assertions.ts";
import { type Context, lineOf, type Reading, textOf } from "./reading.ts";
import { swallowedAt } from "./swallowed.ts";

/** How much of a test is looked through for what a condition is about. */
const maxAround = 4_000;

/** In a condition whose one branch fails the test, the opposite of the condition is asserted. */
export function readBranch(reading: Reading, node: SyntaxNode, context: Context): void {
  const condition = fieldOf(node, "condition");
  const consequence = fieldOf(node, "consequence");
  const alternative = fieldOf(node, "alternative");
  const said = condition ? flat(textOf(reading, condition)) : "";
  const fails = consequence !== undefined && reading.language.failures?.test(textOf(reading, consequence)) === true;
  if (fails && condition && (context.test !== undefined || context.owner.name !== "")) {
    keepClaims(reading, node, claimsOf(textOf(reading, condition), true), context);
    for (const child of node.children) if (child.named && child !== consequence) reading.visit(child, context, []);
    return;
  }
  const line = lineOf(reading, node.start);
  const never = /^\(?(?:False|false|0|None|null|nil)\)?$/.test(said);
  const opened = (context.test && reading.opened.get(context.test)) ?? node.start;
  const around = reading.clean.slice(Math.max(opened, node.start - maxAround), node.start);
  const excused = ofTheMachine.test(said) || asksWhatIsGiven(said, around);
  const under = `${context.under} ${said}`;
  if (!context.test) {
    const guard = context.guard ?? (said === "" || /__name__/.test(said) ? undefined : { text: said, line });
    for (const child of node.children)
      if (child.named) reading.visit(child, { ...context, under, ...(guard === undefined ? {} : { guard }) }, []);
    return;
  }
  const before = context.test.assertions.length;
  const hushed: Hush = { why: never ? "never" : "conditional", line, text: said, ...(excused ? { excused } : {}) };
  const inner: Context = { ...context, under, hushed: context.hushed ?? hushed };
  const after = (part: SyntaxNode | undefined): number => {
    if (part) reading.visit(part, inner, []);
    return context.test?.assertions.length ?? 0;
  };
  for (const child of node.children)
    if (child.named && child !== consequence && child !== alternative) reading.visit(child, context, []);
  const one = after(consequence);
  const two = after(alternative);
  // Both branches assert: whatever holds, something is checked.
  if (one > before && two > one && !never) {
    context.test.assertions.splice(
      before,
      two - before,
      ...context.test.assertions
        .slice(before)
        .map((found) => (found.hushed?.line === line ? heard(found, context) : found)),
    );
  }
}

export function readTry(reading: Reading, node: SyntaxNode, context: Context): void {
  const handlers = node.children.filter(({ type }) => reading.language.is("catches", type));
  const text = handlers.map((one) => textOf(reading, one)).join("\n");
  const swallows = handlers.length > 0 && !rethrows.test(text);
  const line = lineOf(reading, node.start);
  const own = reading.language.ownFailures;
  const takes =
    !gathers.test(text) && handlers.some((one) => own === undefined || own.test(flat(textOf(reading, one))));
  const hushed: Hush = { why: "swallowed", line, own: takes };
  const tried = fieldOf(node, "body");
  if (swallows && takes && tried !== undefined && callsWhatItIsGiven(textOf(reading, tried), context.heads))
    for (const name of context.path) reading.swallowers.add(name);
  for (const child of node.children) {
    if (!child.named) continue;
    const body = !handlers.includes(child) && swallows && context.hushed === undefined;
    reading.visit(child, body ? { ...context, hushed } : context, []);
  }
}

/** A block whose head takes up what fails in it: a failure there is passed over, or even asked for. */
export function readScope(reading: Reading, node: SyntaxNode, context: Context): void {
  const body = fieldOf(node, "body");
  const head = flat(reading.clean.slice(node.start, body?.start ?? node.end));
  const takes = body !== undefined && reading.language.hushes?.test(head) === true && context.hushed === undefined;
  const hushed = swallowedAt(lineOf(reading, node.start));
  for (const child of node.children)
    if (child.named) reading.visit(child, takes && child === body ? { ...context, hushed } : context, []);
}

export function readLoop(reading: Reading, node: SyntaxNode, context: Context): void {
  const over = fieldOf(node, "right", "value", "condition");
  const said = over ? flat(textOf(reading, over)) : "";
  const never = /^(?:\[\]|\(\)|\{\}|range\(0\)|False|false|0|set\(\)|dict\(\)|list\(\))$/.test(said);
  const hushed: Hush = { why: "never", line: lineOf(reading, node.start) };
  reading.inside(node, never && context.hushed === undefined ? { ...context, hushed } : context);
}

export function leaves({ language }: Reading, node: SyntaxNode): boolean {
  const inner = node.type === "expression_statement" ? node.children.find(({ named }) => named) : node;
  return inner !== undefined && language.is("leaves", inner.type);
}

function heard(found: OutlineAssertion, context: Context): OutlineAssertion {
  const { hushed: _, ...rest } = found;
  return context.hushed === undefined ? rest : { ...rest, hushed: context.hushed };
}
