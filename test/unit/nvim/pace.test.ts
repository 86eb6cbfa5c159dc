import assert from "node:assert/strict";
import { paced } from "../../../nvim-plugin/src/pace.ts";
import { eventually } from "../../support/eventually.ts";

describe("pace of painting", () => {
  it("works at the leading edge, and once for all that was asked for meanwhile", async () => {
    let worked = 0;
    const pace = paced(() => (worked += 1));
    for (let n = 0; n < 100; n += 1) pace.ask();
    assert.equal(worked, 1);
    await eventually("the second time", () => worked === 2);
    pace.dispose();
    assert.equal(worked, 2);
  });

  it("does nothing after it was disposed", () => {
    let worked = 0;
    const pace = paced(() => (worked += 1));
    pace.ask();
    pace.ask();
    pace.dispose();
    assert.equal(worked, 1);
  });
});
