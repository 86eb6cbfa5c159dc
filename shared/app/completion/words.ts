import {
  type Command,
  type CommandOption,
  commandTable,
  type Completes,
  globalOptions,
  options as optionTable,
} from "../commands.ts";

/** Something a shell may put there. */
export interface Candidate {
  readonly value: string;
  readonly summary: string;
}

/** What the word under the cursor may be. `prefix` belongs to the word and stays: `--model=`. */
export type Wanted =
  | { readonly kind: "these"; readonly values: readonly Candidate[]; readonly prefix: string }
  | { readonly kind: "names"; readonly of: Completes; readonly command: string; readonly prefix: string }
  | { readonly kind: "nothing" };

const help: CommandOption = { name: "help", short: "h", summary: "Print help" };
const version: CommandOption = { name: "version", summary: "Print the version" };
const nothing: Wanted = { kind: "nothing" };

/**
 * What may stand at the last of `words` (without `orch`; the last one may be empty). Pure, from the table alone, with
 * the grammar that the command line itself has.
 */
export function wantedAt(words: readonly string[]): Wanted {
  const now = words.at(-1) ?? "";
  const { command, options, positionals, value, onlyWords } = read(words.slice(0, -1));
  if (value !== undefined) return valuesOf(value, command, "");
  if (now.startsWith("-") && !onlyWords) {
    const at = now.indexOf("=");
    if (at === -1) return { kind: "these", values: optionsFor(command, options), prefix: "" };
    const option = optionNamed(command, now.slice(0, at));
    return option?.value === undefined ? nothing : valuesOf(option, command, now.slice(0, at + 1));
  }
  if (command === undefined) return { kind: "these", values: commandNames(), prefix: "" };
  if (command === "help")
    return positionals === 0
      ? { kind: "these", values: commandNames().filter(({ value: name }) => name !== "help"), prefix: "" }
      : nothing;
  const argument = command.args[positionals] ?? command.args.findLast(({ many }) => many === true);
  return argument === undefined ? nothing : valuesOf(argument, command, "");
}

/** The folder that `-C` names, when the words before the cursor have one. */
export function folderIn(words: readonly string[]): string | undefined {
  return read(words.slice(0, -1)).folder;
}

interface Read {
  readonly command: Command | "help" | undefined;
  readonly positionals: number;
  /** Names of options that were given. */
  readonly options: ReadonlySet<string>;
  /** The option whose value comes next. */
  readonly value: CommandOption | undefined;
  /** After `--`. */
  readonly onlyWords: boolean;
  readonly folder: string | undefined;
}

function read(before: readonly string[]): Read {
  let command: Read["command"];
  let positionals = 0;
  let value: CommandOption | undefined;
  let onlyWords = false;
  let folder: string | undefined;
  const options = new Set<string>();
  for (const word of before) {
    if (value !== undefined) {
      if (value.name === "C") folder = word;
      value = undefined;
    } else if (word === "--" && !onlyWords) {
      onlyWords = true;
    } else if (word.startsWith("-") && word !== "-" && !onlyWords) {
      const [name = ""] = word.split("=", 1);
      const option = optionNamed(command, name);
      if (option === undefined) continue;
      options.add(option.name);
      // A value in brackets may only be written with `=`.
      if (option.value !== undefined && !option.value.startsWith("[") && !word.includes("=")) value = option;
    } else if (command === undefined) {
      command = word === "help" ? "help" : commandTable.find(({ name }) => name === word);
      // An unknown command has nothing to complete.
      if (command === undefined) return { command: "help", positionals: 1, options, value, onlyWords, folder };
    } else {
      positionals += 1;
    }
  }
  return { command, positionals, options, value, onlyWords, folder };
}

function ownOptions(command: Read["command"]): readonly CommandOption[] {
  if (command === undefined) return [...globalOptions, version, help];
  if (command === "help") return [];
  return [...command.options.map((name): CommandOption => optionTable[name]), ...globalOptions, help];
}

function optionNamed(command: Read["command"], written: string): CommandOption | undefined {
  return ownOptions(command).find(
    ({ name, short }) => written === dashed(name) || (short !== undefined && written === `-${short}`),
  );
}

const dashed = (name: string): string => (name.length === 1 ? `-${name}` : `--${name}`);

function optionsFor(command: Read["command"], given: ReadonlySet<string>): readonly Candidate[] {
  return ownOptions(command)
    .filter(({ name }) => !given.has(name))
    .map(({ name, summary }) => ({ value: dashed(name), summary }));
}

function commandNames(): readonly Candidate[] {
  return [
    ...commandTable.map(({ name, summary }) => ({ value: name, summary })),
    { value: "help", summary: "Print help of a command" },
  ];
}

function valuesOf(
  { choices, completes, summary }: { choices?: readonly string[]; completes?: Completes; summary: string },
  command: Read["command"],
  prefix: string,
): Wanted {
  if (choices !== undefined) return { kind: "these", values: choices.map((value) => ({ value, summary })), prefix };
  if (completes === undefined) return nothing;
  return { kind: "names", of: completes, command: typeof command === "object" ? command.name : "", prefix };
}
