import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, extName, inRoot, type RepoPath } from "../base/paths.ts";
import { syntaxRule } from "../gates/standards.ts";
import type { Finding } from "../model/finding.ts";
import type { BrokenRule } from "../model/rule.ts";
import type { ContentIds } from "../ports/content-ids.ts";
import type { AuditFile, Fact, FileAnswer, Pool, RuleSettings } from "../ports/pool.ts";
import type { ExactSyntax, ExactSyntaxResult } from "../ports/syntax.ts";
import type { TreeSlice, TreeSubject } from "../rulebook/kinds/tree.ts";
import type { Rulebook } from "../rulebook/load.ts";
import type { RuleRunner } from "../rulebook/run.ts";
import type { AuditCache, CachedAnswer } from "./audit-cache.ts";

/** The rulebook over a working tree: whole files, then what only the list of files tells. No worker, no model. */
export interface AuditDeps {
  readonly root: AbsPath;
  readonly book: Rulebook;
  readonly settings: RuleSettings;
  readonly pool: Pick<Pool, "audit" | "broken">;
  readonly runner: Pick<RuleRunner, "tree">;
  readonly ids: ContentIds;
  readonly cache: AuditCache;
  /** The language's own compiler, and the extensions it is for. */
  readonly exact: { readonly extensions: readonly string[]; readonly syntax: ExactSyntax };
}

export interface AuditOrder {
  /** Every file of the repository. */
  readonly all: readonly RepoPath[];
  /** Those to judge; tree rules look at `all`. */
  readonly wanted: readonly RepoPath[];
  readonly roles: ReadonlyMap<string, string>;
  readonly slices: readonly TreeSlice[];
  /** With --changed: what differs. Absent: everything counts as it is. */
  readonly change?: TreeSubject["change"];
  /** False when only some paths were asked for: a list of files is then no tree. */
  readonly tree: boolean;
}

export interface AuditResult {
  /** Source files that got an answer: judged or skipped. */
  readonly files: number;
  /** Other texts that the rules for any file looked at. */
  readonly otherFiles: number;
  readonly findings: readonly Finding[];
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
  readonly broken: readonly BrokenRule[];
  readonly syntax: { readonly verified: boolean; readonly by: string };
  readonly fromCache: number;
}

export async function auditTree(deps: AuditDeps, order: AuditOrder, signal: AbortSignal): Promise<AuditResult> {
  const isSource = sourceTest(deps.book);
  const targets = order.wanted.filter((path) => isSource(path) || deps.book.sets.some((set) => set.holds(path)));
  const ids = await deps.ids.of(
    targets.map((path) => inRoot(deps.root, path)),
    signal,
  );
  const answers = new Map<string, CachedAnswer>();
  const asked: RepoPath[] = [];
  for (const [index, path] of targets.entries()) {
    const known = deps.cache.get(path, keyOf(ids[index], order.roles.get(path)));
    if (known) answers.set(path, known);
    else asked.push(path);
  }
  const fromCache = answers.size;
  const readable = new Set(targets.filter((_, index) => ids[index]?.startsWith("large:") === false));
  const [judged, exact] = await Promise.all([
    judge(deps, order, asked, signal),
    compile(
      deps,
      asked.filter((path) => readable.has(path)),
      signal,
    ),
  ]);
  throwIfAborted(signal);
  for (const answer of judged) answers.set(answer.path, withSyntax(deps, answer, exact));
  const askedNow = new Set(asked);
  for (const [index, path] of targets.entries()) {
    const answer = answers.get(path);
    // What was not verified today may be tomorrow, on a machine with the compiler.
    if (answer && !(unanswered(deps, path, exact) && askedNow.has(path)))
      deps.cache.set(path, keyOf(ids[index], order.roles.get(path)), answer);
  }
  if (asked.length > 0) deps.cache.broken = deps.pool.broken(deps.settings);
  await deps.cache.save(order.tree ? new Set(order.all) : undefined);
  return resultOf(deps, order, { targets, answers, isSource, exact, fromCache });
}

function keyOf(id: string | undefined, role: string | undefined): string | undefined {
  return id === undefined ? undefined : `${id}${role === undefined ? "" : ` ${role}`}`;
}

/** A file of a language: of a set with a grammar. The other sets look at any file. */
function sourceTest(book: Rulebook): (path: string) => boolean {
  const languages = book.sets.filter((set) => set.grammar !== undefined);
  return (path) => languages.some((set) => set.holds(path));
}

async function judge(
  deps: AuditDeps,
  order: AuditOrder,
  paths: readonly RepoPath[],
  signal: AbortSignal,
): Promise<readonly FileAnswer[]> {
  if (paths.length === 0) return [];
  const files = paths.map((path): AuditFile => {
    const role = order.roles.get(path);
    return { path, at: inRoot(deps.root, path), ...(role === undefined ? {} : { role }) };
  });
  return await deps.pool.audit(deps.settings, files, signal);
}

function isExact({ exact }: AuditDeps, path: string): boolean {
  return exact.extensions.includes(extName(path));
}

/** The file's own compiler is not there. */
function unanswered(deps: AuditDeps, path: string, exact: ExactSyntaxResult): boolean {
  if (!isExact(deps, path)) return false;
  if (exact.kind === "not-verified") return true;
  return exact.gaps !== undefined && !exact.answers.has(inRoot(deps.root, path));
}

async function compile(deps: AuditDeps, paths: readonly RepoPath[], signal: AbortSignal): Promise<ExactSyntaxResult> {
  const files = paths.filter((path) => isExact(deps, path)).map((path) => inRoot(deps.root, path));
  return await deps.exact.syntax.check(files, signal);
}

function withSyntax(deps: AuditDeps, answer: FileAnswer, exact: ExactSyntaxResult): CachedAnswer {
  if (answer.kind === "skipped") return answer;
  const own = exact.kind === "checked" ? exact.answers.get(inRoot(deps.root, answer.path)) : undefined;
  if (own === undefined || own.kind === "ok") return answer;
  const { path } = answer;
  const added: Finding =
    own.kind === "unverified"
      ? {
          rule: "syntax_unverified",
          severity: "WARN",
          message: `the syntax was not verified: ${own.why}`,
          path,
          evidence: path,
          remedy: "Compile it by hand",
        }
      : {
          rule: syntaxRule,
          severity: "FAIL",
          message: `not valid: ${own.fault.message}`,
          path,
          line: own.fault.line,
          column: own.fault.column,
          evidence: own.fault.message,
          remedy: `Write code that ${exact.kind === "checked" ? exact.by : "the compiler"} takes`,
        };
  return { ...answer, findings: [added, ...answer.findings] };
}

interface Gathered {
  readonly targets: readonly RepoPath[];
  readonly answers: ReadonlyMap<string, CachedAnswer>;
  readonly isSource: (path: string) => boolean;
  readonly exact: ExactSyntaxResult;
  readonly fromCache: number;
}

function resultOf(deps: AuditDeps, order: AuditOrder, gathered: Gathered): AuditResult {
  const { targets, answers, isSource, exact, fromCache } = gathered;
  const findings: Finding[] = [];
  const facts: (Fact & { readonly path: string })[] = [];
  const skipped: { path: string; why: string }[] = [];
  let files = 0;
  let otherFiles = 0;
  for (const path of targets) {
    const answer = answers.get(path) ?? { kind: "skipped" as const, path, why: "it was not answered" };
    const source = isSource(path);
    if (source) files += 1;
    if (answer.kind === "skipped") {
      // Images, archives and links beside the code are no business of the rules.
      if (source) skipped.push({ path, why: answer.why });
      continue;
    }
    if (!source) otherFiles += 1;
    findings.push(...answer.findings);
    facts.push(...answer.facts.map((fact) => ({ ...fact, path })));
  }
  if (order.tree) {
    const subject = {
      paths: order.all,
      facts,
      slices: order.slices,
      ...(order.change ? { change: order.change } : {}),
    };
    findings.push(...deps.runner.tree(subject));
  }
  if (exact.kind === "not-verified") findings.push(notVerified(exact.why));
  else findings.push(...(exact.gaps ?? []).map(notVerified));
  return {
    files,
    otherFiles,
    findings: sorted(findings),
    skipped,
    broken: inOrder([...deps.book.broken, ...deps.cache.broken]),
    syntax:
      exact.kind === "checked"
        ? { verified: exact.gaps === undefined, by: exact.by === "" ? "an earlier audit of the same files" : exact.by }
        : { verified: false, by: exact.why },
    fromCache,
  };
}

function inOrder(broken: readonly BrokenRule[]): BrokenRule[] {
  const place = ({ path, line, rule = "" }: BrokenRule): string => `${path}:${String(line).padStart(6)} ${rule}`;
  const unique = new Map(broken.map((one) => [`${place(one)} ${one.reason}`, one]));
  return [...unique.values()].toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

function notVerified(why: string): Finding {
  return {
    rule: "syntax_unverified",
    severity: "WARN",
    message: `syntax not verified: ${why}`,
    evidence: why,
    remedy: "Install the language's own compiler, then run: orch qa",
  };
}

function sorted(findings: readonly Finding[]): Finding[] {
  const key = (finding: Finding): string => finding.path ?? "";
  return findings.toSorted((a, b) => {
    if (a.severity !== b.severity) return a.severity === "FAIL" ? -1 : 1;
    if (key(a) !== key(b)) return key(a) < key(b) ? -1 : 1;
    return (a.line ?? 0) - (b.line ?? 0);
  });
}
