import type { Finding } from "../model/finding.ts";
import type { BrokenRule, Rule, RuleKind, RuleOf } from "../model/rule.ts";
import type { Fact } from "../ports/pool.ts";
import type { Matcher, QueryMatch, QuerySource, Syntax } from "../ports/syntax.ts";
import { findingOf } from "./finding-of.ts";
import { type Action, refusedTexts } from "./kinds/action.ts";
import { astPlaces } from "./kinds/ast.ts";
import { firstUnbalanced } from "./kinds/balanced.ts";
import { type DiffSubject, diffFindings } from "./kinds/diff-line.ts";
import { hitsOf, redacted } from "./kinds/line.ts";
import { lacksText } from "./kinds/text-required.ts";
import { type TreeSubject, treeFindings } from "./kinds/tree.ts";
import { unboundNames, unboundQueries } from "./kinds/unbound.ts";
import type { LoadedRule, LoadedSet, Rulebook } from "./load.ts";
import { type Views, viewsOf } from "./views.ts";

/** A text file. `role` is its role in a slice, when the caller knows that it is part of one. */
export interface FileSubject {
  readonly path: string;
  readonly text: string;
  readonly role?: string;
}

export interface FileRun {
  readonly findings: readonly Finding[];
  readonly facts: readonly Fact[];
  /** Why the rules on syntax trees did not run on this file; absent when they did, or when there are none. */
  readonly noTree?: string;
}

export interface RunOptions {
  /** Findings of one rule in one file; the last one says how many more there are. */
  readonly most?: number;
  /** Only rules of these groups. */
  readonly groups?: readonly Rule["group"][];
  /** Parsing a file may take this long. */
  readonly parseTimeoutMs?: number;
}

/** Runs a rulebook on files, diffs, trees and actions. One at a time: its syntax trees are not shared between threads. */
export interface RuleRunner extends Disposable {
  /** What was refused, the queries that do not compile included (known once `file` has met their language). */
  broken(): readonly BrokenRule[];
  file(subject: FileSubject, options?: RunOptions): Promise<FileRun>;
  /** Facts alone, without a syntax tree: what the `agree` rules want to know of a file the change did not touch. */
  facts(subject: FileSubject): readonly Fact[];
  diff(subject: DiffSubject, options?: RunOptions): readonly Finding[];
  tree(subject: TreeSubject, options?: RunOptions): readonly Finding[];
  action(action: Action): readonly Finding[];
}

export function createRuleRunner(book: Rulebook, syntax: Syntax): RuleRunner {
  const languages = new Map<LoadedSet, Map<boolean, Promise<Language>>>();
  const open: Language[] = [];
  const brokenQueries: BrokenRule[] = [];
  return {
    broken: () => [...book.broken, ...brokenQueries],
    async file(subject, options = {}) {
      const runs: FileRun[] = [];
      for (const set of book.sets) if (set.holds(subject.path)) runs.push(await runFile(set, subject, options));
      const noTree = runs.find((run) => run.noTree !== undefined)?.noTree;
      return {
        findings: inOrder(runs.flatMap((run) => run.findings)),
        facts: runs.flatMap((run) => run.facts),
        ...(noTree === undefined ? {} : { noTree }),
      };
    },
    facts: (subject) =>
      book.sets.flatMap((set) =>
        set.holds(subject.path) ? factsOf(set, subject, viewsOf(subject.text, set.lexical)) : [],
      ),
    diff: (subject, options = {}) =>
      inOrder(
        book.sets.flatMap((set) =>
          diffFindings(rulesOf(set, "diff-line", options), set.lexical, (path) => set.holds(path), subject),
        ),
      ),
    tree: (subject, options = {}) =>
      book.sets.flatMap((set) => {
        const own = ofLanguage(set, subject);
        return rulesOf(set, "tree", options).flatMap((loaded) => treeFindings(loaded, own));
      }),
    action: (action) =>
      book.sets.flatMap((set) =>
        rulesOf(set, "action").flatMap((loaded) =>
          refusedTexts(loaded, action).map((evidence) => findingOf(loaded, { evidence, name: evidence })),
        ),
      ),
    [Symbol.dispose]() {
      for (const language of open) language.matcher?.[Symbol.dispose]();
      languages.clear();
    },
  };

  async function runFile(set: LoadedSet, subject: FileSubject, options: RunOptions): Promise<FileRun> {
    const views = viewsOf(subject.text, set.lexical);
    const rules = set.rules.filter(
      (one) => fileKinds.has(one.rule.kind) && wanted(one, options) && one.applies(subject.path, subject.role),
    );
    const findings = textFindings(rules, subject.path, views);
    const facts = factsOf(set, subject, views);
    const treeRules = rules.filter((one) => one.rule.kind === "ast" || one.rule.kind === "unbound");
    if (!treeRules.some((one) => mayMatch(one, views))) return { findings: capped(findings, options.most), facts };
    const tree = await treeFindingsOf(set, treeRules, subject.path, views, options.parseTimeoutMs ?? 20_000);
    if (tree.noTree !== undefined) return { findings: capped(findings, options.most), facts, noTree: tree.noTree };
    return { findings: capped([...findings, ...tree.findings], options.most), facts };
  }

  async function treeFindingsOf(
    set: LoadedSet,
    rules: readonly LoadedRule[],
    path: string,
    views: Views,
    timeoutMs: number,
  ): Promise<{ findings: Finding[]; noTree?: string }> {
    const { matcher, why, without } = await languageOf(
      set,
      rules.some((one) => one.rule.roles !== undefined),
    );
    if (!matcher) return { findings: [], noTree: why };
    using parsed = matcher.parse(views.text, timeoutMs);
    if (!parsed) return { findings: [], noTree: "parsing took too long" };
    const matches = Map.groupBy(parsed.matches(), (match: QueryMatch) => match.query);
    const findings: Finding[] = [];
    for (const loaded of rules) {
      if (without.has(loaded.rule.id) || !mayMatch(loaded, views)) continue;
      if (isKind(loaded, "ast")) {
        for (const place of astPlaces(loaded, matches.get(loaded.rule.id) ?? [], views))
          findings.push(at(loaded, path, views, place?.start));
      } else if (isKind(loaded, "unbound")) {
        for (const one of unboundNames(loaded, matches, parsed, views))
          findings.push(at(loaded, path, views, one.at.start, { name: one.name }));
      }
    }
    return { findings };
  }

  /** Files outside slices are the many: their query does without the rules that look at slices only. */
  function languageOf(set: LoadedSet, slices: boolean): Promise<Language> {
    const both = languages.get(set) ?? new Map<boolean, Promise<Language>>();
    languages.set(set, both);
    let language = both.get(slices);
    if (!language) {
      const rules = slices ? set.rules : set.rules.filter((one) => one.rule.roles === undefined);
      language = openLanguage(set, rules, syntax, brokenQueries, open);
      both.set(slices, language);
    }
    return language;
  }
}

/** The kinds that look at one text; the others have their own doors. */
const fileKinds: ReadonlySet<RuleKind> = new Set(["line", "text-required", "balanced", "ast", "unbound"]);

/** False when the rule names a text without which it says nothing (`hint`), and it is not there. */
function mayMatch({ rule, extra }: LoadedRule, views: Views): boolean {
  const hint = rule.kind === "ast" && rule.must === "not-match" ? extra.get("hint") : undefined;
  return hint === undefined || hint.test(views.text);
}

interface Language {
  readonly matcher?: Matcher;
  readonly why: string;
  /** Rules with a query that does not compile: silence of such a query must not read as "nothing found". */
  readonly without: ReadonlySet<string>;
}

async function openLanguage(
  set: LoadedSet,
  rules: readonly LoadedRule[],
  syntax: Syntax,
  broken: BrokenRule[],
  open: Language[],
): Promise<Language> {
  if (set.grammar === undefined) return { why: `the set ${set.set} names no grammar`, without: new Set() };
  const queries: QuerySource[] = [];
  const uses: QuerySource[] = [];
  for (const loaded of rules) {
    if (isKind(loaded, "ast")) queries.push({ id: loaded.rule.id, text: loaded.rule.query });
    if (isKind(loaded, "unbound")) {
      const parts = unboundQueries(loaded.rule);
      queries.push(...parts.queries);
      uses.push(...parts.uses);
    }
  }
  const result = await syntax.matcher(set.grammar, queries, uses);
  if (result.kind === "missing") return { why: result.why, without: new Set() };
  const without = new Set<string>();
  for (const { id, line, column, reason } of result.broken) {
    const [rule = id, part] = id.split("#");
    const loaded = set.rules.find((one) => one.rule.id === rule);
    without.add(rule);
    if (broken.some((one) => one.rule === rule)) continue;
    const where = `${part ?? "query"}: ${reason} (line ${line}, column ${column} of the query)`;
    broken.push({ path: loaded?.source ?? set.set, line: loaded?.line ?? 1, rule, reason: where });
  }
  const language = { matcher: result.matcher, why: "", without };
  open.push(language);
  return language;
}

function textFindings(rules: readonly LoadedRule[], path: string, views: Views): Finding[] {
  const findings: Finding[] = [];
  for (const loaded of rules) {
    if (isKind(loaded, "line")) {
      for (const hit of hitsOf(loaded, views)) {
        const evidence = loaded.rule.redact ? redacted(hit) : undefined;
        findings.push(
          at(loaded, path, views, hit.at, {
            ...(hit.name === undefined ? {} : { name: hit.name }),
            ...(evidence === undefined ? {} : { evidence }),
          }),
        );
      }
    } else if (isKind(loaded, "balanced")) {
      const place = firstUnbalanced(loaded, views);
      if (place !== undefined) findings.push(at(loaded, path, views, place));
    } else if (isKind(loaded, "text-required")) {
      if (lacksText(loaded, views))
        findings.push(findingOf(loaded, { path, evidence: `missing: ${loaded.rule.pattern}` }));
    }
  }
  return findings;
}

function factsOf(set: LoadedSet, subject: FileSubject, views: Views): Fact[] {
  return set.rules.flatMap((loaded) => {
    if (!isKind(loaded, "tree") || loaded.rule.must !== "agree" || !loaded.applies(subject.path, subject.role))
      return [];
    const needed = loaded.rows.filter(({ needle }) => needle === undefined || views.text.includes(needle));
    const code = needed.length === 0 ? "" : views.without(loaded.rule.skip);
    return (loaded.rule.choices ?? []).flatMap(({ name, needle }, index) => {
      if (needle !== undefined && !views.text.includes(needle)) return [];
      const found = code.search(loaded.rows[index]?.regex ?? /$^/);
      return found === -1 ? [] : [{ rule: loaded.rule.id, choice: name, line: views.lineOf(found) }];
    });
  });
}

/** Slices and facts of another language are no business of this one's rules, be their ids the same. */
function ofLanguage(set: LoadedSet, subject: TreeSubject): TreeSubject {
  return {
    ...subject,
    slices: subject.slices.filter(({ roles }) => Object.values(roles).some((name) => set.holds(name))),
    facts: subject.facts.filter(({ path }) => set.holds(path)),
  };
}

function at(
  loaded: LoadedRule,
  path: string,
  views: Views,
  offset: number | undefined,
  more: { name?: string; evidence?: string } = {},
): Finding {
  if (offset === undefined) return findingOf(loaded, { path, evidence: "nothing in the file matches", ...more });
  const line = views.lineOf(offset);
  return findingOf(loaded, { path, line, column: views.columnOf(offset), evidence: views.lineText(line), ...more });
}

function capped(findings: readonly Finding[], most: number | undefined): Finding[] {
  if (most === undefined) return [...findings];
  const groups = Map.groupBy(inOrder(findings), (finding) => finding.rule);
  return [...groups.values()].flatMap((group) => {
    const kept = group.slice(0, most);
    const last = kept.at(-1);
    const more = group.length - kept.length;
    if (more > 0 && last)
      kept[kept.length - 1] = { ...last, message: `${last.message} (and ${more} more in this file)` };
    return kept;
  });
}

function wanted({ rule }: LoadedRule, options: RunOptions): boolean {
  return !options.groups || options.groups.includes(rule.group);
}

function rulesOf<K extends RuleKind>(set: LoadedSet, kind: K, options: RunOptions = {}): LoadedRule<RuleOf<K>>[] {
  return set.rules.filter((loaded): loaded is LoadedRule<RuleOf<K>> => isKind(loaded, kind) && wanted(loaded, options));
}

function isKind<K extends RuleKind>(loaded: LoadedRule, kind: K): loaded is LoadedRule<RuleOf<K>> {
  return loaded.rule.kind === kind;
}

function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (a, b) =>
      compare(a.path ?? "", b.path ?? "") ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compare(a.rule, b.rule),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
