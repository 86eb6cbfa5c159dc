import assert from "node:assert/strict";
import { askNearMiss } from "../../../shared/app/near-miss.ts";
import { isOrchError, OrchError } from "../../../shared/model/error.ts";
import type { Question } from "../../../shared/ports/editor.ts";

const signal = new AbortController().signal;
const near = "Billing/Invoice, Billing/Invoices, Billing/Voice, Billing/Four";

async function look(args: { readonly words: readonly string[] }): Promise<string> {
  if (args.words[0] === "Billing/Invoice") return "found";
  if (args.words[0] === "broken") throw new OrchError("registry.invalid", "broken");
  throw new OrchError("target.unknown", "there is no branch of Billing/Invoce", { data: { near } });
}

const editor = (interactive: boolean, choice?: string) => {
  const asked: Question[] = [];
  return {
    interactive,
    asked,
    ask: async (question: Question) => {
      asked.push(question);
      return choice === undefined ? undefined : { choice, by: "test" };
    },
  };
};

describe("near misses", () => {
  it("asks which of at most three was meant and goes on with it", async () => {
    const person = editor(true, "Billing/Invoice");
    const result = await askNearMiss(person, { words: ["Billing/Invoce", "more"] }, signal, look);
    assert.deepEqual(result, { args: { words: ["Billing/Invoice", "more"] }, found: "found" });
    assert.deepEqual(
      person.asked[0]?.choices.map(({ id }) => id),
      ["Billing/Invoice", "Billing/Invoices", "Billing/Voice", "none"],
    );
  });

  for (const [title, person] of [
    ["nobody is there", editor(false, "Billing/Invoice")],
    ["none was meant", editor(true, "none")],
    ["the question was dismissed", editor(true)],
  ] as const) {
    it(`refuses when ${title}, with the near misses in the hint`, async () => {
      await assert.rejects(askNearMiss(person, { words: ["Billing/Invoce"] }, signal, look), (error) => {
        assert.ok(isOrchError(error, "target.unknown"));
        assert.match(error.hint, /Did you mean Billing\/Invoice/);
        return true;
      });
    });
  }

  it("asks nothing when it is found or broken", async () => {
    const person = editor(true, "Billing/Invoice");
    assert.equal((await askNearMiss(person, { words: ["Billing/Invoice"] }, signal, look)).found, "found");
    await assert.rejects(askNearMiss(person, { words: ["broken"] }, signal, look), (error) =>
      isOrchError(error, "registry.invalid"),
    );
    assert.equal(person.asked.length, 0);
  });
});
