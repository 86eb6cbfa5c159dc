// A command of the table as a page.
const GENERATED = "<!-- Generated from shared/app/commands.ts: npm run gen -->";

const KINDS = {
  run: "A run: a detached runner carries it out and this terminal only watches, so closing it ends nothing. Ctrl-C ends the attempt and leaves the run resumable, a second one ends it with every process it started.",
  read: "It reads and answers; nothing is changed.",
  local: "It needs no runner: it changes only your own state on this machine, or talks to a run.",
};

export function commandPage(command, { options, globalOptions }) {
  const own = command.options.map((name) => options[name]);
  return [
    GENERATED,
    "",
    `# orch ${command.name}`,
    "",
    `${command.summary}.`,
    "",
    "```sh",
    usage(command),
    "```",
    "",
    `Example: \`${command.example}\``,
    "",
    `${KINDS[command.kind]}${command.anywhere ? " Works outside a repository." : ""}`,
    ...(command.danger
      ? [
          "",
          `It ${command.danger}. ${command.kept ?? "What goes is stored first: [orch restore](restore.md) brings it back"}.`,
        ]
      : []),
    ...(command.args.length > 0 ? ["", ...table(["Argument", "Means"], command.args.map(argumentRow))] : []),
    "",
    ...table(["Option", "Means"], [...own, ...globalOptions].map(optionRow)),
    ...(command.next.length > 0
      ? ["", `What often comes next: ${command.next.map((name) => `[orch ${name}](${name}.md)`).join(", ")}.`]
      : []),
    "",
    "[All commands, options and exit codes](README.md)",
    "",
  ].join("\n");
}

export function commandIndex({ commandTable }, errorTable, exitCodes) {
  const name = (code) => Object.entries(exitCodes).find(([, value]) => value === code)?.[0];
  const kinds = Object.values(exitCodes).map((code) => {
    const codes = Object.entries(errorTable).filter(([, row]) => row.exit === name(code));
    return [`${code}`, MEANINGS[name(code)], codes.map(([error]) => `\`${error}\``).join(" ")];
  });
  return [
    GENERATED,
    "",
    "# Commands",
    "",
    ...table(
      ["Command", "What it does"],
      commandTable.map((one) => [`[orch ${one.name}](${one.name}.md)`, one.summary]),
    ),
    "",
    "Every command returns a one-line summary and what to type next; `next` of a refusal holds the whole commands that its",
    "hint names. `--json` makes that one document:",
    "`{schema, version, command, ok, code, summary, next, data, error}`; `--json=events` prints the event lines of a run",
    "([events](../events.md)). In CI (the variable `CI` is set) and with `--no-input` nobody is asked.",
    "",
    "## Exit codes",
    "",
    ...table(["Code", "Means", "Refusals that end with it"], kinds),
    "",
  ].join("\n");
}

const MEANINGS = {
  ok: "it worked",
  failed: "the work failed: a gate, a test, a worker, qa or doctor",
  usage: "the words are wrong",
  blocked: "the contract is wrong, nothing was dispatched",
  decide: "a person must decide",
  precondition: "something must be put right first",
  budget: "a limit is reached",
  trust: "not trusted",
  bug: "a mistake of Orch's own",
  cancelled: "it was cancelled",
};

function usage(command) {
  const args = command.args.map(({ name, required, many, choices }) => {
    const shown = `${choices ? choices.join("|") : name}${many ? "..." : ""}`;
    return required ? `<${shown}>` : `[${shown}]`;
  });
  return ["orch", command.name, ...args, "[options]"].join(" ");
}

function argumentRow({ name, summary, choices }) {
  return [`\`${name}\``, choices ? `${summary}: ${choices.map((one) => `\`${one}\``).join(", ")}` : summary];
}

function optionRow({ name, short, value, summary }) {
  const long = name.length === 1 ? `-${name}` : `--${name}`;
  const shown = value === undefined ? "" : value.startsWith("[") ? `[=${value.slice(1, -1)}]` : ` <${value}>`;
  return [`${short ? `\`-${short}\`, ` : ""}\`${long}${shown}\``, summary];
}

function table(head, rows) {
  const cell = (text) => String(text).replaceAll("|", "\\|");
  return [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---").join("|")}|`,
    ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
  ];
}
