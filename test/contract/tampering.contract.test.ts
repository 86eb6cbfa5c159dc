import assert from "node:assert/strict";
import { createTestsGate } from "../../shared/gates/tests.ts";
import { Contract } from "../../shared/model/contract.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { found, gateInput } from "../support/gate-input.ts";
import { installedRules, realSyntax } from "../support/rulebook.ts";
import { type Edit, tampered } from "../support/tampering.ts";

/** Tests that were made to say less, in each language, and honest edits beside them, read by the real grammars. */
describe("the tests' own tree", function () {
  this.timeout(600_000);
  const gate = createTestsGate({ book: loadRules({ sources: installedRules(), switches: {} }), syntax: realSyntax() });
  const contract = Contract.parse({ id: "case", title: "t", goal: "g", allowed: ["**"] });
  const edited = (base: string, { edits, what }: Edit): string =>
    edits.reduce((text, [from, to]) => {
      assert.ok(text.includes(from), `${what}: the base holds no ${JSON.stringify(from)}`);
      return text.replace(from, () => to);
    }, base);
  const said = (path: string, base: string, edit: Edit): Promise<readonly string[]> =>
    found(gate, gateInput({ contract, before: { [path]: base }, after: { [path]: edited(base, edit) } }));

  for (const [lang, { path, base, cheats, honest }] of Object.entries(tampered)) {
    describe(lang, () => {
      for (const cheat of cheats) {
        it(`${cheat.rule}: ${cheat.what}`, async () => {
          const findings = await said(path, base, cheat);
          assert.ok(
            findings.some((one) => new RegExp(`^\\w+ ${cheat.rule} ${path}:\\d+$`).test(one)),
            JSON.stringify(findings),
          );
        });
      }
      for (const edit of honest) {
        it(`honest: ${edit.what}`, async () => {
          const findings = await said(path, base, edit);
          assert.deepEqual(
            findings.filter((one) => one.startsWith("FAIL")),
            [],
          );
        });
      }
    });
  }
});
