import assert from "node:assert/strict";
import { makeFeatureRepo } from "../support/feature-repo.ts";
import { goodReply, invoiceSpec, mendReply, redReply } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const boundedSpec = invoiceSpec.replace("| int | at least 1 |", "| int | from 1 to 1000 |");

describe("e2e: the main job with the real pi client @slow", function () {
  this.timeout(600_000);

  it("new, do (a red test, then green), merge: the feature is on main and on the remote, the branches are gone", async () => {
    await using server = await startScriptedModelServer({
      steps: [
        {
          match: { system: "You write spec.md" },
          times: 1,
          reply: { text: invoiceSpec, usage: { input: 300, output: 200 } },
        },
        {
          match: { system: "reads specifications", user: "Adds up invoice lines" },
          times: 1,
          reply: { text: `ISSUES\n- the quantity has no bounds\n\n\`\`\`spec.md\n${boundedSpec}\`\`\`\n` },
        },
        {
          match: { system: "reads specifications", user: "from 1 to 1000" },
          times: 1,
          reply: { text: "VALID" },
        },
        {
          match: { system: "backend engineer" },
          times: 1,
          reply: { text: redReply, usage: { input: 900, output: 700 } },
        },
        { match: { user: "last attempt" }, times: 1, reply: { text: mendReply, usage: { input: 1000, output: 150 } } },
      ],
    });
    await using work = await makeFeatureRepo(server.baseUrl);
    const { repo, place } = work;

    const made = await orchJson(place, "new", "Billing/Invoice", "Totals of an invoice", "--model", "lab/scripted");
    assert.equal(server.calls.length, 3, "a good spec is asked for once, spec QA corrects it and takes the correction");
    assert.deepEqual(made.data?.spec?.review, {
      kind: "valid",
      rounds: 2,
      corrections: 1,
      issues: ["the quantity has no bounds"],
    });
    assert.deepEqual(
      [made.ok, made.code, made.data?.branch, made.next[0]],
      [true, 0, "Billing/Invoice", "orch do"],
      JSON.stringify(made),
    );
    assert.equal(await repo.git("branch", "--show-current"), "Billing/Invoice");
    assert.match((await repo.read("features/Billing/Invoice/spec.md")) ?? "", /\| from 1 to 1000 \|/);

    const untrusted = await orchJson(place, "do");
    assert.deepEqual([untrusted.code, untrusted.error?.code], [7, "trust.needed"]);
    await work.trust();

    const done = await orchJson(place, "do", "--model", "lab/scripted");
    assert.deepEqual(
      [done.code, done.data?.state, done.next],
      [0, "accepted", ["orch merge"]],
      JSON.stringify(done, undefined, 1),
    );
    assert.deepEqual(
      done.data.attempts.map((one: { verdict: string }) => one.verdict),
      ["fail", "pass"],
    );
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    assert.equal(await repo.git("status", "--porcelain"), "");
    assert.equal(
      await repo.gitIn(repo.remote ?? "", "rev-parse", "Billing/Invoice"),
      await repo.git("rev-parse", "HEAD"),
    );

    const again = await orchJson(place, "do");
    assert.deepEqual(
      [again.code, again.data?.state, again.next],
      [0, "implemented", ["orch merge", 'orch modify Billing/Invoice "what changes"']],
      JSON.stringify(again, undefined, 1),
    );

    const merged = await orchJson(place, "merge");
    assert.deepEqual(
      [merged.code, merged.data?.merged, merged.data?.pushed],
      [0, true, true],
      JSON.stringify(merged, undefined, 1),
    );
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
    assert.equal(await repo.gitIn(repo.remote ?? "", "branch", "--format=%(refname:short)"), "main");
    assert.equal(await repo.gitIn(repo.remote ?? "", "rev-parse", "main"), await repo.git("rev-parse", "main"));
    assert.match(await repo.git("show", "main:features/Billing/Invoice/Handler.py"), /quantity \* line\.unit_cents/);
    assert.equal(await repo.git("status", "--porcelain"), "");
    const onMain = await orchJson(place, "do", "Billing/Invoice");
    assert.deepEqual(
      [onMain.code, onMain.data?.state, onMain.next],
      [0, "implemented", ['orch modify Billing/Invoice "what changes"']],
      JSON.stringify(onMain, undefined, 1),
    );
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main", "no branch was made for nothing");
    assert.equal(server.calls.length, 5);
    assert.equal(goodReply.length > mendReply.length, true);
  });
});
