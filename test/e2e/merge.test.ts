import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { absPath } from "../../shared/base/paths.ts";
import { mergeFeature } from "../../shared/app/handlers/merge.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Finding } from "../../shared/model/finding.ts";
import type { Verdict } from "../../shared/model/verdict.ts";
import { args, refused } from "../support/bench.ts";
import { branch, dir, elsewhere, feature, judging } from "../support/feature-bench.ts";

const signal = new AbortController().signal;

describe("merge @slow", function () {
  this.timeout(600_000);

  it("makes exactly the judged tree main's merge commit, pushes it, deletes both branches, leaves other work alone", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await repo.git("switch", "-q", "main");
    await repo.commit("main goes on", { "other.txt": "other\n", "both.txt": "committed\n" });
    await repo.git("push", "-q", "origin", "main");
    await repo.git("switch", "-q", branch);
    await repo.git("merge", "-q", "--no-edit", "main");
    await repo.git("push", "-q", "origin", branch);
    await repo.write("README.md", "# sample, staged\n");
    await repo.git("add", "README.md");
    await repo.write("both.txt", "edited, not staged\n");
    await repo.write("notes.txt", "mine\n");
    const [main, tip] = [await repo.git("rev-parse", "main"), await repo.git("rev-parse", branch)];
    const seen: string[] = [];
    const judge = judging({ kind: "pass", warnings: [] }, async ({ folder }) => {
      seen.push(await repo.gitIn(folder, "hash-object", "--no-filters", `${dir}/Handler.py`));
      assert.ok(!folder.startsWith(repo.root));
    });

    const result = await mergeFeature({ ...bench.context, ...judge }, args(), signal);

    assert.equal(result.ok, true, result.summary);
    const commit = await repo.git("rev-parse", "main");
    assert.equal(await repo.git("rev-parse", "main^1", "main^2"), `${main}\n${tip}`);
    assert.equal(await repo.git("rev-parse", "main^{tree}"), judge.subjects[0]?.tree);
    assert.deepEqual(seen, [await repo.git("rev-parse", `main:${dir}/Handler.py`)]);
    assert.equal(judge.subjects[0]?.base, main);
    assert.equal(await repo.git("rev-parse", "HEAD", "origin/main"), `${commit}\n${commit}`);
    assert.equal(await repo.git("symbolic-ref", "--short", "HEAD"), "main");
    assert.equal(await repo.gitIn(String(repo.remote), "for-each-ref", "--format=%(refname)"), "refs/heads/main");
    assert.equal(await repo.git("for-each-ref", "--format=%(refname)", "refs/heads"), "refs/heads/main");
    assert.equal(await repo.git("status", "--porcelain"), "M  README.md\n M both.txt\n?? notes.txt");
    assert.match(
      result.summary,
      /Merged Billing\/Invoice into main, main is on origin, branch deleted here and on the remote/,
    );
    assert.deepEqual(result.next, ["orch scan", 'orch new domain/Feature "what it does"']);
  });

  it("says how much the gates noted and let pass", async () => {
    await using bench = await feature({ remote: false });
    const noted = { rule: "todo", severity: "WARN", message: "m", evidence: "", remedy: "r" } as const;
    const judge = judging({ kind: "pass", warnings: [noted, noted] });
    const shown: (readonly Finding[])[] = [];
    const editor = { ...bench.context.editor, showFindings: (found: readonly Finding[]) => void shown.push(found) };
    const result = await mergeFeature({ ...bench.context, editor, ...judge }, args(), signal);
    assert.match(result.summary, /^Merged .*\. 2 warnings of the gates$/);
    assert.deepEqual([(result.data as { findings: unknown }).findings, shown], [[noted, noted], [[noted, noted]]]);
  });

  it("main goes to the remote that main follows, the feature's branch from the one that it follows", async () => {
    await using bench = await feature();
    const { repo } = bench;
    const [upstream, fork] = [String(repo.remote), join(repo.base, "fork.git")];
    await repo.git("remote", "rename", "origin", "upstream");
    await repo.gitIn(repo.base, "clone", "-q", "--bare", upstream, fork);
    await repo.gitIn(upstream, "update-ref", "-d", `refs/heads/${branch}`);
    await repo.git("remote", "add", "fork", fork);
    await repo.git("fetch", "-q", "--all", "--prune");
    await repo.git("push", "-q", "--set-upstream", "fork", branch);
    // Somebody else's work, which only main's own remote has: it is compared with, not the fork.
    const there = await elsewhere(bench, { "there.txt": "there\n" });
    const before = await repo.gitIn(fork, "rev-parse", "main");

    const result = await mergeFeature({ ...bench.context, ...judging({ kind: "pass", warnings: [] }) }, args(), signal);

    assert.equal(result.ok, true, result.summary);
    const commit = await repo.git("rev-parse", "main");
    assert.equal(await repo.git("rev-parse", "main^1"), there);
    assert.equal(await repo.gitIn(upstream, "rev-parse", "main"), commit);
    assert.equal(
      await repo.gitIn(fork, "for-each-ref", "--format=%(refname) %(objectname)"),
      `refs/heads/main ${before}`,
    );
    assert.match(result.summary, /main is on upstream, branch deleted here and on the remote$/);
  });

  it("works without a remote and says so", async () => {
    await using bench = await feature({ remote: false });
    const result = await mergeFeature({ ...bench.context, ...judging() }, args(), signal);
    assert.match(result.summary, /not pushed: there is no remote, branch deleted here/);
    assert.equal(await bench.repo.git("branch", "--format=%(refname:short)"), "main");
  });

  it("keeps all local with --no-push", async () => {
    await using bench = await feature();
    const { repo } = bench;
    const before = await repo.gitIn(String(repo.remote), "for-each-ref");
    const result = await mergeFeature({ ...bench.context, ...judging() }, args({ push: false }), signal);
    assert.equal(await repo.gitIn(String(repo.remote), "for-each-ref"), before);
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
    assert.deepEqual(result.next[0], "git push origin main");
    // The merge that was kept here goes out with the next push; nothing of it is lost.
    assert.equal(await repo.git("merge-base", "--is-ancestor", "origin/main", "main"), "");
  });

  it("commits the slice's staged work and only that", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await repo.write(`${dir}/Handler.py`, "# staged\n");
    await repo.write("README.md", "# staged, too\n");
    await repo.git("add", "-A");
    await mergeFeature({ ...bench.context, ...judging() }, args(), signal);
    assert.equal(await repo.git("show", `main:${dir}/Handler.py`), "# staged");
    assert.equal(await repo.git("show", "main:README.md"), "# sample");
    assert.equal(await repo.git("status", "--porcelain"), "M  README.md");
    assert.equal(await repo.git("log", "-1", "--format=%s", "main^2"), "feat: Invoice");
  });

  it("refuses when main has diverged; --update merges main into the feature and runs the gates again", async () => {
    await using bench = await feature();
    const { repo } = bench;
    const there = await elsewhere(bench, { "there.txt": "there\n" });
    await repo.git("switch", "-q", "main");
    const here = await repo.commit("only here", { "here.txt": "here\n" });
    await repo.git("switch", "-q", branch);
    const before = await bench.state();
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
    assert.deepEqual([error.code, error.exit], ["branch.diverged", 5]);
    assert.match(error.message, /main has diverged: 1 commit only here, 1 commit only on origin/);
    assert.match(error.hint, /orch merge --update/);
    assert.doesNotMatch(error.hint, /--ff-only/, "a diverged branch cannot be fast-forwarded");
    assert.deepEqual(withoutTracking(await bench.state()), withoutTracking(before));

    const judge = judging();
    const result = await mergeFeature({ ...bench.context, ...judge }, args({ update: true }), signal);
    assert.equal(result.ok, true, result.summary);
    assert.equal(judge.subjects.length, 1);
    for (const held of [here, there]) await repo.git("merge-base", "--is-ancestor", held, "main");
    assert.equal(await repo.git("rev-parse", "main"), await repo.git("rev-parse", "origin/main"));
    assert.equal(await repo.git("show", "main:there.txt"), "there");
  });

  it("--update on a main that went on brings it into the feature, which stays so when the gates fail", async () => {
    await using bench = await feature();
    const { repo } = bench;
    const there = await elsewhere(bench, { "there.txt": "there\n" });
    const finding = {
      rule: "tests",
      severity: "FAIL" as const,
      message: "1 test failed",
      evidence: "",
      remedy: "mend it",
    };
    const result = await mergeFeature(
      { ...bench.context, ...judging({ kind: "fail", findings: [finding] }) },
      args({ update: true }),
      signal,
    );
    assert.deepEqual([result.ok, result.code], [false, 1]);
    await repo.git("merge-base", "--is-ancestor", there, branch);
    assert.equal(await repo.git("symbolic-ref", "--short", "HEAD"), branch);
    assert.equal(await repo.git("status", "--porcelain"), "");
  });

  it("fast-forwards a main that is behind its remote", async () => {
    await using bench = await feature();
    const there = await elsewhere(bench, { "there.txt": "there\n" });
    const judge = judging();
    await mergeFeature({ ...bench.context, ...judge }, args(), signal);
    assert.equal(await bench.repo.git("rev-parse", "main^1"), there);
    assert.equal(judge.subjects[0]?.base, there);
  });

  it("leaves both branches, here and there, when the push is rejected", async () => {
    await using bench = await feature();
    const hook = join(String(bench.repo.remote), "hooks", "pre-receive");
    await writeFile(hook, "#!/bin/sh\necho 'main is protected' >&2\nexit 1\n");
    await chmod(hook, 0o755);
    const before = await bench.state();
    const error = await refused(mergeFeature({ ...bench.context, ...judging() }, args(), signal));
    assert.deepEqual([error.code, error.exit], ["git.push-rejected", 5]);
    assert.match(error.message, /Nothing was merged; Billing\/Invoice is as it was, here and there/);
    assert.match(error.message, /main is protected/);
    assert.equal(
      error.hint,
      "Let the remote allow it, then run: orch merge, or keep the merge on this machine: orch merge --no-push",
    );
    assert.deepEqual(await bench.state(), before);
  });

  it("aborts a conflict cleanly and names the files, staged work staged again", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await repo.git("switch", "-q", "main");
    await repo.commit("main", { [`${dir}/Handler.py`]: "# main's\n", "free.txt": "free\n" });
    await repo.git("push", "-q", "origin", "main");
    await repo.git("switch", "-q", branch);
    await repo.write(`${dir}/Schema.py`, "# staged\n");
    await repo.git("add", "-A");
    const before = await bench.state();
    const judge = judging();
    const error = await refused(mergeFeature({ ...bench.context, ...judge }, args(), signal));
    assert.deepEqual([error.code, error.exit, judge.subjects.length], ["git.conflict", 5, 0]);
    assert.match(error.message, /conflict in features\/Billing\/Invoice\/Handler\.py/);
    assert.match(error.hint, /git switch Billing\/Invoice && git merge main/);
    assert.deepEqual(await bench.state(), before);
  });

  it("merges nothing when the gates fail, and says what failed", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await repo.write(`${dir}/Schema.py`, "# staged\n");
    await repo.git("add", "-A");
    const before = await bench.state();
    const finding = {
      rule: "tests",
      severity: "FAIL" as const,
      message: "2 tests failed",
      path: `${dir}/Tests.py`,
      line: 3,
      evidence: "",
      remedy: "mend it",
    };
    const result = await mergeFeature(
      { ...bench.context, ...judging({ kind: "fail", findings: [finding] }) },
      args(),
      signal,
    );
    assert.deepEqual([result.ok, result.code], [false, 1]);
    assert.match(
      result.summary,
      /the gates found 1 failure in the result: features\/Billing\/Invoice\/Tests\.py:3 2 tests failed/,
    );
    assert.deepEqual(result.next, ["orch do Billing/Invoice", "orch merge"]);
    assert.deepEqual(await bench.state(), before);
  });

  it("a fault that do may not mend is a file to edit; one of the merged result comes to the branch first", async () => {
    await using bench = await feature();
    await elsewhere(bench, { "README.md": "# more\n" });
    const at = (path: string) => ({
      rule: "junk_file",
      severity: "FAIL" as const,
      message: "m",
      path,
      evidence: "",
      remedy: "r",
    });
    const findings = [at("notes.bak"), at(`${dir}/spec.md`), at("notes.bak")];
    const judge = judging({ kind: "fail", findings });
    await bench.repo.git("fetch", "-q", "origin", "main:refs/remotes/origin/main");
    await bench.repo.git("branch", "-f", "main", "origin/main");
    const result = await mergeFeature({ ...bench.context, ...judge }, args(), signal);
    assert.deepEqual(
      [result.code, result.next],
      [1, ["orch merge --update", "edit notes.bak", `edit ${dir}/spec.md`, "orch merge"]],
    );
  });

  it("leaves the decision to a person when a gate broke", async () => {
    await using bench = await feature();
    const before = await bench.state();
    const verdict: Verdict = { kind: "inconclusive", broken: ["tests"], why: "pytest is not there", findings: [] };
    const result = await mergeFeature({ ...bench.context, ...judging(verdict) }, args(), signal);
    assert.deepEqual([result.ok, result.code], [false, 4]);
    assert.match(result.summary, /pytest is not there/);
    assert.deepEqual(result.next, ["orch merge"]);
    assert.deepEqual(await bench.state(), before);
  });

  it("only clears away what main holds already, without running a gate", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await repo.git("switch", "-q", "main");
    await repo.git("merge", "-q", "--no-ff", "--no-edit", branch);
    await repo.git("switch", "-q", branch);
    const judge = judging({ kind: "fail", findings: [] });
    const result = await mergeFeature({ ...bench.context, ...judge }, args(), signal);
    assert.equal(judge.subjects.length, 0);
    assert.match(result.summary, /Billing\/Invoice was merged already, main is on origin/);
    assert.equal(await repo.git("rev-parse", "main"), await repo.git("rev-parse", "origin/main"));
    assert.equal(await repo.gitIn(String(repo.remote), "branch", "--format=%(refname:short)"), "main");
  });

  it("knows a branch that was squash-merged on the remote, and keeps its commits for restore", async () => {
    await using bench = await feature();
    const { repo } = bench;
    const clone = await repo.clone();
    await repo.gitIn(clone, "merge", "-q", "--squash", `origin/${branch}`);
    await repo.gitIn(clone, "commit", "-q", "-m", "Invoice (#1)");
    await repo.gitIn(clone, "push", "-q", "origin", "main");
    const tip = await repo.git("rev-parse", branch);
    const judge = judging();
    const result = await mergeFeature({ ...bench.context, ...judge }, args(), signal);
    assert.equal(result.ok, true, result.summary);
    assert.equal(judge.subjects.length, 0);
    assert.equal(await repo.git("rev-parse", "main"), await repo.gitIn(clone, "rev-parse", "HEAD"));
    const [item] = await bench.context.trash.list();
    assert.deepEqual(item?.branches, [branch]);
    assert.equal(await repo.git("cat-file", "-t", tip), "commit");
  });

  it("merges a named feature from main, the checkout follows", async () => {
    await using bench = await feature();
    await bench.repo.git("switch", "-q", "main");
    await bench.repo.write("notes.txt", "mine\n");
    const result = await mergeFeature({ ...bench.context, ...judging() }, args({ words: ["Invoice"] }), signal);
    assert.equal(result.ok, true, result.summary);
    assert.match(String(await bench.repo.read(`${dir}/Handler.py`)), /def handle/);
    assert.equal(await bench.repo.git("status", "--porcelain"), "?? notes.txt");
  });

  it("merges a named feature while another branch is checked out, which stays", async () => {
    await using bench = await feature();
    await bench.repo.git("switch", "-q", "-c", "topic", "main");
    await bench.repo.write("README.md", "# dirty\n");
    const result = await mergeFeature({ ...bench.context, ...judging() }, args({ words: [branch] }), signal);
    assert.match(result.summary, /\. Still on topic/);
    assert.equal(await bench.repo.git("status", "--porcelain", "-b"), "## topic\n M README.md");
    assert.equal(await bench.repo.git("branch", "--format=%(refname:short)"), "main\ntopic");
  });

  it("reads modify/<Feature> as that feature", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await mergeFeature({ ...bench.context, ...judging() }, args(), signal);
    await repo.git("switch", "-q", "-c", "modify/Invoice");
    await repo.commit("feat: Invoice", { [`${dir}/Handler.py`]: "# amended\n" });
    const judge = judging();
    const runDir = absPath(`${bench.context.runDir}-2`); // another run
    await mergeFeature({ ...bench.context, ...judge, runDir }, args(), signal);
    assert.deepEqual(judge.subjects[0]?.feature.target, { domain: "Billing", name: "Invoice" });
    assert.equal(await repo.git("show", `main:${dir}/Handler.py`), "# amended");
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
  });

  it("keeps a remote branch that has commits which the merge does not hold", async () => {
    await using bench = await feature();
    const clone = await bench.repo.clone();
    await bench.repo.gitIn(clone, "switch", "-q", branch);
    await bench.repo.gitIn(clone, "commit", "-q", "--allow-empty", "-m", "a colleague's");
    await bench.repo.gitIn(clone, "push", "-q", "origin", branch);
    const result = await mergeFeature({ ...bench.context, ...judging() }, args(), signal);
    assert.match(result.summary, /origin\/Billing\/Invoice has commits that the merge does not hold, so it was kept/);
    assert.equal(
      await bench.repo.gitIn(String(bench.repo.remote), "rev-parse", branch),
      await bench.repo.gitIn(clone, "rev-parse", "HEAD"),
    );
  });

  it("keeps unicode, spaces, binaries, modes and line ends of the slice", async () => {
    await using bench = await feature({ folder: "repo with spaces ü", globalConfig: "[core]\n\tautocrlf = true\n" });
    const { repo } = bench;
    await repo.write(`${dir}/data ü 日本.bin`, new Uint8Array([0, 255, 13, 10, 0, 10]));
    await repo.write(`${dir}/run me.sh`, "#!/bin/sh\n", 0o755);
    await repo.write(`${dir}/crlf.py`, "a = 1\r\nb = 2\r\n");
    await repo.git("add", "-A");
    const result = await mergeFeature({ ...bench.context, ...judging() }, args(), signal);
    assert.equal(result.ok, true, result.summary);
    assert.deepEqual(await repo.bytes(`${dir}/data ü 日本.bin`), Buffer.from([0, 255, 13, 10, 0, 10]));
    assert.equal(await repo.read(`${dir}/crlf.py`), "a = 1\r\nb = 2\r\n");
    assert.match(await repo.git("ls-tree", "main", `${dir}/run me.sh`), /^100755/);
    assert.equal(await repo.git("status", "--porcelain"), "");
  });

  it("goes on without the remote with --no-push when it cannot be reached", async () => {
    await using bench = await feature();
    await bench.repo.git("remote", "set-url", "origin", join(bench.repo.base, "gone.git"));
    const result = await mergeFeature({ ...bench.context, ...judging() }, args({ push: false }), signal);
    assert.equal(result.ok, true, result.summary);
    assert.match(result.summary, /origin could not be reached/);
  });

  it("says what it would do with --dry-run and changes nothing", async () => {
    await using bench = await feature();
    await bench.repo.write("notes.txt", "mine\n");
    const before = await bench.state();
    const judge = judging();
    const result = await mergeFeature({ ...bench.context, ...judge }, args({ dryRun: true }), signal);
    assert.deepEqual(await bench.state(), before);
    assert.equal(judge.subjects.length, 0);
    assert.deepEqual((result.data as { steps: unknown }).steps, [
      "fetch origin",
      "run the gates on the result",
      "merge 1 commit of Billing/Invoice into main",
      "push main to origin",
      "switch to main",
      "delete Billing/Invoice here and on origin",
    ]);
    await bench.distrust();
    const error = await refused(mergeFeature({ ...bench.context, ...judge }, args({ dryRun: true }), signal));
    assert.equal(error.code, "trust.needed");
  });

  it("--dry-run names the commit of what is staged, the gates and the merge, and what would refuse it", async () => {
    await using bench = await feature();
    const { repo } = bench;
    await repo.git("reset", "-q", "--soft", "main");
    const dry = async (): Promise<unknown> =>
      ((await mergeFeature({ ...bench.context, ...judging() }, args({ dryRun: true, push: false }), signal)) ?? {})
        .data;
    const staged = (await repo.git("diff", "--cached", "--name-only")).split("\n").length;
    const { steps } = (await dry()) as { steps: readonly string[] };
    assert.deepEqual(steps, [
      "fetch origin",
      `commit ${staged} staged files on Billing/Invoice as feat: Invoice`,
      "run the gates on the result",
      "merge 1 commit of Billing/Invoice into main",
      "switch to main",
      "delete Billing/Invoice here",
    ]);
    await repo.git("commit", "-q", "-m", "work");
    await repo.write(`${dir}/loose.txt`, "mine\n");
    assert.equal((await refused(dry())).code, "tree.dirty");
  });

  it("is as before or done, whenever it is stopped, and the next merge ends it", async () => {
    for (let at = 1, ended = false; !ended; at += 1) {
      await using bench = await feature();
      const { repo } = bench;
      await repo.write(`${dir}/Schema.py`, "# staged\n");
      await repo.write("notes.txt", "mine\n");
      await repo.git("add", `${dir}/Schema.py`);
      const controller = new AbortController();
      const stopping = await bench.stopping(at, controller);
      const judge = judging();
      try {
        await mergeFeature({ ...stopping.context, ...judge }, args(), controller.signal);
        ended = stopping.calls() < at;
      } catch (error) {
        assert.ok(error instanceof Error && error.name === "AbortError", String(error));
        assert.equal(isOrchError(error), false);
      }
      assert.equal(await repo.read("notes.txt"), "mine\n");
      assert.equal(await repo.read(`${dir}/Schema.py`), "# staged\n", `stopped at ${at}`);
      if (!ended) {
        const result = await mergeFeature(
          { ...bench.context, ...judging() },
          args({ words: ["Billing/Invoice"] }),
          signal,
        ).catch((error: unknown) =>
          isOrchError(error, "branch.not-feature") ? "done" : Promise.reject(error as Error),
        );
        assert.ok(result === "done" || result.ok, `stopped at ${at}`);
      }
      assert.equal(await repo.git("show", `main:${dir}/Schema.py`), "# staged", `stopped at ${at}`);
      assert.equal(await repo.git("rev-parse", "main"), await repo.gitIn(String(repo.remote), "rev-parse", "main"));
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
    }
  });
});

/** Remote-tracking refs follow a fetch; they are not the person's. */
function withoutTracking<T extends { readonly refs: string }>(state: T): T {
  return {
    ...state,
    refs: state.refs
      .split("\n")
      .filter((line) => !line.includes("refs/remotes/"))
      .join("\n"),
  };
}
