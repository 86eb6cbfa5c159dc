import { globMatcher, hasWildcard, isInside, repoPath } from "../../base/paths.ts";
import type { Contract } from "../../model/contract.ts";
import type { Finding } from "../../model/finding.ts";
import { at, type LintFacts, type LintSubject } from "./lint-subject.ts";
import { order } from "./order-lints.ts";

const allowedRemedy = "Name files relative to the repository's root, without ..";

/** What each contract may touch. */
export function scopeLints(subject: LintSubject, facts: LintFacts): Finding[] {
  const { contract } = subject;
  const found: Finding[] = [];
  const isProtected = globMatcher(contract.protected);
  const files = [...facts.tracked, ...facts.untracked];
  contract.allowed.forEach((glob, index) => {
    const keys = ["allowed", index];
    if (repoPath(glob) === undefined)
      found.push(
        at(subject, keys, "scope-outside", "FAIL", `${glob} is no path inside the repository`, {
          remedy: allowedRemedy,
        }),
      );
    else if (!hasWildcard(glob) && isProtected(glob))
      found.push(
        at(subject, keys, "scope-conflict", "FAIL", `${glob} is both allowed and protected`, {
          remedy: "Take it out of one of the two lists",
        }),
      );
  });
  for (const list of ["allowed", "protected"] as const)
    contract[list].forEach((glob, index) => {
      if (repoPath(glob) === undefined || !matchesNothing(glob, files)) return;
      // A file named exactly may be one that is to be made; a protected one that is not there protects nothing.
      if (list === "allowed" && !hasWildcard(glob)) return;
      found.push(
        at(subject, [list, index], "glob-empty", "WARN", `${list}: ${glob} matches no file`, {
          remedy: isFolder(glob, files)
            ? `Write ${glob.replace(/\/$/, "")}/** for all that lies in it`
            : "Mend the glob, or name the new file exactly",
        }),
      );
    });
  contract.include_untracked.forEach((glob, index) => {
    if (matchesNothing(glob, facts.untracked) && matchesNothing(glob, facts.links))
      found.push(
        at(
          subject,
          ["include_untracked", index],
          "glob-empty",
          "WARN",
          `include_untracked: ${glob} matches no untracked file`,
          {
            remedy: "Take it out, or mend the glob: tracked files are in the worktree in any case",
          },
        ),
      );
  });
  contract.worktree_links.forEach((glob, index) => {
    if (matchesNothing(glob, [...facts.links, ...facts.untracked]))
      found.push(
        at(
          subject,
          ["worktree_links", index],
          "glob-empty",
          "WARN",
          `worktree_links: ${glob} matches nothing that is untracked`,
          {
            remedy: "Take it out, or mend it",
          },
        ),
      );
  });
  contract.hidden_files.forEach(({ from, to }, index) => {
    const where = facts.hidden.get(from);
    if (where !== "outside")
      found.push(
        at(
          subject,
          ["hidden_files", index],
          "hidden-missing",
          "FAIL",
          where === "inside"
            ? `the hidden file ${from} lies in the repository, where every worker sees it`
            : `the hidden file ${from} cannot be read`,
          { remedy: "Name a file that is there, outside the repository" },
        ),
      );
    if (repoPath(to) === undefined)
      found.push(
        at(subject, ["hidden_files", index], "scope-outside", "FAIL", `${to} is no path inside the repository`, {
          remedy: allowedRemedy,
        }),
      );
  });
  return found;
}

/** Two that run beside each other must not meet in a file: whoever is merged second conflicts or undoes. */
export function overlapLints(subjects: readonly LintSubject[], facts: LintFacts): Finding[] {
  const waits = order(subjects.map(({ contract }) => contract));
  const files = [...facts.tracked, ...facts.untracked];
  const found: Finding[] = [];
  subjects.forEach((second, index) => {
    for (const first of subjects.slice(0, index)) {
      const [a, b] = [first.contract, second.contract];
      if (a.id === b.id || a.mode === "read_only" || b.mode === "read_only") continue;
      if (waits.get(a.id)?.has(b.id) === true || waits.get(b.id)?.has(a.id) === true) continue;
      const meeting = meetingPlace(a, b, files);
      if (meeting === undefined) continue;
      const key = b.allowed.findIndex((glob) => globMatcher([glob])(meeting) || glob === meeting);
      found.push(
        at(
          second,
          ["allowed", Math.max(0, key)],
          "scope-overlap",
          "FAIL",
          `${a.id} and ${b.id} may both change ${meeting}, beside each other`,
          {
            evidence: `${first.path}:${first.lineOf(["allowed"])}`,
            remedy: `Give each its own files, or let one wait: "after": ["${a.id}"]`,
          },
        ),
      );
    }
  });
  return found;
}

function meetingPlace(a: Contract, b: Contract, files: readonly string[]): string | undefined {
  const inA = globMatcher(a.allowed);
  const inB = globMatcher(b.allowed);
  const named = [...a.allowed, ...b.allowed].filter((glob) => !hasWildcard(glob));
  const file = [...named, ...files].find((path) => inA(path) && inB(path));
  if (file !== undefined) return file;
  // New files, too: two globs meet where one is the other, or takes in the folder of the other.
  const globs = (one: Contract): string[] => one.allowed.filter(hasWildcard);
  return globs(a).find((first) =>
    globs(b).some((second) => first === second || takesIn(first, second) || takesIn(second, first)),
  );
}

/** `src/**` takes in `src/a/*.py`. */
function takesIn(wide: string, narrow: string): boolean {
  const folder = /^([^*?[\]{}()!+@]*)\/\*\*(?:\/\*)?$/.exec(wide)?.[1];
  if (folder === undefined) return wide === "**" || wide === "**/*";
  const fixed = narrow.slice(0, narrow.search(/[*?[\]{}()!+@]/));
  return isInside(fixed.slice(0, Math.max(0, fixed.lastIndexOf("/"))), folder);
}

function matchesNothing(glob: string, files: readonly string[]): boolean {
  const matches = globMatcher([glob]);
  return !files.some((path) => matches(path));
}

function isFolder(glob: string, files: readonly string[]): boolean {
  const folder = glob.replace(/\/$/, "");
  return files.some((path) => path.startsWith(`${folder}/`));
}
