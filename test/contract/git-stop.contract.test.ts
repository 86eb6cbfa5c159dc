import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { eventually } from "../support/eventually.ts";
import { makeTempRepo } from "../support/temp-repo.ts";

/** A stop ends the network and hooks; a checkout or a ref that was begun is never left halfway. */
describe("git after a stop @slow", function () {
  this.timeout(600_000);

  it("refuses network and commits, carries out what is local", async () => {
    await using repo = await makeTempRepo({ remote: true });
    await repo.git("branch", "side");
    await repo.write("README.md", "# changed\n");
    const controller = new AbortController();
    const git = await createGit({
      folder: repo.root,
      process: createProcess(),
      env: repo.env,
      signal: controller.signal,
    });
    controller.abort();
    const push = { remote: "origin", from: "main", to: "other", setUpstream: false, trusted: false };
    const commit = { paths: ["README.md" as never], message: "docs: readme", trusted: false };
    const stopped = { name: "AbortError" };
    await assert.rejects(git.fetch("origin"), stopped);
    await assert.rejects(git.push(push), stopped);
    await assert.rejects(git.deleteRemote("origin", "main", await repo.git("rev-parse", "main")), stopped);
    await assert.rejects(git.commitPaths(commit), stopped);
    assert.equal(await repo.git("rev-list", "--count", "HEAD"), "1");
    assert.equal(await repo.git("status", "--porcelain"), " M README.md");
    await git.switch("side");
    await git.delete("main", await repo.git("rev-parse", "main"));
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "side");
  });

  it("ends a hook that hangs", async () => {
    await using repo = await makeTempRepo();
    const started = join(repo.base, "started");
    await repo.write(".git/hooks/pre-commit", `#!/bin/sh\n: > '${started}'\nsleep 600\n`, 0o755);
    await repo.write("README.md", "# changed\n");
    const controller = new AbortController();
    const git = await createGit({
      folder: repo.root,
      process: createProcess(),
      env: repo.env,
      signal: controller.signal,
    });
    const commit = git.commitPaths({ paths: ["README.md" as never], message: "docs: readme", trusted: true });
    const ended = assert.rejects(commit, { name: "AbortError" });
    await eventually("the hook runs", () => existsSync(started));
    controller.abort();
    await ended;
    assert.equal(await repo.git("rev-list", "--count", "HEAD"), "1");
    assert.equal(await repo.git("status", "--porcelain"), " M README.md");
  });
});
