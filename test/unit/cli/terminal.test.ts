import { equal } from "node:assert/strict";
import { chosenBy } from "../../../shared/cli/terminal.ts";

const yesNo = {
  choices: [
    { id: "trust", label: "Trust it" },
    { id: "no", label: "Not now" },
  ],
};
const three = { choices: ["Billing/Invoice", "Billing/Refund", "none"].map((id) => ({ id, label: id })) };

describe("what a person types at a question", () => {
  const rows = [
    ["1", yesNo, "trust"],
    ["2", yesNo, "no"],
    ["3", yesNo, undefined],
    ["0", yesNo, undefined],
    ["y", yesNo, "trust"],
    ["YES", yesNo, "trust"],
    ["n", yesNo, "no"],
    ["no", yesNo, "no"],
    ["t", yesNo, "trust"],
    ["trust it", yesNo, "trust"],
    ["maybe", yesNo, undefined],
    ["", yesNo, undefined],
    ["y", three, undefined],
    ["billing", three, undefined],
    ["billing/r", three, "Billing/Refund"],
    ["none", three, "none"],
  ] as const;
  for (const [typed, question, expected] of rows) {
    it(`${JSON.stringify(typed)} of ${question.choices.length} is ${expected ?? "asked again"}`, () =>
      equal(chosenBy(typed, question), expected));
  }
});
