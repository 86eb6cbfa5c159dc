import { nearMisses } from "../features/names.ts";
import { type CommandName, type CommandOption, commands, commandTable, globalOptions, options } from "./commands.ts";

/** What to do about an option that is none: one stands before its command, another is spelled nearly so. */
export function optionMeant(option: string, command: CommandName | undefined): string | undefined {
  const rows: readonly CommandOption[] = [
    ...globalOptions,
    ...(command === undefined ? [] : commands[command].options.map((name) => options[name])),
  ];
  const known = rows.map(({ name }) => (name.length === 1 ? `-${name}` : `--${name}`));
  const own = command === undefined ? ["--help", "--version"] : ["--help"];
  if (known.includes(option)) return `Put ${option} after the command: orch ${command ?? "<command>"} ${option}`;
  // Every letter is near every other one.
  const near = option.startsWith("--") ? nearMisses(option, [...known, ...own]) : [];
  return near.length === 0 ? undefined : `Did you mean ${near.join(" or ")}`;
}

export function commandMeant(word: string): string | undefined {
  return nearMisses(
    word,
    commandTable.map(({ name }) => name),
  )[0];
}
