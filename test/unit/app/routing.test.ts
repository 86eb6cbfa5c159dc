import assert from "node:assert/strict";
import { routeOf, signalsOf } from "../../../shared/app/routing.ts";

describe("route", () => {
  const table: readonly [string, string, string?][] = [
    ["fix the typo in README.md", "yourself"],
    ["about 30 lines in src/a.py", "yourself"],
    ["redesign the architecture of the import pipeline, 800 lines", "yourself"],
    ["debug the flaky upload in 12 files", "yourself"],
    ["rename Foo to Bar in all files, about 300 lines", "yourself"],
    ["rename Foo to Bar in all files, about 4,000 lines in 200 files", "contracts", "mechanical"],
    ["why does the export take ten minutes?", "analysis-first", "analysis"],
    ["write tests for the parser, the lexer and the printer in 6 files", "contracts", "tests"],
    ["add a ledger entry for every refund in 3 files with 200 lines", "contracts", "critical"],
    ["add an export of reports as CSV with headers, filters and paging, 200 lines in 4 files", "contracts", "feature"],
    ["delegate the small rename to workers", "contracts", "mechanical"],
  ];
  for (const [task, suggestion, kind] of table) {
    it(`${task}: ${suggestion}`, () => {
      const route = routeOf(signalsOf(task));
      assert.deepEqual([route.suggestion, route.kind], [suggestion, kind], JSON.stringify(route));
    });
  }

  it("mechanical work above the limit goes to at most two, other independent parts to at most three", () => {
    assert.equal(routeOf(signalsOf("replace log.warn in every file, 5000 lines in 90 files")).workers, 2);
    const parts = [
      "- add tests for a.py with all cases",
      "- add tests for b.py with all cases",
      "- tests for c.py, all",
      "- tests for d.py, all",
    ];
    assert.equal(routeOf(signalsOf(parts.join("\n"))).workers, 3);
  });

  it("critical work says what it is and who may do it", () => {
    const { signals, why } = routeOf(signalsOf("store the login session token in 4 files, 120 lines"));
    assert.deepEqual([signals.risk, signals.area], ["high", "auth"]);
    assert.match(why, /opus, or sonnet with every plan field and hidden checks/);
  });
});
