import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, rm } from "node:fs/promises";
import type { CommandArgs } from "../../shared/app/context.ts";
import { deleteFeature } from "../../shared/app/handlers/delete.ts";
import { planDelete } from "../../shared/app/delete-plan.ts";
import { clearSlice } from "../../shared/app/delete-steps.ts";
import { restore } from "../../shared/app/handlers/restore.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { branch, dir, feature, filesIn, started, working } from "../support/feature-bench.ts";
import { confirmed } from "../support/git-repo.ts";
import { pipelineRoom } from "../support/pipeline-room.ts";
import { registryText, slice } from "../support/sample-slice.ts";

const signal = new AbortController().signal;
const there = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined)) !== undefined;

const remove = (bench: Bench, given: Partial<CommandArgs> = {}) =>
  deleteFeature(pipelineRoom(bench).context, args(given), signal);

interface DeleteData {
  readonly trash: string;
  readonly commit: string | null;
  readonly branches: readonly string[];
  readonly files: number;
}

/** Invoice and Order are on main; a merged leftover branch of Invoice stands around. */
async function merged(options: Parameters<typeof makeBench>[0] = {}): Promise<Bench> {
  const bench = await makeBench({
    remote: true,
    files: {
      "README.md": "# sample\n",
      ".gitignore": "*.log\n",
      ...slice(dir),
      ...slice("features/Billing/Order"),
      ".features.json": `{\n  "mine": 1,\n  "features_dir": "features",\n  "known_features": {\n    "Invoice": "Billing",\n    "Order": "Billing"\n  }\n}\n`,
    },
    ...options,
  });
  const { repo } = bench;
  await repo.git("branch", branch);
  await repo.git("config", `branch.${branch}.orch`, branch);
  await repo.git("push", "-q", "origin", branch);
  return bench;
}

describe("delete @slow", function () {
  this.timeout(600_000);

  for (const globalConfig of ["", "[core]\n\tautocrlf = true\n"]) {
    it(`removes what main has with one commit, and restore brings back every byte${globalConfig === "" ? "" : ", with autocrlf"}`, async () => {
      await using bench = await merged({ folder: "répo with space", globalConfig });
      const { repo } = bench;
      await repo.write(`${dir}/Handler.py`, "# edited\r\n");
      await repo.write(`${dir}/staged.py`, "# staged\n", 0o755);
      await repo.git("add", `${dir}/staged.py`);
      await repo.write(`${dir}/loose ü.bin`, new Uint8Array([0, 13, 10, 255]));
      await repo.write(`${dir}/debug.log`, "ignored\n");
      await repo.link(`${dir}/link.py`, "Handler.py");
      await repo.write("README.md", "# staged elsewhere\n");
      await repo.git("add", "README.md");
      await repo.write("README.md", "# edited elsewhere\n");
      await repo.write("notes.txt", "mine\n");
      const before = await filesIn(repo.root, dir);
      const thereBefore = (await bench.state()).there;
      const main = await repo.git("rev-parse", "main");

      const result = await remove(bench, { words: [branch], yes: true });
      const data = result.data as DeleteData;
      assert.equal(result.ok, true, result.summary);
      assert.match(
        result.summary,
        /^Deleted Billing\/Invoice: 10 files, the branch Billing\/Invoice, commit \w+ on main/,
      );
      assert.equal(await repo.git("log", "-1", "--format=%s"), "delete: Invoice");
      assert.equal(await repo.git("rev-parse", "HEAD~1"), main);
      const changed = (await repo.git("diff", "--name-status", "HEAD~1", "HEAD")).split("\n");
      assert.deepEqual(
        changed.toSorted(),
        ["M\t.features.json", ...Object.keys(slice(dir)).map((path) => `D\t${path}`)].toSorted(),
      );
      assert.equal(await repo.git("status", "--porcelain", "--ignored"), "MM README.md\n?? notes.txt");
      assert.equal(await repo.git("show", ":README.md"), "# staged elsewhere");
      assert.equal(
        await repo.read(".features.json"),
        `{\n  "mine": 1,\n  "features_dir": "features",\n  "known_features": {\n    "Order": "Billing"\n  }\n}\n`,
      );
      assert.equal(await there(repo.path(dir)), false);
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
      assert.equal((await bench.state()).there, thereBefore, "the remote was not touched");

      const back = await restore(bench.context, args({ words: [data.trash] }), signal);
      assert.equal(back.ok, true, back.summary);
      assert.deepEqual(
        back.next,
        [`git add -- ${dir} .features.json`, "git commit -m 'restore: Billing/Invoice'"],
        "on main no do can start from it",
      );
      assert.deepEqual(await filesIn(repo.root, dir), before);
      assert.equal(await repo.git("rev-parse", branch), main);
      assert.equal(await repo.git("config", `branch.${branch}.orch`), branch);
      assert.equal(JSON.parse(String(await repo.read(".features.json"))).known_features.Invoice, "Billing");
    });
  }

  it("on the feature's branch goes to main, which never had it: no commit, and restore goes back there", async () => {
    await using bench = await working();
    const { repo } = bench;
    const before = await bench.state();
    const files = await filesIn(repo.root, dir);
    const main = await repo.git("rev-parse", "main");
    const result = await remove(bench, { yes: true });
    const data = result.data as DeleteData;
    assert.deepEqual([result.ok, data.commit, data.branches], [true, null, [branch]], result.summary);
    assert.equal(await repo.git("status", "--porcelain", "--ignored", "-b"), "## main...origin/main");
    assert.deepEqual([await repo.git("rev-parse", "main"), (await bench.state()).there], [main, before.there]);
    await restore(bench.context, args({ words: [data.trash] }), signal);
    const after = await bench.state();
    assert.deepEqual(await filesIn(repo.root, dir), files);
    assert.deepEqual([after.head, after.status, after.index], [before.head, before.status, before.index]);
  });

  it("on modify/<Feature> removes main's slice as well", async () => {
    await using bench = await merged();
    const { repo } = bench;
    await repo.git("switch", "-qc", "modify/Invoice");
    await repo.commit("amended", { [`${dir}/spec.md`]: "# Invoice\n\namended\n" });
    await repo.write(`${dir}/Handler.py`, "# loose\n");
    const result = await remove(bench, { yes: true });
    assert.equal(result.ok, true, result.summary);
    assert.deepEqual((result.data as DeleteData).branches.toSorted(), [branch, "modify/Invoice"]);
    assert.equal(await repo.git("log", "--format=%s", "main"), "delete: Invoice\nfirst commit");
    assert.equal(await repo.git("status", "--porcelain", "--ignored"), "");
    assert.equal(await there(repo.path(dir)), false);
    await restore(bench.context, args({ words: [(result.data as DeleteData).trash] }), signal);
    assert.equal(await repo.git("branch", "--show-current"), "modify/Invoice");
    assert.equal(await repo.read(`${dir}/Handler.py`), "# loose\n");
    assert.equal(await repo.read(`${dir}/spec.md`), "# Invoice\n\namended\n");
  });

  it("takes back what new made, the registry that it made included", async () => {
    await using bench = await started();
    const before = await bench.state();
    const result = await remove(bench, { yes: true });
    assert.equal(await bench.repo.git("status", "--porcelain", "--ignored", "-b"), "## main...origin/main");
    await restore(bench.context, args({ words: [(result.data as DeleteData).trash] }), signal);
    assert.deepEqual(await bench.state(), before);
  });

  it("asks in numbers, and changes nothing on a no, with --dry-run, or without anybody to ask", async () => {
    await using bench = await working();
    const before = await bench.state();
    const dry = await remove(bench, { dryRun: true });
    assert.match(
      dry.summary,
      /^Would delete Billing\/Invoice: 9 files \(7 uncommitted\), 2 commits that main does not have/,
    );
    const { steps } = dry.data as { steps: readonly string[] };
    assert.equal(dry.summary.endsWith(`. It would ${steps.join(", then ")}; nothing was changed`), true, dry.summary);
    assert.equal((await refused(remove(bench))).code, "confirm.needed");
    bench.answer({ choice: "no", by: "test" });
    assert.equal((await remove(bench, { input: true })).code, 130);
    assert.match(bench.asked[0]?.title ?? "", /, the branch Billing\/Invoice here\?$/);
    assert.deepEqual(await bench.state(), before);
    assert.deepEqual(await bench.context.trash.list(), []);
  });

  it("--dry-run names every step, the commit on main as well", async () => {
    await using bench = await merged();
    const { summary } = await remove(bench, { dryRun: true, words: [branch] });
    assert.match(summary, /, then take Invoice out of \.features\.json, then commit that on main, not pushed/);
  });

  it("puts everything back when the commit's hook says no", async () => {
    for (const make of [merged, onModify]) {
      await using bench = await make();
      const { repo } = bench;
      await repo.write(`${dir}/loose.txt`, "mine\n");
      await repo.write(`${dir}/Handler.py`, "# edited\n");
      await repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho not like this >&2\nexit 1\n", 0o755);
      const before = await bench.state();
      const files = await filesIn(repo.root, ".");
      const error = await refused(remove(bench, { words: [branch], yes: true }));
      assert.equal(error.code, "git.hook-failed");
      assert.match(error.message, /not like this/);
      assert.deepEqual(await bench.state(), before);
      assert.deepEqual(without(await filesIn(repo.root, ".")), without(files));
    }
  });

  it("refuses where it stands in somebody else's way, and says the next step", async () => {
    const rows: readonly (readonly [string, (bench: Bench) => Promise<unknown>, string, RegExp])[] = [
      ["an unknown feature", async () => undefined, "target.unknown", /Billing\/Invoise/],
      ["another branch", async ({ repo }) => repo.git("switch", "-qc", "mine"), "branch.wrong", /neither main nor/],
      [
        "other changes of the registry",
        async ({ repo }) =>
          repo.write(".features.json", registryText({ Invoice: "Billing", Order: "Billing", X: "Y" })),
        "tree.dirty",
        /\.features\.json holds other changes/,
      ],
      [
        "a broken registry",
        async ({ repo }) => repo.write(".features.json", "{"),
        "registry.invalid",
        /\.features\.json:1/,
      ],
      ["a detached HEAD", async ({ repo }) => repo.git("checkout", "-q", "--detach"), "tree.detached", /detached/],
    ];
    for (const [what, arrange, code, message] of rows) {
      await using bench = await merged();
      await arrange(bench);
      const before = await bench.state();
      const words = [code === "target.unknown" ? "Billing/Invoise" : branch];
      const error = await refused(remove(bench, { words, yes: true }));
      assert.deepEqual([what, error.code], [what, code]);
      assert.match(error.message, message);
      assert.match(error.hint, /\S/);
      assert.deepEqual(await bench.state(), before);
    }
  });

  it("needs a feature branch when no feature is named", async () => {
    await using bench = await feature();
    await bench.repo.git("switch", "-q", "main");
    const error = await refused(remove(bench, { yes: true }));
    assert.deepEqual(
      [error.code, error.exit, error.hint],
      ["branch.not-feature", 5, "Name the feature: orch delete domain/Feature"],
    );
  });

  it("a runner that died once the files had gone: the next one finishes, and every byte can be restored", async () => {
    await using bench = await merged();
    const { repo } = bench;
    await repo.write(`${dir}/loose ü.bin`, new Uint8Array([0, 13, 10, 255]));
    const before = await filesIn(repo.root, dir);
    const { context } = pipelineRoom(bench);
    const plan = await planDelete(context, args({ words: [branch] }), signal);
    const item = await context.trash.store({ by: "delete", what: branch, paths: plan.paths, branches: [branch] });
    await clearSlice(context, plan, { id: item.id, confirmed, back: [] });
    assert.equal(await there(repo.path(dir)), false);
    const result = await remove(bench, { words: [branch], yes: true });
    assert.equal(result.ok, true, result.summary);
    assert.equal(await repo.git("log", "-1", "--format=%s"), "delete: Invoice");
    assert.equal(await repo.git("status", "--porcelain"), "");
    await restore(bench.context, args({ words: [item.id] }), signal);
    assert.deepEqual(await filesIn(repo.root, dir), before);
  });

  it("leaves an edit that comes while it is stored, and everything else with it", async () => {
    await using bench = await merged();
    const { repo, context } = bench;
    const before = await bench.state();
    const trash = {
      ...context.trash,
      async removeStored(id: string) {
        await repo.write(`${dir}/Schema.py`, "# saved just now\n");
        return context.trash.removeStored(id);
      },
    };
    const error = await refused(
      deleteFeature({ ...pipelineRoom(bench).context, trash }, args({ words: [branch], yes: true }), signal),
    );
    assert.equal(error.code, "tree.changed");
    assert.equal(await repo.read(`${dir}/Schema.py`), "# saved just now\n");
    await repo.git("checkout", "--", dir);
    assert.deepEqual(await bench.state(), before);
  });

  it("says what cannot be stored, and changes nothing", async () => {
    await using bench = await merged();
    const { repo } = bench;
    const before = await bench.state();
    execFileSync("mkfifo", [repo.path(dir, "pipe")]);
    const error = await refused(remove(bench, { words: [branch], yes: true }));
    assert.equal(error.code, "path.refused");
    assert.match(error.message, /^a pipe, a socket or a device cannot be stored, so nothing was deleted: .*pipe$/);
    assert.match(error.hint, /^Take .*pipe away, then run the command again$/);
    await rm(repo.path(dir, "pipe"));
    assert.deepEqual(await bench.state(), before);
  });
});

async function onModify(): Promise<Bench> {
  const bench = await merged();
  await bench.repo.git("switch", "-qc", "modify/Invoice");
  await bench.repo.commit("amended", { [`${dir}/spec.md`]: "# Invoice\n\namended\n" });
  return bench;
}

function without(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith("./.git/")));
}
