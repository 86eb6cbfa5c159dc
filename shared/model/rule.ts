import * as z from "zod";
import { Severity } from "./finding.ts";
import { TestLanguage } from "./test-language.ts";

/**
 * `rules/<set>/core.json` and `.orch/rules/<lang>/*.json`: checks as data, the single registry for `qa` and the gates.
 * A pattern is a JavaScript regular expression. Views of a text: `text` as it stands; `code` with comments blanked and
 * strings muted (quotes stay, contents become x); `logical` with one line for each statement as PEP 8 tools see it
 * (brackets and continuations joined, comments gone, a comment line is `#`, blank lines stay); `flat` as `logical`
 * without what stands in brackets; `joined` as it stands, but with string literals that follow each other (or are added
 * up) as one, so that a token cut in two is seen.
 */
export const ruleGroups = ["standards", "structure", "constitution", "integrity"] as const;
export const textViews = ["text", "code", "logical", "flat", "joined"] as const;
export const textContexts = ["comment", "string", "raw-string"] as const;
export type RuleGroup = (typeof ruleGroups)[number];
export type TextView = (typeof textViews)[number];
export type TextContext = (typeof textContexts)[number];

const Pattern = z.string().min(1);
const Flags = z
  .string()
  .regex(/^[isu]*$/, "flags are i, s and u; g and m are always set")
  .default("");
const Globs = z.array(z.string().min(1)).min(1);

/**
 * One row of a table of patterns. The value is the group named `value`, else the whole match; the place is where the
 * group named `at` begins, else where the value does.
 */
export const PatternRow = z.strictObject({
  pattern: Pattern,
  flags: Flags,
  /** Shown with the finding: what was found. */
  name: z.string().optional(),
  /** No finding when it matches the value. */
  unless: Pattern.optional(),
  /** A text without which the pattern cannot match: found faster than any expression. */
  needle: Pattern.optional(),
  /** Shannon entropy of the value, in bits for each character: at least this. */
  entropy: z.number().positive().optional(),
  /** Instead of the rule's view. */
  view: z.enum(textViews).optional(),
  /** Only matches that start in one of these contexts, or in none of these. */
  inside: z.array(z.enum(textContexts)).min(1).optional(),
  outside: z.array(z.enum(textContexts)).min(1).optional(),
});
export type PatternRow = z.infer<typeof PatternRow>;
const Patterns = z.array(z.union([Pattern, PatternRow])).min(1);

const common = {
  id: z.string().regex(/^[A-Za-z][A-Za-z0-9._-]{0,79}$/, "an id is a letter followed by letters, digits, dot, _ or -"),
  group: z.enum(ruleGroups),
  severity: Severity,
  /** `off`: runs only when a project switches it on. */
  default: z.enum(["on", "off"]).default("on"),
  message: z.string().min(1),
  remedy: z.string().min(1),
  /** Globs on the repository path; without them every file of the set's extensions. */
  only: Globs.optional(),
  except: Globs.optional(),
  /** Files in which the severity is WARN: tests, mostly. A project's switch holds everywhere. */
  warnIn: Globs.optional(),
  /** The file's role in a slice (pack.json): the rule does not look at files outside slices. */
  roles: z.array(z.string()).min(1).optional(),
  /** Article of the constitution. */
  article: z.number().int().min(1).max(11).optional(),
};

const Unless = z.strictObject({
  pattern: Pattern,
  flags: Flags,
  /**
   * `line`: the physical line. `string-line`: the same, for a place in a string of several lines. `comments`: the
   * comments of the statement. `string`: all lines of the string of several lines that it is in.
   */
  on: z.enum(["line", "string-line", "comments", "string"]).default("line"),
});
export type Unless = z.infer<typeof Unless>;

const matching = {
  pattern: Pattern.optional(),
  flags: Flags,
  patterns: Patterns.optional(),
  /** Rows of the file's `tables`. */
  table: z.string().optional(),
  view: z.enum(textViews).default("text"),
  /** Contexts that are blanked (comments) or muted (strings) before matching; for the view `text`. */
  skip: z.array(z.enum(textContexts)).default([]),
  /** No finding when one of these matches. */
  unless: z.array(Unless).min(1).optional(),
  /** A regular expression without which the text cannot match: a cheap way out. */
  hint: Pattern.optional(),
  /** Report the place but never the text: for secrets. */
  redact: z.boolean().default(false),
};

const LineRule = z.strictObject({ kind: z.literal("line"), ...common, ...matching });
const TextRequiredRule = z.strictObject({
  kind: z.literal("text-required"),
  ...common,
  pattern: Pattern,
  flags: Flags,
  view: z.enum(textViews).default("text"),
  /** Asked only of a text that this matches. */
  when: Pattern.optional(),
});
const BalancedRule = z.strictObject({
  kind: z.literal("balanced"),
  ...common,
  /** Pairs as two characters each; strings and comments do not count. */
  pairs: z.array(z.string().length(2)).min(1),
});
const AstRule = z.strictObject({
  kind: z.literal("ast"),
  ...common,
  /**
   * A tree-sitter query. `@at` is the place, else the first capture. Beside the usual predicates: `#inside? @x type ...`
   * and `#not-inside? @x type ...` look at the nodes around a capture.
   */
  query: z.string().min(1),
  /** `match`: the file must hold a match. */
  must: z.enum(["match", "not-match"]).default("not-match"),
  unless: z.array(Unless).min(1).optional(),
  /** Says nothing of a file that this does not match; one that no rule of its set wants is not parsed. */
  hint: Pattern.optional(),
});
const UnboundRule = z.strictObject({
  kind: z.literal("unbound"),
  ...common,
  /** Query: `@name` is what is declared, `@statement` what declares it. */
  declared: z.string().min(1),
  /** Query: `@use` for each place that may use a name, `@other` for those of them that only look like it (attributes). */
  used: z.string().min(1),
  /** Query: `@use` for each place one of which a name must stand in to be reported: as a type, say. */
  mentioned: z.string().optional(),
  /** Query: `@text` for texts (strings that hold types, say) in which a name counts as used. */
  usedIn: z.string().optional(),
  /** Query: `@name` for names that are exported; quotes are taken off. */
  exported: z.string().optional(),
  /** No finding when a line of the statement matches. */
  marker: z.strictObject({ pattern: Pattern, flags: Flags }).optional(),
});
const DiffLineRule = z.strictObject({
  kind: z.literal("diff-line"),
  ...common,
  ...matching,
  side: z.enum(["added", "removed"]).default("added"),
  /**
   * `moved`: a line that the change also removes (on the removed side: adds) somewhere does not count. `fewer`: findings
   * only when the whole change removes more matches than it adds. `none`: every match counts.
   */
  balance: z.enum(["moved", "fewer", "none"]).default("moved"),
  /** No findings at all when an added line of the change matches. */
  unlessAdded: Pattern.optional(),
});
const TreeRule = z.strictObject({
  kind: z.literal("tree"),
  ...common,
  /**
   * `exist`: one of `paths` is there; `not-exist`: none is; `at-most-one`: not two of them in one folder; `agree`: the
   * files of the set use at most one of `choices` between them; `roles`: every slice holds the files of its roles.
   */
  must: z.enum(["exist", "not-exist", "at-most-one", "agree", "roles"]),
  paths: Globs.optional(),
  choices: z
    .array(z.strictObject({ name: z.string(), pattern: Pattern, needle: Pattern.optional() }))
    .min(2)
    .optional(),
  /**
   * With `agree`: contexts that are blanked or muted before the choices are looked for. Where imports name their module
   * in a string, only comments.
   */
  skip: z.array(z.enum(textContexts)).default(["comment", "string", "raw-string"]),
  /** Asked only when a file matches one of these globs. */
  when: Globs.optional(),
  /** Severity for what was so before the change, and for an audit without a change; `severity` when absent. */
  inherited: Severity.optional(),
});
const ActionRule = z.strictObject({
  kind: z.literal("action"),
  ...common,
  /** What of the action is matched. */
  on: z.enum(["command", "path", "tool"]),
  patterns: Patterns,
  tools: z.array(z.string()).min(1).optional(),
});

export const Rule = z.discriminatedUnion("kind", [
  LineRule,
  TextRequiredRule,
  BalancedRule,
  AstRule,
  UnboundRule,
  DiffLineRule,
  TreeRule,
  ActionRule,
]);
export type Rule = z.infer<typeof Rule>;
export type RuleKind = Rule["kind"];
export type RuleOf<K extends RuleKind> = Extract<Rule, { readonly kind: K }>;

/** How a language's text is cut into comments, strings and statements. */
export const Lexical = z.strictObject({
  comments: z.array(z.strictObject({ open: z.string().min(1), close: z.string().min(1).optional() })).default([]),
  /** Longer openers first. `multiline`: may hold line ends. The closer is the opener. */
  strings: z.array(z.strictObject({ open: z.string().min(1), multiline: z.boolean().default(false) })).default([]),
  /**
   * Literals whose opener is also an operator, `/` of regular expressions: they open only behind a character of `after`
   * or one of `words`, or where the text begins, and close with the opener outside of `[]` on the same line.
   */
  literals: z
    .array(z.strictObject({ open: z.string().length(1), after: z.string(), words: z.array(z.string()).default([]) }))
    .default([]),
  /** Letters that may stand before a string's opener, and those of them that make it raw; case does not matter. */
  prefixes: z.string().default(""),
  raw: z.string().default(""),
  brackets: z.array(z.string().length(2)).default([]),
  /** Joins a line with the next when it is the last character. */
  continuation: z.string().length(1).optional(),
});
export type Lexical = z.infer<typeof Lexical>;

const head = {
  $schema: z.string().optional(),
  set: z.string().regex(/^[a-z][a-z0-9]*$/),
  /** Name of the tree-sitter grammar for `ast` and `unbound`. */
  grammar: z.string().optional(),
  /** `*` means every file. */
  extensions: z.array(z.string().regex(/^(\*|\.[a-z0-9.]+)$/)).default([]),
  lexical: Lexical.optional(),
  tables: z.record(z.string(), Patterns).default({}),
  /** How the language writes tests; for the guard. */
  tests: TestLanguage.optional(),
};

/** Each check is read on its own afterwards, so that a broken one is named and the rest runs. */
export const RuleFile = z.strictObject({ ...head, checks: z.array(z.unknown()) });
export type RuleFile = z.infer<typeof RuleFile>;

/** A check or a whole file that was refused, and why; everything else runs. */
export interface BrokenRule {
  readonly path: string;
  readonly line: number;
  readonly rule?: string;
  /** The file as a whole could not be read: none of its rules holds, however many they are. */
  readonly whole?: true;
  readonly reason: string;
}

/** Generated files of this format. */
export function generate(): { readonly path: string; readonly text: string }[] {
  const schema = z.toJSONSchema(z.strictObject({ ...head, checks: z.array(Rule) }), { io: "input", target: "draft-7" });
  return [{ path: "rules/schema.json", text: `${JSON.stringify({ title: "Orch rules", ...schema }, null, 2)}\n` }];
}
