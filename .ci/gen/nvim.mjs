// The Neovim plugin's command data and the command section of its help, from the command table.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { formatLua } from "../lua-style.mjs";
import { ROOT } from "../shell.mjs";

const DATA = "nvim-plugin/lua/orch/table.lua";
const HELP = "nvim-plugin/doc/orch.txt";
const RULE = "=".repeat(78);
const HEAD = "*orch-commands*";

export async function generate(readText) {
  const { commandTable, options } = await compiled("app/commands");
  const { familiarModels } = await compiled("app/familiar-models");
  const { workerEntries } = await compiled("app/worker-entries");
  const { knownSettings } = await compiled("model/config-keys");
  const settings = () =>
    knownSettings()
      .map(({ key }) => key)
      .filter((key) => !key.includes("<name>"));
  const rows = commandTable
    .filter(({ terminal }) => terminal !== true)
    .map((command) => ({
      ...command,
      options: command.options
        .map((name) => options[name])
        .filter(({ only }) => only !== "terminal")
        .map(forNeovim),
    }));
  const names = { models: familiarModels, workers: Object.keys(workerEntries), settings: settings() };
  return {
    [DATA]: formatLua(formatLua(dataOf(rows, names))),
    [HELP]: helpOf(readText(HELP) ?? `\n${HEAD}\n${RULE}\n`, rows),
  };
}

function compiled(module) {
  return import(pathToFileURL(path.join(ROOT, `out/shared/${module}.js`)).href);
}

/** Without what is for pickers alone. */
function forNeovim({ only: _only, writes: _writes, words: _words, ...option }) {
  return option;
}

// --- lua/orch/table.lua ----------------------------------------------------------------------------------------------

/** One pass of the layout breaks long tables, a second one joins what fits then. */
function dataOf(rows, { models, workers, settings }) {
  const commands = Object.fromEntries(
    rows.map(({ name, kind, summary, danger, args, options }) => [
      name,
      { name, kind, summary, danger, args, options },
    ]),
  );
  const head = "-- Generated from the command table, the models, the workers and the settings by: npm run gen";
  const lists = `models = ${lua(models)}, workers = ${lua(workers)}, settings = ${lua(settings)}`;
  return `${head}\nreturn { commands = ${lua(commands)}, ${lists} }\n`;
}

function lua(value) {
  if (Array.isArray(value)) return `{ ${value.map(lua).join(", ")} }`;
  if (typeof value !== "object") return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{ ${fields.map(([key, one]) => `${keyOf(key)} = ${lua(one)}`).join(", ")} }`;
}

const RESERVED = new Set(["do", "end", "for", "if", "in", "not", "or", "and", "then", "return", "repeat", "until"]);

function keyOf(key) {
  return /^[a-z_]+$/i.test(key) && !RESERVED.has(key) ? key : `[${JSON.stringify(key)}]`;
}

// --- doc/orch.txt ----------------------------------------------------------------------------------------------------

/** Everything between the commands' heading and the next rule is made here. */
function helpOf(text, rows) {
  const lines = text.split("\n");
  const head = lines.findIndex((line) => line.includes(HEAD));
  const end = lines.findIndex((line, at) => at > head && line === RULE);
  if (head === -1 || end === -1) throw new Error(`${HELP} has no section ${HEAD} that ends with a rule`);
  const intro = [
    "",
    ...wrapped("From the command table that also drives the palette and the command line.", 0),
    "`:Orch!` answers the confirmation with yes; it never grants trust.",
    "",
  ];
  // A subcommand of the editor's own is described by hand.
  const own = new Set([...text.matchAll(/\*:Orch-([a-z]+)\*/g)].map(([, name]) => name));
  for (const line of lines.slice(head, end))
    for (const [, name] of line.matchAll(/\*:Orch-([a-z]+)\*/g)) own.delete(name);
  const made = rows.filter(({ name }) => !own.has(name)).flatMap(commandHelp);
  return [...lines.slice(0, head + 1), ...intro, ...made, ...lines.slice(end)].join("\n");
}

function commandHelp({ name, summary, args, options, danger, example }) {
  const tag = `*:Orch-${name}*`;
  const words = args.map((arg) => `${arg.required ? "{" : "["}${arg.name}${arg.required ? "}" : "]"}`);
  const usage = [`:Orch ${name}`, ...words].join(" ");
  return [
    tag.padStart(78),
    usage,
    ...wrapped(`${summary}.`, 4),
    ...(danger === undefined ? [] : wrapped(`It ${danger}.`, 4)),
    ...args.flatMap((arg) => entry(arg.name, arg.summary)),
    ...options.flatMap((option) => entry(flagOf(option), option.summary)),
    "    Example: >vim",
    `        :${example.replace(/^orch/, "Orch")}`,
    "<",
  ];
}

function flagOf({ name, short, value }) {
  const spelled = value === undefined ? "" : value.startsWith("[") ? ` ${value}` : ` {${value}}`;
  return `${short === undefined ? "" : `-${short}, `}--${name}${spelled}`;
}

function entry(name, summary) {
  const [first = "", ...rest] = wrapped(summary, 32);
  const head = `      ${name}`;
  if (head.length >= 31) return [head, first, ...rest];
  return [head.padEnd(32) + first.trimStart(), ...rest];
}

function wrapped(text, indent) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > 78) {
      lines.push(" ".repeat(indent) + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, " ".repeat(indent) + line];
}
