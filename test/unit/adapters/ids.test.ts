import assert from "node:assert/strict";
import { createIds } from "../../../shared/adapters/ids.ts";
import { ReplyFile } from "../../../shared/model/run-files.ts";
import { runIdPattern } from "../../../shared/model/run-place.ts";
import { FakeClock } from "../../support/fake-clock.ts";

describe("ids", () => {
  it("run ids carry their time, sort by it, and have the one shape", async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31, 23, 59, 59, 900));
    const ids = createIds(clock);
    const first = ids.next("run");
    await clock.advance(200);
    const second = ids.next("run");
    assert.match(first, /^r-20260131-235959-[a-z0-9]{4}$/);
    assert.match(second, /^r-20260201-000000-/);
    assert.match(first, runIdPattern);
    assert.ok(first < second);
    const quick = [];
    for (let n = 0; n < 450; n += 1) {
      await clock.advance(2);
      quick.push(ids.next("run"));
    }
    assert.deepEqual(quick.toSorted(), quick, "in the order they were made within a second, too");
  });

  it("ids of one moment differ, and fit where they are used", () => {
    const ids = createIds(new FakeClock());
    const many = Array.from({ length: 2000 }, () => ids.next("question"));
    assert.equal(new Set(many).size, many.length);
    for (const id of many) assert.ok(ReplyFile.shape.id.safeParse(id).success);
    assert.match(ids.next("marker"), /^m-[a-z0-9]{10}$/);
  });
});
