import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { eventually } from "../support/eventually.ts";
import { gitIn, makeGitRepo, paths } from "../support/git-repo.ts";
import { makeTempRepo } from "../support/temp-repo.ts";

describe("contract: git publishes", () => {
  it("tells rejected from failed, and never overwrites", async () => {
    await using repo = await makeGitRepo({ remote: true });
    const push = (remote = "origin"): ReturnType<typeof repo.port.push> =>
      repo.port.push({ remote, from: "main", to: "main", setUpstream: false, trusted: true });
    const elsewhere = await repo.clone();
    await writeFile(path.join(elsewhere, "theirs.txt"), "theirs\n");
    await repo.gitIn(elsewhere, "add", "-A");
    await repo.gitIn(elsewhere, "commit", "-q", "-m", "theirs");
    await repo.gitIn(elsewhere, "push", "-q");
    await repo.commit("mine");
    const seen: string[] = [(await push()).kind];
    await repo.git("pull", "-q", "--rebase");
    const hook = path.join(String(repo.remote), "hooks", "update");
    await writeFile(hook, "#!/bin/sh\necho protected branch >&2\nexit 1\n", { mode: 0o755 });
    const declined = await push();
    seen.push(declined.kind);
    assert.ok(declined.kind === "rejected" && declined.output.includes("protected branch"));
    await rm(hook);
    await writeFile(repo.path(".git/hooks/pre-push"), "#!/bin/sh\necho not on a Friday >&2\nexit 1\n", { mode: 0o755 });
    const stopped = await push();
    seen.push(stopped.kind);
    assert.ok(stopped.kind === "failed" && stopped.output.includes("not on a Friday"));
    await rm(repo.path(".git/hooks/pre-push"));
    seen.push((await push()).kind, (await push()).kind);
    await repo.git("remote", "add", "gone", path.join(repo.base, "no-such.git"));
    seen.push((await push("gone")).kind, (await repo.port.fetch("gone")).kind, (await repo.port.fetch("origin")).kind);
    assert.deepEqual(seen, ["rejected", "rejected", "failed", "pushed", "pushed", "failed", "failed", "fetched"]);
  });

  it("deletes a remote branch only where it was, and is content when it is gone", async () => {
    await using repo = await makeGitRepo({ remote: true });
    await repo.git("push", "-q", "origin", "main:refs/heads/a/b");
    const old = await repo.git("rev-parse", "HEAD");
    const next = await repo.commit("next");
    await repo.git("push", "-q", "origin", "main:refs/heads/a/b");
    const seen = [(await repo.port.deleteRemote("origin", "a/b", old)).kind];
    assert.equal(await repo.gitIn(String(repo.remote), "rev-parse", "a/b"), next);
    seen.push(
      (await repo.port.deleteRemote("origin", "a/b", next)).kind,
      (await repo.port.deleteRemote("origin", "a/b", next)).kind,
    );
    assert.deepEqual(seen, ["rejected", "pushed", "pushed"]);
  });

  it("keeps refs/orch at home, also from a mirror", async () => {
    await using repo = await makeGitRepo({ remote: true });
    await repo.port.updateRef("refs/orch/trash/t-1", await repo.git("rev-parse", "HEAD"), undefined);
    await repo.git("config", "remote.origin.mirror", "true");
    await repo.commit("on");
    assert.equal(
      (await repo.port.push({ remote: "origin", from: "main", to: "main", setUpstream: true, trusted: false })).kind,
      "pushed",
    );
    await repo.git("config", "--unset", "remote.origin.mirror");
    await repo.git("push", "-q", "--all");
    assert.equal(await repo.gitIn(String(repo.remote), "for-each-ref", "--format=%(refname)"), "refs/heads/main");
  });

  it("never shows what a URL holds", async () => {
    await using repo = await makeGitRepo();
    await repo.git("remote", "add", "origin", "http://me:s3cret@127.0.0.1:1/x.git");
    const failed = await repo.port.fetch("origin");
    assert.ok(failed.kind === "failed" && failed.output.includes("127.0.0.1") && !failed.output.includes("s3cret"));
  });

  it("ends a push with its hook when it is stopped", async () => {
    const stop = new AbortController();
    await using repo = await makeGitRepo({ remote: true }, { signal: stop.signal });
    const began = repo.path("began");
    await writeFile(repo.path(".git/hooks/pre-push"), `#!/bin/sh\n: >'${began}'\nexec sleep 60\n`, { mode: 0o755 });
    await repo.commit("on");
    const pushing = repo.port.push({ remote: "origin", from: "main", to: "main", setUpstream: false, trusted: true });
    await eventually("the hook runs", () => existsSync(began));
    stop.abort();
    await assert.rejects(pushing, { name: "AbortError" });
  });

  it("works in a shallow clone", async () => {
    await using repo = await makeGitRepo({ remote: true });
    await repo.commit("second");
    await repo.git("push", "-q");
    const to = path.join(repo.base, "shallow");
    await repo.gitIn(repo.base, "clone", "-q", "--depth=1", `file://${repo.remote}`, to);
    const git = await gitIn(repo, to);
    await git.create("a/b", "HEAD", "a/b");
    assert.deepEqual(
      [git.place.shallow, await git.defaultBranch(), await git.mergeBase("a/b", "main")],
      [true, "main", await git.resolve("main")],
    );
  });

  it("works where the objects are named by SHA-256", async () => {
    await using repo = await makeTempRepo();
    const at = path.join(repo.base, "sha256");
    await repo.gitIn(repo.base, "init", "-q", "-b", "main", "--object-format=sha256", at);
    await writeFile(path.join(at, "a.txt"), "a\n");
    const git = await gitIn(repo, at);
    const commit = await git.commitPaths({ paths: paths("a.txt"), message: "x", trusted: false });
    await writeFile(path.join(at, "a.txt"), "b\n");
    const tree = await git.snapshot(paths("a.txt"));
    await git.checkoutTo(tree, path.join(repo.base, "out") as never);
    assert.deepEqual(
      [
        commit.length,
        (await git.diff(commit, tree)).files.length,
        await readFile(path.join(repo.base, "out", "a.txt"), "utf8"),
      ],
      [64, 1, "b\n"],
    );
  });
});
