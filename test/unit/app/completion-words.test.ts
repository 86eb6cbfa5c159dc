import { deepEqual, equal } from "node:assert/strict";
import { commandTable } from "../../../shared/app/commands.ts";
import { folderIn, type Wanted, wantedAt } from "../../../shared/app/completion/words.ts";

const short = (wanted: Wanted): string => {
  switch (wanted.kind) {
    case "nothing":
      return "nothing";
    case "names":
      return `${wanted.prefix}<${wanted.of}>`;
    case "these":
      return wanted.values.map(({ value }) => `${wanted.prefix}${value}`).join(" ");
  }
};

const names = [...commandTable.map(({ name }) => name), "help"].join(" ");

const cases: readonly [words: readonly string[], wanted: string][] = [
  [[""], names],
  [["me"], names],
  [["-"], "-C --verbose --quiet --version --help"],
  [["-C", ""], "<path>"],
  [["-C", "x", ""], names],
  [["--quiet", ""], names],
  [["help", ""], names.replace(/ help$/, "")],
  [["help", "do", ""], "nothing"],
  [["no-such-command", ""], "nothing"],
  [["do", ""], "<feature>"],
  [["do", "Billing/Invoice", ""], "nothing"],
  [["new", "Billing/Invoice", "words", ""], "nothing"],
  [["do", "--model", ""], "<model>"],
  [["do", "-m", "op"], "<model>"],
  [["do", "--model=op"], "--model=<model>"],
  [["do", "--model", "a/b", ""], "<feature>"],
  [["do", "--prompt=no"], "--prompt=<path>"],
  [["qa", "--changed", ""], "<path>"],
  [["qa", "--changed="], "--changed=<branch>"],
  [["qa", "--json="], "--json=events"],
  [["qa", "a", "b", ""], "<path>"],
  [["qa", "--", "-"], "<path>"],
  [["restore", ""], "<trash>"],
  [["reply", ""], "<decision>"],
  [["reply", "q-1", "--choice", ""], "nothing"],
  [["config", ""], "explain"],
  [["config", "explain", ""], "<setting>"],
  [["completion", "z"], "bash zsh fish pwsh"],
  [["model", ""], "<model>"],
  [["scan", "-"], "--app --json --no-input -C --verbose --quiet --help"],
  [["scan", "--json", "--"], "--app --no-input -C --verbose --quiet --help"],
  [["scan", "--app", ""], "<app>"],
  [["scan", "--unknown", ""], "nothing"],
];

describe("completion, from the table alone", () => {
  for (const [words, wanted] of cases) {
    it(`orch ${words.join(" ")}|`, () => equal(short(wantedAt(words)), wanted));
  }

  it("offers every option of every command", () => {
    for (const command of commandTable) {
      const offered = short(wantedAt([command.name, "-"])).split(" ");
      deepEqual(
        command.options.filter((name) => !offered.some((one) => one === `--${name}` || one === `--no-${name}`)),
        [],
        command.name,
      );
    }
  });

  it("knows the folder that -C names", () => {
    deepEqual(
      [folderIn(["-C", "x", "do", ""]), folderIn(["do", "-C", "y", ""]), folderIn(["do", ""])],
      ["x", "y", undefined],
    );
  });
});
