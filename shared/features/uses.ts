import { linesOf } from "../base/lines.ts";
import type { RepoPath } from "../base/paths.ts";
import type { Target } from "../model/target.ts";

/** A line that names a feature by where it stood. */
export interface Use {
  readonly path: RepoPath;
  readonly line: number;
  readonly text: string;
}

const maxTextChars = 160;

/**
 * Lines of a text that name the slice by its path, as a module, or by a relative import from outside. For people: what
 * such a line means only they know. Pure.
 */
export function usesOf(
  path: RepoPath,
  text: string,
  slice: { readonly dir: RepoPath; readonly target: Target },
): readonly Use[] {
  const { dir, target } = slice;
  if (!text.includes(target.name)) return [];
  const parts = dir.split("/").map(escaped);
  const name = escaped(target.name);
  const parent = parts.slice(0, -1);
  const patterns = [
    `(?<![\\w.-])${parts.join("[./\\\\]")}(?![\\w-])`,
    // from features.Billing import Invoice
    `\\b${parent.join("\\.")}\\s+import\\s+[\\w\\s,()]*\\b${name}\\b`,
    // from ..Invoice.Handler import handle; import "../Invoice/Handler"
    `\\.\\.(?:[\\w-]*[./])*${name}(?=[./"'\\s])`,
  ];
  const wanted = new RegExp(patterns.join("|"));
  return linesOf(text).flatMap((line, at) =>
    wanted.test(line) ? [{ path, line: at + 1, text: line.trim().slice(0, maxTextChars) }] : [],
  );
}

/**
 * The first line of a text that still calls a feature by its old name, alone or at the beginning of a name (`InvoiceError`).
 * Undefined where nothing does, and where the name has not changed. Pure.
 */
export function oldNameLine(text: string, names: { readonly from: string; readonly to: string }): number | undefined {
  const { from, to } = names;
  if (from === to) return undefined;
  const old = new RegExp(`(?<![A-Za-z0-9])${escaped(from)}(?![a-z0-9])`);
  const at = linesOf(text).findIndex((line) => old.test(line.replaceAll(to, "")));
  return at === -1 ? undefined : at + 1;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
