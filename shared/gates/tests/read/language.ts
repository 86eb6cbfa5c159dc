import type { AssertionRow, MarkRow, TestLanguage } from "../../../model/test-language.ts";
import { FirstLook } from "../../../rulebook/first-look.ts";

export interface CompiledRow extends Omit<AssertionRow, "shape"> {
  readonly shape: RegExp;
}

export interface CompiledMark {
  readonly pattern: RegExp;
  readonly firstLook: FirstLook;
  readonly unless?: RegExp;
  readonly kind: MarkRow["kind"];
}

/** A language's table of tests, its expressions compiled. */
export interface ReadLanguage {
  readonly raw: TestLanguage;
  readonly rows: readonly CompiledRow[];
  readonly markRows: readonly CompiledMark[];
  readonly bodyMarks: readonly CompiledMark[];
  readonly fileMarks: readonly CompiledMark[];
  is(list: ListName, type: string): boolean;
  /** False for the many types that stand in no list. */
  isAny(type: string): boolean;
  readonly test: Readonly<Record<"name" | "mark" | "call" | "header", RegExp | undefined>>;
  readonly suite: Readonly<Record<"header" | "call", RegExp | undefined>>;
  readonly failures: RegExp | undefined;
  readonly customs: RegExp;
  readonly asyncMark: RegExp | undefined;
  readonly promises: RegExp | undefined;
  readonly tables: RegExp | undefined;
  readonly ownFailures: RegExp | undefined;
  readonly hushes: RegExp | undefined;
  readonly syncSuites: RegExp | undefined;
}

type ListName = {
  [K in keyof TestLanguage]-?: TestLanguage[K] extends string[] ? K : never;
}[keyof TestLanguage];

export function compileLanguage(raw: TestLanguage): ReadLanguage {
  const listsOf = new Map<string, Set<string>>();
  for (const [name, value] of Object.entries(raw)) {
    for (const type of Array.isArray(value) ? value : []) {
      if (typeof type !== "string") continue;
      const lists = listsOf.get(type) ?? new Set();
      listsOf.set(type, lists.add(name));
    }
  }
  const expression = (pattern?: string): RegExp | undefined =>
    pattern === undefined ? undefined : new RegExp(pattern);
  const marks = (rows: readonly MarkRow[], flags = ""): CompiledMark[] =>
    rows.map(({ pattern: source, kind, unless }) => {
      const pattern = new RegExp(source, flags);
      const firstLook = new FirstLook(pattern);
      return { pattern, firstLook, kind, ...(unless === undefined ? {} : { unless: new RegExp(unless) }) };
    });
  return {
    raw,
    rows: raw.assertions.map((row) => ({ ...row, shape: new RegExp(row.shape) })),
    markRows: marks(raw.markRows),
    bodyMarks: marks(raw.bodyMarks),
    fileMarks: marks(raw.fileMarks, "gm"),
    isAny: (type) => listsOf.has(type),
    is: (list, type) => listsOf.get(type)?.has(list) === true,
    test: {
      name: expression(raw.test.name),
      mark: expression(raw.test.mark),
      call: expression(raw.test.call),
      header: expression(raw.test.header),
    },
    suite: { header: expression(raw.suite.header), call: expression(raw.suite.call) },
    failures: expression(raw.failures),
    customs: new RegExp(raw.customs),
    asyncMark: expression(raw.asyncMark),
    promises: expression(raw.promises),
    tables: expression(raw.tables),
    ownFailures: expression(raw.ownFailures),
    hushes: expression(raw.hushes),
    syncSuites: expression(raw.syncSuites),
  };
}
