import assert from "node:assert/strict";
import { commandAgain } from "../../../shared/app/again.ts";
import { readCommandArgs } from "../../../shared/model/command-args.ts";

describe("the command that a dry run foretold", () => {
  const rows: readonly (readonly [words: readonly string[], args: object, line: string])[] = [
    [["Billing/Invoice"], {}, "orch do Billing/Invoice"],
    [["Billing/Invoice", "say `id` and $HOME"], {}, "orch do Billing/Invoice 'say `id` and $HOME'"],
    [["Billing/Invoice"], { prompt: "it's" }, `orch do Billing/Invoice --prompt 'it'\\''s'`],
    [["Billing/Invoice"], { prompt: "notes/next.md" }, "orch do Billing/Invoice --prompt notes/next.md"],
    // A line has no line end in it.
    [["Billing/Invoice", "one\ntwo"], { push: false }, 'orch do Billing/Invoice "..." --no-push'],
    [
      ["Billing/Invoice", "--not-an-option"],
      { model: "demo/x" },
      "orch do --model demo/x -- Billing/Invoice --not-an-option",
    ],
  ];
  for (const [words, args, line] of rows)
    it(line, () => assert.equal(commandAgain("do", words, readCommandArgs({ words: [], ...args })), line));
});
