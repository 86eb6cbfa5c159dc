import assert from "node:assert/strict";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createCommitPushFinisher } from "../../shared/adapters/finish-commit-push.ts";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createBranchWorkspaces } from "../../shared/adapters/workspace-branch.ts";
import { absPath, type RepoPath } from "../../shared/base/paths.ts";
import type { Change } from "../../shared/model/change.ts";
import { Contract } from "../../shared/model/contract.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Finished } from "../../shared/ports/finisher.ts";
import type { Workspace } from "../../shared/ports/workspace.ts";
import { KillSwitch } from "../support/kill-switch.ts";
import { RecordingSink } from "../support/recording-sink.ts";
import { registryText, slice } from "../support/sample-slice.ts";
import { makeTempRepo, type TempRepo, type TempRepoOptions } from "../support/temp-repo.ts";

const signal = new AbortController().signal;
const dir = "features/Billing/Invoice" as RepoPath;
const registry = ".features.json" as RepoPath;
const contract = Contract.parse({ id: "Invoice", title: "Invoice", goal: "x", allowed: [`${dir}/**`] });

interface Ground extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly workspace: Workspace;
  readonly change: Change;
  readonly sink: RecordingSink;
  finish(options?: { push?: boolean; trusted?: boolean; signal?: AbortSignal }): Promise<Finished>;
  /** Another life of the run, after a kill: the workspace as its state file tells, and the finisher. */
  next(kill?: KillSwitch): Promise<{ readonly workspace: Workspace; finish(): Promise<Finished> }>;
}

/** An accepted change in the slice, and other work of the person's around it. */
async function accepted(options: TempRepoOptions = {}): Promise<Ground> {
  const repo = await makeTempRepo({
    remote: true,
    files: { "README.md": "#\n", ".gitignore": "*.log\n" },
    folder: "with space ü",
    ...options,
  });
  await repo.git("switch", "-q", "-c", "Billing/Invoice");
  await repo.write(registry, registryText({ Invoice: "Billing" }));
  await repo.write(`${dir}/spec.md`, "# Invoice\n");
  await repo.write("README.md", "# staged\n");
  await repo.git("add", "README.md");
  await repo.write("notes ü.txt", "mine\n");
  const git = await createGit({ folder: repo.root, process: createProcess(), env: repo.env });
  const stateFile = absPath(join(repo.base, "run", "workspace.json"));
  await mkdir(join(repo.base, "run"));
  const trash = { store: () => Promise.reject(new Error("nothing is rolled back here")) };
  const places = { slice: dir, registry };
  const workspace = await createBranchWorkspaces({ git, files: createFiles(), trash }, { ...places, stateFile }).open(
    contract,
    signal,
  );
  const files = Object.entries(slice(dir)).filter(([path]) => !path.endsWith("spec.md"));
  await workspace.write(
    files.map(([path, text]) => ({ path: path as RepoPath, data: new TextEncoder().encode(text) })),
    signal,
  );
  const change = await workspace.collect(signal);
  const sink = new RecordingSink();
  return {
    repo,
    workspace,
    change,
    sink,
    finish: (given = {}) =>
      createCommitPushFinisher(
        { git, sink },
        { ...places, name: "Invoice", push: given.push ?? true, trusted: () => Promise.resolve(given.trusted ?? true) },
      ).finish(contract, workspace, change, given.signal ?? signal),
    async next(kill) {
      const own = kill === undefined ? git : kill.wrap(git, ["commitPaths", "followCommit", "push"]);
      const files = kill === undefined ? createFiles() : kill.wrap(createFiles(), ["write"]);
      const opened = await createBranchWorkspaces({ git: own, files, trash }, { ...places, stateFile }).open(
        contract,
        signal,
      );
      const deps = { git: own, sink: kill === undefined ? sink : kill.wrap(sink, ["append"]) };
      const finisher = createCommitPushFinisher(deps, {
        ...places,
        name: "Invoice",
        push: true,
        trusted: () => Promise.resolve(true),
      });
      return { workspace: opened, finish: () => finisher.finish(contract, opened, change, signal) };
    },
    [Symbol.asyncDispose]: () => repo.cleanup(),
  };
}

describe("finish-commit-push @slow", function () {
  this.timeout(600_000);

  it("commits exactly the slice and the registry, pushes the branch, names what it left alone", async () => {
    await using here = await accepted();
    const { repo } = here;
    const done = await here.finish();
    assert.deepEqual([done.state, done.pushed], ["accepted", true]);
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    assert.deepEqual(
      (await repo.git("show", "--name-only", "--format=")).split("\n").toSorted(),
      [registry, ...Object.keys(slice(dir))].toSorted(),
    );
    assert.equal(await repo.git("status", "--porcelain"), 'M  README.md\n?? "notes \\303\\274.txt"');
    assert.equal(await repo.git("rev-parse", "--abbrev-ref", "@{u}"), "origin/Billing/Invoice");
    assert.equal(await repo.gitIn(String(repo.remote), "rev-parse", "Billing/Invoice"), done.commit);
    assert.match(done.summary, /pushed to origin\. Left alone: README\.md, notes ü\.txt$/);
    assert.deepEqual(
      here.sink.of("commit.made").map((event) => [event.branch, event.pushed]),
      [["Billing/Invoice", true]],
    );
    assert.deepEqual(done.result?.next, ["orch merge"]);
    assert.equal(await repo.git("for-each-ref", "refs/orch"), "");
  });

  it("keeps the commit when the remote rejects the push, and says how to push it later", async () => {
    await using here = await accepted();
    const hook = join(String(here.repo.remote), "hooks", "pre-receive");
    await writeFile(hook, "#!/bin/sh\necho 'no entry' >&2\nexit 1\n");
    await chmod(hook, 0o755);
    const done = await here.finish();
    assert.deepEqual([done.state, done.pushed], ["accepted", false]);
    assert.equal(await here.repo.git("rev-parse", "HEAD"), done.commit);
    assert.match(
      done.summary,
      /not pushed, origin did not take it: \[remote rejected\].*: no entry\. Push it later with: git push origin Billing\/Invoice/,
    );
    assert.deepEqual(done.result?.next, ["git push origin Billing/Invoice", "orch merge"]);
  });

  it("says so without a remote, and with push off", async () => {
    await using without = await accepted({ remote: false });
    assert.match((await without.finish()).summary, /not pushed: there is no remote/);
    await using off = await accepted();
    assert.match((await off.finish({ push: false })).summary, /not pushed: push is off/);
    assert.equal(await off.repo.gitIn(String(off.repo.remote), "branch", "--format=%(refname:short)"), "main");
  });

  it("names the remotes when there are several and none is chosen, and pushes to the one that is", async () => {
    await using here = await accepted();
    const { repo } = here;
    await repo.git("remote", "rename", "origin", "work");
    await repo.git("branch", "--unset-upstream", "main");
    await repo.git("remote", "add", "home", "nowhere");
    const done = await here.finish();
    assert.match(
      done.summary,
      /not pushed: there are several remotes \(home, work\) and none is chosen\. Choose one with: git config checkout\.defaultRemote <name>/,
    );
    await using other = await accepted();
    await other.repo.git("remote", "rename", "origin", "work");
    await other.repo.git("remote", "add", "home", "nowhere");
    assert.match((await other.finish()).summary, /pushed to work/);
  });

  it("commits nothing that was edited after the gates", async () => {
    await using here = await accepted();
    await here.repo.write(`${dir}/Handler.py`, "# edited after the gates\n");
    const head = await here.repo.git("rev-parse", "HEAD");
    await assert.rejects(here.finish(), (error) => {
      assert.ok(isOrchError(error, "tree.changed"));
      assert.deepEqual(error.data["paths"], [`${dir}/Handler.py`]);
      return true;
    });
    assert.equal(await here.repo.git("rev-parse", "HEAD"), head);
    assert.equal(await here.repo.read(`${dir}/Handler.py`), "# edited after the gates\n");
  });

  it("runs the person's hooks when trusted: a red one refuses, nothing half done", async () => {
    await using here = await accepted();
    const { repo } = here;
    await repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'lint says no' >&2\nexit 1\n", 0o755);
    const before = [
      await repo.git("rev-parse", "HEAD"),
      await repo.git("status", "--porcelain"),
      await repo.git("ls-files", "-s"),
    ];
    await assert.rejects(
      here.finish(),
      (error) => isOrchError(error, "git.hook-failed") && /lint says no/.test(error.message),
    );
    assert.deepEqual(
      [await repo.git("rev-parse", "HEAD"), await repo.git("status", "--porcelain"), await repo.git("ls-files", "-s")],
      before,
    );
    assert.equal((await here.finish({ trusted: false })).state, "accepted");
  });

  it("says the same when it comes again after a kill behind the commit", async () => {
    await using here = await accepted();
    const first = await here.finish({ push: false });
    const again = await here.finish();
    assert.deepEqual([again.commit, again.pushed], [first.commit, true]);
    assert.equal(await here.repo.git("rev-list", "--count", "main..HEAD"), "1");
  });

  it("refuses a slice that git ignores, and names a file of it that git ignores", async () => {
    await using all = await accepted();
    await all.repo.write(".git/info/exclude", `${dir}/\n`);
    await assert.rejects(all.finish(), (error) => isOrchError(error, "path.refused"));
    assert.equal(await all.repo.git("rev-list", "--count", "main..HEAD"), "0");
    await using one = await accepted();
    await one.repo.write(".git/info/exclude", "Controller.py\n");
    assert.match(
      (await one.finish()).summary,
      /Not committed, git ignores it: features\/Billing\/Invoice\/Controller\.py$/,
    );
  });

  it("stops before the commit, never between commit and word of it", async () => {
    await using here = await accepted();
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(here.finish({ signal: controller.signal }), { name: "AbortError" });
    assert.equal(await here.repo.git("rev-list", "--count", "main..HEAD"), "0");
  });

  describe("killed on the way", () => {
    const isDone = async ({ repo, sink }: Ground, step: string): Promise<void> => {
      assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "feat: Invoice", step);
      const there = await repo.gitIn(String(repo.remote), "rev-parse", "Billing/Invoice");
      assert.equal(there, await repo.git("rev-parse", "HEAD"), step);
      assert.equal(await repo.git("status", "--porcelain"), 'M  README.md\n?? "notes \\303\\274.txt"', step);
      assert.equal(sink.events.filter(({ type }) => type === "commit.made").length, 1, step);
      assert.equal(await repo.git("for-each-ref", "refs/orch"), "", step);
    };

    it("at every step: the next life finishes the same commit", async () => {
      for (let step = 1; ; step += 1) {
        await using here = await accepted();
        const kill = new KillSwitch(step);
        const first = await here.next(kill);
        const end = await kill.run(() => first.finish());
        if (end !== "stopped") {
          assert.ok(step > 4, `only ${step} steps`);
          return;
        }
        const next = await here.next();
        const { accepted: known } = next.workspace;
        assert.ok(step === 1 || known !== undefined, `step ${step}`);
        if (known !== undefined) assert.deepEqual(known.change.patch, here.change.patch);
        await next.finish();
        await isDone(here, `killed before step ${step}`);
      }
    });

    it("before the index learned of the commit: it learns now, but for what was edited since", async () => {
      await using here = await accepted();
      const { repo } = here;
      const index = repo.path(".git", "index");
      await copyFile(index, `${index}.before`);
      const kill = new KillSwitch(3); // the commit stands, its workspace is not settled
      await kill.run(async () => (await here.next(kill)).finish());
      await copyFile(`${index}.before`, index);
      assert.match(await repo.git("status", "--porcelain", dir), /^D /m);
      await repo.write(`${dir}/Handler.py`, "# mine, since\n");
      await (await here.next()).finish();
      assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "feat: Invoice");
      assert.equal(
        await repo.git("status", "--porcelain"),
        `M  README.md\n M ${dir}/Handler.py\n?? "notes \\303\\274.txt"`,
      );
      assert.equal(await repo.read(`${dir}/Handler.py`), "# mine, since\n");
    });

    it("before its commit, and edited since: not committed, nothing is taken back", async () => {
      await using here = await accepted();
      const kill = new KillSwitch(2);
      await kill.run(async () => (await here.next(kill)).finish());
      await here.repo.write(`${dir}/Handler.py`, "# mine, since\n");
      const next = await here.next();
      await assert.rejects(next.finish(), (error) => isOrchError(error, "tree.changed"));
      assert.equal((await next.workspace.rollback(signal)).kind, "person-edited");
      assert.equal(await here.repo.read(`${dir}/Handler.py`), "# mine, since\n");
    });

    it("a commit that stands is not rolled back", async () => {
      await using here = await accepted();
      const kill = new KillSwitch(3);
      await kill.run(async () => (await here.next(kill)).finish());
      const { workspace } = await here.next();
      assert.deepEqual(await workspace.rollback(signal), { kind: "committed" });
      assert.match((await here.repo.read(`${dir}/Handler.py`)) ?? "", /\S/);
    });
  });
});
