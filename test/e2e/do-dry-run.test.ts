import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { goodStep, readyFeature, slice } from "../support/ready-feature.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { treeOf } from "../support/tree-of.ts";

/** What it would do, and that nothing is any different after it. */
async function dry(
  work: Awaited<ReturnType<typeof readyFeature>>["work"],
  ...words: readonly string[]
): Promise<CliDocument> {
  const before = await treeOf(work.repo);
  const said = await orchJson(work.place, "do", ...words, "--dry-run");
  assert.deepEqual(await treeOf(work.repo), before);
  return said;
}

describe("e2e: do --dry-run refuses what do refuses @slow", () => {
  it("in a repository that is not trusted", async () => {
    await using made = await readyFeature({ trusted: false });
    const said = await dry(made.work);
    assert.deepEqual([said.code, said.error?.code], [7, "trust.needed"]);
  });

  it("with a spec that is not ready, at the line that do would name", async () => {
    await using made = await readyFeature();
    const { work } = made;
    await work.repo.write(`${slice}/spec.md`, "# Invoice\n\n## Overview\n\nTotals.\n");
    const said = await dry(work);
    assert.deepEqual([said.code, said.error?.code], [3, "spec.not-ready"]);
    const real = await orchJson(work.place, "do");
    assert.deepEqual([real.code, real.error?.message], [3, said.error?.message]);
    assert.equal(made.calls.length, 0);
  });

  it("with models that are none, or that cannot be asked", async () => {
    await using made = await readyFeature();
    const { work } = made;
    const none = await dry(work, "-m", "nope");
    assert.deepEqual([none.code, none.error?.code], [2, "model.unknown"]);
    const keyless = await dry(work, "-m", "openrouter/x/y");
    assert.equal(keyless.code, 0, "the chain after it can be asked");
    const worker = await dry(work, "--worker", "nope");
    assert.deepEqual([worker.code, worker.error?.code], [2, "worker.unknown"]);
  });

  it("says every step, and keeps the options of the command it names", async () => {
    await using made = await readyFeature();
    const said = await dry(made.work, "--no-push", "-m", "direct/scripted");
    assert.deepEqual(
      [said.code, said.summary, said.next],
      [
        0,
        `Would implement ${slice}/spec.md in ${slice}, then run the gates and its tests, then commit feat: Invoice on Billing/Invoice; nothing was changed`,
        ["orch do Billing/Invoice --model direct/scripted --no-push"],
      ],
    );
    const { place } = made.work;
    const [row] = (await orchJson(place, "runs")).data.runs;
    assert.equal(row.title, "do (dry run)");
    const text: readonly string[] = (await orchJson(place, "status")).data.text;
    assert.match(text[0] ?? "", /^r-\S+ {2}ok {2}do \(dry run\)$/);
  });

  it("says that a finished feature is finished; a bad model id is refused there, too", async () => {
    await using made = await readyFeature({ steps: [goodStep] });
    const { work } = made;
    assert.equal((await orchJson(work.place, "do")).code, 0);
    const said = await dry(work);
    assert.deepEqual([said.code, said.data.state], [0, "implemented"], JSON.stringify(said));
    assert.match(said.summary, /^Would run the tests and the gates of Billing\/Invoice and, when they pass, end there/);
    const real = await orchJson(work.place, "do");
    assert.deepEqual([real.data.state, real.next], ["implemented", said.next]);
    const nope = await orchJson(work.place, "do", "-m", "nope");
    assert.deepEqual([nope.code, nope.error?.code], [2, "model.unknown"]);
  });
});

describe("e2e: what a dry run starts of the repository @slow", () => {
  /** The project's own Python, which writes down how it was started. */
  function venvIn(work: Awaited<ReturnType<typeof readyFeature>>["work"]): () => readonly string[] {
    const { root, base } = work.repo;
    const [python, log] = [path.join(root, ".venv/bin/python"), path.join(base, "started.txt")];
    fs.mkdirSync(path.dirname(python), { recursive: true });
    fs.writeFileSync(python, `#!/bin/sh\necho "$*" >> '${log}'\nexec python3 "$@"\n`, { mode: 0o755 });
    return () => (fs.existsSync(log) ? fs.readFileSync(log, "utf8").trimEnd().split("\n") : []);
  }
  const lines: readonly (readonly string[])[] = [["do"], ["merge"], ["move", "Billing/Invoice", "Sales/Bill"]];

  it("nothing before it is trusted: do, merge and move end as the commands do, and nobody is asked", async function () {
    if (process.platform === "win32") this.skip();
    await using made = await readyFeature({ trusted: false });
    const started = venvIn(made.work);
    for (const [name = "", ...words] of lines) {
      const said = await orchJson(made.work.place, name, ...words, "--dry-run");
      assert.deepEqual([name, said.code, said.error?.code], [name, 7, "trust.needed"]);
      assert.deepEqual(said.next, ["orch trust"]);
    }
    assert.deepEqual(started(), []);
  });

  it("its test program, to see that it is there; merge starts nothing", async function () {
    if (process.platform === "win32") this.skip();
    await using made = await readyFeature();
    const started = venvIn(made.work);
    const look = "-c import pytest";
    for (const [line, wanted] of [
      [["do"], [look]],
      [
        ["move", "Billing/Invoice", "Sales/Bill"],
        [look, look],
      ],
    ] as const) {
      const [name, ...words] = line;
      const said = await orchJson(made.work.place, name, ...words, "--dry-run");
      assert.equal(said.code, 0, JSON.stringify(said));
      assert.deepEqual(started(), wanted, name);
    }
    assert.equal((await orchJson(made.work.place, "do")).code, 0);
    const before = started().length;
    assert.equal((await orchJson(made.work.place, "merge", "--dry-run")).code, 0);
    assert.equal(started().length, before);
  });
});
