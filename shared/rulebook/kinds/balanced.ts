import type { RuleOf } from "../../model/rule.ts";
import type { LoadedRule } from "../load.ts";
import type { Views } from "../views.ts";

/** The first place where a pair does not close, or a closer has nothing to close. */
export function firstUnbalanced({ rule }: LoadedRule<RuleOf<"balanced">>, views: Views): number | undefined {
  const code = views.view("code").text;
  const opener = new Map(rule.pairs.map((pair) => [pair[1], pair[0]]));
  const openers = new Set(opener.values());
  const open: { readonly char: string; readonly at: number }[] = [];
  const bracket = new RegExp(`[${rule.pairs.join("").replace(/[\]\\^-]/g, "\\$&")}]`, "g");
  for (let match = bracket.exec(code); match; match = bracket.exec(code)) {
    const char = match[0];
    if (openers.has(char)) open.push({ char, at: match.index });
    else if (open.pop()?.char !== opener.get(char)) return match.index;
  }
  return open.at(-1)?.at;
}
