import type { RuleOf } from "../../model/rule.ts";
import type { Capture, ParsedText, QueryMatch } from "../../ports/syntax.ts";
import type { LoadedRule } from "../load.ts";
import type { Views } from "../views.ts";

/** Query ids of the parts of an unbound rule, so that all rules of a language run as one query. */
export function unboundQueries(rule: RuleOf<"unbound">): {
  queries: { id: string; text: string }[];
  uses: { id: string; text: string }[];
} {
  const queries = [{ id: `${rule.id}#declared`, text: rule.declared }];
  if (rule.exported !== undefined) queries.push({ id: `${rule.id}#exported`, text: rule.exported });
  if (rule.usedIn !== undefined) queries.push({ id: `${rule.id}#usedIn`, text: rule.usedIn });
  const uses = [{ id: `${rule.id}#used`, text: rule.used }];
  if (rule.mentioned !== undefined) uses.push({ id: `${rule.id}#mentioned`, text: rule.mentioned });
  return { queries, uses };
}

export interface Unbound {
  readonly name: string;
  readonly at: Capture;
}

/**
 * What is declared and neither used nor exported. The text is searched for the name first and the tree is asked only
 * about the places found: asking it for every identifier of a file costs more than all other rules together.
 */
export function unboundNames(
  { rule, extra }: LoadedRule<RuleOf<"unbound">>,
  matches: ReadonlyMap<string, readonly QueryMatch[]>,
  parsed: ParsedText,
  views: Views,
): Unbound[] {
  const declared = matches.get(`${rule.id}#declared`) ?? [];
  if (declared.length === 0) return [];
  const textOf = (capture: Capture): string => views.text.slice(capture.start, capture.end);
  const named = (id: string, capture: string): string[] =>
    (matches.get(`${rule.id}#${id}`) ?? []).flatMap((match) =>
      match.captures.filter((one) => one.name === capture).map((one) => textOf(one)),
    );
  const exported = new Set(named("exported", "name").map(unquoted));
  const usedIn = named("usedIn", "text");
  const statements = declared
    .map(({ captures }) => captures.find((one) => one.name === "statement"))
    .filter((one) => one !== undefined);
  const marker = extra.get("marker");
  const found: Unbound[] = [];
  const answers = new Map<string, boolean>();
  for (const { captures } of declared) {
    const at = captures.find((one) => one.name === "name");
    const statement = captures.find((one) => one.name === "statement") ?? at;
    if (!at || !statement) continue;
    const name = textOf(at);
    let used = answers.get(name);
    if (used === undefined) {
      used =
        exported.has(name) ||
        standsIn("used", name) ||
        usedIn.some((text) => wordAt(text, name, 0) !== -1) ||
        (rule.mentioned !== undefined && !standsIn("mentioned", name));
      answers.set(name, used);
    }
    if (used || (marker && marker.test(linesOf(statement, views)))) continue;
    found.push({ name, at });
  }
  return found;

  function standsIn(part: "used" | "mentioned", name: string): boolean {
    const own = `${rule.id}#${part}`;
    // The text as it stands: a name may be used inside a string (interpolation), and the tree knows which are.
    for (let index = wordAt(views.text, name, 0); index !== -1; index = wordAt(views.text, name, index + 1)) {
      const place = index;
      if (statements.some((one) => one.start <= place && place < one.end)) continue;
      const uses = parsed.usesIn(place, place + name.length);
      const here = uses
        .filter((use) => use.query === own)
        .flatMap((use) => use.captures.filter((one) => one.start === place));
      if (here.some((one) => one.name === "use") && !here.some((one) => one.name === "other")) return true;
    }
    return false;
  }
}

/** Where `name` next stands as a word of its own, or -1. By search: an expression for each name would cost more. */
function wordAt(text: string, name: string, from: number): number {
  for (let at = text.indexOf(name, from); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!isWord(text.charCodeAt(at - 1)) && !isWord(text.charCodeAt(at + name.length))) return at;
  }
  return -1;
}

/** Letters, digits, _ and $; every character beyond ASCII counts as a letter. Not for NaN, the text's edge. */
function isWord(char: number): boolean {
  return (
    (char >= 97 && char <= 122) ||
    (char >= 65 && char <= 90) ||
    (char >= 48 && char <= 57) ||
    char === 95 ||
    char === 36 ||
    char > 127
  );
}

function unquoted(text: string): string {
  return text.replace(/^[A-Za-z]{0,2}(["'`]{3}|["'`])([\s\S]*)\1$/, "$2");
}

function linesOf(statement: Capture, views: Views): string {
  const from = views.text.lastIndexOf("\n", statement.start - 1) + 1;
  const to = views.text.indexOf("\n", statement.end);
  return views.text.slice(from, to === -1 ? undefined : to);
}
