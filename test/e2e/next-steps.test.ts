import assert from "node:assert/strict";
import path from "node:path";
import { readyFeature, slice } from "../support/ready-feature.ts";
import { orch, orchJson } from "../support/orch-cli.ts";

describe("e2e: what a refusal names can be typed @slow", () => {
  it("a discarded feature is brought back; another spelling is told as one", async () => {
    await using made = await readyFeature();
    const { place } = made.work;
    for (const [command, words] of [
      ["do", []],
      ["undo", []],
      ["delete", []],
      ["modify", ["round"]],
    ] as const) {
      const other = await orchJson(place, command, "billing/invoice", ...words);
      assert.deepEqual([other.code, other.error?.code], [2, "target.unknown"], command);
      assert.match(other.error?.message ?? "", /Billing\/Invoice differs from it by case only/);
      assert.deepEqual(other.next, command === "modify" ? [] : [`orch ${command} Billing/Invoice`]);
    }
    const undone = await orchJson(place, "undo", "--yes");
    for (const command of ["undo", "do", "delete"]) {
      const gone = await orchJson(place, command, "Billing/Invoice");
      assert.equal(gone.error?.code, "target.unknown");
      assert.equal(gone.next[0], `orch restore ${undone.data.trash}`, command);
    }
  });

  it("qa on a feature branch goes on with the feature", async () => {
    await using made = await readyFeature();
    const { place } = made.work;
    assert.deepEqual((await orchJson(place, "qa")).next, ["orch do"]);
    assert.equal((await orchJson(place, "do")).code, 0);
    assert.deepEqual((await orchJson(place, "qa")).next, ["orch merge"]);
  });

  it("a terminal gets paths from where it stands, and words for a file to edit; a program gets them from the root", async () => {
    await using made = await readyFeature();
    const { place, repo } = made.work;
    await repo.write(`${slice}/spec.md`, "# Invoice\n");
    const inside = { ...place, cwd: path.join(place.cwd, "features") };
    const told = await orch(inside, "do");
    assert.match(told.stderr, /^Edit Billing\/Invoice\/spec\.md, then run: orch do$/m);
    assert.doesNotMatch(told.stdout + told.stderr, /Next: edit/);
    const document = await orchJson(inside, "do");
    assert.deepEqual(document.next, [`edit ${slice}/spec.md`, "orch do"]);
    const staging = await orch(inside, "merge");
    assert.match(staging.stderr, /git add Billing\/Invoice \.\.\/\.features\.json,/);
  });

  it("-C: a folder that is not there, and commands for the one that is", async () => {
    await using made = await readyFeature();
    const { place } = made.work;
    const outside = { ...place, cwd: path.dirname(place.cwd) };
    const lost = await orch(outside, "-C", "/nope", "status");
    assert.equal(lost.code, 5);
    assert.doesNotMatch(lost.stderr, /orch init/);
    const at = path.basename(place.cwd);
    const there = await orch(outside, "-C", at, "merge");
    assert.match(there.stderr, new RegExp(`git -C ${at} add features/Billing/Invoice \\.features\\.json`));
  });

  it("a model id that is none: `orch model` is told its own word for auto", async () => {
    await using made = await readyFeature();
    const { place } = made.work;
    assert.match((await orchJson(place, "model", "nope", "--yes")).error?.hint ?? "", /orch model auto$/);
    assert.match((await orchJson(place, "do", "-m", "nope")).error?.hint ?? "", /--model auto$/);
  });
});
