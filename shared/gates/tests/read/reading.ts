import type { SyntaxNode } from "../../../ports/syntax.ts";
import type { Hush, OutlineAssertion, OutlineMark, OutlineRow, OutlineTest } from "../outline.ts";
import type { ReadLanguage } from "./language.ts";
import { lineAt } from "./source-text.ts";

/**
 * What the reading of one file has found so far, and how it goes on: the readers of the parts of a test file add to it,
 * and hand what stands inside their part back to the walk.
 */
export interface Reading {
  readonly language: ReadLanguage;
  /** The source without its comments, every line and column where it was. */
  readonly clean: string;
  /** Where the lines start. */
  readonly starts: readonly number[];
  readonly tests: TestDraft[];
  readonly helpers: Map<string, Draft>;
  readonly marks: OutlineMark[];
  readonly defined: Set<string>;
  /** Calls and lists that were read with what is around them. */
  readonly taken: Set<SyntaxNode>;
  readonly bodies: Map<TestDraft, SyntaxNode>;
  /** Where a test starts. */
  readonly opened: Map<TestDraft, number>;
  /** Functions that nothing names but themselves. */
  readonly loners: Set<Draft>;
  /** Functions that run what they are given, and pass over its failure. */
  readonly swallowers: Set<string>;
  readonly timesSaid: (word: string) => number;
  readonly visit: (node: SyntaxNode, context: Context, marks: readonly SyntaxNode[]) => void;
  readonly inside: (node: SyntaxNode, context: Context) => void;
}

export interface Draft {
  readonly name: string;
  readonly line: number;
  readonly assertions: OutlineAssertion[];
  readonly rows: OutlineRow[];
}

export type TestDraft = Draft & {
  -readonly [K in keyof Omit<OutlineTest, keyof Draft | "marks" | "calls">]: OutlineTest[K];
} & { readonly marks: OutlineMark[]; readonly calls: Set<string> };

/** What is around a node on the way down to it. */
export interface Context {
  readonly path: readonly string[];
  readonly test?: TestDraft;
  readonly owner: Draft;
  readonly hushed?: Hush;
  /** Conditions that a mark in the body stands under. */
  readonly under: string;
  readonly guard?: { readonly text: string; readonly line: number };
  readonly asyncMarked: boolean;
  readonly collected: boolean;
  /** Heads of the functions around. */
  readonly heads: string;
  /** Header of the class around. */
  readonly suite?: string;
}

export function textOf(reading: Reading, node: SyntaxNode): string {
  return reading.clean.slice(node.start, node.end);
}

export function lineOf({ starts }: Reading, offset: number): number {
  return lineAt(starts, offset);
}

export function helperOf(reading: Reading, name: string, line: number): Draft {
  let helper = reading.helpers.get(name);
  if (!helper) {
    helper = { name, line, assertions: [], rows: [] };
    reading.helpers.set(name, helper);
  }
  return helper;
}

/** What stands around a test when it is defined does not stand around it when it runs. */
export function inTest(context: Context, test: TestDraft): Context & { readonly test: TestDraft } {
  const { hushed: _, ...around } = context;
  return { ...around, test, owner: test, path: [...around.path, test.name] };
}
