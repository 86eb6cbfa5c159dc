import assert from "node:assert/strict";
import { toldRules } from "../../../shared/app/told-rules.ts";
import { rulesSection } from "../../../shared/prompts/sections.ts";
import { loadRules } from "../../../shared/rulebook/load.ts";
import { installedRules } from "../../support/rulebook.ts";

const book = loadRules({ sources: installedRules(), switches: {} });

describe("what a model is told of the rules", () => {
  it("holds what only is noted too: a line of 80 characters is no surprise", () => {
    const rules = toldRules(book, "python");
    const length = rules.find(({ id }) => id === "pep8.E501");
    assert.deepEqual(length, { id: "pep8.E501", message: "E501: line longer than 79 characters", mild: true });
    assert.equal(rules.find(({ id }) => id === "skip_marker")?.mild, undefined);
    const [faults = "", noted = ""] = rulesSection(rules).split("These are noted");
    assert.ok(!faults.includes("E501") && noted.includes("E501") && faults.includes("skip_marker"));
  });

  it("a rule that a project made stricter is no longer only noted", () => {
    const strict = loadRules({ sources: installedRules(), switches: { "pep8.E501": "fail" } });
    assert.equal(toldRules(strict, "python").find(({ id }) => id === "pep8.E501")?.mild, undefined);
  });

  it("says nothing twice, and nothing of other languages", () => {
    for (const lang of ["python", "typescript"]) {
      const messages = toldRules(book, lang).map(({ message }) => message);
      assert.equal(new Set(messages).size, messages.length);
    }
    assert.ok(!toldRules(book, "typescript").some(({ id }) => id.startsWith("pep8")));
  });
});
