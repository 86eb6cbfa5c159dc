import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createGit } from "../../shared/adapters/git.ts";
import { createLocks } from "../../shared/adapters/lock.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { repositoryLockPath, withRepositoryLock } from "../../shared/app/repository-lock.ts";
import { absPath } from "../../shared/base/paths.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { makeBench, refused } from "../support/bench.ts";

const signal = new AbortController().signal;

describe("repository lock", function () {
  this.timeout(600_000);

  it("is one for all worktrees of a repository, wherever they are entered", async () => {
    await using bench = await makeBench();
    const { repo, context } = bench;
    await repo.git("worktree", "add", "-q", join(repo.base, "wt"));
    await repo.write("sub/x.txt", "x\n");
    const paths = new Set<string>();
    for (const folder of [repo.root, repo.path("sub"), absPath(join(repo.base, "wt"))]) {
      const git = await createGit({ folder, process: createProcess(), env: repo.env });
      paths.add(repositoryLockPath(context.machine.stateDir, git.place.commonDir));
    }
    assert.equal(paths.size, 1);
    assert.ok([...paths].every((path) => path.startsWith(context.machine.stateDir)));
  });

  it("is held while the body runs, freed when it ends, throws or is stopped before it began", async () => {
    await using bench = await makeBench();
    const { context } = bench;
    const path = repositoryLockPath(context.machine.stateDir, context.git.place.commonDir);
    const locks = createLocks(createProcess());
    const seen = await withRepositoryLock(context, "merge", signal, async () => {
      const error = await refused(withRepositoryLock(context, "undo", signal, async () => "never"));
      assert.match(
        error.message,
        new RegExp(`orch merge works on this repository, run ${context.run}, process ${process.pid} on cli`),
      );
      assert.equal(error.hint.endsWith(`orch cancel ${context.run}`), true);
      return locks.isFree(path);
    });
    assert.deepEqual([seen, locks.isFree(path)], [false, true]);
    await assert.rejects(
      withRepositoryLock(context, "merge", signal, () => Promise.reject(new Error("broken"))),
      /broken/,
    );
    assert.equal(locks.isFree(path), true);
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(
      withRepositoryLock(context, "merge", controller.signal, async () => "never"),
      (error) => !isOrchError(error) && error instanceof Error && error.name === "AbortError",
    );
    assert.equal(locks.isFree(path), true);
  });

  it("waits for what the git of a killed runner still does here", async () => {
    await using bench = await makeBench();
    const { context, repo } = bench;
    const path = repositoryLockPath(context.machine.stateDir, context.git.place.commonDir);
    await withRepositoryLock(context, "do", signal, () => Promise.resolve());
    const run = "r-20260101-000000-dead";
    const dead = { run, pid: 1, startTime: "long ago", host: "cli", what: "do" };
    await writeFile(`${path}.holder`, JSON.stringify(dead));
    const hook = spawn("cat", [], {
      cwd: repo.root,
      env: { ...repo.env, ORCH_RUN: run },
      stdio: ["pipe", "ignore", "ignore"],
    });
    await once(hook, "spawn");
    let ended = false;
    hook.once("exit", () => (ended = true));
    const looks: number[] = [];
    const process = {
      ...context.process,
      ofRun: (of: string, folder: typeof repo.root) => {
        const found = context.process.ofRun(of, folder);
        looks.push(found.length);
        if (looks.length === 2) hook.stdin?.end();
        return found;
      },
    };
    assert.equal(await withRepositoryLock({ ...context, process }, "undo", signal, () => Promise.resolve(ended)), true);
    assert.deepEqual([looks[0], looks.at(-1)], [1, 0]);
  });

  it("refuses when that does not end", async () => {
    await using bench = await makeBench();
    const { context } = bench;
    const path = repositoryLockPath(context.machine.stateDir, context.git.place.commonDir);
    await withRepositoryLock(context, "do", signal, () => Promise.resolve());
    const run = "r-20260101-000000-dead";
    await writeFile(`${path}.holder`, JSON.stringify({ run, pid: 1, startTime: "", host: "cli", what: "do" }));
    let now = 0;
    const clock = { ...context.clock, tick: () => (now += 5000), sleep: () => Promise.resolve() };
    const busy = { ...context, clock, process: { ...context.process, ofRun: () => [4711] } };
    const error = await refused(withRepositoryLock(busy, "undo", signal, () => Promise.resolve()));
    assert.deepEqual([error.code, error.data["pid"]], ["run.locked", 4711]);
    assert.match(error.message, /git of the interrupted run r-20260101-000000-dead still works here/);
  });
});
