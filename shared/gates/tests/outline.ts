import type { AssertionKind } from "../../model/test-language.ts";

/** What a file of tests holds, of one side of a change: read from its syntax tree, compared in compare.ts. */
export interface Outline {
  readonly path: string;
  readonly tests: readonly OutlineTest[];
  /** Functions that assert something and are no tests; `""` is the code around all functions. */
  readonly helpers: readonly OutlineHelper[];
  /** Marks of the file and of groups of tests. */
  readonly marks: readonly OutlineMark[];
  /** Names of everything that is defined. */
  readonly defined: ReadonlySet<string>;
  /** Whole text without comments, flat. */
  readonly text: string;
  readonly imports: readonly string[];
}

export interface OutlineTest {
  /** Groups and name, joined by ` > `. */
  readonly id: string;
  readonly name: string;
  readonly line: number;
  readonly endLine: number;
  readonly marks: readonly OutlineMark[];
  readonly assertions: readonly OutlineAssertion[];
  readonly rows: readonly OutlineRow[];
  readonly calls: ReadonlySet<string>;
  readonly body: string;
  /** Text of the head: parameters, and what is around. */
  readonly asyncLine?: number;
  readonly asyncMarked: boolean;
  readonly waits: boolean;
  readonly yieldLine?: number;
  /** Where the rest of the test is cut off. */
  readonly endedLine?: number;
  readonly assigned: readonly { readonly name: string; readonly value: string; readonly line: number }[];
  /** A condition around the whole test. */
  readonly guard?: { readonly text: string; readonly line: number };
  readonly empty: boolean;
  /** Header of the class around it. */
  readonly suite?: string;
}

export interface OutlineHelper {
  readonly name: string;
  readonly line: number;
  /** Neither a mark nor a name of the test program makes it run, and no other code says its name. */
  readonly unused?: boolean;
  readonly assertions: readonly OutlineAssertion[];
  readonly rows: readonly OutlineRow[];
}

export interface OutlineMark {
  readonly kind: "skip" | "focus" | "disable";
  readonly text: string;
  readonly line: number;
  /** Only under a condition that a new test may have. */
  readonly excused: boolean;
}

export interface OutlineAssertion {
  readonly kind: AssertionKind;
  readonly operands: readonly string[];
  readonly key: string;
  readonly line: number;
  readonly text: string;
  readonly either: readonly string[];
  readonly tolerance?: number;
  /** Why it may never be reached, or never count. */
  readonly hushed?: Hush;
}

export type Hush = {
  readonly why: "swallowed" | "conditional" | "not called" | "not awaited" | "ended" | "never";
  readonly line: number;
  /** With `swallowed`: the failure of the assertion itself is taken up, not only an error of what it asks. */
  readonly own?: boolean;
  /** With `conditional`: the condition. */
  readonly text?: string;
  /** The condition is about the machine, not about what the code answered. */
  readonly excused?: boolean;
};

export interface OutlineRow {
  readonly key: string;
  readonly line: number;
  readonly text: string;
}
