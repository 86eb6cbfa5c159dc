import type { RuleOf } from "../../model/rule.ts";
import type { LoadedRule } from "../load.ts";
import type { Views } from "../views.ts";

/** True when the text lacks what the rule asks of it. */
export function lacksText({ rule, rows, extra }: LoadedRule<RuleOf<"text-required">>, views: Views): boolean {
  const when = extra.get("when");
  if (when && !when.test(views.text)) return false;
  const text = views.view(rule.view).text;
  return !rows.some((row) => text.search(row.regex) !== -1);
}
