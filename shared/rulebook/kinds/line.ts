import type { RuleOf, Unless } from "../../model/rule.ts";
import type { LoadedRule, Row } from "../load.ts";
import type { Views } from "../views.ts";

export interface Hit {
  /** Offset in the source text. */
  readonly at: number;
  readonly value: string;
  readonly name?: string;
}

type Matching = LoadedRule<RuleOf<"line">> | LoadedRule<RuleOf<"diff-line">>;

/** Every place where one of the rule's patterns matches, in the order of the rows. */
export function hitsOf(loaded: Matching, views: Views): Hit[] {
  const { rule, rows, unless, extra } = loaded;
  const hint = extra.get("hint");
  if (hint && !hint.test(views.text)) return [];
  const hits: Hit[] = [];
  const seen = new Set<number>();
  for (const row of rows) {
    const name = row.view ?? rule.view;
    const inPlace = name === "text" || name === "code";
    if (inPlace && row.firstLook.lacksSource(views)) continue;
    const view = views.view(name);
    const text = view.text === views.text ? views.without(rule.skip) : view.text;
    if (row.needle !== undefined && !text.includes(row.needle)) continue;
    if (!inPlace && row.firstLook.lacks(text)) continue;
    row.regex.lastIndex = 0;
    for (let match = row.regex.exec(text); match; match = row.regex.exec(text)) {
      if (match[0] === "") row.regex.lastIndex += 1;
      const value = match.groups?.["value"] ?? match[0];
      const groups = match.indices?.groups;
      const offset = (groups?.["at"] ?? groups?.["value"])?.[0] ?? match.index;
      const at = view.sourceOf(offset);
      if (seen.has(at) || !passes(row, value, at, views)) continue;
      if (unless.some((one) => one.regex.test(textFor(one.on, at, views)))) continue;
      seen.add(at);
      hits.push({ at, value, ...(row.name === undefined ? {} : { name: row.name }) });
    }
  }
  return hits;
}

function passes(row: Row, value: string, at: number, views: Views): boolean {
  if (row.inside || row.outside) {
    const context = views.tokenAt(at)?.context;
    if (row.inside && !(context && row.inside.includes(context))) return false;
    if (row.outside && context && row.outside.includes(context)) return false;
  }
  if (row.unless?.test(value)) return false;
  return row.entropy === undefined || entropyOf(value) >= row.entropy;
}

/** What an `unless` looks at for a place. */
export function textFor(on: Unless["on"], at: number, views: Views): string {
  if (on === "comments") return views.commentsAt(at);
  if (on === "line") return views.lineText(views.lineOf(at));
  const token = views.tokenAt(at);
  if (!token || token.context === "comment" || !views.text.slice(token.start, token.end).includes("\n")) return "";
  if (on === "string-line") return views.lineText(views.lineOf(at));
  const from = views.text.lastIndexOf("\n", token.start - 1) + 1;
  const to = views.text.indexOf("\n", token.end);
  return views.text.slice(from, to === -1 ? undefined : to);
}

/** Shannon entropy in bits for each character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** First four characters and nothing more: enough to find it, not enough to use it. */
export function redacted(hit: Hit): string {
  return `${hit.name ?? "value"}: ${hit.value.slice(0, 4)}... (not shown)`;
}
