import assert from "node:assert/strict";
import { readCommandArgs } from "../../../shared/model/command-args.ts";

describe("the words of a request", () => {
  it("are filled in with what was not said", () => {
    const { words, controller, push, yes } = readCommandArgs({ words: ["Billing/Invoice"] });
    assert.deepEqual([words, controller, push, yes], [["Billing/Invoice"], true, true, false]);
  });

  const rows: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ["a number for a text", { prompt: 1 }, "the request: prompt must be a text"],
    ["a word that is none", { words: ["a", 2] }, "the request: words[1] must be a text"],
    ["too many attempts", { maxAttempts: 99 }, "the request: maxAttempts must be at most 20"],
    ["a key of nobody", { wrods: [] }, 'the request: "wrods": unknown key'],
  ];
  for (const [name, given, message] of rows)
    it(`${name} is refused in a person's words`, () =>
      assert.throws(() => readCommandArgs(given), { code: "usage.invalid", message }));
});
