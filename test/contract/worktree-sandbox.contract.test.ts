import { deepEqual, equal, match, ok } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import { createSandbox } from "../../shared/adapters/sandbox-runtime.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { contractOf, worktreeGround } from "../support/worktree-ground.ts";
import { needsSandbox } from "../support/sandbox-here.ts";
import { sourceRoot } from "../support/source-root.ts";

const signal = new AbortController().signal;

describe("contract: worktree in a sandbox", function () {
  this.timeout(600_000);

  it("git works where everything but the worktree and what it reads is hidden, and nothing of git can be written", async function () {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n", ".gitignore": "node_modules/\n" } });
    const { repo } = ground;
    await repo.write("node_modules/left-pad/index.js", "padded\n");
    const worktrees = ground.worktrees({ links: ["node_modules"] });
    await using workspace = await worktrees.open(contractOf("T1"), signal);
    const other = await worktrees.open(contractOf("T2"), signal);
    const programs = createProcess();
    await using sandbox = createSandbox({
      process: programs,
      platform: process.platform,
      env: repo.env,
      installRoot: absPath(sourceRoot),
      stateDir: ground.stateDir,
    });
    await needsSandbox(this, sandbox);
    const script = [
      "git status --porcelain",
      "git log -1 --format=%s",
      "cat node_modules/left-pad/index.js",
      "echo b > b.txt",
      "echo evil > node_modules/left-pad/index.js; git config core.hooksPath x; rm -f .git; git add b.txt; true",
      `cat ${other.root}/a.txt ${repo.root}/a.txt; echo x > ${other.root}/x; true`,
    ].join("\n");
    const within = {
      write: [workspace.root],
      denyWrite: [inRoot(workspace.root, ".git")],
      denyRead: [repo.base],
      allowRead: [workspace.root, ...(workspace.reads ?? [])],
      hosts: [],
    };
    const spec = await sandbox.wrap(
      {
        argv: ["/bin/sh", "-c", script],
        cwd: workspace.root,
        env: { PATH: "/usr/bin:/bin", HOME: "/nowhere" },
        timeoutMs: 30_000,
        maxOutputBytes: 1_000_000,
      },
      within,
      signal,
    );
    const done = await programs.run(spec, signal);
    const said = Buffer.from(done.stderr).toString();
    equal(Buffer.from(done.stdout).toString(), "first commit\npadded\n", said);
    match(said, /node_modules\/left-pad\/index\.js/);
    equal(fs.readFileSync(repo.path("node_modules/left-pad/index.js"), "utf8"), "padded\n");
    ok(!fs.existsSync(path.join(other.root, "x")));
    deepEqual(
      (await workspace.collect(signal)).files.map((file) => file.path),
      ["b.txt"],
    );
    ok(fs.statSync(path.join(workspace.root, ".git")).isFile());
    await workspace.rollback(signal);
    await other.rollback(signal);
    await other[Symbol.asyncDispose]();
  });
});
