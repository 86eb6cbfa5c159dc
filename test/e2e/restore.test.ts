import assert from "node:assert/strict";
import { join } from "node:path";
import { createBranchWorkspaces } from "../../shared/adapters/workspace-branch.ts";
import { restore } from "../../shared/app/handlers/restore.ts";
import { undo } from "../../shared/app/handlers/undo.ts";
import { absPath, type RepoPath } from "../../shared/base/paths.ts";
import { Contract } from "../../shared/model/contract.ts";
import type { TrashItem } from "../../shared/ports/trash.ts";
import { args, refused } from "../support/bench.ts";
import { branch, dir, filesIn, started, working } from "../support/feature-bench.ts";

const signal = new AbortController().signal;

const entriesOf = (data: unknown): readonly TrashItem[] => (data as { entries: readonly TrashItem[] }).entries;

describe("restore @slow", function () {
  this.timeout(600_000);

  it("lists newest first, each with an id", async () => {
    await using bench = await started({ remote: false });
    assert.deepEqual((await restore(bench.context, args(), signal)).data, { entries: [], text: [] });
    const first = await bench.context.trash.store({ by: "do", what: "first", paths: [] });
    const second = await bench.context.trash.store({ by: "do", what: "second", paths: [] });
    const list = await restore(bench.context, args(), signal);
    assert.deepEqual(
      entriesOf(list.data).map((entry) => [entry.id, entry.what]),
      [
        [second.id, "second"],
        [first.id, "first"],
      ],
    );
    assert.deepEqual(list.next, [`orch restore ${second.id}`]);
    assert.deepEqual(
      (list.data as { text: readonly string[] }).text.map((line) => line.replace(/  \d{4}-\d\d-\d\d \d\d:\d\dZ/, "")),
      [`${second.id}  do  second  (0 files)`, `${first.id}  do  first  (0 files)`],
      "a terminal sees every entry, not only --json",
    );
  });

  it("writes beside a newer file and leaves the decision to a person", async () => {
    await using bench = await started({ remote: false });
    const { repo } = bench;
    const item = await bench.context.trash.store({ by: "do", what: "Invoice", paths: [`${dir}/Handler.py` as never] });
    await repo.write(`${dir}/Handler.py`, "# newer\n");
    const result = await restore(bench.context, args({ words: [item.id] }), signal);
    assert.deepEqual([result.ok, result.code, result.error?.code], [false, 4, "trash.newer"]);
    assert.equal(await repo.read(`${dir}/Handler.py`), "# newer\n");
    const { beside } = result.data as { beside: readonly { path: string; wroteTo: string }[] };
    assert.equal(beside[0]?.path, `${dir}/Handler.py`);
    assert.match(String(await repo.read(beside[0]?.wroteTo ?? "")), /def handle/);
    assert.match(String(result.next[0]), /^git diff --no-index /);
  });

  it("brings back what a rolled-back attempt left, beside the files that were put back", async () => {
    await using bench = await started({ remote: false });
    const { repo, context } = bench;
    const before = await filesIn(repo.root, dir);
    const contract = Contract.parse({ id: "Invoice", title: "Invoice", goal: "x", allowed: [`${dir}/**`] });
    const stateFile = absPath(join(repo.base, "workspace.json"));
    const places = { slice: dir as RepoPath, registry: ".features.json" as RepoPath, stateFile };
    const workspace = await createBranchWorkspaces(context, places).open(contract, signal);
    const written = [`${dir}/Handler.py`, `${dir}/deep/Made.py`].map((path) => ({
      path: path as RepoPath,
      data: new TextEncoder().encode("# attempt\n"),
    }));
    await workspace.write(written, signal);
    const back = await workspace.rollback(signal);
    assert.deepEqual(await filesIn(repo.root, dir), before);
    const [entry] = entriesOf((await restore(context, args(), signal)).data);
    assert.equal(back.kind === "rolled-back" ? back.trash : undefined, entry?.id);
    const result = await restore(context, args({ words: [entry?.id ?? ""] }), signal);
    assert.equal(result.code, 4, result.summary);
    assert.equal(await repo.read(`${dir}/deep/Made.py`), "# attempt\n");
    assert.match(String(await repo.read(`${dir}/Handler.py`)), /def handle/);
    assert.match(result.summary, /newer files were kept: features\/Billing\/Invoice\/Handler\.py/);
  });

  it("puts the attempt's file over a committed, unchanged one", async () => {
    await using bench = await started({ remote: false });
    const { repo } = bench;
    await repo.commit("feat: Invoice");
    await repo.write(`${dir}/Handler.py`, "# attempt\n");
    const item = await bench.context.trash.store({ by: "do", what: "Invoice", paths: [`${dir}/Handler.py` as never] });
    await repo.git("checkout", "-q", "--", `${dir}/Handler.py`);
    const result = await restore(bench.context, args({ words: [item.id] }), signal);
    assert.equal(result.ok, true, result.summary);
    assert.equal(await repo.read(`${dir}/Handler.py`), "# attempt\n");
  });

  it("refuses when going to the branch would overwrite a person's file", async () => {
    await using bench = await working({ remote: false });
    const { repo } = bench;
    const { trash } = (await undo(bench.context, args({ yes: true }), signal)).data as { trash: string };
    await repo.write("shared ü.txt", "mine\n");
    const before = await bench.state();
    const error = await refused(restore(bench.context, args({ words: [trash] }), signal));
    assert.equal(error.code, "tree.dirty");
    assert.deepEqual(await bench.state(), before);
  });

  it("restores the files where it is when the branch's name is taken", async () => {
    await using bench = await started({ remote: false });
    const { repo } = bench;
    const { trash } = (await undo(bench.context, args({ yes: true }), signal)).data as { trash: string };
    await repo.git("switch", "-q", "-c", branch);
    const other = await repo.commit("somebody's", { "other.txt": "x\n" });
    const result = await restore(bench.context, args({ words: [trash] }), signal);
    assert.match(result.summary, /Billing\/Invoice is somewhere else now/);
    assert.equal(await repo.git("rev-parse", branch), other);
    assert.match(String(await repo.read(`${dir}/Handler.py`)), /def handle/);
  });

  it("refuses what is not stored, and a second run", async () => {
    await using bench = await started({ remote: false });
    assert.equal((await refused(restore(bench.context, args({ words: ["t-nothing"] }), signal))).code, "trash.unknown");
    assert.equal(
      (await refused(restore(bench.context, args({ words: ["../../heads/main"] }), signal))).code,
      "trash.unknown",
    );
    const item = await bench.context.trash.store({ by: "do", what: "x", paths: [`${dir}/Handler.py` as never] });
    bench.occupy();
    assert.equal((await refused(restore(bench.context, args({ words: [item.id] }), signal))).code, "run.locked");
  });

  it("says what it would do with --dry-run and changes nothing", async () => {
    await using bench = await working({ remote: false });
    const { trash } = (await undo(bench.context, args({ yes: true }), signal)).data as { trash: string };
    const before = await bench.state();
    const result = await restore(bench.context, args({ words: [trash], dryRun: true }), signal);
    assert.match(
      result.summary,
      /^Would go to Billing\/Invoice, bring back \d+ files of Billing\/Invoice; nothing was changed$/,
    );
    assert.deepEqual(await bench.state(), before);
  });
});
