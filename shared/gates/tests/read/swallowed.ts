// Functions whose failure is passed over by what runs them.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import type { Shape } from "../call-shape.ts";
import { rethrows } from "../hush.ts";
import type { Hush } from "../outline.ts";
import { type Context, lineOf, type Reading } from "./reading.ts";

/** A function whose failure what runs it, or a later step of the chain takes up (`.then(...).catch(...)`). */
export function passesOver(reading: Reading, shape: Shape, at: number): boolean {
  const taken = shape.steps.slice(at + 1).some(({ name, args = [] }) => {
    // A handler that goes by a name may do anything.
    const [handler = "x"] = args;
    return name === "catch" && !/^[\w.$]+$/.test(handler) && !rethrows.test(handler);
  });
  const calmed = reading.swallowers.has(shape.steps[at]?.name.split(".").at(-1) ?? "");
  return taken || calmed;
}

/** In what passes a failure over; the first reason on the way down stays. */
export function swallowed(reading: Reading, node: SyntaxNode, context: Context): Context {
  return context.hushed === undefined ? { ...context, hushed: swallowedAt(lineOf(reading, node.start)) } : context;
}

export const swallowedAt = (line: number): Hush => ({ why: "swallowed", line, own: true });
