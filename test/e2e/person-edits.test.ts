import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { makeFeatureRepo } from "../support/feature-repo.ts";
import { goodFiles, goodReply, invoiceSpec } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const specStep: Step = { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } };
const handler = "features/Billing/Invoice/Handler.py";

describe("e2e: a person works on while do runs @slow", function () {
  this.timeout(600_000);

  it("an edit of a file that the reply would write parks the run, is kept, and resume goes on from it", async () => {
    let meanwhile: () => Promise<void> = () => Promise.resolve();
    const after = (): Promise<void> => meanwhile();
    await using server = await startScriptedModelServer({
      steps: [
        specStep,
        { match: { system: "backend engineer" }, times: 1, after, reply: { text: goodReply } },
        { match: { system: "backend engineer" }, reply: { text: goodReply } },
      ],
    });
    await using work = await makeFeatureRepo(server.baseUrl);
    const { repo, place } = work;
    await orchJson(place, "new", "Billing/Invoice", "Totals");
    await work.trust();
    const mine = `${(await repo.read(handler)) ?? ""}\n# a thought of mine\n`;
    meanwhile = () => repo.write(handler, mine);

    const parked = await orchJson(place, "do");
    assert.deepEqual([parked.code, parked.ok], [4, false], JSON.stringify(parked));
    assert.match(parked.error?.message ?? "", /Handler\.py/);
    assert.equal(await repo.read(handler), mine, "the edit is on disk");

    const done = await orchJson(place, "do");
    assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done));
    assert.equal(await repo.git("show", `HEAD:${handler}`), (goodFiles["Handler.py"] ?? "").trimEnd());
    // The thought was never committed, and the accepted change replaced it: it can be restored.
    const stored = await orchJson(place, "restore");
    assert.deepEqual(
      stored.data.entries.map((one: { by: string; files: number }) => [one.by, one.files]),
      [["do", 1]],
    );
    const back = await orchJson(place, "restore", stored.data.entries[0].id);
    assert.deepEqual([back.code, back.data.beside.length], [4, 1], JSON.stringify(back));
    assert.equal(await repo.read(back.data.beside[0].wroteTo), mine);
  });

  it("a lock that a killed git left in the index is told before a model is asked", async () => {
    await using server = await startScriptedModelServer({
      steps: [specStep, { match: { system: "backend engineer" }, reply: { text: goodReply } }],
    });
    await using work = await makeFeatureRepo(server.baseUrl);
    const { repo, place } = work;
    await orchJson(place, "new", "Billing/Invoice", "Totals");
    await work.trust();
    const before = await repo.git("status", "--porcelain");
    const asked = server.calls.length;
    await repo.write(".git/index.lock", "");
    for (const command of [["do"], ["new", "Billing/Refund", "Refunds"], ["modify", "Invoice", "Rounded up"]]) {
      const refused = await orchJson(place, ...command);
      assert.deepEqual([refused.code, refused.error?.code], [5, "git.locked"], JSON.stringify(refused));
      assert.match(refused.error?.hint ?? "", /When none runs, remove \S+\.git\/index\.lock/);
    }
    assert.equal(server.calls.length, asked);
    await rm(repo.path(".git/index.lock"));
    assert.equal(await repo.git("status", "--porcelain"), before);
    assert.equal((await orchJson(place, "do")).code, 0);
  });

  it("an edit outside the slice is neither committed nor touched", async () => {
    let meanwhile: () => Promise<void> = () => Promise.resolve();
    await using server = await startScriptedModelServer({
      steps: [
        specStep,
        { match: { system: "backend engineer" }, after: () => meanwhile(), reply: { text: goodReply } },
      ],
    });
    await using work = await makeFeatureRepo(server.baseUrl);
    const { repo, place } = work;
    await orchJson(place, "new", "Billing/Invoice", "Totals");
    await work.trust();
    await repo.write("README.md", "# staged\n");
    await repo.git("add", "README.md");
    meanwhile = () => repo.write("README.md", "# staged\n\nand more\n");

    const done = await orchJson(place, "do");
    assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done));
    assert.equal(await repo.git("status", "--porcelain"), "MM README.md");
    assert.equal(await repo.read("README.md"), "# staged\n\nand more\n");
    assert.equal((await repo.git("show", "--name-only", "--format=", "HEAD")).includes("README.md"), false);
  });
});
