import assert from "node:assert/strict";
import { type FeatureRepo, makeFeatureRepo } from "../support/feature-repo.ts";
import { goodReply, invoiceSpec } from "../support/invoice-replies.ts";
import { orchJson, startCli } from "../support/orch-cli.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const steps: readonly Step[] = [
  { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } },
  { match: { system: "backend engineer" }, times: 1, fail: { kind: "hang" } },
  { match: { system: "backend engineer" }, reply: { text: goodReply } },
];

async function interruptedDo({ place, trust }: FeatureRepo): Promise<void> {
  await orchJson(place, "new", "Billing/Invoice", "Totals");
  await trust();
  const running = startCli(place, "do");
  await running.seen(/asking direct\/scripted/);
  running.kill("SIGINT");
  assert.equal((await running.end).code, 130);
}

describe("e2e: resume is about the feature that the run began with @slow", function () {
  this.timeout(600_000);

  it("on another feature's branch it waits, touches nothing, and goes on once the person is back", async () => {
    await using server = await startScriptedModelServer({ steps });
    await using work = await makeFeatureRepo(server.baseUrl);
    const { repo, place } = work;
    await interruptedDo(work);
    await repo.commit("wip");
    await repo.git("switch", "-q", "main");
    await orchJson(place, "new", "Billing/Refund", "Money back", "--allow-open");
    await repo.commit("wip of the other");
    const other = await repo.git("rev-parse", "HEAD");

    const early = await orchJson(place, "resume");
    assert.deepEqual([early.ok, early.code], [false, 4], JSON.stringify(early));
    assert.match(early.error?.message ?? "", /Billing\/Invoice is not checked out any more, Billing\/Refund is/);
    assert.match(early.error?.hint ?? "", /git switch Billing\/Invoice/);
    assert.deepEqual([await repo.git("rev-parse", "HEAD"), await repo.git("status", "--porcelain")], [other, ""]);

    await repo.git("switch", "-q", "Billing/Invoice");
    const refused = await orchJson(place, "resume");
    assert.match(refused.error?.message ?? "", /another feature branch is open/);
    await repo.git("branch", "-qD", "Billing/Refund");
    const done = await orchJson(place, "resume");
    assert.deepEqual(
      [done.code, done.data?.state, done.data?.feature],
      [0, "accepted", "Billing/Invoice"],
      JSON.stringify(done),
    );
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
  });

  it("once another run did it, the first one waits for nobody and is refused with the command that ends it", async () => {
    await using server = await startScriptedModelServer({ steps });
    await using work = await makeFeatureRepo(server.baseUrl);
    const { place } = work;
    await interruptedDo(work);
    const [first] = (await orchJson(place, "status")).data.runs;
    // By its name alone, which only the registry on this branch knows.
    const done = await orchJson(place, "do", "Invoice");
    assert.equal(done.code, 0, JSON.stringify(done));

    const status = await orchJson(place, "status");
    const ends = [`orch cancel ${first.run}`];
    assert.equal(status.summary, "nothing runs");
    assert.ok(
      status.data.text.includes(`${first.run}  parked, and its work went on without it: ${ends[0]} ends it`),
      JSON.stringify(status.data.text),
    );
    assert.equal((await orchJson(place, "resume")).error?.message, "No run is interrupted or parked");
    assert.match((await orchJson(place, "wait")).summary, /^Billing\/Invoice/);
    const named = await orchJson(place, "resume", first.run);
    assert.deepEqual(
      [named.code, named.error?.code, named.error?.message, named.next],
      [5, "run.left-behind", `Billing/Invoice went on without run ${first.run}`, ends],
    );
    assert.deepEqual((await orchJson(place, "status", first.run)).next, ends);
    assert.equal((await orchJson(place, "cancel", first.run)).code, 0);
  });
});
