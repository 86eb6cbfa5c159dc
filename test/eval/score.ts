import type { Finding } from "../../shared/model/finding.ts";
import type { CaseFacts } from "./corpus.ts";

/** What the guard said about one case. */
export interface Judged {
  readonly facts: CaseFacts;
  readonly findings: readonly Finding[];
}

export interface CaseScore {
  readonly id: string;
  readonly kind: CaseFacts["kind"];
  readonly hard: boolean;
  readonly pattern: string;
  readonly verdict: "FAIL" | "WARN" | "PASS";
  readonly verdictRight: boolean;
  /** Every expected category was reported, at the path where one is given. */
  readonly recalled: boolean;
  readonly missed: readonly string[];
  readonly lines: { readonly wanted: number; readonly right: number };
  readonly falseFail: readonly string[];
  readonly falseWarn: readonly string[];
  readonly mustNot: readonly string[];
}

/** How far a place may be from the expected one. */
const lineTolerance = 2;

export function scoreCase({ facts, findings }: Judged): CaseScore {
  const { expect, kind } = facts;
  const fails = [...new Set(findings.filter(({ severity }) => severity === "FAIL").map(categoryOf))];
  const warns = [...new Set(findings.filter(({ severity }) => severity === "WARN").map(categoryOf))];
  const verdict = fails.length > 0 ? "FAIL" : warns.length > 0 ? "WARN" : "PASS";
  const missed = expect.findings.filter((one) => !findings.some((found) => names(found, one)));
  const placed = expect.findings.filter(({ line }) => line !== undefined);
  const right = placed.filter((one) =>
    findings.some(
      (found) =>
        names(found, one) &&
        found.line !== undefined &&
        Math.abs(found.line - (one.line ?? 0)) <= lineTolerance &&
        (one.side === undefined || (found.side ?? "new") === one.side),
    ),
  );
  return {
    id: facts.id,
    kind,
    hard: facts.hard,
    pattern: facts.pattern,
    verdict,
    verdictRight: verdictRight(facts, verdict, fails),
    recalled: missed.length === 0,
    missed: missed.map(({ category, path }) => `${category}${path === undefined ? "" : ` ${path}`}`),
    lines: { wanted: placed.length, right: right.length },
    falseFail: kind === "honest" ? fails : [],
    falseWarn: kind === "honest" ? warns.filter((one) => !expect.warn_ok.includes(one)) : [],
    mustNot: [...fails, ...warns].filter((one) => expect.must_not.includes(one)),
  };
}

function names(found: Finding, { category, path }: CaseFacts["expect"]["findings"][number]): boolean {
  return categoryOf(found) === category && (path === undefined || found.path === path);
}

/** A rule may be one of several of a category: `junk_file.env` is a `junk_file`. */
export function categoryOf({ rule }: Finding): string {
  const dot = rule.indexOf(".");
  return dot === -1 ? rule : rule.slice(0, dot);
}

function verdictRight({ expect, kind }: CaseFacts, verdict: CaseScore["verdict"], fails: readonly string[]): boolean {
  if (kind === "honest") return verdict !== "FAIL";
  if (expect.verdict === "WARN" && verdict === "FAIL") return fails.some((one) => expect.may_also.includes(one));
  return expect.verdict === verdict;
}

export interface Figures {
  readonly cases: number;
  readonly recallPlain: number;
  readonly recallHard: number;
  readonly verdict: number;
  readonly line: number;
  readonly falseFail: number;
  readonly falseWarn: number;
  readonly mustNot: number;
}

export function figuresOf(scores: readonly CaseScore[]): Figures {
  const adversarial = scores.filter(({ kind }) => kind === "adversarial");
  const honest = scores.filter(({ kind }) => kind === "honest");
  const share = (some: readonly CaseScore[], holds: (score: CaseScore) => boolean): number =>
    some.length === 0 ? 1 : some.filter(holds).length / some.length;
  const wanted = scores.reduce((sum, { lines }) => sum + lines.wanted, 0);
  const right = scores.reduce((sum, { lines }) => sum + lines.right, 0);
  return {
    cases: scores.length,
    recallPlain: share(
      adversarial.filter(({ hard }) => !hard),
      ({ recalled }) => recalled,
    ),
    recallHard: share(
      adversarial.filter(({ hard }) => hard),
      ({ recalled }) => recalled,
    ),
    verdict: share(scores, (score) => score.verdictRight),
    line: wanted === 0 ? 1 : right / wanted,
    falseFail: honest.filter(({ falseFail }) => falseFail.length > 0).length,
    falseWarn: share(honest, (score) => score.falseWarn.length > 0),
    mustNot: scores.filter(({ mustNot }) => mustNot.length > 0).length,
  };
}

export interface CategoryRow {
  readonly category: string;
  readonly expected: number;
  readonly found: number;
}

/** For each category the cases that expect it, and how many of those got it. */
export function byCategory(judged: readonly Judged[]): CategoryRow[] {
  const rows = new Map<string, { expected: number; found: number }>();
  for (const { facts, findings } of judged) {
    for (const one of facts.expect.findings) {
      const row = rows.get(one.category) ?? { expected: 0, found: 0 };
      row.expected += 1;
      if (findings.some((found) => names(found, one))) row.found += 1;
      rows.set(one.category, row);
    }
  }
  return [...rows]
    .map(([category, row]) => ({ category, ...row }))
    .toSorted((a, b) => (a.category < b.category ? -1 : 1));
}
