import { Command as Program, CommanderError, Option } from "commander";
import {
  type Command,
  type CommandOption,
  commandTable,
  globalOptions,
  isCommandName,
  options as optionTable,
} from "../app/commands.ts";
import type { CommandName } from "../app/commands.ts";
import type { CommandArgs } from "../app/context.ts";
import { commandMeant, optionMeant } from "../app/words-meant.ts";
import { OrchError } from "../model/error.ts";

/** argv as a command of the table. Commander does the parsing and the help; this file only feeds it from the table. */
export interface Invocation {
  readonly command: CommandName;
  readonly args: CommandArgs;
  /** -C: the folder to work in, relative to where the person stands. */
  readonly directory?: string;
  readonly wait: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
}

export type Parsed =
  | { readonly kind: "run"; readonly invocation: Invocation }
  | { readonly kind: "text"; readonly text: string };

/** `text` is help or the version, to be printed with exit 0. @throws OrchError `usage.invalid`, `usage.unknown-command` */
export function parseArguments(
  argv: readonly string[],
  facts: { readonly version: string; readonly ci: boolean; readonly columns: number },
): Parsed {
  refuseUnknownHelp(argv);
  let printed = "";
  let invocation: Invocation | undefined;
  const output = {
    writeOut: (text: string) => void (printed += text),
    writeErr: () => {},
    getOutHelpWidth: () => facts.columns,
    getErrHelpWidth: () => facts.columns,
  };
  const program = new Program("orch")
    .description("AI coding work from your editor, judged by gates you can read.")
    .version(facts.version, "--version", "Print the version")
    .helpOption("-h, --help", "Print help")
    .helpCommand("help [command]", "Print help of a command")
    .configureOutput(output)
    .exitOverride();
  for (const option of globalOptions) program.addOption(toOption(option));
  for (const command of commandTable) {
    const sub = addCommand(program, command).configureOutput(output).exitOverride();
    sub.action(() => {
      const own = sub.opts<Record<string, unknown>>();
      const global = program.opts<Record<string, unknown>>();
      if (!isCommandName(command.name)) throw new TypeError(command.name);
      invocation = {
        command: command.name,
        args: toArgs(command.name, sub.args, own, facts.ci),
        ...directoryOf(own["C"] ?? global["C"]),
        wait: own["wait"] !== false,
        verbose: global["verbose"] === true || own["verbose"] === true,
        quiet: global["quiet"] === true || own["quiet"] === true,
      };
    });
  }
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0 || error.code === "commander.help")
      return { kind: "text", text: printed === "" ? program.helpInformation() : printed };
    throw refusal(error, argv);
  }
  if (!invocation) return { kind: "text", text: program.helpInformation() };
  return { kind: "run", invocation };
}

function directoryOf(value: unknown): { readonly directory?: string } {
  return typeof value === "string" ? { directory: value } : {};
}

function addCommand(program: Program, command: Command): Program {
  const sub = program.command(command.name).description(command.summary).allowExcessArguments(false);
  for (const argument of command.args) {
    const dots = argument.many === true ? "..." : "";
    sub.argument(argument.required ? `<${argument.name}${dots}>` : `[${argument.name}${dots}]`, argument.summary);
  }
  for (const name of command.options) sub.addOption(toOption(optionTable[name]));
  for (const option of globalOptions) sub.addOption(toOption(option));
  const danger = command.danger === undefined ? "" : `\nIt ${command.danger}.`;
  sub.addHelpText("after", `${danger}\nExample:\n  ${command.example}`);
  return sub;
}

function toOption(option: CommandOption): Option {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const name = option.name.length === 1 ? `-${option.name}` : `--${option.name}`;
  const value =
    option.value === undefined
      ? ""
      : option.value.startsWith("[")
        ? ` ${option.value}`
        : ` <${option.value.replaceAll(" ", "-")}>`;
  return new Option(`${short}${name}${value}`, option.summary);
}

function toArgs(command: string, words: readonly string[], own: Record<string, unknown>, ci: boolean): CommandArgs {
  const text = (name: string): string | undefined => (typeof own[name] === "string" ? own[name] : undefined);
  const flag = (name: string): boolean => own[name] === true;
  const number = (name: string): number | undefined => {
    const raw = text(name);
    if (raw === undefined) return undefined;
    if (!/^\d+$/.test(raw) || Number(raw) < 1)
      throw new OrchError("usage.invalid", `--${kebab(name)} takes a whole number from 1, not "${raw}"`, {
        data: { command },
      });
    return Number(raw);
  };
  const money = (name: string): number | undefined => {
    const raw = text(name);
    if (raw === undefined) return undefined;
    if (!/^\d+(?:\.\d+)?$/.test(raw) || Number(raw) <= 0)
      throw new OrchError("usage.invalid", `--${name} takes an amount in USD above 0, not "${raw}"`, {
        data: { command },
      });
    return Number(raw);
  };
  const json = own["json"];
  if (typeof json === "string" && json !== "events")
    throw new OrchError("usage.invalid", `--json takes nothing or events, not "${json}"`, {
      data: { command, how: "Put --json last, or write --json=events" },
    });
  return defined({
    words,
    prompt: text("prompt"),
    model: text("model"),
    controller: own["controller"] !== false,
    app: text("app"),
    file: text("file"),
    yes: flag("yes"),
    dryRun: flag("dryRun"),
    json: json === "events" ? ("events" as const) : json === true,
    input: own["input"] !== false && !ci,
    allowOpen: flag("allowOpen"),
    maxAttempts: number("maxAttempts"),
    push: own["push"] !== false,
    update: flag("update"),
    changed: own["changed"] === true ? "" : text("changed"),
    sarif: text("sarif"),
    junit: text("junit"),
    hash: text("hash"),
    revoke: flag("revoke"),
    choice: text("choice"),
    text: text("text"),
    keep: flag("keep"),
    timeoutS: number("timeout"),
    fix: flag("fix") || undefined,
    list: flag("list") || undefined,
    ask: text("ask"),
    title: text("title"),
    parallel: number("parallel"),
    budget: money("budget"),
    worker: text("worker"),
    feedback: text("feedback"),
    reply: text("reply"),
    accept: flag("accept") || undefined,
    revise: text("revise"),
    takeOver: flag("takeOver") || undefined,
    html: flag("html") || undefined,
    template: flag("template") || undefined,
    all: flag("all") || undefined,
    purge: flag("purge") || undefined,
  });
}

/** Leaves out what is undefined: an absent key and an undefined one are different things under exactOptionalPropertyTypes. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function refusal(error: CommanderError, argv: readonly string[]): OrchError {
  const message = error.message.replace(/^error: /, "").replace(/\n\(Did you mean [^)]*\)/, "");
  const word = argv.find((part) => !part.startsWith("-")) ?? "";
  if (error.code === "commander.unknownCommand") {
    const near = /Did you mean (?:one of )?([^?]*)\?/.exec(error.message)?.[1];
    return new OrchError("usage.unknown-command", `there is no command "${word}"`, {
      data: near === undefined ? {} : { near },
    });
  }
  const command = isCommandName(word) ? word : undefined;
  const option = error.code === "commander.unknownOption" ? /'(-[^'=]*)/.exec(message)?.[1] : undefined;
  const how = option === undefined ? undefined : optionMeant(option, command);
  return new OrchError("usage.invalid", message, {
    data: { ...(command === undefined ? {} : { command }), ...(how === undefined ? {} : { how }) },
  });
}

/** Commander answers `help` for a word that is no command with the help of all. @throws OrchError `usage.unknown-command` */
function refuseUnknownHelp(argv: readonly string[]): void {
  const [first, word] = argv.filter((part) => !part.startsWith("-"));
  if (first !== "help" || word === undefined || isCommandName(word) || word === "help") return;
  const near = commandMeant(word);
  throw new OrchError("usage.unknown-command", `there is no command "${word}"`, {
    data: near === undefined ? {} : { near: `help ${near}` },
  });
}
