import assert from "node:assert/strict";
import { goodReply } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import { readyFeature, slice } from "../support/ready-feature.ts";

describe("e2e: replies of the only model that cannot be used @slow", function () {
  this.timeout(600_000);

  it("one that was cut off is a failed attempt: the next one is told, and passes", async () => {
    await using ready = await readyFeature({
      steps: [
        {
          match: { system: "backend engineer" },
          times: 1,
          reply: { text: '{"files": {"Handler.py": "x = ', stop: "length" },
        },
        { match: { user: "was cut off" }, times: 1, reply: { text: goodReply } },
      ],
    });
    const done = await orchJson(ready.work.place, "do");
    assert.deepEqual(
      [done.code, done.data?.attempts.map((one: { verdict: string }) => one.verdict)],
      [0, ["fail", "pass"]],
      JSON.stringify(done, undefined, 1),
    );
    assert.equal(ready.calls.length, 2);
  });

  it("cut off again and again, the attempts are used up, and no environment is blamed", async () => {
    await using ready = await readyFeature({
      steps: [{ match: {}, reply: { text: "Handler.py\n```python\nx = 1", stop: "length" } }],
    });
    const { repo, place } = ready.work;
    const before = await repo.read(`${slice}/Handler.py`);
    const done = await orchJson(place, "do", "--max-attempts", "2");
    assert.deepEqual([done.code, done.data?.state, ready.calls.length], [1, "failed", 2], JSON.stringify(done));
    assert.match(done.error?.message ?? "", /^all 2 attempts failed: the reply was cut off/);
    assert.equal(await repo.read(`${slice}/Handler.py`), before);
  });
});
