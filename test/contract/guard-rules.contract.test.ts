import assert from "node:assert/strict";
import type { Finding } from "../../shared/model/finding.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import type { RuleRunner } from "../../shared/rulebook/run.ts";
import { guardRuleTwins } from "../support/guard-rule-twins.ts";
import { changeOf, installedRules, realSyntax, runnerOf } from "../support/rulebook.ts";

/** Every rule of the guard on lines and trees, in every language: what a change may not add, and what looks like it. */
describe("rules of the guard in their languages", function () {
  this.timeout(600_000);
  for (const [set, table] of Object.entries(guardRuleTwins)) {
    describe(set, () => {
      const sources = installedRules().filter(({ path }) => path === `rules/${set}/core.json`);
      let runner: RuleRunner;
      before(() => {
        runner = runnerOf({ sources, switches: {} }, realSyntax());
      });
      after(() => runner[Symbol.dispose]());

      const found = async (id: string, path: string, text: string): Promise<readonly Finding[]> => {
        const { findings } = await runner.file({ path, text });
        const inDiff = runner.diff(changeOf({ [path]: { after: text } }));
        return [...findings, ...inDiff].filter(({ rule }) => rule === id);
      };

      for (const [id, { path = "a", bad, good, goodPath = path }] of Object.entries(table)) {
        it(`${id}: found in each of its forms, not in what looks like it`, async () => {
          const silent: string[] = [];
          const loud: string[] = [];
          for (const text of bad) if ((await found(id, path, text)).length === 0) silent.push(text);
          for (const text of good) if ((await found(id, goodPath, text)).length > 0) loud.push(text);
          assert.deepEqual({ silent, loud }, { silent: [], loud: [] });
        });
      }

      it("no rule is broken, and each that only this set has is here", async () => {
        await found("x", Object.values(table)[0]?.path ?? "a", "x\n");
        const ids = loadRules({ sources, switches: {} }).sets.flatMap(({ rules }) => rules.map(({ rule }) => rule.id));
        const elsewhere = set === "python" || set === "typescript";
        assert.deepEqual(
          { broken: runner.broken(), without: elsewhere ? [] : ids.filter((id) => table[id] === undefined) },
          { broken: [], without: [] },
        );
      });
    });
  }
});
