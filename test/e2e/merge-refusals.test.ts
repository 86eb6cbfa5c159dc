import assert from "node:assert/strict";
import { join } from "node:path";
import { mergeFeature } from "../../shared/app/handlers/merge.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { branch, dir, elsewhere, feature, judging } from "../support/feature-bench.ts";

const signal = new AbortController().signal;

describe("merge refuses @slow", function () {
  this.timeout(600_000);

  it("refuses while the slice has unstaged or untracked changes, naming them", async () => {
    await using bench = await feature();
    await bench.repo.write(`${dir}/Handler.py`, "# edited\n");
    await bench.repo.write(`${dir}/new file ü.py`, "# new\n");
    const before = await bench.state();
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
    assert.deepEqual([error.code, error.exit], ["tree.dirty", 5]);
    assert.match(error.message, /Handler\.py/);
    assert.match(error.message, /new file ü\.py/);
    assert.match(error.hint, /git add features\/Billing\/Invoice/);
    assert.deepEqual(await bench.state(), before);
  });

  const refusals: readonly [string, string, (bench: Bench) => Promise<unknown>, Parameters<typeof args>[0]?][] = [
    ["main is no feature branch", "branch.not-feature", (bench) => bench.repo.git("switch", "-q", "main")],
    [
      "nobody's branch is no feature branch",
      "branch.not-feature",
      (bench) => bench.repo.git("switch", "-q", "-c", "topic"),
    ],
    ["a near miss is named", "target.unknown", async () => undefined, { words: ["Billing/Invoce"] }],
    ["a detached head", "tree.detached", (bench) => bench.repo.git("switch", "-q", "--detach")],
    ["no identity", "git.no-identity", (bench) => bench.repo.git("config", "--global", "--unset", "user.email")],
    [
      "a rebase in progress",
      "tree.in-progress",
      async (bench) => {
        await bench.repo.git("switch", "-q", "main");
        await bench.repo.commit("clash", { [`${dir}/Handler.py`]: "# clash\n" });
        await bench.repo.git("switch", "-q", branch);
        assert.notEqual((await bench.repo.tryGit("rebase", "main")).code, 0);
      },
    ],
    [
      "main in another worktree",
      "branch.elsewhere",
      (bench) => bench.repo.git("worktree", "add", "-q", join(bench.repo.base, "wt"), "main"),
    ],
    [
      "the feature in another worktree",
      "branch.elsewhere",
      async (bench) => {
        await bench.repo.git("switch", "-q", "main");
        await bench.repo.git("worktree", "add", "-q", join(bench.repo.base, "wt"), branch);
      },
      { words: ["Invoice"] },
    ],
    [
      "an unreachable remote",
      "git.failed",
      (bench) => bench.repo.git("remote", "set-url", "origin", join(bench.repo.base, "gone.git")),
    ],
    ["a repository that is not trusted", "trust.needed", async (bench) => bench.distrust()],
    ["a broken registry", "registry.invalid", (bench) => bench.repo.write(".features.json", "<<<<<<< ours\n")],
    ["a second run", "run.locked", async (bench) => bench.occupy()],
  ];
  for (const [title, code, prepare, more] of refusals) {
    it(`refuses: ${title}`, async () => {
      await using bench = await feature();
      await prepare(bench);
      const before = await bench.state();
      const judge = judging();
      const error = await refused(mergeFeature({ ...bench.context, ...judge }, args(more), signal));
      assert.equal(error.code, code, error.message);
      assert.notEqual(error.hint, "");
      assert.deepEqual(await bench.state(), before);
      assert.equal(judge.subjects.length, 0);
    });
  }

  it("a feature that is nowhere is not offered to be worked on", async () => {
    await using bench = await feature();
    const words = ["Shop/Basket"];
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args({ words }), signal));
    assert.deepEqual(
      [error.code, error.hint],
      ["target.unknown", 'Run: orch scan, or create it: orch new Shop/Basket "what it does"'],
    );
  });

  it("names run, process, host and the way to end it when the repository is locked", async () => {
    await using bench = await feature();
    bench.occupy();
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
    assert.match(error.message, /orch do works on this repository, run r-20260101-000000-other, process \d+ on nvim/);
    assert.match(error.hint, /orch cancel r-20260101-000000-other/);
  });

  it("refuses on an unborn branch", async () => {
    await using bench = await makeBench({ firstCommit: false });
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
    assert.equal(error.code, "tree.unborn");
  });

  it("says when a shallow clone lacks the shared history", async () => {
    await using source = await feature();
    const { repo } = source;
    for (let n = 0; n < 3; n += 1) {
      await repo.git("switch", "-q", "main");
      await repo.commit(`main ${n}`, { [`main-${n}.txt`]: `${n}\n` });
      await repo.git("switch", "-q", branch);
      await repo.commit(`feature ${n}`, { [`${dir}/extra-${n}.py`]: `${n}\n` });
    }
    await repo.git("push", "-q", "origin", "main", branch);
    await using bench = await source.shallowClone(branch);
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
    assert.deepEqual([error.code, error.exit], ["git.shallow", 5]);
    assert.match(error.hint, /git fetch --unshallow/);
  });

  it("refuses when main would overwrite a person's file, untracked and ignored ones included", async () => {
    for (const [file, prepare] of [
      ["README.md", async (bench: Bench) => bench.repo.write("README.md", "# mine\n")],
      ["there.txt", async (bench: Bench) => bench.repo.write("there.txt", "mine\n")],
      [
        "there.txt",
        async (bench: Bench) => {
          await bench.repo.write(".git/info/exclude", "there.txt\n");
          await bench.repo.write("there.txt", "mine, ignored\n");
        },
      ],
    ] as const) {
      await using bench = await feature();
      await elsewhere(bench, { "README.md": "# theirs\n", "there.txt": "theirs\n" });
      await prepare(bench);
      const text = await bench.repo.read(file);
      const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
      assert.deepEqual([error.code, error.exit], ["tree.dirty", 5]);
      assert.ok(error.message.includes(file), error.message);
      assert.equal(await bench.repo.read(file), text);
      assert.equal(
        await bench.repo.gitIn(String(bench.repo.remote), "log", "-1", "--format=%s", "main"),
        "from somebody else",
      );
    }
  });
});
