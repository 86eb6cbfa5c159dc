import { extName, globMatcher } from "../base/paths.ts";
import type { Severity } from "../model/finding.ts";
import { readRuleFile } from "../model/rule-file.ts";
import type { BrokenRule, Lexical, PatternRow, Rule, RuleFile, RuleGroup, TextView, Unless } from "../model/rule.ts";
import type { TestLanguage } from "../model/test-language.ts";
import type { RuleSettings, RuleSource } from "../ports/pool.ts";
import { FirstLook } from "./first-look.ts";

export interface Row {
  readonly regex: RegExp;
  readonly firstLook: FirstLook;
  readonly name?: string;
  readonly needle?: string;
  readonly unless?: RegExp;
  readonly entropy?: number;
  readonly view?: TextView;
  readonly inside?: readonly string[];
  readonly outside?: readonly string[];
}

/** A rule ready to run: severity after the project's switches, expressions compiled, globs as functions. */
export interface LoadedRule<R extends Rule = Rule> {
  readonly rule: R;
  readonly severity: Severity;
  severityAt(path: string | undefined): Severity;
  readonly inherited?: Severity;
  readonly rows: readonly Row[];
  readonly unless: readonly { readonly regex: RegExp; readonly on: Unless["on"] }[];
  readonly extra: ReadonlyMap<string, RegExp>;
  readonly source: string;
  readonly line: number;
  applies(path: string, role: string | undefined): boolean;
}

export interface LoadedSet {
  readonly set: string;
  readonly grammar?: string;
  readonly lexical?: Lexical;
  readonly tests?: TestLanguage;
  readonly rules: readonly LoadedRule[];
  holds(path: string): boolean;
}

export interface Rulebook {
  readonly sets: readonly LoadedSet[];
  readonly broken: readonly BrokenRule[];
}

interface Draft {
  head: RuleFile;
  readonly rules: Map<string, { readonly loaded: LoadedRule; readonly project: boolean }>;
}

/**
 * Reads the installed sets and the project's trusted additions, merged by rule id. Pure: the caller read the bytes and
 * decided what is trusted. What is wrong is named with path, line and reason, never thrown. With `groups`, the book
 * holds rules of these alone, and what is installed for others is not even read.
 */
export function loadRules(settings: RuleSettings, groups?: readonly RuleGroup[]): Rulebook {
  const broken: BrokenRule[] = [];
  const drafts = new Map<string, Draft>();
  const ordered = [...settings.sources].toSorted((a, b) => Number(a.project) - Number(b.project));
  for (const source of ordered) addSource(source, drafts, { settings, groups }, broken);
  const sets = [...drafts.values()].map(({ head, rules }): LoadedSet => {
    const every = head.extensions.includes("*");
    return {
      set: head.set,
      ...(head.grammar === undefined ? {} : { grammar: head.grammar }),
      ...(head.lexical === undefined ? {} : { lexical: head.lexical }),
      ...(head.tests === undefined ? {} : { tests: head.tests }),
      rules: [...rules.values()]
        .map(({ loaded }) => loaded)
        .filter(({ rule }) => isOn(rule, settings) && groups?.includes(rule.group) !== false),
      holds: (path) => every || head.extensions.includes(extName(path)),
    };
  });
  return { sets, broken };
}

function addSource(
  source: RuleSource,
  drafts: Map<string, Draft>,
  { settings, groups }: { readonly settings: RuleSettings; readonly groups: readonly RuleGroup[] | undefined },
  broken: BrokenRule[],
): void {
  // A project's rule may put one of another group in an installed one's place.
  const read = readRuleFile(source.text, source.project ? undefined : groups);
  if (read.kind === "bad") {
    broken.push({ path: source.path, line: read.fault.line, whole: true, reason: read.fault.message });
    return;
  }
  const { file } = read;
  let draft = drafts.get(file.set);
  if (!draft) {
    draft = { head: file, rules: new Map() };
    drafts.set(file.set, draft);
  } else {
    draft.head = {
      ...draft.head,
      ...((draft.head.lexical ?? file.lexical) ? { lexical: draft.head.lexical ?? file.lexical } : {}),
      ...((draft.head.tests ?? file.tests) ? { tests: draft.head.tests ?? file.tests } : {}),
      tables: { ...draft.head.tables, ...file.tables },
    };
  }
  for (const check of read.checks) {
    if (check.kind === "bad") {
      const rule = check.id === undefined ? {} : { rule: check.id };
      broken.push({ path: source.path, line: check.line, ...rule, reason: check.reason });
      continue;
    }
    const { rule } = check;
    const refuse = (reason: string): void =>
      void broken.push({ path: source.path, line: check.line, rule: rule.id, reason });
    const before = draft.rules.get(rule.id);
    if (before && before.project === source.project) {
      refuse(`the id ${rule.id} stands twice (also in ${before.loaded.source}:${before.loaded.line})`);
      continue;
    }
    try {
      const loaded = prepare(rule, draft.head, settings, { path: source.path, check });
      draft.rules.set(rule.id, { loaded, project: source.project });
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
    }
  }
}

/** The switch of a rule; an id also switches the ids below it: `pep8` all of PEP 8, `constitution.2` its parts. */
function switchOf(id: string, { switches }: RuleSettings): RuleSettings["switches"][string] | undefined {
  for (let name = id; ; name = name.slice(0, name.lastIndexOf("."))) {
    if (Object.hasOwn(switches, name)) return switches[name];
    if (!name.includes(".")) return undefined;
  }
}

function isOn(rule: Rule, settings: RuleSettings): boolean {
  const set = switchOf(rule.id, settings);
  return set === undefined ? rule.default === "on" : set !== "off";
}

/** Throws an Error whose message names the field that does not compile. */
function prepare(
  rule: Rule,
  head: RuleFile,
  settings: RuleSettings,
  from: { readonly path: string; readonly check: { readonly line: number } },
): LoadedRule {
  const switched = switchOf(rule.id, settings);
  const severity: Severity = switched === "fail" ? "FAIL" : switched === "warn" ? "WARN" : rule.severity;
  const only = rule.only ? globMatcher(rule.only) : undefined;
  const except = rule.except ? globMatcher(rule.except) : undefined;
  const roles = rule.roles ? new Set(rule.roles) : undefined;
  const milder = rule.warnIn && switched === undefined ? globMatcher(rule.warnIn) : undefined;
  const inherited = rule.kind === "tree" && switched === undefined ? rule.inherited : undefined;
  return {
    rule,
    severity,
    severityAt: (path) => (path !== undefined && milder?.(path) ? "WARN" : severity),
    ...(inherited === undefined ? {} : { inherited }),
    rows: rowsOf(rule, head),
    unless: unlessOf(rule),
    extra: extraOf(rule),
    source: from.path,
    get line() {
      return from.check.line;
    },
    applies(path, role) {
      if (roles && (role === undefined || !roles.has(role))) return false;
      return (!only || only(path)) && !except?.(path);
    },
  };
}

function rowsOf(rule: Rule, head: RuleFile): Row[] {
  if (rule.kind === "action") return rule.patterns.map((row, i) => compileRow(row, `patterns.${i}`));
  if (rule.kind === "tree")
    return (rule.choices ?? []).map((one, i) => compileRow({ ...one, flags: "" }, `choices.${i}`));
  if (rule.kind === "text-required") return [compileRow({ pattern: rule.pattern, flags: rule.flags }, "pattern")];
  if (rule.kind !== "line" && rule.kind !== "diff-line") return [];
  const rows: Row[] = [];
  if (rule.pattern !== undefined) rows.push(compileRow({ pattern: rule.pattern, flags: rule.flags }, "pattern"));
  (rule.patterns ?? []).forEach((row, i) => rows.push(compileRow(row, `patterns.${i}`)));
  if (rule.table !== undefined) {
    const table = Object.hasOwn(head.tables, rule.table) ? head.tables[rule.table] : undefined;
    if (!table) throw new Error(`table: there is no table ${rule.table}`);
    table.forEach((row, i) => rows.push(compileRow(row, `tables.${rule.table}.${i}`)));
  }
  if (rows.length === 0) throw new Error("needs pattern, patterns or table");
  return rows;
}

function unlessOf(rule: Rule): { regex: RegExp; on: Unless["on"] }[] {
  if (!("unless" in rule) || !rule.unless) return [];
  return rule.unless.map((one, i) => ({ regex: compile(one.pattern, one.flags, `unless.${i}`), on: one.on }));
}

/** Expressions that only some kinds have, by field name. */
function extraOf(rule: Rule): Map<string, RegExp> {
  const extra = new Map<string, RegExp>();
  const add = (field: string, pattern: string | undefined, flags = ""): void => {
    if (pattern !== undefined) extra.set(field, compile(pattern, `m${flags}`, field));
  };
  if (rule.kind === "line" || rule.kind === "diff-line" || rule.kind === "ast") add("hint", rule.hint);
  if (rule.kind === "diff-line") add("unlessAdded", rule.unlessAdded);
  if (rule.kind === "text-required") add("when", rule.when);
  if (rule.kind === "unbound") add("marker", rule.marker?.pattern, rule.marker?.flags);
  if (rule.kind === "tree" && rule.must !== "agree" && rule.must !== "roles" && !rule.paths)
    throw new Error("paths: is missing");
  if (rule.kind === "tree" && rule.must === "agree" && !rule.choices) throw new Error("choices: is missing");
  return extra;
}

function compileRow(row: string | PatternRow, where: string): Row {
  const { pattern, flags } = typeof row === "string" ? { pattern: row, flags: "" } : row;
  // Positions of groups cost time, so they are asked for only where a pattern names its place.
  const regex = compile(pattern, `gm${flags}${/\(\?<(?:at|value)>/.test(pattern) ? "d" : ""}`, where);
  const firstLook = new FirstLook(regex);
  if (typeof row === "string") return { regex, firstLook };
  return {
    regex,
    firstLook,
    ...(row.name === undefined ? {} : { name: row.name }),
    ...(row.unless === undefined
      ? {}
      : { unless: compile(row.unless, row.flags.includes("i") ? "i" : "", `${where}.unless`) }),
    ...(row.needle === undefined ? {} : { needle: row.needle }),
    ...(row.entropy === undefined ? {} : { entropy: row.entropy }),
    ...(row.view === undefined ? {} : { view: row.view }),
    ...(row.inside === undefined ? {} : { inside: row.inside }),
    ...(row.outside === undefined ? {} : { outside: row.outside }),
  };
}

function compile(pattern: string, flags: string, where: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    throw new Error(`${where}: ${error instanceof Error ? error.message : "not a regular expression"}`, {
      cause: error,
    });
  }
}
