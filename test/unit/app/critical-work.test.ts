import assert from "node:assert/strict";
import { criticalArea, pinCritical } from "../../../shared/app/critical-work.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";

const ladder = ["haiku", "sonnet", "opus", "local/x"].map((id) => ({ id }));
const contract = (more: Partial<ContractInput> = {}): Contract =>
  Contract.parse({ id: "T", title: "t", goal: "g", allowed: ["a.py"], kind: "critical", ...more });
const planned: Partial<ContractInput> = {
  approach: ["a"],
  pattern_refs: ["a.py:1"],
  examples: [{ input: "1", expected: "2" }],
  rules: ["r"],
  acceptance: [{ id: "a", text: "t", judged: true }],
  hidden_checks: [{ name: "h", argv: ["true"] }],
};
const ids = (given: Contract, own: readonly string[] = []): readonly string[] =>
  pinCritical(given, ladder, own).ladder.map(({ id }) => id);

describe("critical work", () => {
  it("goes to opus alone; to sonnet too once everything is planned and checked in hiding", () => {
    assert.deepEqual(ids(contract()), ["opus"]);
    assert.deepEqual(ids(contract(planned)), ["sonnet", "opus"]);
    const { hidden_checks: _none, ...open } = planned;
    assert.deepEqual(ids(contract(open)), ["opus"]);
  });

  it("the settings' own ladder is a person's word; each refusal says why", () => {
    assert.deepEqual(ids(contract(), ["local/x"]), ["opus", "local/x"]);
    assert.deepEqual(
      pinCritical(contract(), ladder).refused.map(({ id }) => id),
      ["haiku", "sonnet", "local/x"],
    );
  });

  it("other kinds keep their ladder", () =>
    assert.deepEqual(ids(contract({ kind: "feature" })), ["haiku", "sonnet", "opus", "local/x"]));

  const areas: readonly [string, string[], string | undefined][] = [
    ["round the ledger", [], "money or ledgers"],
    ["rename a thing", ["src/auth/token.py"], "auth"],
    ["fix a race condition", [], "concurrency"],
    ["add a column", ["db/migrations/0001.sql"], "migrations"],
    ["write the author's name", ["src/authors.py"], undefined],
    ["add a page", ["src/page.py"], undefined],
  ];
  for (const [text, paths, area] of areas)
    it(`${text} ${paths.join(" ")}: ${area ?? "ordinary"}`, () => assert.equal(criticalArea({ text, paths }), area));
});
