// Functions that are defined, and that nobody calls.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import { fieldOf } from "../call-shape.ts";
import { calledByItself } from "../hush.ts";
import { type Context, lineOf, type Reading, textOf } from "./reading.ts";

/** A function that runs when its name is called and not otherwise: no method of an object that the code is given. */
export function isOnlyCalled(reading: Reading, name: string, { collected, suite }: Context): boolean {
  const apart = suite === undefined || (collected && reading.language.suite.header !== undefined);
  if (!apart || name === "" || calledByItself.test(name)) return false;
  return reading.timesSaid(name) === 1;
}

/** A function that nobody calls: kept under a name, or thrown away. */
export function uncalled(reading: Reading, node: SyntaxNode, context: Context): Context {
  if (context.test === undefined || context.hushed !== undefined) return context;
  const holder = node.parent;
  if (isMethod(reading, node)) return context;
  const named = fieldOf(node, "name") ?? (holder ? fieldOf(holder, "name", "left") : undefined);
  const body = reading.bodies.get(context.test);
  if (named === undefined || body === undefined) return context;
  const name = textOf(reading, named);
  if (!/^[\w$]+$/.test(name)) return context;
  const around = reading.clean.slice(body.start, node.start) + reading.clean.slice(node.end, body.end);
  const escaped = name.replaceAll("$", "\\$");
  const used = new RegExp(
    `(?<![\\w$.])${escaped}\\s*(?:\\(|\\.)|[(,=]\\s*(?:\\w+\\s*=\\s*)?${escaped}\\s*[,)]|return\\s+${escaped}\\b|@${escaped}\\b`,
  );
  if (used.test(around)) return context;
  return { ...context, hushed: { why: "not called", line: lineOf(reading, node.start) } };
}

/** Whoever is given the object calls it. */
function isMethod(reading: Reading, { parent }: SyntaxNode): boolean {
  const around = parent !== undefined && /block|body|decorated|object/.test(parent.type) ? parent.parent : undefined;
  const outer = around !== undefined && /block|body/.test(around.type) ? around.parent : around;
  return outer !== undefined && reading.language.is("classes", outer.type);
}
