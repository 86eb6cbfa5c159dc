import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, lstat, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { restore } from "../../shared/app/handlers/restore.ts";
import { undo } from "../../shared/app/handlers/undo.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { TrashItem } from "../../shared/ports/trash.ts";
import { args, type Bench, refused } from "../support/bench.ts";
import { branch, dir, filesIn, started, working } from "../support/feature-bench.ts";
import { registryText } from "../support/sample-slice.ts";

const signal = new AbortController().signal;

const entriesOf = (data: unknown): readonly TrashItem[] => (data as { entries: readonly TrashItem[] }).entries;

describe("undo and restore @slow", function () {
  this.timeout(600_000);

  for (const globalConfig of ["", "[core]\n\tautocrlf = true\n"]) {
    it(`discards and brings back byte for byte${globalConfig === "" ? "" : ", with autocrlf"}`, async () => {
      await using bench = await working({ folder: "repo with spaces ü", globalConfig });
      const { repo } = bench;
      const before = await bench.state();
      const slicesBefore = await filesIn(repo.root, dir);
      const result = await undo(bench.context, args({ yes: true }), signal);
      assert.equal(result.ok, true, result.summary);
      assert.match(
        result.summary,
        /^Discarded Billing\/Invoice: 2 commits, 7 uncommitted files, the branch here and on origin/,
      );
      assert.equal(await repo.git("status", "--porcelain", "--ignored", "-b"), "## main...origin/main");
      assert.equal((await lstat(repo.path("features")).catch(() => undefined))?.isDirectory(), undefined);
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
      assert.equal(await repo.gitIn(String(repo.remote), "branch", "--format=%(refname:short)"), "main");
      assert.equal(bench.sink.of("trash.stored").length, 1);

      const list = await restore(bench.context, args(), signal);
      const [entry] = entriesOf(list.data);
      assert.deepEqual([entry?.by, entry?.what, entry?.branches], ["undo", branch, [branch]]);
      const back = await restore(bench.context, args({ words: [entry?.id ?? ""] }), signal);
      assert.equal(back.ok, true, back.summary);
      assert.match(
        back.summary,
        /\. Now on Billing\/Invoice\. Billing\/Invoice is back here only, not on origin: git push --set-upstream origin Billing\/Invoice$/,
      );
      const after = await bench.state();
      assert.deepEqual(await filesIn(repo.root, dir), slicesBefore);
      assert.deepEqual(
        { head: after.head, status: after.status, index: after.index, unstaged: after.unstaged },
        { head: before.head, status: before.status, index: before.index, unstaged: before.unstaged },
      );
      assert.equal(
        await repo.git("rev-parse", branch),
        before.refs
          .split("\n")
          .find((line) => line.startsWith(`refs/heads/${branch} `))
          ?.split(" ")[1],
      );
      assert.equal(await repo.git("config", `branch.${branch}.orch`), branch);
      assert.deepEqual(back.next[0], "orch do");
    });
  }

  it("takes back a feature that was only begun, the registry that it made included", async () => {
    await using bench = await started();
    const { repo } = bench;
    const before = await bench.state();
    const result = await undo(bench.context, args({ yes: true }), signal);
    assert.equal(result.ok, true, result.summary);
    assert.equal(await repo.git("status", "--porcelain", "--ignored", "-b"), "## main...origin/main");
    const { trash } = result.data as { trash: string };
    await restore(bench.context, args({ words: [trash] }), signal);
    assert.deepEqual(await bench.state(), before);
  });

  it("keeps a person's other edits of the registry", async () => {
    await using bench = await started({
      files: { "README.md": "#\n", ".features.json": registryText({ User: "Accounts" }) },
    });
    const { repo } = bench;
    const mine = registryText({ User: "Accounts", Invoice: "Billing" }).replace("{\n", '{\n  "mine": true,\n');
    await repo.write(".features.json", mine);
    const result = await undo(bench.context, args({ yes: true }), signal);
    const text = await repo.read(".features.json");
    assert.deepEqual(JSON.parse(String(text)), {
      mine: true,
      features_dir: "features",
      known_features: { User: "Accounts" },
    });
    const { trash } = result.data as { trash: string };
    await restore(bench.context, args({ words: [trash] }), signal);
    assert.deepEqual(JSON.parse(String(await repo.read(".features.json"))), {
      mine: true,
      features_dir: "features",
      known_features: { User: "Accounts", Invoice: "Billing" },
    });
    assert.match(String(await repo.read(`${dir}/Handler.py`)), /def handle/);
  });

  it("leaves other work as it is: staged, unstaged and untracked files outside the slice", async () => {
    await using bench = await working();
    const { repo } = bench;
    await repo.write("README.md", "# staged\n");
    await repo.git("add", "README.md");
    await repo.write("README.md", "# staged, then edited\n");
    await repo.write("notes.txt", "mine\n");
    await repo.write("features/Billing/InvoiceTwo/mine.py", "# mine\n");
    await undo(bench.context, args({ yes: true }), signal);
    assert.equal(
      await repo.git("status", "--porcelain", "-uall"),
      "MM README.md\n?? features/Billing/InvoiceTwo/mine.py\n?? notes.txt",
    );
    assert.equal(await repo.read("README.md"), "# staged, then edited\n");
    assert.equal(await repo.git("show", ":README.md"), "# staged");
  });

  it("refuses when going to main would overwrite a file outside the slice", async () => {
    await using bench = await working();
    await bench.repo.write("shared ü.txt", "edited\n");
    const before = await bench.state();
    const error = await refused(undo(bench.context, args({ yes: true }), signal));
    assert.deepEqual([error.code, error.exit], ["tree.dirty", 5]);
    assert.match(error.message, /shared ü\.txt/);
    assert.deepEqual(await bench.state(), before);
    assert.deepEqual(await bench.context.trash.list(), []);
  });

  it("asks with the numbers of what goes, and changes nothing on a no", async () => {
    await using bench = await working();
    bench.answer({ choice: "no", by: "test" });
    const before = await bench.state();
    const result = await undo(bench.context, args({ input: true }), signal);
    assert.deepEqual([result.ok, result.code, result.summary], [false, 130, "Nothing was changed"]);
    assert.equal(
      bench.asked[0]?.title,
      "Discard Billing/Invoice: 2 commits, 7 uncommitted files (2 staged, 1 unstaged, 3 untracked, 1 ignored), the branch Billing/Invoice here and on origin?",
    );
    assert.match(String(bench.asked[0]?.detail), /Handler\.py.*\nAll of it is stored first/);
    assert.deepEqual(await bench.state(), before);
    assert.deepEqual(await bench.context.trash.list(), []);
    bench.answer({ choice: "yes", by: "test" });
    assert.equal((await undo(bench.context, args({ input: true }), signal)).ok, true);
  });

  it("only carries out what was asked", async () => {
    await using bench = await working();
    bench.answer({ choice: "yes", by: "test" });
    const editor = {
      ...bench.context.editor,
      interactive: true,
      ask: async () => {
        await bench.repo.write(`${dir}/late.py`, "# written while the question was open\n");
        return { choice: "yes", by: "test" };
      },
    };
    const error = await refused(undo({ ...bench.context, editor }, args({ input: true }), signal));
    assert.deepEqual([error.code, error.exit], ["tree.changed", 4]);
    assert.equal(await bench.repo.read(`${dir}/late.py`), "# written while the question was open\n");
    assert.deepEqual(await bench.context.trash.list(), []);
  });

  it("puts everything back when a file is saved while it is stored", async () => {
    await using bench = await working();
    const before = await bench.state();
    const trash = {
      ...bench.context.trash,
      removeStored: async (id: string) => {
        await bench.repo.write(`${dir}/Handler.py`, "# saved at the last moment\n");
        return await bench.context.trash.removeStored(id);
      },
    };
    const error = await refused(undo({ ...bench.context, trash }, args({ yes: true }), signal));
    assert.equal(error.code, "tree.changed");
    assert.match(error.message, /Handler\.py.*orch restore/);
    assert.equal(await bench.repo.read(`${dir}/Handler.py`), "# saved at the last moment\n");
    const after = await bench.state();
    assert.deepEqual([after.head, after.status, after.index], [before.head, before.status, before.index]);
  });

  it("says what cannot be stored, and changes nothing", async () => {
    await using bench = await working();
    const { repo } = bench;
    const before = await bench.state();
    execFileSync("mkfifo", [repo.path(dir, "pipe")]);
    const error = await refused(undo(bench.context, args({ yes: true }), signal));
    assert.equal(error.code, "path.refused");
    assert.match(error.message, /^a pipe, a socket or a device cannot be stored, so nothing was discarded: .*pipe\. /);
    assert.match(error.hint, /^Take .*pipe away, then run the command again$/);
    await rm(repo.path(dir, "pipe"));
    assert.deepEqual(await bench.state(), before);
  });

  it("refuses without a terminal and without --yes", async () => {
    await using bench = await working();
    const before = await bench.state();
    const error = await refused(undo(bench.context, args(), signal));
    assert.deepEqual([error.code, error.exit], ["confirm.needed", 2]);
    assert.match(error.message, /2 commits, 7 uncommitted files/);
    assert.deepEqual(await bench.state(), before);
  });

  it("fetches and fast-forwards main", async () => {
    await using bench = await working();
    const clone = await bench.repo.clone();
    await writeFile(join(clone, "there.txt"), "there\n");
    await bench.repo.gitIn(clone, "add", "-A");
    await bench.repo.gitIn(clone, "commit", "-q", "-m", "there");
    await bench.repo.gitIn(clone, "push", "-q", "origin", "main");
    await undo(bench.context, args({ yes: true }), signal);
    assert.equal(await bench.repo.git("rev-parse", "main"), await bench.repo.gitIn(clone, "rev-parse", "HEAD"));
    assert.equal(await bench.repo.read("there.txt"), "there\n");
  });

  it("never discards main's own commits", async () => {
    await using bench = await working();
    const { repo } = bench;
    const clone = await repo.clone();
    await repo.gitIn(clone, "commit", "-q", "--allow-empty", "-m", "there");
    await repo.gitIn(clone, "push", "-q", "origin", "main");
    const own = await repo.git("commit-tree", "-p", "main", "-m", "only here", "main^{tree}");
    await repo.git("update-ref", "refs/heads/main", own);
    const result = await undo(bench.context, args({ yes: true }), signal);
    assert.equal(await repo.git("rev-parse", "main"), own);
    assert.match(result.summary, /main has commits of its own and was left as it is/);
  });

  it("keeps the remote branch with --no-push, when it is newer, and when it cannot be reached", async () => {
    const cases: readonly [(bench: Bench) => Promise<unknown>, boolean, RegExp][] = [
      [async () => undefined, false, /origin\/Billing\/Invoice was kept: --no-push/],
      [
        async ({ repo }) => {
          const clone = await repo.clone();
          await repo.gitIn(clone, "switch", "-q", branch);
          await repo.gitIn(clone, "commit", "-q", "--allow-empty", "-m", "a colleague's");
          await repo.gitIn(clone, "push", "-q", "origin", branch);
        },
        true,
        /origin\/Billing\/Invoice was kept, commits that are not here: 1/,
      ],
      [
        ({ repo }) => repo.git("remote", "set-url", "origin", join(repo.base, "gone.git")),
        true,
        /could not be reached/,
      ],
      [
        async ({ repo }) => {
          const hook = join(String(repo.remote), "hooks", "pre-receive");
          await writeFile(hook, "#!/bin/sh\necho no deletions here >&2\nexit 1\n");
          await chmod(hook, 0o755);
        },
        true,
        /origin\/Billing\/Invoice was kept/,
      ],
    ];
    for (const [prepare, push, text] of cases) {
      await using bench = await working();
      await prepare(bench);
      const result = await undo(bench.context, args({ yes: true, push }), signal);
      assert.equal(result.ok, true, result.summary);
      assert.match(result.summary, text);
      assert.equal(await bench.repo.git("branch", "--format=%(refname:short)"), "main");
      assert.match(
        await bench.repo.gitIn(String(bench.repo.remote), "branch", "--format=%(refname:short)"),
        /Billing\/Invoice/,
      );
    }
  });

  it("works without a remote, and for a named feature from main", async () => {
    await using bench = await started({ remote: false });
    const { repo } = bench;
    await repo.commit("feat: Invoice");
    await repo.git("switch", "-q", "main");
    await repo.write("notes.txt", "mine\n");
    const result = await undo(bench.context, args({ yes: true, words: ["Invoice"] }), signal);
    assert.match(result.summary, /1 commit, 0 uncommitted files, the branch here/);
    assert.equal(result.next[0], 'orch new Billing/Invoice "what it does"');
    assert.equal(await repo.git("status", "--porcelain", "-b"), "## main\n?? notes.txt");
    await restore(bench.context, args({ words: [(result.data as { trash: string }).trash] }), signal);
    assert.equal(await repo.git("log", "-1", "--format=%s", branch), "feat: Invoice");
  });

  it("reads modify/<Feature> as that feature and leaves the slice as main has it", async () => {
    await using bench = await started();
    const { repo } = bench;
    await repo.commit("feat: Invoice");
    await repo.git("switch", "-q", "main");
    await repo.git("merge", "-q", branch);
    await repo.git("branch", "-q", "-d", branch);
    await repo.git("switch", "-q", "-c", "modify/Invoice");
    await repo.git("config", "branch.modify/Invoice.orch", branch);
    await repo.commit("amended", { [`${dir}/spec.md`]: "# amended\n" });
    await repo.write(`${dir}/Handler.py`, "# dirty\n");
    await repo.write(`${dir}/extra.py`, "# extra\n");
    await repo.write(`${dir}/debug.log`, "ignored\n");
    const before = await bench.state();
    const result = await undo(bench.context, args({ yes: true }), signal);
    assert.match(result.summary, /Discarded Billing\/Invoice: 1 commit, 2 uncommitted files/);
    assert.equal(result.next[0], 'orch modify Billing/Invoice "what changes"');
    assert.equal(
      await repo.git("status", "--porcelain", "-b", "--ignored"),
      `## main...origin/main [ahead 1]\n!! ${dir}/debug.log`,
    );
    assert.match(String(await repo.read(`${dir}/Handler.py`)), /def handle/);
    await restore(bench.context, args({ words: [(result.data as { trash: string }).trash] }), signal);
    assert.deepEqual(await bench.state(), before);
  });

  const refusals: readonly [string, string, (bench: Bench) => Promise<unknown>][] = [
    ["a branch that is no feature's", "branch.not-feature", ({ repo }) => repo.git("switch", "-q", "-c", "topic")],
    ["a detached head", "tree.detached", ({ repo }) => repo.git("switch", "-q", "--detach")],
    [
      "main in another worktree",
      "branch.elsewhere",
      ({ repo }) => repo.git("worktree", "add", "-q", join(repo.base, "wt"), "main"),
    ],
    ["a second run", "run.locked", async (bench) => bench.occupy()],
    [
      "a merge in progress",
      "tree.in-progress",
      async ({ repo }) => {
        await repo.git("add", "-A");
        await repo.git("commit", "-q", "-m", "all");
        await repo.git("switch", "-q", "main");
        await repo.commit("clash", { [`${dir}/Handler.py`]: "# clash\n" });
        await repo.git("switch", "-q", branch);
        assert.notEqual((await repo.tryGit("merge", "main")).code, 0);
      },
    ],
  ];
  for (const [title, code, prepare] of refusals) {
    it(`refuses: ${title}`, async () => {
      await using bench = await working();
      await prepare(bench);
      const before = await bench.state();
      const error = await refused(undo(bench.context, args({ yes: true }), signal));
      assert.equal(error.code, code, error.message);
      assert.deepEqual(await bench.state(), before);
      assert.deepEqual(await bench.context.trash.list(), []);
    });
  }

  it("needs no identity and no trust", async () => {
    await using bench = await working();
    await bench.repo.git("config", "--global", "--unset", "user.email");
    await bench.distrust();
    assert.equal((await undo(bench.context, args({ yes: true }), signal)).ok, true);
  });

  it("says what it would do with --dry-run and changes nothing", async () => {
    await using bench = await working();
    const before = await bench.state();
    const result = await undo(bench.context, args({ dryRun: true }), signal);
    assert.match(
      result.summary,
      /^Would discard Billing\/Invoice: 2 commits, 7 uncommitted files .*; nothing was changed$/,
    );
    assert.deepEqual((result.data as { steps: unknown }).steps, [
      "fetch origin",
      "store it for restore",
      "remove 7 uncommitted files",
      "switch to main",
      "delete Billing/Invoice here and on origin",
    ]);
    assert.deepEqual(await bench.state(), before);
    assert.deepEqual(await bench.context.trash.list(), []);
  });

  it("loses nothing whenever it is stopped: what is gone can be restored", async () => {
    for (let at = 1, ended = false; !ended; at += 1) {
      await using bench = await working({ remote: false });
      const { repo } = bench;
      const before = await bench.state();
      const files = await filesIn(repo.root, dir);
      const controller = new AbortController();
      const stopping = await bench.stopping(at, controller);
      try {
        await undo(stopping.context, args({ yes: true }), controller.signal);
        ended = stopping.calls() < at;
      } catch (error) {
        assert.ok(error instanceof Error && error.name === "AbortError" && !isOrchError(error), String(error));
        assert.deepEqual(await bench.state(), before, `stopped at ${at}`);
        continue;
      }
      const [entry] = await bench.context.trash.list();
      await restore(bench.context, args({ words: [entry?.id ?? ""] }), signal);
      assert.deepEqual(await filesIn(repo.root, dir), files, `stopped at ${at}`);
    }
  });
});
