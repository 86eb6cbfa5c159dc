import type { RuleOf } from "../../model/rule.ts";
import type { LoadedRule } from "../load.ts";

/** Something an agent is about to do: a tool call, a command line, paths it would write. */
export interface Action {
  readonly tool: string;
  readonly command?: string;
  readonly paths?: readonly string[];
}

/** The texts of the action that the rule refuses. */
export function refusedTexts({ rule, rows, applies }: LoadedRule<RuleOf<"action">>, action: Action): string[] {
  if (rule.tools && !rule.tools.includes(action.tool)) return [];
  const texts = {
    command: action.command === undefined ? [] : [action.command],
    path: action.paths ?? [],
    tool: [action.tool],
  }[rule.on];
  return texts.filter((text) => {
    if (rule.on === "path" && !applies(text, undefined)) return false;
    return rows.some(({ regex, unless }) => text.search(regex) !== -1 && !unless?.test(text));
  });
}
