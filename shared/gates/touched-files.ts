import { clip, count } from "../base/lines.ts";
import { isInside, type RepoPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import { isInBuildFolder } from "../model/tool-output.ts";
import type { Touched, TouchedFile } from "../ports/bystanders.ts";
import { classOf } from "./file-class.ts";
import { finding } from "./gate-finding.ts";

/** Work of the person's that no commit held. */
const uncommittedRule = "uncommitted_changed";
/** Anything else outside of what was judged. */
const leftRule = "check_left_change";

export interface TouchedBy {
  /** True where a worker may have written the tests: then what they do beside testing is its fault. */
  readonly worker: boolean;
  /** The feature's folder: what appears in it would be committed with it. */
  readonly slice?: RepoPath;
}

/**
 * What checks did to files that they have no business with. Uncommitted work that changed is a FAIL whoever wrote the
 * checks; a file that git can bring back, or a new one, only where a worker did.
 */
export function touchedFindings({ files, entry }: Touched, by: TouchedBy): Finding[] {
  const shown = files.slice(0, maxFindings).map((file) => findingOf(file, entry, by));
  const rest = files.length - shown.length;
  if (rest <= 0) return shown;
  const severity = files.slice(maxFindings).some((file) => severityOf(file, by) === "FAIL") ? "FAIL" : "WARN";
  const message = `${count(rest, "more file")} changed or appeared while the checks ran${keptText(entry)}`;
  return [...shown, finding(uncommittedRule, severity, message, { remedy })];
}

/** New files that later runs would load by themselves: they are not left lying. */
export function loadedByThemselves({ files }: Touched): readonly RepoPath[] {
  return files.filter((file) => file.how === "appeared" && isLoaded(file.path)).map(({ path }) => path);
}

/** What to type for work that findings of these rules name, each entry once. */
export function restoresOf(findings: readonly Finding[]): readonly string[] {
  const ids = findings.flatMap(({ rule, message }) =>
    rule === uncommittedRule ? (/; what it held comes back with: orch restore ([\w-]+)$/.exec(message)?.[1] ?? []) : [],
  );
  return [...new Set(ids)].map((id) => `orch restore ${id}`);
}

const maxFindings = 20;
const remedy = "Let tests write only into a temporary folder, and leave every other file as it is";

function findingOf(file: TouchedFile, entry: string | undefined, by: TouchedBy): Finding {
  const { path, was } = file;
  return finding(was === "uncommitted" ? uncommittedRule : leftRule, severityOf(file, by), textOf(file, entry), {
    path,
    evidence: clip(path, 200),
    remedy,
  });
}

function severityOf({ path, how, was }: TouchedFile, { worker, slice }: TouchedBy): Finding["severity"] {
  switch (was) {
    case "uncommitted":
      return how === "grew" || isInBuildFolder(path) ? "WARN" : "FAIL";
    case "clean":
      return worker ? "FAIL" : "WARN";
    case "absent":
      return worker && (isLoaded(path) || (slice !== undefined && isInside(path, slice))) ? "FAIL" : "WARN";
  }
}

function textOf({ path, how, was, kept, surely }: TouchedFile, entry: string | undefined): string {
  // Without a sandbox around it nobody can tell a test that wrote from a person who saved.
  const whose = surely ? "by them" : "by them, or by somebody who saved it meanwhile";
  switch (was) {
    case "absent":
      return isLoaded(path)
        ? `${path} appeared while the checks ran, and later runs load it by themselves`
        : `${path} appeared while the checks ran`;
    case "clean":
      return `${path} ${how} while the checks ran, ${whose}; git has what it held`;
    case "uncommitted": {
      if (how === "grew") return `${path}, which is not committed, grew while the checks ran`;
      const held = kept === "entry" ? keptText(entry) : kept === "no" ? "; it could not be kept" : "";
      return `${path}, which is not committed, ${how} while the checks ran, ${whose}${held}`;
    }
  }
}

const keptText = (entry: string | undefined): string =>
  entry === undefined ? "" : `; what it held comes back with: orch restore ${entry}`;

/** By its name: settings of tests, packages, agents, hooks; and code at the top, which any import may find first. */
function isLoaded(path: string): boolean {
  if (/(?:\.lockb?|-lock\.(?:json|ya?ml))$/.test(path)) return false;
  return classOf(path) !== undefined || /^[^/]+\.(?:py|pyi|so|pyd|[cm]?[jt]sx?)$|(?:^|\/)\.env(?:\.[^/]+)?$/.test(path);
}
