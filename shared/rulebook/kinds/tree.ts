import { globMatcher } from "../../base/paths.ts";
import type { Finding, Severity } from "../../model/finding.ts";
import type { RuleOf } from "../../model/rule.ts";
import type { Fact } from "../../ports/pool.ts";
import { findingOf } from "../finding-of.ts";
import type { LoadedRule } from "../load.ts";

/** A list of files, what each of them uses, and the slices among them. */
export interface TreeSubject {
  readonly paths: readonly string[];
  readonly facts: readonly (Fact & { readonly path: string })[];
  readonly slices: readonly TreeSlice[];
  /** What the change did; absent for an audit without a change, where everything counts as inherited. */
  readonly change?: { readonly touched: ReadonlySet<string>; readonly deleted: ReadonlySet<string> };
}

export interface TreeSlice {
  readonly dir: string;
  readonly name: string;
  /** role -> file name, the optional ones that this slice does without left out. */
  readonly roles: Readonly<Record<string, string>>;
}

type TreeLoaded = LoadedRule<RuleOf<"tree">>;

export function treeFindings(loaded: TreeLoaded, subject: TreeSubject): Finding[] {
  const { rule } = loaded;
  if (rule.when && !subject.paths.some(globMatcher(rule.when))) return [];
  const named = rule.paths ? globMatcher(rule.paths) : () => false;
  switch (rule.must) {
    case "exist": {
      if (subject.paths.some(named)) return [];
      const deleted = [...(subject.change?.deleted ?? [])].some(named);
      const wanted = rule.paths?.join(", ") ?? "";
      return [findingOf(loaded, { evidence: `missing: ${wanted}`, severity: severityOf(loaded, deleted) })];
    }
    case "not-exist":
      return subject.paths
        .filter((path) => named(path) && loaded.applies(path, undefined))
        .map((path) => culprit(loaded, path, subject));
    case "at-most-one": {
      const there = (rule.paths ?? []).flatMap((glob) => subject.paths.filter(globMatcher([glob])));
      return there.length < 2 ? [] : there.slice(1).map((path) => culprit(loaded, path, subject, there.join(", ")));
    }
    case "agree":
      return disagreements(loaded, subject);
    case "roles":
      return subject.slices.flatMap((slice) => missingRoles(loaded, slice, subject));
  }
}

function severityOf({ severity, inherited }: TreeLoaded, own: boolean): Severity {
  return own ? severity : (inherited ?? severity);
}

function culprit(loaded: TreeLoaded, path: string, subject: TreeSubject, evidence = path): Finding {
  const own = subject.change?.touched.has(path) === true;
  return findingOf(loaded, { path, evidence, name: path, severity: severityOf(loaded, own) });
}

/** The choice that most files make stands; the others are named. A tie goes to the choice named first in the rule. */
function disagreements(loaded: TreeLoaded, subject: TreeSubject): Finding[] {
  const facts = subject.facts.filter((fact) => fact.rule === loaded.rule.id);
  const counts = new Map((loaded.rule.choices ?? []).map(({ name }) => [name, 0]));
  for (const { choice } of facts) counts.set(choice, (counts.get(choice) ?? 0) + 1);
  const used = [...counts].filter(([, count]) => count > 0);
  if (used.length < 2) return [];
  const [usual = ""] = used.toSorted((a, b) => b[1] - a[1])[0] ?? [];
  return facts
    .filter(({ choice }) => choice !== usual)
    .map(({ path, line, choice }) => {
      const own = subject.change?.touched.has(path) === true;
      const evidence = `${choice} here, ${usual} elsewhere`;
      return findingOf(loaded, { path, line, evidence, name: choice, severity: severityOf(loaded, own) });
    });
}

function missingRoles(loaded: TreeLoaded, slice: TreeSlice, subject: TreeSubject): Finding[] {
  const there = new Set(subject.paths);
  return Object.entries(slice.roles).flatMap(([role, file]) => {
    const path = `${slice.dir}/${file}`;
    if (there.has(path)) return [];
    const own = subject.change === undefined || subject.change.deleted.has(path);
    return [
      findingOf(loaded, {
        path,
        evidence: `missing: ${path} (${role})`,
        name: path,
        severity: severityOf(loaded, own),
      }),
    ];
  });
}
