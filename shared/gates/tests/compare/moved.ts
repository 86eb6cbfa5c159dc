import type { Outline, OutlineAssertion, OutlineRow } from "../outline.ts";
import type { TestFile } from "../test-file.ts";

/** What only moved is no loss. */
export interface Moved {
  /** As many of it as before stand somewhere. */
  readonly keeps: (assertion: OutlineAssertion) => boolean;
  readonly keepsRow: (row: OutlineRow) => boolean;
}

/** Counts the assertions and rows that one side has more of, over all files: what only moved is taken from here. */
export function movedOver(files: readonly TestFile[]): Moved {
  const assertions = new Map<string, number>();
  const rows = new Map<string, number>();
  const add = (bag: Map<string, number>, key: string, by: number): void => {
    bag.set(key, (bag.get(key) ?? 0) + by);
  };
  for (const { before, now } of files) {
    for (const one of allAssertions(now)) if (one.hushed === undefined) add(assertions, one.key, 1);
    for (const one of allAssertions(before)) if (one.hushed === undefined) add(assertions, one.key, -1);
    for (const { key } of allRows(now)) add(rows, key, 1);
    for (const { key } of allRows(before)) add(rows, key, -1);
  }
  return {
    keeps: ({ key }) => (assertions.get(key) ?? 0) >= 0,
    keepsRow: ({ key }) => (rows.get(key) ?? 0) >= 0,
  };
}

export function allAssertions(outline: Outline | undefined): readonly OutlineAssertion[] {
  if (!outline) return [];
  return [...outline.tests, ...outline.helpers].flatMap(({ assertions }) => assertions);
}

export function allRows(outline: Outline | undefined): readonly OutlineRow[] {
  if (!outline) return [];
  return [...outline.tests, ...outline.helpers].flatMap(({ rows }) => rows);
}
