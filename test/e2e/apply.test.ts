import assert from "node:assert/strict";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { apply } from "../../shared/app/handlers/apply.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { registryText, slice } from "../support/sample-slice.ts";

const signal = new AbortController().signal;
const dir = "features/Billing/Invoice";
const run = "r-20260131-101500-ab12";
const name = `${run}/Invoice/attempt-2`;

/** A feature branch, and a kept change that was made against the tree as it is. */
async function kept(change: (bench: Bench) => Promise<unknown>, globalConfig = ""): Promise<Bench> {
  const bench = await makeBench({
    files: { "README.md": "# sample\n", ".features.json": registryText({ Invoice: "Billing" }), ...slice(dir) },
    folder: "with space ü",
    globalConfig,
  });
  const { repo, context } = bench;
  await repo.write(".orch/runs/.gitignore", "*\n");
  // The line ends that a checkout makes, not those of the test.
  await repo.git("rm", "-r", "-q", "--cached", ".");
  await repo.git("reset", "-q", "--hard");
  const before = await context.git.snapshot([dir as never]);
  await change(bench);
  const after = await context.git.snapshot([dir as never]);
  await repo.write(`.orch/runs/${name}/diff.patch`, (await context.git.diff(before, after)).patch);
  await repo.git("checkout", "-q", "--", ".");
  await repo.git("clean", "-q", "-fd", dir);
  return bench;
}

const attempt = async ({ repo }: Bench): Promise<void> => {
  await repo.write(`${dir}/Handler.py`, "def handle(total: int) -> int:\n    return total + 1\n");
  await repo.write(`${dir}/new ü.bin`, new Uint8Array([0, 1, 255, 13, 10]));
  await repo.write(`${dir}/run.sh`, "#!/bin/sh\n", 0o755);
};

describe("apply @slow", function () {
  this.timeout(600_000);

  for (const config of ["", "[core]\n\tautocrlf = true\n"]) {
    it(`applies a kept change to the tree, unstaged${config === "" ? "" : ", with autocrlf"}`, async () => {
      await using bench = await kept(attempt, config);
      const { repo } = bench;
      const result = await apply(bench.context, args({ words: [name] }), signal);
      assert.equal(result.ok, true, result.summary);
      assert.deepEqual((result.data as { paths: unknown }).paths, [
        `${dir}/Handler.py`,
        `${dir}/new ü.bin`,
        `${dir}/run.sh`,
      ]);
      assert.match(String(await repo.read(`${dir}/Handler.py`)), /total \+ 1/);
      assert.deepEqual(await repo.bytes(`${dir}/new ü.bin`), Buffer.from([0, 1, 255, 13, 10]));
      assert.equal(await repo.git("diff", "--cached", "--name-only"), "");
      assert.equal((await repo.git("status", "--porcelain", "-z")).split("\0").filter(Boolean).length, 3);
    });
  }

  for (const [title, edit] of [
    ["a hunk that does not fit", "# the person's own\n"],
    ["a file that is gone", undefined],
  ] as const) {
    it(`refuses as a whole over ${title}`, async () => {
      await using bench = await kept(attempt);
      const { repo } = bench;
      if (edit === undefined) await repo.git("rm", "-q", `${dir}/Handler.py`);
      else await repo.write(`${dir}/Handler.py`, edit);
      const before = await bench.state();
      const error = await refused(apply(bench.context, args({ words: [name] }), signal));
      assert.deepEqual([error.code, error.exit], ["apply.mismatch", 5]);
      assert.deepEqual(await bench.state(), before);
      assert.equal(await repo.read(`${dir}/Handler.py`), edit);
    });
  }

  it("never takes the place of a file that a person made", async () => {
    await using bench = await kept(attempt);
    await bench.repo.write(`${dir}/run.sh`, "mine\n");
    const error = await refused(apply(bench.context, args({ words: [name] }), signal));
    assert.equal(error.code, "apply.mismatch");
    assert.equal(await bench.repo.read(`${dir}/run.sh`), "mine\n");
    assert.match(String(await bench.repo.read(`${dir}/Handler.py`)), /return total$/m);
  });

  it("takes the attempt's folder and file, too", async () => {
    for (const word of [`.orch/runs/${name}`, `${name}/diff.patch`, `./.orch/runs/${name}/`]) {
      await using bench = await kept(attempt);
      assert.equal((await apply(bench.context, args({ words: [word] }), signal)).ok, true, word);
    }
  });

  it("refuses names that are no attempt, and links that lead out", async () => {
    await using bench = await kept(attempt);
    const { repo } = bench;
    const outside = join(repo.base, "outside");
    await mkdir(outside);
    await repo.git("diff", "--output", join(outside, "diff.patch"));
    await symlink(outside, repo.path(".orch/runs", run, "Invoice", "attempt-3"));
    const cases: readonly [string, string][] = [
      [`${run}/Invoice/attempt-3`, "path.refused"],
      [`${run}/Invoice/attempt-9`, "run.unknown"],
      ["r-20990131-101500-ab12/Invoice/attempt-1", "run.unknown"],
      [`${run}/../attempt-2`, "usage.invalid"],
      [`../${name}`, "usage.invalid"],
      [`/etc/${name}`, "usage.invalid"],
      [`${run}/Invoice`, "usage.invalid"],
      ["", "usage.invalid"],
    ];
    for (const [word, code] of cases) {
      assert.equal((await refused(apply(bench.context, args({ words: [word] }), signal))).code, code, word);
    }
  });

  it("refuses a patch that reaches for git's own files", async () => {
    await using bench = await kept(attempt);
    const { repo } = bench;
    for (const path of [".git/hooks/pre-commit", "../outside.txt"]) {
      const patch = `diff --git a/${path} b/${path}\nnew file mode 100755\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
      await repo.write(`.orch/runs/${name}/diff.patch`, patch);
      await refused(apply(bench.context, args({ words: [name] }), signal));
      await assert.rejects(readFile(repo.path(path)), { code: "ENOENT" });
    }
  });

  it("refuses an attempt that changed nothing, a second run, a rebase in progress", async () => {
    await using bench = await kept(attempt);
    await bench.repo.write(`.orch/runs/${run}/Invoice/attempt-1/diff.patch`, "");
    assert.equal(
      (await refused(apply(bench.context, args({ words: [`${run}/Invoice/attempt-1`] }), signal))).code,
      "apply.mismatch",
    );
    bench.occupy();
    assert.equal((await refused(apply(bench.context, args({ words: [name] }), signal))).code, "run.locked");
  });

  it("says what it would do with --dry-run and changes nothing", async () => {
    await using bench = await kept(attempt);
    const before = await bench.state();
    const result = await apply(bench.context, args({ words: [name], dryRun: true }), signal);
    assert.match(result.summary, /^Would apply .*attempt-2 to 3 files: .*Handler\.py.*; nothing was changed$/);
    assert.deepEqual(await bench.state(), before);
  });
});
