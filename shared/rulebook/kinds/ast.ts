import type { RuleOf } from "../../model/rule.ts";
import type { Capture, QueryMatch } from "../../ports/syntax.ts";
import type { LoadedRule } from "../load.ts";
import type { Views } from "../views.ts";
import { textFor } from "./line.ts";

/** The places a query finds, each once; `undefined` stands for "the file lacks a match". */
export function astPlaces(
  { rule, unless }: LoadedRule<RuleOf<"ast">>,
  matches: readonly QueryMatch[],
  views: Views,
): (Capture | undefined)[] {
  if (rule.must === "match") return matches.length === 0 ? [undefined] : [];
  const places = new Map<number, Capture>();
  for (const { captures } of matches) {
    const place = captures.find((capture) => capture.name === "at") ?? captures[0];
    if (place && !unless.some((one) => one.regex.test(textFor(one.on, place.start, views))))
      places.set(place.start, place);
  }
  return [...places.values()];
}
