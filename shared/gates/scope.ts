import { dirName, globMatcher, hasWildcard, isAbsolutePath, isInside, resolvedFrom } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import { isTestPath } from "../model/test-path.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { classOf, isMeasure } from "./file-class.ts";
import { finding, ran } from "./gate-finding.ts";
import { isStray } from "./leftovers.ts";

/**
 * Does the change stay where it may be, and how big is it? Judged from git's facts alone. Both sides of a rename count.
 * A glob in `allowed` gives scope; only a name without a wildcard permits an existing test or a file of a guarded class.
 */
export function createScopeGate(deps: ScopeDeps = {}): Gate {
  return {
    id: "scope",
    phase: "change",
    async run(input) {
      // Only a new name can be too much like another one.
      const grows = input.change.files.some(
        ({ status }) => status === "added" || status === "renamed" || status === "copied",
      );
      return ran(scopeFindings(input, (grows ? await deps.filesAt?.(input.change.base) : undefined) ?? []));
    },
  };
}

export interface ScopeDeps {
  /** All files of a commit or tree. */
  readonly filesAt?: (treeish: string) => Promise<readonly string[]>;
}

/** Findings after which it makes no sense, or is not safe, to run anything of the change. */
export const scopeStops: readonly string[] = [
  "no_change",
  "out_of_scope",
  "protected_touched",
  "read_only_violation",
  "git_meta_touched",
  "agent_config_touched",
  "ci_touched",
  "manifest_touched",
  "test_config_touched",
  "symlink_escape",
  "submodule_change",
  "path_collision",
];

/** Findings about a file that has no place in the tree at all, whatever it holds. */
const misplaced: ReadonlySet<string> = new Set([
  ...scopeStops.filter((rule) => rule !== "no_change" && rule !== "read_only_violation"),
  "file_name",
  "junk_file",
  "shadow_module",
]);

/**
 * New files of a change that were refused for being there. They go before the next attempt: a reply that just leaves them
 * out could never take them away again.
 */
export function refusedFiles(findings: readonly Finding[], files: readonly ChangedFile[]): readonly string[] {
  const named = new Set(
    findings.flatMap(({ severity, rule, path }) => (severity === "FAIL" && misplaced.has(rule) ? (path ?? []) : [])),
  );
  return files.flatMap(({ path, status }) => (status === "added" && named.has(path) ? path : []));
}

function scopeFindings({ contract, change, slice }: GateInput, there: readonly string[]): Finding[] {
  // What an agent's program left is taken out of the change: it is told, and neither in scope nor out of it.
  const files = change.files.filter(({ path, status }) => status !== "added" || !isStray(path));
  if (contract.mode === "read_only") return files.map(readOnly);
  if (files.length === 0)
    return [
      finding("no_change", "FAIL", "nothing changed", { remedy: "Do the task: at least one file has to change" }),
    ];
  const scope = scopeOf(contract);
  return [
    ...files.flatMap((file) => fileFindings(file, scope, slice?.dir)),
    ...collisions(files, there),
    ...budgets(contract, files),
  ];
}

interface Scope {
  readonly isAllowed: (path: string) => boolean;
  readonly isExact: (path: string) => boolean;
  readonly isProtected: (path: string) => boolean;
}

function scopeOf({ allowed, protected: kept }: Contract): Scope {
  const exact = new Set(allowed.filter((glob) => !hasWildcard(glob)));
  const named = new Set(allowed);
  return {
    isAllowed: globMatcher(allowed),
    isExact: (path) => exact.has(path) || named.has(path),
    isProtected: globMatcher(kept),
  };
}

function readOnly(file: ChangedFile): Finding {
  return finding("read_only_violation", "FAIL", `the task is to read, but ${file.path} was ${file.status}`, {
    path: file.path,
    remedy: "Leave every file as it is and answer in the report",
  });
}

function fileFindings(file: ChangedFile, scope: Scope, sliceDir: string | undefined): Finding[] {
  const found: Finding[] = [];
  for (const path of file.oldPath === undefined || file.status === "copied" ? [file.path] : [file.oldPath, file.path]) {
    const remedy = "Put the file back as it was";
    if (scope.isProtected(path))
      found.push(finding("protected_touched", "FAIL", `${path} is protected`, { path, remedy }));
    else if (!scope.isAllowed(path)) {
      const where =
        sliceDir === undefined || isInside(path, sliceDir) ? "outside the allowed files" : `outside ${sliceDir}`;
      found.push(finding("out_of_scope", "FAIL", `${path} is ${where}`, { path, remedy }));
    }
    const guarded = scope.isExact(path) ? undefined : classOf(path);
    if (guarded !== undefined) {
      const line = path === file.path && file.status === "modified" ? firstLine(file) : {};
      found.push(finding(guarded.rule, "FAIL", `${path} is ${guarded.what}`, { path, ...line, remedy }));
    }
  }
  const before = file.oldPath ?? file.path;
  const existed = file.status !== "added" && file.status !== "copied";
  if (existed && isMeasure(before) && !scope.isExact(before)) {
    const remedy = "Put it back as it was, and put new tests into a new file";
    found.push(
      finding("existing_test_touched", "FAIL", `${before} holds existing tests and was ${file.status}`, {
        path: before,
        remedy,
      }),
    );
  }
  return [...found, ...kindFindings(file, scope)];
}

function firstLine({ hunks: [first] }: ChangedFile): { readonly line?: number } {
  if (first === undefined) return {};
  return { line: first.added.length > 0 ? first.newStart : first.newStart + 1 };
}

/** Lines are counted by the budgets; a line may be as long as a book. */
const maxReadable = 200_000;

function kindFindings(file: ChangedFile, scope: Scope): Finding[] {
  const { path, oldMode, newMode } = file;
  const found: Finding[] = [];
  const remedy = "Use plain files";
  if (newMode === "120000" && !linksInside(file, scope)) {
    const evidence = linkTarget(file) ?? "";
    found.push(
      finding("symlink_escape", "FAIL", `${path} is a link that leads out of the allowed files`, {
        path,
        evidence,
        remedy,
      }),
    );
  }
  if (newMode === "160000" || oldMode === "160000")
    found.push(finding("submodule_change", "FAIL", `${path} is a submodule`, { path, remedy }));
  const both = oldMode !== "000000" && newMode !== "000000";
  if (
    both &&
    oldMode.slice(0, 2) !== newMode.slice(0, 2) &&
    newMode !== "120000" &&
    newMode !== "160000" &&
    oldMode !== "160000"
  ) {
    found.push(
      finding("file_type_change", "FAIL", `${path} became another kind of file`, {
        path,
        evidence: `${oldMode} -> ${newMode}`,
        remedy,
      }),
    );
  }
  if (both && oldMode === "100644" && newMode === "100755") {
    found.push(
      finding("mode_change", "WARN", `${path} became executable`, {
        path,
        evidence: `${oldMode} -> ${newMode}`,
        remedy: "Take the executable bit away",
      }),
    );
  }
  const chars = file.hunks.reduce((sum, { added }) => sum + added.reduce((all, line) => all + line.length, 0), 0);
  if (!file.binary && chars > maxReadable)
    found.push(
      finding("large_file", "WARN", `${path} gains ${Math.round(chars / 1000)} kB of text: nobody can review it`, {
        path,
        remedy: "Leave it out, or say in the report where it comes from",
      }),
    );
  if (file.binary && newMode !== "000000") {
    found.push(
      finding("binary_added", "WARN", `${path} is binary: nobody can review it`, {
        path,
        remedy: "Leave binary files out",
      }),
    );
  }
  return found;
}

/** A link's text is the one line git shows of it. */
function linkTarget({ hunks }: ChangedFile): string | undefined {
  return hunks.at(-1)?.added.at(-1);
}

function linksInside(file: ChangedFile, { isAllowed, isProtected }: Scope): boolean {
  const target = linkTarget(file);
  if (target === undefined || isAbsolutePath(target)) return false;
  const to = resolvedFrom(dirName(file.path), target);
  return to !== undefined && isAllowed(to) && !isProtected(to);
}

const keyOf = (path: string): string => path.normalize("NFC").toLowerCase();

/** Names that many disks hold to be one: they differ by case or by the form of an accent. */
function collisions(files: readonly ChangedFile[], there: readonly string[]): Finding[] {
  const changed = new Set(files.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [path, oldPath])));
  const seen = new Map<string, string>(there.filter((path) => !changed.has(path)).map((path) => [keyOf(path), path]));
  const found: Finding[] = [];
  for (const { path, newMode } of files) {
    if (newMode === "000000") continue;
    const key = keyOf(path);
    const other = seen.get(key);
    if (other !== undefined && other !== path) {
      found.push(
        finding("path_collision", "FAIL", `${path} and ${other} are one file on many disks`, {
          path,
          remedy: "Give them names that differ",
        }),
      );
    }
    seen.set(key, path);
  }
  return found;
}

function budgets(contract: Contract, files: readonly ChangedFile[]): Finding[] {
  const size = (some: readonly ChangedFile[]): number =>
    some.reduce((sum, { added = 0, removed = 0 }) => sum + added + removed, 0);
  const tests = files.filter(({ path }) => isTestPath(path));
  const rest = files.filter(({ path }) => !isTestPath(path));
  const limit = contract.max_diff_lines;
  const testLimit = contract.max_test_diff_lines ?? (limit === undefined ? undefined : limit * 3);
  return [
    ...over("over_budget", "the change", size(rest), limit),
    ...over("over_test_budget", "the tests' change", size(tests), testLimit),
  ];
}

function over(rule: string, what: string, used: number, limit: number | undefined): Finding[] {
  if (limit === undefined || used <= limit) return [];
  return [
    finding(rule, "FAIL", `${what} has ${used} lines, ${limit} are allowed`, {
      remedy: "Do only what the task asks for, in fewer lines",
    }),
  ];
}
