import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, extName, inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import type { Change, ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { RuleGroup } from "../model/rule.ts";
import type { GateInput, SliceFacts } from "../ports/gate.ts";
import type { AuditFile, Fact, FileAnswer, Pool, RuleSettings } from "../ports/pool.ts";
import type { Rulebook } from "../rulebook/load.ts";
import type { RuleRunner } from "../rulebook/run.ts";
import type { TreeSubject } from "../rulebook/kinds/tree.ts";
import { sidesOf } from "./base-text.ts";

/**
 * The rulebook's answers about one change, asked once and shared by the gates that show a group of rules each. Whole
 * files are judged on the pool's threads; diff and tree rules are cheap and run here.
 */
export interface AuditDeps {
  readonly book: Rulebook;
  readonly runner: Pick<RuleRunner, "diff" | "tree" | "facts">;
  readonly pool: Pick<Pool, "audit">;
  readonly settings: RuleSettings;
  /** Tracked and untracked-but-not-ignored files of a tree. */
  readonly listFiles: (root: AbsPath) => Promise<readonly RepoPath[]>;
}

export interface Audit {
  /** Findings of one group, over files, diff and tree. */
  findings(input: GateInput, group: RuleGroup, signal: AbortSignal): Promise<readonly Finding[]>;
  /** Files no rule could look at, with the reason. */
  unread(input: GateInput, signal: AbortSignal): Promise<readonly { readonly path: string; readonly why: string }[]>;
  groupOf(rule: string): RuleGroup | undefined;
}

interface Answers {
  readonly findings: readonly Finding[];
  readonly unread: readonly { readonly path: string; readonly why: string }[];
}

/** A file this long is data, whatever its name says. */
const maxFactChars = 1_000_000;

export function createAudit(deps: AuditDeps): Audit {
  const groups = new Map(
    deps.book.sets.flatMap(({ rules }) => rules.map(({ rule }) => [rule.id, rule.group] as const)),
  );
  const asked = new WeakMap<Change, Promise<Answers>>();
  const factsOf = new Map<string, readonly Fact[]>();
  const answers = (input: GateInput, signal: AbortSignal): Promise<Answers> => {
    const known = asked.get(input.change);
    if (known !== undefined) return known;
    const answer = ask(deps, factsOf, input, signal);
    asked.set(input.change, answer);
    answer.catch(() => asked.delete(input.change));
    return answer;
  };
  return {
    async findings(input, group, signal) {
      const { findings } = await answers(input, signal);
      return findings.filter(({ rule }) => groups.get(rule) === group);
    },
    async unread(input, signal) {
      return (await answers(input, signal)).unread;
    },
    groupOf: (rule) => groups.get(rule),
  };
}

async function ask(
  deps: AuditDeps,
  memo: Map<string, readonly Fact[]>,
  input: GateInput,
  signal: AbortSignal,
): Promise<Answers> {
  const { change, slice, root } = input;
  const files = change.files.filter(isPlainFile);
  const texts = await sideTexts(input, files);
  const asked: AuditFile[] = files.map(({ path }) => ({
    path,
    at: inRoot(root, path),
    ...roleOf(path, slice),
    ...readText(texts.now.get(path)),
  }));
  const answered = asked.length === 0 ? [] : await deps.pool.audit(deps.settings, asked, signal);
  throwIfAborted(signal);
  const inFiles = newFindings(
    answered.flatMap((answer) => (answer.kind === "audited" ? answer.findings : [])),
    files,
    slice,
  );
  const inDiff = deps.runner.diff({
    files: change.files,
    newText: (path) => texts.now.get(path),
    oldText: (path) => texts.before.get(path),
  });
  const inTree = deps.runner.tree(await treeSubject(deps, memo, input, answered, signal));
  const unread = answered.flatMap((answer) =>
    answer.kind === "skipped" ? [{ path: answer.path, why: answer.why }] : [],
  );
  return { findings: [...inDiff, ...inFiles, ...inTree], unread };
}

/** Nothing where the bytes have to be looked at: they may be no UTF-8, or no text. */
function readText(text: string | undefined): { readonly text?: string } {
  return text === undefined || /[\0\uFFFD]/.test(text) ? {} : { text };
}

function isPlainFile({ newMode, binary }: ChangedFile): boolean {
  return !binary && newMode.startsWith("100");
}

function roleOf(path: string, slice: SliceFacts | undefined): { readonly role?: string } {
  if (slice === undefined) return {};
  const role = Object.entries(slice.pack.roles).find(([, name]) => path === `${slice.dir}/${name}`)?.[0];
  if (role !== undefined) return { role };
  return isSource(path, slice) && isInside(path, slice.dir) ? { role: "module" } : {};
}

/** A slice is the worker's as a whole. Elsewhere only the lines it wrote count: what stood there before is not its fault. */
function newFindings(
  findings: readonly Finding[],
  files: readonly ChangedFile[],
  slice: SliceFacts | undefined,
): Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return findings.filter(({ path, line }) => {
    const file = path === undefined ? undefined : byPath.get(path);
    if (file === undefined || file.status === "added" || (slice !== undefined && isInside(file.path, slice.dir)))
      return true;
    return (
      line !== undefined && file.hunks.some(({ newStart, added }) => line >= newStart && line < newStart + added.length)
    );
  });
}

async function sideTexts(
  input: GateInput,
  files: readonly ChangedFile[],
): Promise<{ readonly now: ReadonlyMap<string, string>; readonly before: ReadonlyMap<string, string> }> {
  const now = new Map<string, string>();
  const before = new Map<string, string>();
  for (const file of files) {
    const sides = await sidesOf(file, input, maxFactChars);
    if (sides.now !== undefined) now.set(file.path, sides.now);
    if (sides.before !== undefined) before.set(file.oldPath ?? file.path, sides.before);
  }
  return { now, before };
}

/** The tree's files with what the change did to them, and what each file uses that the project must agree on. */
async function treeSubject(
  deps: AuditDeps,
  memo: Map<string, readonly Fact[]>,
  input: GateInput,
  answered: readonly FileAnswer[],
  signal: AbortSignal,
): Promise<TreeSubject> {
  const { change, slice, root } = input;
  const there = change.files.filter(({ newMode }) => newMode !== "000000").map(({ path }) => path);
  const gone = new Set(change.files.filter(({ newMode }) => newMode === "000000").map(({ path }) => path));
  const listed = await deps.listFiles(root);
  const paths = [...new Set([...listed.filter((path) => !gone.has(path)), ...there])].toSorted();
  const facts = answered.flatMap((answer) =>
    answer.kind === "audited" ? answer.facts.map((fact) => ({ ...fact, path: answer.path })) : [],
  );
  const touched = new Set(there);
  if (needsFacts(deps.book)) {
    for (const path of paths) {
      throwIfAborted(signal);
      if (touched.has(path)) continue;
      const key = `${root}\0${path}`;
      const known = memo.get(key) ?? (await readFacts(deps, input, path));
      memo.set(key, known);
      facts.push(...known.map((fact) => ({ ...fact, path })));
    }
  }
  return {
    paths,
    facts,
    slices: slice === undefined ? [] : [{ dir: slice.dir, name: slice.target.name, roles: wantedRoles(slice) }],
    change: { touched, deleted: gone },
  };
}

function needsFacts({ sets }: Rulebook): boolean {
  return sets.some(({ rules }) => rules.some(({ rule }) => rule.kind === "tree" && rule.must === "agree"));
}

async function readFacts(deps: AuditDeps, input: GateInput, path: string): Promise<readonly Fact[]> {
  const at = repoPath(path);
  if (at === undefined || !deps.book.sets.some((set) => set.grammar !== undefined && set.holds(path))) return [];
  const bytes = await input.read(at);
  if (bytes === undefined || bytes.length > maxFactChars) return [];
  return deps.runner.facts({ path, text: new TextDecoder("utf-8").decode(bytes) });
}

/** role -> file name of the roles this slice may not lack. */
export function wantedRoles({ pack, controller }: SliceFacts): Readonly<Record<string, string>> {
  const wanted = Object.entries(pack.roles).flatMap(([role, name]) => {
    if (name === undefined) return [];
    const may = pack.optional.includes(role) && !(role === "controller" && controller);
    return may ? [] : [[role, name] as const];
  });
  return Object.fromEntries(wanted);
}

/** True for source files of the slice's language. */
export function isSource(path: string, { pack }: SliceFacts): boolean {
  return pack.extensions.includes(extName(path));
}
