import { globMatcher, type RepoPath } from "../base/paths.ts";
import type { Rule } from "../model/rule.ts";

/** Why a file of the kit is not written. */
export type LeftOut =
  /** It is there. */
  | { readonly kind: "there" }
  /** Another file does its work already (`.tool-versions` for `.python-version`). */
  | { readonly kind: "instead"; readonly by: string }
  /** The constitution allows one of them, and the other one is there. */
  | { readonly kind: "second"; readonly to: string };

/**
 * Whether `init` writes `path` into a folder that holds `names` (files at its top). It never writes what the project's
 * own rules would complain of: a second version file, a second manifest. Pure.
 */
export function leftOut(
  path: RepoPath | string,
  names: readonly string[],
  rules: readonly Rule[],
): LeftOut | undefined {
  if (names.includes(path)) return { kind: "there" };
  for (const rule of rules) {
    if (rule.kind !== "tree" || rule.paths === undefined || !rule.paths.includes(path)) continue;
    const matches = globMatcher(rule.paths);
    const other = names.find((name) => name !== path && matches(name));
    if (other === undefined) continue;
    if (rule.must === "exist") return { kind: "instead", by: other };
    if (rule.must === "at-most-one") return { kind: "second", to: other };
  }
  return undefined;
}

/** A distribution's name out of a folder's: letters, digits, `.`, `_` and `-`, beginning and ending with one of the first two. */
export function packageName(folder: string): string {
  const plain = folder
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  return plain === "" ? "project" : plain;
}
