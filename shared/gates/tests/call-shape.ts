import type { SyntaxNode } from "../../ports/syntax.ts";
import { argsOf, flat } from "./flat-text.ts";

/** One step of a chain of calls: `expect(a)` and `toBe(b)` of `expect(a).toBe(b)`. */
export interface Step {
  readonly name: string;
  /** Texts of the arguments; undefined where nothing is called. */
  readonly args?: readonly string[];
  readonly node: SyntaxNode;
}

export interface Shape {
  readonly steps: readonly Step[];
  /** Names and empty parentheses: `expect().not.toBe()`. */
  readonly text: string;
  /** Arguments of all steps, in order. */
  readonly args: readonly string[];
}

const objects = ["object", "operand", "value", "argument", "receiver"];
const names = ["property", "attribute", "field", "name"];

export function fieldOf(node: SyntaxNode, ...wanted: readonly string[]): SyntaxNode | undefined {
  return node.children.find(({ field }) => field !== undefined && wanted.includes(field));
}

/** The chain of calls and members that a node is the end of. */
export function shapeOf(node: SyntaxNode, source: string): Shape {
  const steps: Step[] = [];
  let at: SyntaxNode | undefined = node;
  for (let guard = 0; at !== undefined && guard < 40; guard += 1) at = step(at, source, steps);
  steps.reverse();
  let text = "";
  for (const { name, args } of steps) {
    if (text !== "" && name !== "") text += ".";
    text += name + (args === undefined ? "" : "()");
  }
  return { steps, text, args: steps.flatMap(({ args }) => args ?? []) };
}

/** Takes one step off the end; what is left of the chain, or nothing. */
function step(node: SyntaxNode, source: string, steps: Step[]): SyntaxNode | undefined {
  const textOf = (one: SyntaxNode): string => flat(source.slice(one.start, one.end));
  const macro = fieldOf(node, "macro");
  if (macro) {
    const tree = node.children.find(({ type }) => type === "token_tree");
    const inner = tree ? source.slice(tree.start + 1, tree.end - 1) : "";
    steps.push({ name: `${textOf(macro)}!`, args: argsOf(inner), node });
    return undefined;
  }
  const given = fieldOf(node, "arguments");
  if (given) {
    const raw = source.slice(given.start, given.end);
    const args = raw.startsWith("(") ? argsOf(raw.slice(1, -1)) : [raw];
    const callee = fieldOf(node, "function", "constructor");
    if (callee === undefined) {
      // Java: object and name beside the arguments.
      const name = fieldOf(node, "name");
      steps.push({ name: name ? textOf(name) : "", args, node });
      return fieldOf(node, "object");
    }
    const inner = strip(callee);
    const name = fieldOf(inner, ...names);
    const object = fieldOf(inner, ...objects);
    if (name && object && !fieldOf(inner, "arguments")) {
      steps.push({ name: textOf(name), args, node });
      return object;
    }
    if (fieldOf(inner, "arguments") || fieldOf(inner, "macro")) {
      steps.push({ name: "", args, node });
      return inner;
    }
    steps.push({ name: short(textOf(inner)), args, node });
    return undefined;
  }
  const inner = strip(node);
  if (inner !== node) return inner;
  const name = fieldOf(node, ...names);
  const object = fieldOf(node, ...objects);
  if (name && object && object !== name) {
    steps.push({ name: textOf(name), node });
    return object;
  }
  steps.push({ name: short(textOf(node)), node });
  return undefined;
}

/** Waiting and grouping change nothing of what is called. */
function strip(node: SyntaxNode): SyntaxNode {
  if (
    !/^(?:await|await_expression|parenthesized_expression|non_null_expression|try_expression|generic_function)$/.test(
      node.type,
    )
  )
    return node;
  const inner = node.children.find(({ named }) => named);
  return inner ? strip(inner) : node;
}

function short(text: string): string {
  return text.length > 60 ? "_" : text;
}
