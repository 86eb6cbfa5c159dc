import { shellWord } from "../base/shell-word.ts";
import type { Feature } from "../model/feature.ts";
import { targetText } from "../model/target.ts";
import { type Command, commands, isCommandName } from "./commands.ts";

/**
 * What a keyword's action suggests for a feature that was just made, as a line that can be typed. The action is the
 * repository's text: undefined where it names no command, one that comes anyway, or one that needs more than the feature.
 */
export function keywordCommand(
  action: string | undefined,
  feature: Pick<Feature, "target" | "dir">,
): string | undefined {
  if (action === undefined || !isCommandName(action) || action === "do" || action === "new") return undefined;
  const target = targetText(feature.target);
  if (action === "modify") return `orch modify ${target} "what changes"`;
  const { args }: Command = commands[action];
  const [first] = args;
  if (args.some(({ required }, at) => required && (at > 0 || first?.completes !== "feature"))) return undefined;
  if (first?.completes === "feature") return `orch ${action} ${target}`;
  return first?.completes === "path" ? `orch ${action} ${shellWord(feature.dir)}` : `orch ${action}`;
}
