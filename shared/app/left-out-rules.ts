import { count } from "../base/lines.ts";
import type { BrokenRule } from "../model/rule.ts";

/** How much of the rules does not hold: a file that cannot be read is no single rule. */
export function leftOutText(broken: readonly BrokenRule[]): string {
  const files = broken.filter(({ whole }) => whole === true).length;
  const rules = broken.length - files;
  const parts = [
    ...(files === 0 ? [] : [count(files, "whole rule file")]),
    ...(rules === 0 ? [] : [count(rules, "rule")]),
  ];
  return `${parts.join(" and ")} left out`;
}

/** What one of them means for the rest. */
export function leftOutHint({ whole }: BrokenRule): string {
  return whole === true ? "No rule of this file holds, the other files do" : "This rule is left out, the others run";
}
