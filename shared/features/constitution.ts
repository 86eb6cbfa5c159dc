import type { InitKit } from "../model/init-kit.ts";
import type { Rule } from "../model/rule.ts";

/** What the constitution says of a rule. */
export type ArticleRule = Pick<Rule, "id" | "article" | "severity" | "default">;

/** Stands in the AGENTS.md that `init` writes, so that a clone of the project is known as one of Orch's. */
export const constitutionMark = "<!-- orch: constitution -->";

/**
 * The numbered articles in Markdown, each with the ids of the rules that hold it. Pure.
 *
 * @throws TypeError when an article has no rule: a constitution that nothing enforces is none
 */
export function articlesText(articles: InitKit["articles"], rules: readonly ArticleRule[]): string {
  return articles
    .toSorted((a, b) => a.article - b.article)
    .map(({ article, title, text }) => {
      const own = rules.filter((rule) => rule.article === article);
      if (own.length === 0) throw new TypeError(`no rule holds article ${article}`);
      return `${article}. **${title}.** ${text}\n   ${own.length === 1 ? "Rule" : "Rules"}: ${own.map(ruleText).join(", ")}.`;
    })
    .join("\n");
}

function ruleText({ id, severity, default: standing }: ArticleRule): string {
  if (standing === "off") return `\`${id}\` (off until it is switched on)`;
  return severity === "WARN" ? `\`${id}\` (warns)` : `\`${id}\``;
}
