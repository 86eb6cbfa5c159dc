import assert from "node:assert/strict";
import { titlesOf } from "../../../extension/titles.ts";

describe("what a command is called in this window", () => {
  const manifest = {
    contributes: {
      commands: [
        { command: "orch.new", title: { value: "Neues Feature", original: "New Feature" } },
        { command: "orch.host.showRuns", title: "Show Runs" },
        { command: "orch.merge" },
      ],
    },
  };
  const rows: readonly (readonly [name: string, title: string])[] = [
    ["new", "Neues Feature"],
    ["host.showRuns", "Show Runs"],
    ["modify", "Modify Feature"],
    ["merge", "Merge"],
    ["nothing", "nothing"],
  ];
  for (const [name, title] of rows) it(`${name}: ${title}`, () => assert.equal(titlesOf(manifest)(name), title));
  it("a manifest that is none takes nothing away", () => assert.equal(titlesOf(undefined)("new"), "New Feature"));
});
