import assert from "node:assert/strict";
import { type Command, type CommandName, commands } from "../../../shared/app/commands.ts";
import { offeredOptions, readGiven, readWords, splitWords } from "../../../shared/app/given-words.ts";
import { shellWord } from "../../../shared/base/shell-word.ts";
import { readCommandArgs } from "../../../shared/model/command-args.ts";
import { isOrchError } from "../../../shared/model/error.ts";

describe("what stands after :Orch {subcommand}", () => {
  const splits: readonly (readonly [string, readonly string[]])[] = [
    ["", []],
    ["  a   b ", ["a", "b"]],
    [`Billing/Invoice "Totals with tax"`, ["Billing/Invoice", "Totals with tax"]],
    [`'one two' three`, ["one two", "three"]],
    [`don't round`, ["don't", "round"]],
    [`say "hi`, ["say", `"hi`]],
    [`a\\ b`, ["a b"]],
    [`"a \\"b\\" c"`, [`a "b" c`]],
    [`C:\\path`, ["C:\\path"]],
    [`'say "hi" \\n'`, [`say "hi" \\n`]],
    [`'don it`, ["'don", "it"]],
    [`"" x`, ["", "x"]],
  ];
  for (const [text, words] of splits) {
    it(`splits ${JSON.stringify(text)}`, () => assert.deepEqual(splitWords(text), words));
  }

  it("reads back what a printed command quotes", () => {
    const words = ["it's", "'a", "b'", "a' b", "''", "$(id)", "two words", "a\\", "\\'", `say "hi"`, "", "plain"];
    assert.deepEqual(splitWords(words.map(shellWord).join(" ")), words);
  });

  const reads: readonly (readonly [CommandName, string, readonly string[], object, readonly string[]])[] = [
    [
      "new",
      "Billing/Invoice totals --no-controller",
      ["Billing/Invoice", "totals"],
      { controller: false },
      ["--no-controller"],
    ],
    [
      "do",
      "-m demo/invoice --max-attempts 2 -y",
      [],
      { model: "demo/invoice", maxAttempts: 2, yes: true },
      ["--model=demo/invoice", "--max-attempts=2", "--yes"],
    ],
    ["do", "--model=a=b", [], { model: "a=b" }, ["--model=a=b"]],
    ["do", "--dry-run -- --not-an-option", ["--not-an-option"], { dryRun: true }, ["--dry-run"]],
    ["qa", "--changed -- src", ["src"], { changed: "" }, ["--changed"]],
    ["qa", "--changed main", [], { changed: "main" }, ["--changed=main"]],
    ["wait", "--timeout 5", [], { timeoutS: 5 }, ["--timeout=5"]],
  ];
  for (const [name, text, words, options, flags] of reads) {
    it(`reads ${name} ${text}`, () => {
      const command: Command = commands[name];
      const given = readGiven(command, text);
      assert.deepEqual(given, { words, options, flags });
      // The runner takes exactly these names.
      assert.deepEqual(readCommandArgs({ words: [...words], ...options }).words, words);
    });
  }

  const refused: readonly (readonly [CommandName, string, RegExp])[] = [
    ["do", "--frobnicate", /do has no option --frobnicate/],
    ["do", "--model", /--model needs its id/],
    ["do", "--max-attempts none", /--max-attempts takes a number above 0, not "none"/],
    ["do", "--yes=maybe", /--yes takes no value/],
    ["undo", "a b", /undo takes at most 1: a b/],
  ];
  for (const [name, text, words] of refused) {
    it(`refuses ${name} ${text}`, () => {
      const command: Command = commands[name];
      assert.throws(
        () => readGiven(command, text),
        (error) => isOrchError(error, "usage.invalid") && words.test(error.message),
      );
    });
  }

  it("every option of every command becomes an argument that the runner takes", () => {
    for (const command of Object.values<Command>(commands)) {
      if (command.kind !== "run") continue;
      for (const name of command.options) {
        const flag = `--${name === "controller" ? "no-controller" : name}`;
        const given = [flag, `${flag} 3`]
          .map((text) => attempt(() => readGiven(command, text)))
          .find((one) => one !== undefined && one.words.length === 0);
        assert.ok(given !== undefined, `${command.name} ${flag}`);
        readCommandArgs({ words: [], ...given.options });
      }
    }
  });

  it("a picker offers what is of use in one, and reads back what it spells", () => {
    const offered = (name: CommandName): readonly string[] =>
      offeredOptions(commands[name]).map((option) => option.name);
    assert.deepEqual(offered("trust"), ["revoke", "dry-run"]);
    assert.deepEqual(offered("guard"), ["reply"]);
    assert.deepEqual(offered("qa"), ["changed", "sarif", "junit", "app"]);
    // Nothing is left of these: no value to type, or a picker of their own.
    for (const name of ["demo", "reply", "status", "completion"] as const) assert.deepEqual(offered(name), [], name);
    assert.deepEqual(readWords(commands.check, ["--template", "refactor", "T 9"]), {
      words: ["refactor", "T 9"],
      options: { template: true },
      flags: ["--template"],
    });
  });
});

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
