import assert from "node:assert/strict";
import { leftOutHint, leftOutText } from "../../../shared/app/left-out-rules.ts";
import { loadRules } from "../../../shared/rulebook/load.ts";

const source = (path: string, text: string) => ({ path, text, project: true });
const check = {
  id: "t.bad",
  group: "standards",
  kind: "line",
  severity: "FAIL",
  message: "m",
  remedy: "r",
  pattern: "(",
};
const head = { set: "t", extensions: [".t"] };

describe("rules that are left out", () => {
  it("a file with a broken head is counted as a file, a broken check as a rule", () => {
    const { broken } = loadRules({
      sources: [
        source("a.json", JSON.stringify({ ...head, set: 1, checks: [check, check] })),
        source("b.json", "{"),
        source("c.json", JSON.stringify({ ...head, checks: [check] })),
      ],
      switches: {},
    });
    assert.deepEqual(
      broken.map(({ path, whole }) => [path, whole]),
      [
        ["a.json", true],
        ["b.json", true],
        ["c.json", undefined],
      ],
    );
    assert.equal(leftOutText(broken), "2 whole rule files and 1 rule left out");
    assert.equal(leftOutText(broken.slice(2)), "1 rule left out");
    assert.deepEqual(
      broken.map((one) => leftOutHint(one).split(",")[0]),
      ["No rule of this file holds", "No rule of this file holds", "This rule is left out"],
    );
  });
});
