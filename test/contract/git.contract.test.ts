import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { isOrchError } from "../../shared/model/error.ts";
import { confirmed, gitIn, type GitRepo, makeGitRepo, paths } from "../support/git-repo.ts";
import { makeTempRepo } from "../support/temp-repo.ts";

const [odd] = paths("d/odd \u00e9\n name");

describe("contract: git finds its place", () => {
  it("in a subfolder: the root; in a linked worktree and a submodule: that checkout", async () => {
    await using repo = await makeGitRepo({
      remote: true,
      files: { "deep/er/x": "x\n" },
      folder: "r\u00e9po with space",
    });
    const deep = await gitIn(repo, repo.path("deep/er"));
    await repo.git("worktree", "add", "-q", "-b", "other", path.join(repo.base, "wt"));
    const tree = await gitIn(repo, path.join(repo.base, "wt", "deep"));
    await repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", String(repo.remote), "lib");
    const module = await gitIn(repo, repo.path("lib"));
    assert.deepEqual(
      [
        deep.place.root,
        tree.place.root,
        tree.place.commonDir,
        tree.place.gitDir,
        module.place.root,
        module.place.gitDir,
      ],
      [
        repo.root,
        path.join(repo.base, "wt"),
        repo.path(".git"),
        repo.path(".git/worktrees/wt"),
        repo.path("lib"),
        repo.path(".git/modules/lib"),
      ],
    );
    await tree.create("a/b", "HEAD", "a/b");
    await tree.switch("a/b");
    await writeFile(path.join(repo.base, "wt", "deep", "y"), "y\n");
    await tree.commitPaths({ paths: paths("deep/y"), message: "in the worktree", trusted: true });
    assert.deepEqual(
      [await repo.git("show", "--format=%s", "--name-only", "a/b"), await repo.port.checkedOutElsewhere("a/b")],
      ["in the worktree\n\ndeep/y", path.join(repo.base, "wt")],
    );
    await writeFile(repo.path("lib/z"), "z\n");
    await module.commitPaths({ paths: paths("z"), message: "in the module", trusted: false });
    assert.equal(await repo.gitIn(repo.path("lib"), "log", "-1", "--format=%s"), "in the module");
  });

  it("in a folder with line ends in its name", async () => {
    await using repo = await makeGitRepo({ files: { "deep/x": "x\n" }, folder: "two\nlines\n\nmore" });
    const deep = await gitIn(repo, repo.path("deep"));
    assert.deepEqual(
      [deep.place.root, deep.place.gitDir, deep.place.commonDir],
      [repo.root, repo.path(".git"), repo.path(".git")],
    );
  });

  it("refuses what is no checkout, with the code that helps", async () => {
    await using repo = await makeTempRepo({ remote: true });
    await mkdir(path.join(repo.base, "plain"));
    await repo.git("init", "-q", "--bare", "inner.git");
    await repo.gitIn(repo.base, "init", "-q", "moved");
    await repo.gitIn(path.join(repo.base, "moved"), "config", "core.worktree", repo.home);
    const table: readonly (readonly [folder: string, code: string])[] = [
      [path.join(repo.base, "plain"), "git.not-a-repository"],
      [path.join(repo.base, "nowhere"), "git.not-a-repository"],
      [repo.path(".git"), "git.not-a-repository"],
      [String(repo.remote), "git.bare"],
      [repo.path("inner.git"), "git.bare"],
      [path.join(repo.base, "moved"), "git.unsafe-config"],
    ];
    for (const [folder, code] of table) {
      await assert.rejects(gitIn(repo, folder), (error) => isOrchError(error) && error.code === code, folder);
    }
  });

  it("refuses a git that is missing or too old", async () => {
    await using repo = await makeTempRepo();
    const bin = path.join(repo.base, "bin");
    await mkdir(bin);
    const fake = { ...repo.env, PATH: bin };
    await assert.rejects(gitIn(repo, repo.root, { env: fake }), { code: "git.missing" });
    await writeFile(path.join(bin, "git"), "#!/bin/sh\necho git version 2.37.9\n", { mode: 0o755 });
    await assert.rejects(gitIn(repo, repo.root, { env: fake }), { code: "git.too-old" });
  });
});

describe("contract: git reads", () => {
  it("HEAD on a branch, unborn, detached", async () => {
    await using fresh = await makeGitRepo({ firstCommit: false });
    await using repo = await makeGitRepo();
    const commit = await repo.git("rev-parse", "HEAD");
    const seen: unknown[] = [
      await fresh.port.head(),
      await fresh.port.defaultBranch(),
      await fresh.port.branches(),
      await repo.port.head(),
    ];
    await repo.git("switch", "-q", "--detach");
    seen.push(await repo.port.head());
    const expected = [
      { kind: "unborn", branch: "main" },
      "main",
      [],
      { kind: "branch", branch: "main", commit },
      { kind: "detached", commit },
    ];
    assert.deepEqual(seen, expected);
  });

  it("the default branch, exactly", async () => {
    await using repo = await makeGitRepo({ remote: true });
    const seen = [await repo.port.defaultBranch()];
    await repo.git("branch", "main-2");
    await repo.git("branch", "master");
    seen.push(await repo.port.defaultBranch());
    await repo.git("branch", "trunk");
    await repo.git("config", "init.defaultBranch", "trunk");
    seen.push(await repo.port.defaultBranch());
    await repo.git("push", "-q", "origin", "master");
    await repo.git("remote", "set-head", "origin", "master");
    seen.push(await repo.port.defaultBranch());
    assert.deepEqual(seen, ["main", "main", "trunk", "master"]);
  });

  it("an operation that is unfinished", async () => {
    await using repo = await makeGitRepo({ files: { "a.txt": "a\n" } });
    await repo.git("switch", "-q", "-c", "side");
    await repo.commit("side", { "a.txt": "side\n" });
    await repo.git("switch", "-q", "main");
    await repo.commit("main", { "a.txt": "main\n" });
    const seen: unknown[] = [await repo.port.operation()];
    for (const [start, end] of [
      [
        ["merge", "side"],
        ["merge", "--abort"],
      ],
      [
        ["rebase", "side"],
        ["rebase", "--abort"],
      ],
      [
        ["cherry-pick", "side"],
        ["cherry-pick", "--abort"],
      ],
      [
        ["revert", "--no-commit", "HEAD"],
        ["revert", "--abort"],
      ],
      [
        ["bisect", "start"],
        ["bisect", "reset"],
      ],
    ] as const) {
      await repo.tryGit(...start);
      seen.push(await repo.port.operation());
      await repo.git(...end);
    }
    assert.deepEqual(seen, [undefined, "merge", "rebase", "cherry-pick", "revert", "bisect"]);
  });

  it("status, names of every kind", async () => {
    await using repo = await makeGitRepo({
      files: { "a.txt": "a\n", "old name.txt": "long enough to be found again\n", ".gitignore": "*.pyc\n" },
    });
    await repo.write("a.txt", "b\n");
    await repo.git("mv", "old name.txt", "new -> name.txt");
    await repo.write(String(odd), "x\n");
    await repo.write("-rf", "x\n");
    await repo.write("d/x.pyc", "x\n");
    await repo.write("y.pyc", "x\n");
    assert.deepEqual(await repo.port.status({ ignoredIn: paths("d")[0] as never }), [
      { path: "a.txt", index: ".", worktree: "M" },
      { path: "new -> name.txt", oldPath: "old name.txt", index: "R", worktree: "." },
      { path: "-rf", index: "?", worktree: "?" },
      { path: odd, index: "?", worktree: "?" },
      { path: "d/x.pyc", index: "!", worktree: "!" },
    ]);
  });

  it("files at a commit and in the tree", async () => {
    await using repo = await makeGitRepo({
      files: { "a.txt": "\uFEFFa\r\n", "d/b.txt": "b\n", [String(odd)]: "odd\n", ".gitignore": "*.pyc\n" },
      globalConfig: "[core]\n\tautocrlf = false\n",
    });
    await rm(repo.path("d/b.txt"));
    await repo.write("d/new.txt", "n\n");
    await repo.write("d/x.pyc", "x\n");
    const text = async (file: string | undefined, at = "HEAD"): Promise<string | undefined> => {
      const data = await repo.port.fileAt(at, file as never);
      return data === undefined ? undefined : Buffer.from(data).toString("utf8");
    };
    assert.deepEqual(
      [await text("a.txt"), await text(odd), await text("none"), await text("d"), await text("a.txt", "no-such-ref")],
      ["\uFEFFa\r\n", "odd\n", undefined, undefined, undefined],
    );
    assert.deepEqual(await repo.port.filesAt("HEAD", paths("d")[0] as never), ["d/b.txt", odd]);
    assert.deepEqual((await repo.port.listFiles()).toSorted(), [".gitignore", "a.txt", "d/new.txt", odd].toSorted());
  });

  it("branches with what Orch recorded, remotes, identity", async () => {
    await using repo = await makeGitRepo({ remote: true });
    const commit = await repo.git("rev-parse", "HEAD");
    await repo.port.create("modify/Invoice", "HEAD", "Billing/Invoice");
    assert.deepEqual(await repo.port.branches(), [
      { name: "main", commit, upstream: "origin/main" },
      { name: "modify/Invoice", commit, orch: "Billing/Invoice" },
    ]);
    const remotes = [await repo.port.remote()];
    await repo.git("remote", "rename", "origin", "up");
    remotes.push(await repo.port.remote());
    assert.deepEqual(remotes, ["origin", "up"]);
    assert.deepEqual(await repo.port.identity(), { name: "Test Person", email: "test@example.com" });
    await using nobody = await makeGitRepo({ firstCommit: false, identity: false });
    assert.equal(await nobody.port.identity(), undefined);
    await nobody.write("a", "a\n");
    await assert.rejects(nobody.port.commitPaths({ paths: paths("a"), message: "x", trusted: true }), {
      code: "git.no-identity",
    });
  });

  it("of several remotes takes the one git was told, else none", async () => {
    await using repo = await makeGitRepo();
    await repo.git("remote", "add", "home", "x");
    await repo.git("remote", "add", "work", "y");
    await repo.git("switch", "-q", "-c", "side");
    const chosen: (string | undefined)[] = [await repo.port.remote()];
    const told = [
      ["remote.pushDefault", "work"],
      ["checkout.defaultRemote", "home"],
      ["branch.main.remote", "work"],
      ["branch.side.remote", "home"],
      ["branch.side.remote", "."],
    ] as const;
    for (const [key, value] of told) {
      await repo.git("config", key, value);
      chosen.push(await repo.port.remote());
    }
    await repo.git("remote", "add", "origin", "z");
    chosen.push(await repo.port.remote());
    assert.deepEqual(chosen, [undefined, "work", "home", "work", "home", "work", "origin"]);
    assert.deepEqual(await repo.port.remotes(), ["home", "origin", "work"]);
  });

  const merges: Readonly<
    Record<string, readonly [(repo: GitRepo) => Promise<unknown>, "ancestor" | "equivalent" | undefined]>
  > = {
    "is behind": [() => Promise.resolve(), undefined],
    "was merged": [(r) => r.git("merge", "-q", "--no-ff", "-m", "m", "side"), "ancestor"],
    "was squashed": [
      async (r) => {
        await r.git("merge", "-q", "--squash", "side");
        await r.git("commit", "-q", "-m", "squash");
      },
      "equivalent",
    ],
    "was squashed, then main went on": [
      async (r) => {
        await r.git("merge", "-q", "--squash", "side");
        await r.git("commit", "-q", "-m", "squash");
        await r.commit("on", { "s1.txt": "changed since\n" });
      },
      "equivalent",
    ],
    "was rebased": [(r) => r.git("cherry-pick", "main..side"), "equivalent"],
    "was half cherry-picked": [(r) => r.git("cherry-pick", "side~1"), undefined],
    "was squashed without its last commit": [
      async (r) => {
        await r.git("merge", "-q", "--squash", "side~1");
        await r.git("commit", "-q", "-m", "squash");
      },
      undefined,
    ],
  };
  for (const [name, [act, expected]] of Object.entries(merges)) {
    it(`a branch that ${name} is ${expected ?? "open"}`, async () => {
      await using repo = await makeGitRepo();
      await repo.git("switch", "-q", "-c", "side");
      await repo.commit("s1", { "s1.txt": "1\n" });
      await repo.commit("s2", { "s2.txt": "2\n" });
      await repo.git("switch", "-q", "main");
      await repo.commit("main goes on", { "m.txt": "m\n" });
      await act(repo);
      assert.equal(await repo.port.mergedHow("side", "main"), expected);
    });
  }

  it("a branch whose merge commit holds work of its own is not merged by its other commits", async () => {
    await using repo = await makeGitRepo();
    await repo.git("switch", "-q", "-c", "side");
    await repo.commit("s1", { "s1.txt": "1\n" });
    await repo.git("switch", "-q", "main");
    await repo.commit("main", { "m.txt": "m\n" });
    await repo.git("switch", "-q", "side");
    await repo.git("merge", "-q", "--no-commit", "main");
    await repo.write("smuggled.txt", "only here\n");
    await repo.git("add", "-A");
    await repo.git("commit", "-q", "-m", "merge with more");
    await repo.git("switch", "-q", "main");
    await repo.git("cherry-pick", "side~1");
    assert.equal(await repo.port.mergedHow("side", "main"), undefined);
  });
});

describe("contract: git branches", () => {
  it("refuses names that are taken, or no names", async () => {
    await using repo = await makeGitRepo();
    await repo.port.create("Billing/Invoice", "HEAD", "Billing/Invoice");
    for (const name of ["Billing/Invoice", "Billing", "Billing/Invoice/x"]) {
      await assert.rejects(repo.port.create(name, "HEAD", "x/y"), { code: "branch.taken" }, name);
    }
    for (const name of ["-d", "--force", "a..b", "a b", "", "x.lock", "a\n", "refs~1"]) {
      await assert.rejects(repo.port.create(name, "HEAD", "x/y"), { code: "usage.invalid" }, JSON.stringify(name));
    }
    await repo.port.rename("Billing/Invoice", "Billing/Bill");
    assert.deepEqual(
      (await repo.port.branches()).map((branch) => [branch.name, branch.orch]),
      [
        ["Billing/Bill", "Billing/Invoice"],
        ["main", undefined],
      ],
    );
    await assert.rejects(repo.port.rename("Billing/Bill", "main"), { code: "branch.taken" });
  });

  it("switches without losing anything, ignored files included", async () => {
    await using repo = await makeGitRepo({ files: { "a.txt": "a\n", ".gitignore": "*.log\n" } });
    await repo.git("switch", "-q", "-c", "side");
    await repo.write("x.log", "theirs\n");
    await repo.git("add", "-f", "x.log");
    await repo.commit("side", { "a.txt": "side\n", "u.txt": "side\n" });
    await repo.git("switch", "-q", "main");
    const table: readonly (readonly [string, string])[] = [
      ["a.txt", "mine\n"],
      ["u.txt", "mine\n"],
      ["x.log", "mine\n"],
    ];
    for (const [file, text] of table) {
      await repo.write(file, text);
      await assert.rejects(
        repo.port.switch("side"),
        (error) => isOrchError(error, "tree.dirty") && (error.data["paths"] as readonly string[]).join() === file,
        file,
      );
      assert.equal(await repo.read(file), text);
      if (file === "a.txt") await repo.git("checkout", "-q", "a.txt");
      else await rm(repo.path(file));
    }
    await repo.write("kept.txt", "mine\n");
    await repo.port.switch("side");
    assert.deepEqual(
      [await repo.read("a.txt"), await repo.read("kept.txt"), await repo.read("x.log")],
      ["side\n", "mine\n", "theirs\n"],
    );
  });

  it("says where a branch is checked out, and leaves it", async () => {
    await using repo = await makeGitRepo();
    await repo.git("worktree", "add", "-q", "-b", "other", path.join(repo.base, "wt"));
    const tip = await repo.git("rev-parse", "other");
    const folder = path.join(repo.base, "wt");
    await repo.commit("on");
    for (const verb of [
      () => repo.port.switch("other"),
      () => repo.port.delete("other", tip),
      () => repo.port.fastForward("other", "main"),
      () => repo.port.rename("other", "x"),
    ]) {
      await assert.rejects(
        verb(),
        (error) => isOrchError(error, "branch.elsewhere") && error.data["folder"] === folder,
      );
    }
    await assert.rejects(repo.port.delete("main", await repo.git("rev-parse", "main")), { code: "git.failed" });
  });

  it("deletes only what it was told of, with what was recorded", async () => {
    await using repo = await makeGitRepo();
    await repo.port.create("a/b", "HEAD", "a/b");
    const old = await repo.git("rev-parse", "HEAD");
    await repo.git("switch", "-q", "a/b");
    const tip = await repo.commit("more");
    await repo.git("switch", "-q", "main");
    await assert.rejects(repo.port.delete("a/b", old), { code: "git.failed" });
    assert.equal(await repo.port.resolve("a/b"), tip);
    await repo.port.delete("a/b", tip);
    assert.deepEqual(
      [await repo.port.resolve("a/b"), (await repo.tryGit("config", "--get-regexp", "^branch\\.a/b")).stdout],
      [undefined, ""],
    );
  });

  it("fast-forwards, checked out or not, and nothing else", async () => {
    await using repo = await makeGitRepo({ files: { "a.txt": "a\n", ".gitignore": "*.log\n" } });
    await repo.git("branch", "old");
    await repo.git("switch", "-q", "-c", "next");
    await repo.write("x.log", "theirs\n");
    await repo.git("add", "-f", "x.log");
    const next = await repo.commit("next", { "a.txt": "next\n" });
    await repo.git("switch", "-q", "main");
    await repo.git("config", "branch.main.mergeOptions", "--squash");
    assert.equal(await repo.port.fastForward("old", "next"), true);
    await repo.write("x.log", "mine\n");
    await assert.rejects(repo.port.fastForward("main", "next"), { code: "tree.dirty" });
    assert.deepEqual([await repo.read("x.log"), await repo.read("a.txt")], ["mine\n", "a\n"]);
    await rm(repo.path("x.log"));
    await repo.write("other.txt", "mine\n");
    assert.equal(await repo.port.fastForward("main", "next"), true);
    assert.deepEqual(
      [await repo.git("rev-parse", "main", "old"), await repo.read("a.txt"), await repo.read("other.txt")],
      [`${next}\n${next}`, "next\n", "mine\n"],
    );
    await repo.commit("diverge");
    assert.deepEqual(
      [
        await repo.port.fastForward("old", "main"),
        await repo.port.fastForward("main", "next"),
        await repo.port.fastForward("old", "next"),
      ],
      [true, false, false],
    );
  });

  it("discards the named tracked files and leaves the others", async () => {
    await using repo = await makeGitRepo({
      files: { "s/a.txt": "a\n", "s/b.txt": "b\n", "t.txt": "t\n", ".gitignore": "*.log\n" },
    });
    await repo.write("s/a.txt", "changed\n");
    await repo.git("rm", "-q", "s/b.txt");
    await repo.write("s/added.txt", "added\n");
    await repo.git("add", "s");
    await repo.write("s/new.txt", "untracked\n");
    await repo.write("s/x.log", "ignored\n");
    await repo.write("t.txt", "mine\n");
    await repo.port.discard(paths("s", "nothing-here"), "HEAD", confirmed);
    assert.equal(await repo.git("status", "--short", "--ignored"), " M t.txt\n?? s/new.txt\n!! s/x.log");
    assert.deepEqual(
      [await repo.read("s/a.txt"), await repo.read("s/b.txt"), await repo.read("s/added.txt")],
      ["a\n", "b\n", undefined],
    );
    await repo.port.discard(paths("nothing-here"), "HEAD", confirmed);
  });
});
