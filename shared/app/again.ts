import { shellWord } from "../base/shell-word.ts";
import type { CommandArgs } from "./context.ts";

/**
 * The command that a dry run foretold, as it was given: what comes next after looking. Without `--yes`, which answers a
 * question that a dry run has not asked.
 */
export function commandAgain(command: string, words: readonly string[], args: CommandArgs): string {
  const options: readonly (string | false)[] = [
    args.prompt !== undefined && `--prompt ${shellWord(args.prompt)}`,
    args.file !== undefined && `--file ${shellWord(args.file)}`,
    args.worker !== undefined && `--worker ${shellWord(args.worker)}`,
    args.model !== undefined && `--model ${shellWord(args.model)}`,
    !args.controller && "--no-controller",
    args.app !== undefined && `--app ${shellWord(args.app)}`,
    args.maxAttempts !== undefined && `--max-attempts ${args.maxAttempts}`,
    args.all === true && "--all",
    args.purge === true && "--purge",
    args.update && "--update",
    args.allowOpen && "--allow-open",
    !args.push && "--no-push",
  ];
  const given = options.filter((one) => one !== false);
  const said = words.map(shellWord);
  // Words that look like options were given behind `--`, and stand there again.
  const order = words.some((word) => word.startsWith("-")) ? [...given, "--", ...said] : [...said, ...given];
  return ["orch", command, ...order].join(" ");
}
