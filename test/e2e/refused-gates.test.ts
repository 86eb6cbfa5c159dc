import assert from "node:assert/strict";
import { goodFiles } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import { goodStep, type ReadyFeature, readyFeature, slice } from "../support/ready-feature.ts";

const good = goodFiles["Tests.py"] ?? "";
const asserted = "self.assertEqual(handle([Line(2, 150), Line(1, 50)]), 350)";
/** Green, and proof of nothing: what is asserted is the stand-in. */
const replaced = good
  .replace("import unittest\n", "import unittest\nfrom unittest import mock\n")
  .replace("from .Handler import", "from . import Handler\nfrom .Handler import")
  .replace(
    asserted,
    'with mock.patch.object(Handler, "handle", return_value=350):\n            self.assertEqual(Handler.handle([Line(2, 150), Line(1, 50)]), 350)',
  );

/** A person wrote the slice by hand and committed it. */
async function written(made: ReadyFeature, files: Readonly<Record<string, string>>): Promise<void> {
  const { repo } = made.work;
  const all = { ...goodFiles, ...files };
  const texts = Object.entries(all).map(([name, text]) => [`${slice}/${name}`, text]);
  await repo.commit("Invoice by hand", Object.fromEntries(texts));
}

describe("e2e: a feature with green tests that the gates of merge refuse @slow", function () {
  this.timeout(600_000);

  it("merge names do, and do mends what merge found instead of calling it finished", async () => {
    await using made = await readyFeature();
    const { place, repo } = made.work;
    await written(made, { "Tests.py": replaced });
    const refused = await orchJson(place, "merge");
    assert.deepEqual(
      [refused.code, refused.data?.findings.map(({ rule }: { rule: string }) => rule), refused.next],
      [1, ["mock_of_sut"], ["orch do Billing/Invoice", "orch merge"]],
      JSON.stringify(refused, undefined, 1),
    );
    assert.equal(made.calls.length, 0);

    const mended = await orchJson(place, "do");
    assert.deepEqual([mended.code, mended.data?.state], [0, "accepted"], JSON.stringify(mended, undefined, 1));
    assert.equal(made.calls.length, 1);
    assert.match(JSON.stringify(made.calls[0]), /may not be merged: 1 fault to mend.*mock_of_sut/);
    assert.equal(await repo.read(`${slice}/Tests.py`), good);
    assert.equal((await orchJson(place, "merge")).data?.merged, true);
  });

  it("what do may not write is named as a file to edit, and no model is asked", async () => {
    await using made = await readyFeature({ steps: [goodStep] });
    const { place, repo } = made.work;
    await written(made, { "Tests.py": `# orch: protected\n${replaced}` });
    const said = await orchJson(place, "do");
    assert.deepEqual(
      [said.code, said.data?.state, said.next],
      [1, "refused", [`edit ${slice}/Tests.py`, "orch merge"]],
      JSON.stringify(said, undefined, 1),
    );
    assert.equal(made.calls.length, 0);
    assert.equal(await repo.git("status", "--porcelain"), "");
  });
});
