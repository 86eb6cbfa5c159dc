import assert from "node:assert/strict";
import { isOrchError } from "../../../shared/model/error.ts";
import { readReviseItems, reviseText } from "../../../shared/prompts/revise-items.ts";

describe("revise items", () => {
  it("numbered items with a place, a fault and what done looks like, on one line or several", () => {
    const text = [
      "Some words before.",
      "",
      "1. src/a.py:12: rounds down. Done: halves go up",
      "2) `src/b.py:3-9`",
      "   Fault: swallows the error",
      "   and goes on",
      "   Done looks like: it raises",
    ].join("\n");
    assert.deepEqual(readReviseItems(text, "r.md"), [
      { number: 1, path: "src/a.py", line: 12, fault: "rounds down.", done: "halves go up" },
      { number: 2, path: "src/b.py", line: 3, fault: "swallows the error and goes on", done: "it raises" },
    ]);
  });

  const bad: readonly [string, string, RegExp][] = [
    ["no item", "please mend it", /r\.md:1: it holds no numbered item/],
    ["no place", "1. rounds down. Done: up", /r\.md:1: item 1 does not begin with file:line/],
    ["no fault", "\n1. a.py:3 Done: up", /r\.md:2: item 1 does not say what is wrong/],
    ["no end", "1. a.py:3: wrong", /r\.md:1: item 1 does not say what done looks like/],
  ];
  for (const [name, text, message] of bad) {
    it(`refuses an item with ${name}`, () =>
      assert.throws(
        () => readReviseItems(text, "r.md"),
        (error) => isOrchError(error, "review.items") && message.test(error.message),
      ));
  }

  it("the worker is told the items, numbered anew, and who wants them", () => {
    const items = readReviseItems("4. a.py:3: wrong. Done: right", "r.md");
    assert.equal(
      reviseText(items, "Ann"),
      "A review by Ann sends the change back. Everything that is not named here is right: leave it alone.\n\n1. a.py:3\n   Fault: wrong.\n   Done looks like: right\n",
    );
  });
});
