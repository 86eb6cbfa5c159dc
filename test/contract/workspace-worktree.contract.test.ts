import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { RepoPath } from "../../shared/base/paths.ts";
import { contractOf, secondRun, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;
const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");

function git(folder: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
}

describe("contract: worktree workspace", function () {
  this.timeout(600_000);

  it("starts from HEAD, the uncommitted tracked changes and what is to be carried; nothing of the checkout changes", async () => {
    await using ground = await worktreeGround({
      files: {
        "a.txt": "a\n",
        "gone.txt": "gone\n",
        "src/b.txt": "b\n",
        ".gitignore": "*.env\nbuild/\n",
        ".orch/contracts/T1.json": "{}\n",
        ".worktreeinclude": "# what tests need\n*.env\n",
      },
    });
    const { repo } = ground;
    await repo.write("a.txt", "a edited\n");
    await repo.write("staged.txt", "staged\n");
    await repo.git("add", "staged.txt");
    fs.rmSync(repo.path("gone.txt"));
    await repo.write("test.env", "SECRET=1\n");
    await repo.write("loose.txt", "loose\n");
    const before = { index: fs.readFileSync(repo.path(".git/index")), status: await repo.git("status", "--porcelain") };
    const worktrees = ground.worktrees();
    const contract = contractOf("T1");
    {
      await using workspace = await worktrees.open(contract, signal);
      const names = fs.readdirSync(workspace.root).toSorted();
      deepEqual(names, [".git", ".gitignore", ".worktreeinclude", "a.txt", "src", "staged.txt", "test.env"]);
      equal(text(await workspace.read("a.txt" as RepoPath, signal)), "a edited\n");
      equal(text(await workspace.readBase("a.txt" as RepoPath, signal)), "a edited\n");
      deepEqual(worktrees.snapshot("T1"), {
        commit: workspace.base,
        carried: ["test.env"],
        leftBehind: ["loose.txt"],
      });
      ok(!path.relative(repo.root, workspace.root).split(path.sep).includes(".git"));
      ok(path.relative(repo.root, workspace.root).startsWith(".."), "outside the repository");
      equal(fs.realpathSync(repo.path(".orch/wt/T1")), workspace.root);
      equal(await repo.git("status", "--porcelain", "--", ":!.worktreeinclude"), before.status);
      deepEqual(fs.readFileSync(repo.path(".git/index")), before.index);
      equal(git(workspace.root, "status", "--porcelain"), "");
      equal(git(workspace.root, "log", "-1", "--format=%s", "HEAD^"), "first commit");
      deepEqual((await workspace.collect(signal)).files, []);
    }
    equal(await repo.git("log", "--all", "--oneline").then((lines) => lines.split("\n").length), 1);
    ok(!(await repo.git("worktree", "list")).includes("wt/"), "the person's list of worktrees is theirs");
  });

  it("carries what lies untracked in a feature's slice, but for what git ignores", async () => {
    await using ground = await worktreeGround({
      files: { ".gitignore": "__pycache__/\n", "features/A/B/Old.py": "old\n" },
    });
    const { repo } = ground;
    const slice = "features/A/B" as RepoPath;
    await repo.write("features/A/B/spec.md", "# B\n");
    await repo.write("features/A/B/__pycache__/Old.pyc", "compiled");
    await repo.write("features/A/Bee/other.py", "not of the slice\n");
    await repo.write(".features.json", "{}\n");
    const worktrees = ground.worktrees({ below: [slice, ".features.json" as RepoPath] });
    await using workspace = await worktrees.open(contractOf("B"), signal);
    deepEqual(worktrees.snapshot("B")?.carried.toSorted(), [".features.json", "features/A/B/spec.md"]);
    deepEqual(fs.readdirSync(path.join(workspace.root, slice)).toSorted(), ["Old.py", "spec.md"]);
    deepEqual(fs.readdirSync(path.join(workspace.root, "features/A")), ["B"]);
    deepEqual((await workspace.collect(signal)).files, []);
  });

  it("collects by the base's ignore rules, whatever a worker does to rules, attributes, index and nested repositories", async () => {
    await using ground = await worktreeGround({
      files: {
        ".gitignore": "*.log\n",
        "sub/.gitignore": "/only.tmp\n",
        "a.txt": "a\n",
        "b.txt": "b\n",
        "x.sh": "#!/bin/sh\n",
      },
    });
    const contract = contractOf("T1");
    const worktrees = ground.worktrees();
    await using workspace = await worktrees.open(contract, signal);
    const at = (name: string): string => path.join(workspace.root, name);
    const write = (name: string, data: string | Uint8Array): void => {
      fs.mkdirSync(path.dirname(at(name)), { recursive: true });
      fs.writeFileSync(at(name), data);
    };
    write(".gitignore", "*.log\n*.hidden\n");
    write("evil.hidden", "hidden by the worker's rule\n");
    write("build.log", "ignored by the base\n");
    write("sub/only.tmp", "ignored below\n");
    write("only.tmp", "not ignored here\n");
    git(workspace.root, "update-index", "--skip-worktree", "a.txt");
    git(workspace.root, "update-index", "--assume-unchanged", "b.txt");
    write("a.txt", "a changed\n");
    write("b.txt", "b changed\n");
    fs.chmodSync(at("x.sh"), 0o755);
    fs.mkdirSync(at("vendor"));
    git(at("vendor"), "init", "-q");
    git(at("sub"), "init", "-q");
    write("vendor/v.txt", "in a nested repository\n");
    fs.symlinkSync("/etc/passwd", at("link"));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${workspace.root}/`), Buffer.from([0x6e, 0xff])]), "no UTF-8\n");
    const change = await workspace.collect(signal);
    const found = Object.fromEntries(change.files.map((file) => [file.path, `${file.status} ${file.newMode}`]));
    deepEqual(found, {
      ".gitignore": "modified 100644",
      "a.txt": "modified 100644",
      "b.txt": "modified 100644",
      "evil.hidden": "added 100644",
      link: "added 120000",
      "n\uFFFD": "added 100644",
      "only.tmp": "added 100644",
      "vendor/v.txt": "added 100644",
      "x.sh": "modified 100755",
    });
    deepEqual([...(workspace.observed?.().ignoredFiles ?? [])].toSorted(), [
      "build.log",
      "sub/.git/",
      "sub/only.tmp",
      "vendor/.git/",
    ]);
    await workspace.rollback(signal);
  });

  it("a retry goes on in the same files, and so does a runner that takes a killed one up", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    await ground.repo.write("a.txt", "uncommitted\n");
    const contract = contractOf("T1");
    const first = await ground.worktrees().open(contract, signal);
    fs.writeFileSync(path.join(first.root, "new.txt"), "half done\n");
    fs.writeFileSync(path.join(first.root, ".a.txt.0123456789ab.tmp"), "torn");
    const { base, root } = first;
    // Killed here, in the middle of a write: nothing is disposed of. The person goes on meanwhile, and git prunes.
    await ground.repo.write("a.txt", "other\n");
    await ground.repo.commit("more");
    await ground.repo.git("gc", "-q", "--prune=now");
    const second = await ground.worktrees().open(contract, signal);
    deepEqual({ base: second.base, root: second.root }, { base, root });
    equal(text(await second.readBase("a.txt" as RepoPath, signal)), "uncommitted\n");
    deepEqual(
      (await second.collect(signal)).files.map((file) => file.path),
      ["new.txt"],
    );
    ok(!fs.existsSync(path.join(root, ".a.txt.0123456789ab.tmp")));
    equal(git(root, "status", "--porcelain"), "?? new.txt");
    await second.rollback(signal);
    ok(!fs.existsSync(path.join(root, "new.txt")));
    equal(ground.stored.length, 1);
    await second[Symbol.asyncDispose]();
    // Beside the link that stands for the worktree, as plain files.
    const restored = await ground.trash.restore(ground.stored[0]?.id ?? "");
    deepEqual([restored.restored, restored.beside], [[".orch/wt/T1/new.txt"], []]);
    equal(await ground.repo.read(".orch/wt/T1/new.txt"), "half done\n");
  });

  it("runs no filter of the person's in a worker's files, whose program may be one of them", async () => {
    const files = { ".gitattributes": "*.dat filter=rot\n", "tools/strip.sh": "cat\n", "a.dat": "a\n" };
    await using ground = await worktreeGround({ files });
    const canary = path.join(ground.repo.base, "ran");
    for (const verb of ["clean", "smudge"]) {
      await ground.repo.git("config", "--global", `filter.rot.${verb}`, "sh tools/strip.sh");
      await ground.repo.git("config", "--global", "filter.rot.required", "true");
    }
    await using workspace = await ground.worktrees().open(contractOf("T1"), signal);
    fs.writeFileSync(path.join(workspace.root, "tools/strip.sh"), `touch '${canary}'; cat\n`);
    fs.writeFileSync(path.join(workspace.root, "a.dat"), "b\n");
    fs.writeFileSync(path.join(workspace.root, "new.dat"), "new\n");
    const change = await workspace.collect(signal);
    deepEqual(change.files.map((file) => file.path).toSorted(), ["a.dat", "new.dat", "tools/strip.sh"]);
    equal(await ground.repo.git("show", `${change.tree}:a.dat`), "b");
    await workspace.rollback(signal);
    ok(!fs.existsSync(canary), "a worker's program ran outside of its walls");
  });

  it("tells what changed since a change was collected, and remembers the change", async () => {
    await using ground = await worktreeGround({ files: { "a.py": "a\n", "b.py": "b\n" } });
    await using workspace = await ground.worktrees().open(contractOf("T1"), signal);
    fs.writeFileSync(path.join(workspace.root, "a.py"), "better\n");
    const change = await workspace.collect(signal);
    deepEqual(await workspace.changedSince?.(change.tree, signal), []);
    fs.writeFileSync(path.join(workspace.root, "a.py"), "a\n");
    fs.rmSync(path.join(workspace.root, "b.py"));
    fs.symlinkSync("/nowhere", path.join(workspace.root, "b.py"));
    fs.writeFileSync(path.join(workspace.root, "new.py"), "new\n");
    const since = (await workspace.changedSince?.(change.tree, signal)) ?? [];
    deepEqual(
      since.map(({ status, path: name, newMode }) => `${status} ${name} ${newMode}`),
      ["modified a.py 100644", "type-changed b.py 120000", "added new.py 100644"],
    );
    await workspace.rollback(signal);
  });

  it("attributes that ask for what a file is not hide no change and stop no clean-up", async () => {
    await using ground = await worktreeGround({ files: { "a.py": "a\n" } });
    await using workspace = await ground.worktrees().open(contractOf("T1"), signal);
    fs.writeFileSync(path.join(workspace.root, ".gitattributes"), "*.py text working-tree-encoding=UTF-16\n");
    fs.writeFileSync(path.join(workspace.root, "a.py"), "b\n");
    fs.writeFileSync(path.join(workspace.root, "new.py"), "new\n");
    const change = await workspace.collect(signal);
    deepEqual(change.files.map((file) => file.path).toSorted(), [".gitattributes", "a.py", "new.py"]);
    equal(await ground.repo.git("show", `${change.tree}:a.py`), "b");
    equal((await workspace.rollback(signal)).kind, "rolled-back");
  });

  it("an accepted result outlives its worktree, is in no log, and is what the next one builds on", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    await ground.repo.write("a.txt", "uncommitted\n");
    const { repo, kept } = ground;
    const worktrees = ground.worktrees();
    const contract = contractOf("T1");
    let tree = "";
    {
      await using workspace = await worktrees.open(contract, signal);
      fs.writeFileSync(path.join(workspace.root, "done.txt"), "done\n");
      const change = await workspace.collect(signal);
      tree = change.tree;
      await kept.keep({ run: "r-20260131-101500-ab12", contract: "T1", title: "x", base: change.base, tree });
    }
    ok(fs.existsSync(repo.path(".orch/wt/T1/done.txt")), "held for the review");
    deepEqual(await worktrees.release("T1", signal), {});
    ok(!fs.existsSync(repo.path(".orch/wt/T1")));
    equal((await repo.git("log", "--all", "--format=%s")).split("\n").length, 1);
    await repo.git("gc", "-q", "--prune=now");
    const found = await kept.find("r-20260131-101500-ab12", "T1");
    equal(found?.tree, tree);
    deepEqual(await kept.list(), [found]);
    const next = ground.worktrees({ startFrom: ({ build_on }) => (build_on === "T1" ? found?.commit : undefined) });
    {
      await using workspace = await next.open(contractOf("T2", { build_on: "T1" }), signal);
      equal(workspace.base, found?.commit);
      equal(text(await workspace.read("done.txt" as RepoPath, signal)), "done\n");
      fs.writeFileSync(path.join(workspace.root, "more.txt"), "more\n");
      deepEqual(
        (await workspace.collect(signal)).files.map((file) => file.path),
        ["more.txt"],
      );
      await workspace.rollback(signal);
    }
    // A revision whose worktree is gone finds the result's files on the same base.
    {
      await using again = await ground.worktrees().open(contract, signal);
      deepEqual(
        (await again.collect(signal)).files.map((file) => file.path),
        ["done.txt"],
      );
      await again.rollback(signal);
    }
    equal(await kept.drop("r-20260131-101500-ab12", "T1"), true);
    equal(await kept.find("r-20260131-101500-ab12", "T1"), undefined);
  });

  it("two runs and a pool never share a folder; living runs are not touched", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const one = await ground.worktrees().open(contractOf("T1"), signal);
    const other = ground.worktrees({ run: secondRun });
    const [two, three] = await Promise.all([
      other.open(contractOf("T1"), signal),
      other.open(contractOf("T2"), signal),
    ]);
    equal(new Set([one.root, two.root, three.root]).size, 3);
    fs.writeFileSync(path.join(one.root, "a.txt"), "in work\n");
    ground.alive.add("r-20260131-101500-ab12");
    const uses = async (): Promise<string[]> => (await other.list(signal)).map(({ use }) => use.kind).toSorted();
    deepEqual(await uses(), ["used", "used", "used"]);
    ground.alive.clear();
    const rows = await other.list(signal);
    deepEqual(
      rows.map(({ use, changed }) => [use.kind, changed]),
      [
        ["leftover", ["a.txt"]],
        ["used", []],
        ["used", []],
      ],
    );
    const gone = rows[0];
    ok(gone !== undefined);
    const { trash = "" } = await other.remove(gone, signal);
    ok(!fs.existsSync(one.root));
    equal((await ground.trash.look(trash)).entries.length, 1);
    await two.rollback(signal);
    await two[Symbol.asyncDispose]();
    await three.collect(signal);
    await three[Symbol.asyncDispose]();
    deepEqual(await uses(), ["pooled", "pooled"]);
    equal(await ground.repo.git("for-each-ref", "refs/orch/wt"), "");
    ok((await other.sweep(signal)) <= 1);
  });
});
