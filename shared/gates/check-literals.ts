import type { Check, Contract } from "../model/contract.ts";
import { withoutExpected, withoutStrings } from "./check-expected.ts";
import { literalsOf } from "./tests/flat-text.ts";

/** Values that stand together in one statement of a check's command: what it gives, and what it expects. */
export interface CheckRecord {
  readonly values: readonly string[];
  /** Those of them that are not just what a result is compared with. */
  readonly given: readonly string[];
  readonly text: string;
}

/**
 * What the commands of a contract's checks say by themselves: code in an argument, and arguments that are values. Hidden
 * ones are left out: no worker knows them, and a finding would tell.
 */
export function checkRecords({ checks, final_checks: final }: Contract): readonly CheckRecord[] {
  return [...checks, ...final].flatMap(ofCheck);
}

function ofCheck({ argv }: Check): readonly CheckRecord[] {
  return argv.flatMap((word, at) => {
    if (at === 0) return [];
    if (isCode(word)) return statementsOf(word).flatMap(ofStatement);
    return isValue(word) && !/^-[A-Za-z]$|^--\w/.test(argv[at - 1] ?? "")
      ? [{ values: [word], given: [word], text: word }]
      : [];
  });
}

/** Code of a `-c`, an `-e` or a shell: a call, a comparison, or a statement beside another one. */
function isCode(word: string): boolean {
  return /\w\(.*\)/s.test(word) || (/["'`]/.test(word) && /[;=]|\bin\b/.test(word));
}

/** An argument that two programs do not share by chance: no option, path, address or plain word. */
function isValue(word: string): boolean {
  return !/^-|^[\w.:@/\\=+-]*$|[{}*]/.test(word) && word.length >= 3;
}

/** Parts of a line of code that stand for themselves: strings are not cut. */
function statementsOf(code: string): readonly string[] {
  const muted = withoutStrings(code, "_");
  const cuts = [...muted.matchAll(/;|\n|\band\b|&&/g)].map(({ index, 0: cut }) => [index, index + cut.length] as const);
  return [...cuts, [code.length, code.length] as const].map(([end], at) => code.slice(cuts[at - 1]?.[1] ?? 0, end));
}

/** Where a module comes from is no value that a check gives. */
function ofStatement(text: string): readonly CheckRecord[] {
  const own = text
    .replace(/\b(?:require|import)\(\s*(["'`])[^"'`]*\1\s*\)/g, "")
    .replace(/^\s*(?:import|export)\b.*$/, "")
    .replace(/\bfrom\s+(["'])[^"']*\1/g, "");
  const values = literalsOf(own).map(unescaped);
  return values.length === 0 ? [] : [{ values, given: literalsOf(withoutExpected(own)).map(unescaped), text }];
}

/** A string's content as the program sees it, as far as one escape says one character. */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  const plain: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", 0: "\0" };
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|([\s\S]))/g,
    (_, one?: string, two?: string, three?: string, four = "") => {
      const code = one ?? two ?? three;
      return code === undefined ? (plain[four] ?? four) : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff));
    },
  );
}
