import * as z from "zod";

/**
 * How a language writes tests: what a test is, what an assertion is and how much it says. Data of a rule set
 * (`tests` in rules/<set>/core.json); shared/gates/tests reads a syntax tree by it. Patterns are JavaScript regular
 * expressions without flags; they look at text of which white space was made single blanks.
 *
 * A call is written as its shape: `expect().not.toBe()`, `self.assertEqual()`, `assert_eq!()`.
 */
const Pattern = z.string().min(1);
const Types = z.array(z.string().min(1)).default([]);

/** What an assertion says, from exact to nothing; shared/gates/tests/strength.ts ranks them. */
export const assertionKinds = [
  "eq",
  "ne",
  "none",
  "notnone",
  "true",
  "false",
  "truthy",
  "falsy",
  "length",
  "almost",
  "contains",
  "notcontains",
  "matches",
  "partial",
  "raises",
  "notraises",
  "greater",
  "less",
  "type",
  "called",
  "calledwith",
  "snapshot",
  "fail",
  "custom",
] as const;
export type AssertionKind = (typeof assertionKinds)[number];

const AssertionRow = z.strictObject({
  shape: Pattern,
  kind: z.enum(assertionKinds),
  /** It holds when the kind does not. */
  not: z.boolean().default(false),
  /** Arguments before the ones that count (`t` of testify). */
  drop: z.number().int().min(0).default(0),
  /** How many of the arguments count; what follows is a message. */
  take: z.number().int().min(1).optional(),
  /** The expected value stands before the actual one. */
  swap: z.boolean().default(false),
  /** Its one argument is a condition, read like the expression of an `assert`. */
  condition: z.boolean().default(false),
  /** Argument that says how far apart values may be: by place, or by name. */
  tolerance: z
    .strictObject({
      at: z.number().int().min(0).optional(),
      name: Pattern.optional(),
      unit: z.enum(["absolute", "places"]).default("absolute"),
      /** Where none is given. */
      default: z.number().positive().optional(),
    })
    .optional(),
});
export type AssertionRow = z.infer<typeof AssertionRow>;

const MarkRow = z.strictObject({
  pattern: Pattern,
  kind: z.enum(["skip", "focus", "disable"]),
  /** A condition that a new test may have: a platform, a version, a tool. */
  unless: Pattern.optional(),
});
export type MarkRow = z.infer<typeof MarkRow>;

export const TestLanguage = z.strictObject({
  /** Files whose tests are collected. */
  files: z.array(z.string().min(1)).min(1),
  /** Those of `files` that a test program runs; without it all of them. */
  collected: z.array(z.string().min(1)).min(1).optional(),
  /** Files below this name hold tests even though no pattern of `files` says so: Rust's `mod tests`. */
  inline: z.array(z.string().min(1)).default([]),
  /** Without a match in a text of `inline` files no tree is asked for. */
  inlineHint: Pattern.optional(),

  functions: Types,
  lambdas: Types,
  classes: Types,
  /** Around a definition, holding its marks. */
  wrappers: Types,
  /** Marks: decorators, attributes, annotations. */
  marks: Types,
  calls: Types,
  /** Statements that assert by themselves. */
  asserts: Types,
  comments: Types,
  branches: Types,
  loops: Types,
  tries: Types,
  catches: Types,
  /** Blocks with a head that may take up failures (`with`). */
  scopes: Types,
  leaves: Types,
  yields: Types,
  awaits: Types,
  lists: Types,
  /** Elements of a list that stand around the value itself. */
  elements: Types,
  strings: Types,
  numbers: Types,
  assignments: Types,

  /** A function of this name, with one of these marks, or a call of this shape, is a test. */
  test: z.strictObject({
    name: Pattern.optional(),
    mark: Pattern.optional(),
    call: Pattern.optional(),
    /** The header of a test must match (its parameters). */
    header: Pattern.optional(),
  }),
  suite: z.strictObject({
    /** Header of a class whose functions are collected; without it any class's are. */
    header: Pattern.optional(),
    call: Pattern.optional(),
  }),
  markRows: z.array(MarkRow).default([]),
  /** Calls and statements in a test's own body that stop or skip it. */
  bodyMarks: z.array(MarkRow).default([]),
  /** Lines at the head of a file or a module that decide whether it is built. */
  fileMarks: z.array(MarkRow).default([]),
  assertions: z.array(AssertionRow).default([]),
  /** Calls that fail a test: in a condition they are an assertion of its opposite. */
  failures: Pattern.optional(),
  /** A handler of exceptions with this in it takes up the failure of an assertion; without it every handler does. */
  ownFailures: Pattern.optional(),
  /** The head of one of `scopes` that takes up the failure of an assertion. */
  hushes: Pattern.optional(),
  /** Calls that look like a check of the project's own. */
  customs: Pattern.default("(?:^|[._:])(?:assert|expect|check|verify|should|must|require|ensure)\\w*!?\\(\\)$"),
  /** Exceptions so wide that expecting one says little. */
  wideErrors: Pattern.default("^(?:Exception|BaseException|Error|Throwable|RuntimeException|RuntimeError|object|any)$"),
  /** Async tests count only with this on them, on their class or in the file. */
  asyncMark: Pattern.optional(),
  /** Classes whose async tests nobody waits for: matches the header of the class, a line end, and the file's text. */
  syncSuites: Pattern.optional(),
  /** A promise of these shapes is nothing until it is waited for. */
  promises: Pattern.optional(),
  /** Tables of cases: marks, and calls whose list they are. */
  tables: Pattern.optional(),
  /** Replaces code by a stand-in: groups `object`, `member`, or `module`. */
  mocks: z.array(Pattern).default([]),
  /** What raises a limit: group `value`. */
  limits: z.array(Pattern).default([]),
  /** One test of a name hides an earlier one in the same place. */
  uniqueNames: z.boolean().default(false),
});
export type TestLanguage = z.infer<typeof TestLanguage>;
