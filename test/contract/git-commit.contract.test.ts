import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { isOrchError } from "../../shared/model/error.ts";
import { eventually } from "../support/eventually.ts";
import { gitIn, type GitRepo, makeGitRepo, paths } from "../support/git-repo.ts";

const snap = async (repo: GitRepo): Promise<readonly unknown[]> => [
  await repo.git("rev-parse", "HEAD"),
  await repo.git("ls-files", "-s"),
  await repo.git("status", "--porcelain", "-z"),
];

describe("contract: git commits by path", () => {
  it("what is named, as it is, and leaves the person's staged and unstaged work as it was", async () => {
    await using repo = await makeGitRepo({
      files: {
        "s/a.txt": "a\n",
        "s/gone.txt": "g\n",
        "o/staged.txt": "o\n",
        "o/both.txt": "o\n",
        "o/unstaged.txt": "o\n",
        ".gitignore": "*.log\n",
      },
    });
    await repo.write("o/staged.txt", "staged\n");
    await repo.write("o/both.txt", "staged\n");
    await repo.write("o/added.txt", "added\n");
    await repo.git("add", "o");
    await repo.git("rm", "-q", "--cached", "o/unstaged.txt");
    await repo.write("o/both.txt", "then more\n");
    await repo.write("s/a.txt", "staged, not final\n");
    await repo.git("add", "s/a.txt");
    await repo.write("s/a.txt", "final\n");
    await rm(repo.path("s/gone.txt"));
    await repo.write("s/run.sh", "#!/bin/sh\n", 0o755);
    await repo.link("s/link", "a.txt");
    await repo.write("s/x.log", "ignored\n");
    await repo.write("s/y.log", "named\n");
    await repo.write("--all", "named like an option\n");
    await repo.write(":(top)x", "named like magic\n");
    await repo.write("untouched.txt", "u\n");
    const others = await repo.git("ls-files", "-s", "o");
    const commit = await repo.port.commitPaths({
      paths: paths("s", "s/y.log", "--all", ":(top)x", "never-was"),
      message: "feat: Invoice\n\n# kept",
      trusted: true,
    });
    assert.deepEqual(
      await repo.git("show", "--format=%B", "--name-status", commit).then((text) => text.split("\n").filter(Boolean)),
      [
        "feat: Invoice",
        "# kept",
        "A\t--all",
        "A\t:(top)x",
        "M\ts/a.txt",
        "D\ts/gone.txt",
        "A\ts/link",
        "A\ts/run.sh",
        "A\ts/y.log",
      ],
    );
    assert.deepEqual(
      [
        await repo.git("ls-tree", commit, "s/run.sh", "s/link").then((text) => text.match(/^\d+/gm)),
        await repo.git("show", `${commit}:s/a.txt`),
      ],
      [["120000", "100755"], "final"],
    );
    assert.equal(await repo.git("ls-files", "-s", "o"), others);
    assert.equal(
      await repo.git("status", "--short", "--ignored"),
      "A  o/added.txt\nMM o/both.txt\nM  o/staged.txt\nD  o/unstaged.txt\n?? o/unstaged.txt\n?? untouched.txt\n!! s/x.log",
    );
    assert.deepEqual(await repo.git("diff-files", "--name-only", "s"), "");
  });

  it("as the first commit of a repository", async () => {
    await using repo = await makeGitRepo({ firstCommit: false, files: { "a.txt": "a\n", "b.txt": "b\n" } });
    await repo.git("add", "b.txt");
    const commit = await repo.port.commitPaths({ paths: paths("a.txt"), message: "first", trusted: false });
    assert.deepEqual(
      [await repo.git("ls-tree", "--name-only", commit), await repo.git("status", "--short"), await repo.port.head()],
      ["a.txt", "A  b.txt", { kind: "branch", branch: "main", commit }],
    );
  });

  it("nothing new: the commit that is there", async () => {
    await using repo = await makeGitRepo();
    assert.equal(
      await repo.port.commitPaths({ paths: paths("README.md"), message: "x", trusted: true }),
      await repo.git("rev-parse", "HEAD"),
    );
  });

  it("a folder that became a file, and a file that became a folder", async () => {
    await using repo = await makeGitRepo({ files: { "a/x": "x\n", b: "b\n" } });
    await rm(repo.path("a"), { recursive: true });
    await rm(repo.path("b"));
    await repo.write("a", "a\n");
    await repo.write("b/y", "y\n");
    await repo.port.commitPaths({ paths: paths("a", "b"), message: "x", trusted: true });
    assert.deepEqual(
      [await repo.git("ls-tree", "-r", "--name-only", "HEAD"), await repo.git("status", "--short")],
      ["a\nb/y", ""],
    );
  });

  it("with the person's own line ends", async () => {
    await using repo = await makeGitRepo({ globalConfig: "[core]\n\tautocrlf = true\n" });
    await repo.write("a.txt", "a\r\nb\r\n");
    await repo.port.commitPaths({ paths: paths("a.txt"), message: "x", trusted: true });
    assert.deepEqual(
      [
        await repo.bytes("a.txt").then((data) => Buffer.from(data ?? []).toString()),
        (await repo.tryGit("cat-file", "blob", "HEAD:a.txt")).stdout,
        await repo.git("status", "--short"),
      ],
      ["a\r\nb\r\n", "a\nb\n", ""],
    );
  });

  it("refuses where a commit has no place", async () => {
    await using repo = await makeGitRepo({ files: { "a.txt": "a\n" } });
    const commit = (): Promise<string> => repo.port.commitPaths({ paths: paths("a.txt"), message: "x", trusted: true });
    await repo.git("switch", "-q", "-c", "side");
    await repo.commit("side", { "a.txt": "side\n" });
    await repo.git("switch", "-q", "main");
    await repo.commit("main", { "a.txt": "main\n" });
    await repo.tryGit("merge", "side");
    const before = await snap(repo);
    await assert.rejects(commit(), { code: "tree.in-progress" });
    assert.deepEqual(await snap(repo), before);
    await repo.git("merge", "--abort");
    await repo.git("switch", "-q", "--detach");
    await assert.rejects(commit(), { code: "tree.detached" });
  });

  it("waits a little for another git's lock, then says whose", async () => {
    await using repo = await makeGitRepo({}, { lockWaitMs: 5000 });
    const lock = repo.path(".git/index.lock");
    await writeFile(lock, "");
    await repo.write("a.txt", "a\n");
    const waiting = repo.port.switch("main").then(() => "went on");
    await rm(lock);
    assert.equal(await waiting, "went on");
    await writeFile(lock, "");
    const hasty = await gitIn(repo, repo.root, { lockWaitMs: 60 });
    await repo.git("branch", "side");
    await assert.rejects(
      hasty.switch("side"),
      (error) => isOrchError(error, "git.locked") && error.hint.includes("index.lock"),
    );
    assert.equal((await repo.port.head()).kind === "branch" && (await repo.git("branch", "--show-current")), "main");
  });
});

describe("contract: git commits all or nothing", () => {
  it("takes the commit back when the person's index stays locked", async () => {
    await using repo = await makeGitRepo({}, { lockWaitMs: 50 });
    await repo.write("a.txt", "a\n");
    const lock = repo.path(".git/index.lock");
    await writeFile(repo.path(".git/hooks/post-commit"), `#!/bin/sh\n: >'${lock}'\n`, { mode: 0o755 });
    const before = await snap(repo);
    await assert.rejects(repo.port.commitPaths({ paths: paths("a.txt"), message: "x", trusted: true }), {
      code: "git.locked",
    });
    await rm(lock);
    assert.deepEqual(await snap(repo), before);
  });

  it("is whole when it is stopped in a hook that follows it, and nothing when stopped before", async () => {
    for (const hook of ["post-commit", "pre-commit"]) {
      const stop = new AbortController();
      await using repo = await makeGitRepo({}, { signal: stop.signal });
      const began = repo.path("began");
      await writeFile(repo.path(".git/hooks", hook), `#!/bin/sh\n: >'${began}'\nexec sleep 60\n`, { mode: 0o755 });
      await repo.write("a.txt", "a\n");
      const before = await repo.git("rev-parse", "HEAD");
      const committing = repo.port.commitPaths({ paths: paths("a.txt"), message: "x", trusted: true });
      const ended = committing.then(
        (commit) => commit,
        (error: unknown) => (error instanceof Error ? error.name : "no error"),
      );
      await eventually("the hook runs", () => existsSync(began));
      stop.abort();
      const head = hook === "pre-commit" ? before : await ended;
      assert.deepEqual(
        [await ended, await repo.git("rev-parse", "HEAD"), await repo.git("status", "--short", "a.txt")],
        hook === "pre-commit" ? ["AbortError", before, "?? a.txt"] : [head, head, ""],
      );
      assert.equal(head === before, hook === "pre-commit");
    }
  });
});
