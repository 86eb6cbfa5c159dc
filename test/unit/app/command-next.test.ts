import assert from "node:assert/strict";
import { type Command, type CommandName, commands } from "../../../shared/app/commands.ts";

/** What the flow names after each of its commands; palette, help and docs say the same. */
describe("what comes next in the feature pipeline", () => {
  for (const [name, next] of [
    ["init", ["new"]],
    ["new", ["do"]],
    ["modify", ["do"]],
    ["do", ["merge"]],
    ["delete", ["scan", "new"]],
    ["merge", ["scan", "new"]],
    ["undo", ["new", "scan"]],
    ["restore", ["do"]],
    ["move", ["merge"]],
    ["resume", ["status"]],
    ["cancel", ["status"]],
    ["runs", ["status"]],
    ["apply", ["do", "status"]],
    ["scan", ["new", "modify"]],
    ["qa", ["scan", "new"]],
  ] as const satisfies readonly (readonly [CommandName, readonly CommandName[]])[]) {
    it(`${name}: ${next.join(", ")}`, () => {
      const command: Command = commands[name];
      assert.deepEqual(command.next, next);
    });
  }
});
