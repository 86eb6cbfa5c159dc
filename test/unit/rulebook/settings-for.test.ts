import { deepEqual } from "node:assert/strict";
import type { RuleSource } from "../../../shared/ports/pool.ts";
import { settingsFor } from "../../../shared/rulebook/settings-for.ts";
import { installedRules } from "../../support/rulebook.ts";

const named = (sources: readonly RuleSource[]): string[] =>
  sources.map(({ path }) => path.split("/")[1] ?? path).toSorted();

describe("the rules that a change needs", () => {
  it("are the sets of its files and those of every file", () => {
    const settings = { sources: installedRules(), switches: {} };
    deepEqual(
      [
        named(settingsFor(settings, ["src/a.py"]).sources),
        named(settingsFor(settings, ["a.MTS", "b.go"]).sources),
        named(settingsFor(settings, ["README.md"]).sources),
      ],
      [
        ["diff", "python", "tree"],
        ["diff", "go", "tree", "typescript"],
        ["diff", "tree"],
      ],
    );
  });

  it("are all of them where the project has rules of its own, and where a file cannot be read", () => {
    const own = [...installedRules(), { path: "own.json", text: "{", project: true }];
    deepEqual(settingsFor({ sources: own, switches: {} }, ["a.py"]).sources, own);
    const broken = { path: "rules/odd/core.json", text: '{"set": 1,', project: false };
    deepEqual(settingsFor({ sources: [broken], switches: {} }, ["a.py"]).sources, [broken]);
  });
});
