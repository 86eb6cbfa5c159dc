import { OrchError } from "../model/error.ts";
import { type Command, type CommandOption, options as optionTable } from "./commands.ts";

/** What stands after `orch <command>` where an editor reads it: typed after `:Orch`, or told as next by a command. */
export interface Given {
  readonly words: readonly string[];
  /** As a request's `args` names them: `dryRun`, `push`, `maxAttempts`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The options as the command line spells them, for commands that a short process answers. */
  readonly flags: readonly string[];
}

/** What a picker may offer beside a command's words, as the table has it. A reply is picked by itself. */
export function offeredOptions(command: Command): readonly CommandOption[] {
  if (command.terminal === true || command.name === "reply") return [];
  return optionsOf(command).filter(({ only }) => only === undefined);
}

function optionsOf(command: Command): readonly CommandOption[] {
  return command.options.map((key) => optionTable[key]);
}

/**
 * Words as a shell would split them, but a quote only counts at a word's start: `don't` is a word. Backslash keeps a
 * blank or a quote; in single quotes it is itself, and `'\''` stands for one of them: see `shellWord`.
 */
export function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && isBlank(text[at])) at += 1;
    if (at >= text.length) return words;
    const quote = text[at];
    const end = quote === '"' || quote === "'" ? closing(text, at) : undefined;
    if (end !== undefined) {
      const inside = text.slice(at + 1, end);
      words.push(quote === "'" ? inside.replaceAll(quoteInside, "'") : inside.replaceAll(/\\(["'\\])/g, "$1"));
      at = end + 1;
      continue;
    }
    let word = "";
    for (; at < text.length && !isBlank(text[at]); at += 1) {
      if (text[at] === "\\" && /[\s"'\\]/.test(text[at + 1] ?? "")) at += 1;
      word += text[at];
    }
    words.push(word);
  }
}

function isBlank(char: string | undefined): boolean {
  return char !== undefined && /\s/.test(char);
}

/** A single quote in single quotes. */
const quoteInside = "'\\''";

/** Where the quote that opens at `at` closes: before a blank or the end, else it is no quote. */
function closing(text: string, at: number): number | undefined {
  const single = text[at] === "'";
  for (let i = at + 1; i < text.length; i += 1) {
    if (single && text.startsWith(quoteInside, i)) i += quoteInside.length - 1;
    else if (!single && text[i] === "\\") i += 1;
    else if (text[i] === text[at] && (i + 1 === text.length || isBlank(text[i + 1]))) return i;
  }
  return undefined;
}

/** @throws OrchError `usage.invalid` */
export function readGiven(command: Command, text: string): Given {
  return readWords(command, splitWords(text));
}

/** @throws OrchError `usage.invalid` */
export function readWords(command: Command, given: readonly string[]): Given {
  const words: string[] = [];
  const options: Record<string, unknown> = {};
  const flags: string[] = [];
  const said = [...given];
  let literal = false;
  for (let word = said.shift(); word !== undefined; word = said.shift()) {
    if (literal || !/^-\w|^--/.test(word)) words.push(word);
    else if (word === "--") literal = true;
    else {
      const [name, inline] = splitOnce(word);
      const option = optionOf(command, name);
      const value = option.value === undefined ? noValue(option, inline) : (inline ?? valueOf(option, said));
      // An editor reads documents itself, always asks and never waits.
      if (option.only === "terminal") continue;
      flags.push(value === undefined ? `--${option.name}` : `--${option.name}=${value}`);
      const [key, read] = argumentOf(option, value);
      options[key] = read;
    }
  }
  const [takes, many] = [command.args.length, command.args.at(-1)?.many === true];
  if (!many && words.length > takes)
    throw usage(command, `${command.name} takes ${takes === 0 ? "no words" : `at most ${takes}`}: ${words.join(" ")}`);
  return { words, options, flags };
}

function splitOnce(word: string): readonly [string, string?] {
  const at = word.indexOf("=");
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function optionOf(command: Command, written: string): CommandOption {
  const known = optionsOf(command);
  const name = written.replace(/^--?/, "");
  const found = known.find((one) => (written.startsWith("--") ? one.name === name : one.short === name));
  if (found === undefined) throw usage(command, `${command.name} has no option ${written}`);
  return found;
}

function noValue(option: CommandOption, inline: string | undefined): undefined {
  if (inline !== undefined) throw new OrchError("usage.invalid", `--${option.name} takes no value`);
  return undefined;
}

/** The next word, unless the value may be left out (`[ref]`) and that word is another option or none. */
function valueOf(option: CommandOption, rest: string[]): string | undefined {
  const next = rest[0];
  const optional = option.value?.startsWith("[") === true;
  if (next === undefined || (optional && next.startsWith("-"))) {
    if (optional) return undefined;
    throw new OrchError("usage.invalid", `--${option.name} needs its ${option.value}`);
  }
  rest.shift();
  return next;
}

/** The request's key and value of an option, by its name and what its value is called. */
function argumentOf(option: CommandOption, value: string | undefined): readonly [string, unknown] {
  const { name } = option;
  if (option.value === undefined) return name.startsWith("no-") ? [camel(name.slice(3)), false] : [camel(name), true];
  const key = option.value === "seconds" ? `${camel(name)}S` : camel(name);
  if (!["n", "seconds", "USD", "usd"].includes(option.value)) return [key, value ?? ""];
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0)
    throw new OrchError("usage.invalid", `--${name} takes a number above 0, not "${value}"`);
  return [key, number];
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function usage(command: Command, message: string): OrchError {
  return new OrchError("usage.invalid", message, { data: { command: command.name } });
}
