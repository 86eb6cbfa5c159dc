import type { AssertionKind } from "../../model/test-language.ts";

/** How much an assertion of a kind says: what accepts fewer results stands higher. */
const ranks: Readonly<Record<AssertionKind, number>> = {
  eq: 9,
  length: 7,
  none: 8,
  almost: 8,
  calledwith: 8,
  true: 7,
  false: 7,
  snapshot: 7,
  matches: 6,
  partial: 6,
  contains: 6,
  raises: 6,
  truthy: 6,
  falsy: 6,
  fail: 6,
  custom: 6,
  notraises: 5,
  greater: 4,
  less: 4,
  called: 4,
  type: 3,
  notnone: 3,
  ne: 3,
  notcontains: 3,
};

const rankOf = (kind: AssertionKind): number => ranks[kind];

const opposites: readonly (readonly [AssertionKind, AssertionKind])[] = [
  ["eq", "ne"],
  ["contains", "notcontains"],
  ["truthy", "falsy"],
  ["true", "falsy"],
  ["false", "truthy"],
  ["none", "notnone"],
  ["raises", "notraises"],
];

/** The claim was turned round: another value is expected, and nobody but a reviewer knows which is right. */
export function turned(a: AssertionKind, b: AssertionKind): boolean {
  return opposites.some(([x, y]) => (a === x && b === y) || (a === y && b === x));
}

/** `true` and `truthy` and the like are one claim in two styles. */
export function weaker(now: AssertionKind, before: AssertionKind): boolean {
  return rankOf(now) <= rankOf(before) - 2;
}
