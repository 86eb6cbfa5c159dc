import type { ChatMessage } from "../model/completion.ts";
import { type Target, targetText } from "../model/target.ts";
import { dataBlock } from "../prompts/fence.ts";
import { type AskedAgain, question, withAgain } from "./asked-again.ts";
import { specSections, specTables } from "./spec.ts";

export interface SpecOrder {
  readonly target: Target;
  /** The language's name for people: `Python`. */
  readonly language: string;
  /** The person's words. */
  readonly request: string;
  /** Fresh for each prompt: bounds of data that nobody who wrote the data could guess. */
  readonly nonce: string;
  /** Other features of the domain, `domain/Feature`. */
  readonly neighbours: readonly string[];
}

/** The messages that ask a model for spec.md. `again` holds its last reply and what is wrong with it. */
export function specMessages(order: SpecOrder, again?: AskedAgain): readonly ChatMessage[] {
  return withAgain(question(system, request(order)), again, {
    what: "This spec is not well-formed",
    ask: "Reply with the whole corrected spec.md and nothing else.",
  });
}

const table = (name: keyof typeof specTables): string => `| ${specTables[name].join(" | ")} |`;

/** The form of spec.md, as models are told it. */
export const specForm = `Structure, in this order:
# <Feature>            exactly the feature's name
${specSections.map((name) => `## ${name}`).join("\n")}

* Overview: what it does and for whom, two to five sentences.
* Inputs and Outputs: tables ${table("Inputs")}; type names a plain type, rule says what holds for it.
* Rules: numbered, each one checkable by a test. Say rounding, limits, order, units and what happens at zero and empty.
* Errors: a table ${table("Errors")}. Each case has a name of its own. Every error that a rule or example speaks of is here.
* Examples: a table ${table("Examples")}; concrete values, the ordinary case first, then nasty ones, one per rule and per error.
* Dependencies: other features or libraries it needs, or: None.
A section with nothing in it says: None. A bar inside a cell is written \\|. Decide what the request leaves open in the simplest way
and write the decision down as a rule. Do not write code.`;

const system = `You write spec.md, the specification of one small feature, for the person who will accept it and the programmer who will
implement it from nothing else. Reply with the whole text of spec.md in Markdown and nothing else: no fence, no remarks.

${specForm}`;

function request(order: SpecOrder): string {
  const words = order.request.trim();
  const neighbours = order.neighbours.length === 0 ? "none yet" : order.neighbours.slice(0, 20).join(", ");
  return `Feature: ${order.target.name}
Domain: ${order.target.domain} (other features here: ${neighbours})
Language: ${order.language}
Target: ${targetText(order.target)}

What is wanted, in the person's words:
${dataBlock("request", words === "" ? "(nothing was said: derive a minimal, sensible feature from its name)" : words, order.nonce)}`;
}
