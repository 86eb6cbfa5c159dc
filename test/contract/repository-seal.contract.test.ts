import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Worker } from "../../shared/ports/worker.ts";
import { eventually } from "../support/eventually.ts";
import { attempt } from "../support/worktree-attempt.ts";
import { contractOf, type WorktreeGround, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;
const contract = contractOf("T1");

function git(folder: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
}

async function storedText(ground: WorktreeGround, name: string): Promise<string | undefined> {
  for (const { id } of ground.stored) {
    const restored = await ground.trash.restore(id);
    if (restored.restored.includes(name)) return ground.repo.read(name);
  }
  return undefined;
}

describe("contract: repository seal", function () {
  this.timeout(600_000);

  it("git's own files of the worktree are the worker's to answer for, and are put back after they were stored", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
    const worktrees = ground.worktrees();
    await using workspace = await worktrees.open(contract, signal);
    await attempt(worktrees, workspace, () => undefined);
    deepEqual([worktrees.changes("T1"), worktrees.observed("T1")], [[], {}]);
    await attempt(worktrees, workspace, (root) => {
      git(root, "update-index", "--skip-worktree", "a.txt");
      git(root, "commit", "-q", "--allow-empty", "-m", "mine");
      const hooks = path.join(git(root, "rev-parse", "--git-common-dir"), "hooks");
      git(root, "config", "core.fsmonitor", "touch pwned");
      fs.mkdirSync(hooks);
      fs.writeFileSync(path.join(hooks, "post-commit"), "#!/bin/sh\n", { mode: 0o755 });
      fs.writeFileSync(path.join(root, ".git"), "gitdir: /nowhere\n");
    });
    deepEqual(
      worktrees.changes("T1").map(({ what, kind, change, traced }) => [what, kind, change, traced]),
      [
        [".git of the worktree", "config", "changed", true],
        ["HEAD of the worktree", "head", "changed", true],
        ["config of the worktree", "config", "changed", true],
        ["a.txt", "index-flag", "added", true],
        ["hooks/post-commit of the worktree", "hooks", "added", true],
      ],
    );
    deepEqual(worktrees.observed("T1"), {
      gitConfigChanged: [".git of the worktree", "config of the worktree", "hooks/post-commit of the worktree"],
      skipWorktree: ["a.txt"],
      headMoved: true,
    });
    equal(git(workspace.root, "status", "--porcelain"), "");
    equal(git(workspace.root, "rev-parse", "HEAD"), workspace.base);
    ok(!fs.existsSync(path.join(workspace.root, "pwned")));
    equal(await storedText(ground, ".orch/wt/T1.git-state/hooks/post-commit"), "#!/bin/sh\n");
    await workspace.rollback(signal);
  });

  it("in the repository itself a change is the worker's when its content or its transcript says so, else nobody's", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { repo } = ground;
    await repo.write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n", 0o755);
    await repo.git("config", "alias.st", "status");
    const worktrees = ground.worktrees();
    await using workspace = await worktrees.open(contract, signal);
    const hook = repo.path(".git/hooks/post-checkout");
    const seen = (): unknown => worktrees.changes("T1").map(({ what, change, traced }) => [what, change, traced]);

    await attempt(worktrees, workspace, (root) =>
      fs.writeFileSync(hook, `#!/bin/sh\n${root}/evil.sh\n`, { mode: 0o755 }),
    );
    deepEqual(seen(), [["hooks/post-checkout", "added", true]]);
    ok(!fs.existsSync(hook), "taken back");
    ok((await storedText(ground, ".orch/wt/T1.git-state/hooks/post-checkout"))?.includes("evil.sh"));

    const said =
      "git config core.hooksPath /tmp/evil && rm .git/hooks/pre-push; git config --unset alias.st, info/exclude";
    await attempt(
      worktrees,
      workspace,
      () => {
        git(repo.root, "config", "core.hooksPath", "/tmp/evil");
        git(repo.root, "config", "--unset", "alias.st");
        git(repo.root, "config", "branch.main.remote", "origin");
        fs.rmSync(repo.path(".git/hooks/pre-push"));
        fs.appendFileSync(repo.path(".git/info/exclude"), "*.py\n");
      },
      said,
    );
    deepEqual(seen(), [
      ["alias.st", "removed", true],
      ["core.hookspath", "added", true],
      ["hooks/pre-push", "removed", true],
      ["info/exclude", "changed", true],
    ]);
    deepEqual(worktrees.observed("T1").gitConfigChanged, [
      "alias.st",
      "core.hookspath",
      "hooks/pre-push",
      "info/exclude",
    ]);
    equal((await repo.tryGit("config", "core.hooksPath")).code, 1);
    equal(await repo.git("config", "alias.st"), "status");
    equal(await repo.git("config", "branch.main.remote"), "origin", "what a person sets all the time stays");
    equal(fs.statSync(repo.path(".git/hooks/pre-push")).mode & 0o777, 0o755);

    await attempt(worktrees, workspace, () => {
      git(repo.root, "config", "core.editor", "vim");
      fs.writeFileSync(hook, "#!/bin/sh\necho a person's\n", { mode: 0o755 });
    });
    deepEqual(seen(), [
      ["core.editor", "added", false],
      ["hooks/post-checkout", "added", false],
    ]);
    deepEqual(worktrees.observed("T1"), {});
    equal(await repo.git("config", "core.editor"), "vim", "left alone");
    ok(fs.existsSync(hook));
    await workspace.rollback(signal);
  });

  it("what was left is said at once; a hook does not hide behind more files than anybody reads", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { repo } = ground;
    const asked: string[] = [];
    const hooks = {
      watchHooks: async () => void asked.push("watch"),
      hooksWatched: async () => void asked.push("watched"),
    };
    const worktrees = ground.worktrees({}, { hooks });
    await using workspace = await worktrees.open(contract, signal);
    await attempt(worktrees, workspace, () => undefined);
    deepEqual([asked, ground.notes], [["watch", "watched"], []]);
    fs.mkdirSync(repo.path(".git/hooks"), { recursive: true });
    for (let at = 0; at < 600; at += 1) fs.writeFileSync(repo.path(`.git/hooks/a${at}`), "");
    await attempt(worktrees, workspace, () => fs.writeFileSync(repo.path(".git/hooks/pre-commit"), "#!/bin/sh\n"));
    deepEqual(ground.notes, [
      "T1: hooks (more than 500 files) changed during the attempt, and nobody can say by whom: left as it is",
    ]);
    await workspace.rollback(signal);
  });

  it("a worker that a sandbox kept out is not blamed; a stopped one is looked at all the same", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { repo } = ground;
    const worktrees = ground.worktrees({ confined: () => true });
    await using workspace = await worktrees.open(contract, signal);
    await attempt(worktrees, workspace, () => void git(repo.root, "config", "core.editor", "vim"), "core.editor");
    deepEqual(
      worktrees.changes("T1").map(({ traced }) => traced),
      [false],
    );
    const stopped = new Error("stopped");
    const worker: Worker = {
      id: "stopped",
      can: { resume: false, supervise: false, write: true },
      run: async () => {
        git(workspace.root, "config", "core.hooksPath", "x");
        throw stopped;
      },
    };
    const order = { contract, attempt: 2, messages: [], workspace, replyDir: "" };
    equal(
      await worktrees
        .watched(worker)
        .run(order, signal)
        .catch((error: unknown) => error),
      stopped,
    );
    deepEqual(
      worktrees.changes("T1").map(({ what }) => what),
      ["config of the worktree"],
    );
    ok(!git(workspace.root, "config", "--list").includes("hookspath"));
    await workspace.rollback(signal);
  });

  it("what changed while a killed runner's worker worked is told when the run goes on, once", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const first = ground.worktrees();
    const workspace = await first.open(contract, signal);
    const worker: Worker = {
      id: "killed",
      can: { resume: false, supervise: false, write: true },
      run: () => new Promise(() => undefined),
    };
    const order = { contract, attempt: 1, messages: [], workspace, replyDir: "" };
    const noted = path.join(path.dirname(workspace.root), "own", "watched.json");
    // Never settles, as if its runner had been killed.
    void first.watched(worker).run(order, signal);
    await eventually("the first look", () => fs.existsSync(noted) && fs.readFileSync(noted, "utf8").endsWith("}"));
    await ground.repo.git("config", "core.editor", "vim");
    const again = await ground.worktrees().open(contract, signal);
    deepEqual(ground.notes, [
      "T1: since the interrupted attempt began, git's core.editor changed; nobody can say by whom",
    ]);
    await ground.worktrees().open(contract, signal);
    equal(ground.notes.length, 1);
    await again.rollback(signal);
  });

  it("a configuration that git cannot read any more is told, and put back when it is the worker's", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const worktrees = ground.worktrees();
    await using workspace = await worktrees.open(contract, signal);
    const config = ground.repo.path(".git/config");
    const before = fs.readFileSync(config, "utf8");
    await attempt(worktrees, workspace, (root) => fs.appendFileSync(config, `[broken\n# ${root}\n`));
    ok(worktrees.changes("T1").length > 0);
    ok(worktrees.changes("T1").every(({ traced }) => traced));
    equal(fs.readFileSync(config, "utf8"), before);
    await workspace.rollback(signal);
  });
});
