import type { Contract } from "../../model/contract.ts";
import type { Finding, Severity } from "../../model/finding.ts";
import { finding } from "../gate-finding.ts";

/** A contract and where its fields stand. */
export interface LintSubject {
  readonly contract: Contract;
  readonly path: string;
  lineOf(keys: readonly (string | number)[]): number;
}

/** What is around the contracts; all of it is looked up before, so that a lint is a function over data. */
export interface LintFacts {
  /** What a worktree holds: tracked files. */
  readonly tracked: readonly string[];
  /** Files beside them that no ignore rule hides. */
  readonly untracked: readonly string[];
  /** Text of the files that the contracts refer to, as far as they are there. */
  readonly texts: ReadonlyMap<string, string>;
  /** `from` of hidden files that could be read, and where they really lie. */
  readonly hidden: ReadonlyMap<string, "outside" | "inside">;
  /** What the patterns of `worktree_links` may name: entries that no commit holds. */
  readonly links: readonly string[];
  /** Those that a contract may name; `kinds` are the only ones it may have. */
  readonly workers: readonly { readonly id: string; readonly kinds?: readonly string[] | undefined }[];
  /** Ids that lie in .orch/contracts beside those that are checked. */
  readonly otherIds: readonly string[];
  readonly limits: { readonly usd?: number | undefined; readonly minutes?: number | undefined };
}

export interface Said {
  readonly evidence?: string;
  readonly remedy: string;
}

/** A finding at a field of the contract's file. */
export function at(
  { path, lineOf }: LintSubject,
  keys: readonly (string | number)[],
  rule: string,
  severity: Severity,
  message: string,
  said: Said,
): Finding {
  return finding(`contract.${rule}`, severity, message, { path, line: lineOf(keys), ...said });
}
