import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Workspace } from "../../shared/ports/workspace.ts";
import { contractOf, secondRun, type WorktreeGround, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;

function git(folder: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
}

/** Everything below a folder but git's own: kind, mode, content. */
function tree(folder: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(path.join(folder, below), { withFileTypes: true })) {
    const name = path.posix.join(below, entry.name);
    if (name === ".git") continue;
    const at = path.join(folder, name);
    const mode = (fs.lstatSync(at).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) found[name] = `-> ${fs.readlinkSync(at)}`;
    else if (entry.isDirectory()) Object.assign(found, { [name]: `folder ${mode}` }, tree(folder, name));
    else found[name] = `${mode} ${fs.readFileSync(at, "latin1")}`;
  }
  return found;
}

/** The git dir a worker sees: its files but for the index, whose bytes hold times. */
function gitDir(workspace: Workspace): Record<string, string> {
  const at = fs
    .readFileSync(path.join(workspace.root, ".git"), "utf8")
    .replace(/^gitdir: /, "")
    .trimEnd();
  const { index: _index, ...rest } = tree(at);
  return rest;
}

const files = {
  ".gitignore": "*.log\nbuild/\n",
  ".gitattributes": "*.txt text\n",
  "a.txt": "a\n",
  "src/b.txt": "b\n",
  "src/deep/c.txt": "c\n",
  "run.sh": "#!/bin/sh\n",
};

async function fresh(ground: WorktreeGround): Promise<{ files: Record<string, string>; git: Record<string, string> }> {
  const worktrees = ground.worktrees({ stateDir: ground.repo.path("..", "other-state") });
  const workspace = await worktrees.open(contractOf("T9"), signal);
  const root = path.dirname(workspace.root);
  const git_ = gitDir(workspace);
  const found = { files: tree(workspace.root), git: git_ };
  fs.rmSync(root, { recursive: true });
  await ground.repo.git("update-ref", "-d", "refs/orch/wt/r-20260131-101500-ab12/T9");
  return found;
}

/** Whatever one contract's worker leaves: the name says what, the work does it. */
const dirt: Readonly<Record<string, (root: string, slot: string) => void>> = {
  "ignored files": (root) => {
    fs.mkdirSync(path.join(root, "build/deep"), { recursive: true });
    fs.writeFileSync(path.join(root, "build/deep/x.o"), "x");
    fs.writeFileSync(path.join(root, "src/note.log"), "x");
  },
  "untracked files, also read-only ones and odd names": (root) => {
    fs.mkdirSync(path.join(root, "closed"));
    fs.writeFileSync(path.join(root, "closed/x"), "x", { mode: 0o400 });
    fs.chmodSync(path.join(root, "closed"), 0o500);
    fs.writeFileSync(path.join(root, "-n\n'"), "x");
  },
  "folders that hold nothing": (root) => {
    fs.mkdirSync(path.join(root, "nothing/in/it"), { recursive: true });
    fs.mkdirSync(path.join(root, "src/deep/empty"));
  },
  "changed, removed, retyped tracked files": (root) => {
    fs.writeFileSync(path.join(root, "a.txt"), "A\n");
    fs.rmSync(path.join(root, "run.sh"));
    fs.mkdirSync(path.join(root, "run.sh"));
    fs.rmSync(path.join(root, "src/b.txt"));
    fs.symlinkSync("/etc/passwd", path.join(root, "src/b.txt"));
  },
  "same size, same times": (root) => {
    const at = path.join(root, "a.txt");
    const { atime, mtime } = fs.statSync(at);
    fs.writeFileSync(at, "z\n");
    fs.utimesSync(at, atime, mtime);
  },
  "rights of files and folders": (root) => {
    fs.chmodSync(path.join(root, "a.txt"), 0o600);
    fs.chmodSync(path.join(root, "run.sh"), 0o755);
    fs.chmodSync(path.join(root, "src/deep"), 0o777);
  },
  "rights of a folder alone": (root) => fs.chmodSync(path.join(root, "src/deep"), 0o711),
  "a git dir among tracked files, and nothing else": (root) => {
    git(path.join(root, "src"), "init", "-q");
  },
  "a folder replaced by a link to elsewhere": (root, slot) => {
    fs.cpSync(path.join(root, "src"), path.join(slot, "..", "elsewhere"), { recursive: true });
    fs.rmSync(path.join(root, "src"), { recursive: true });
    fs.symlinkSync(path.join(slot, "..", "elsewhere"), path.join(root, "src"));
  },
  "nested repositories": (root) => {
    for (const name of ["src", "vendor", "src/deep/more"]) {
      fs.mkdirSync(path.join(root, name), { recursive: true });
      git(path.join(root, name), "init", "-q");
      fs.writeFileSync(path.join(root, name, "inner.txt"), "x");
    }
  },
  "configuration and hooks": (root) => {
    git(root, "config", "core.fsmonitor", "touch /tmp/pwned");
    git(root, "config", "core.hooksPath", "hooks");
    git(root, "config", "user.name", "Somebody");
    const hooks = path.resolve(root, git(root, "rev-parse", "--git-path", "hooks"));
    fs.mkdirSync(hooks, { recursive: true });
    fs.writeFileSync(path.join(hooks, "post-checkout"), "#!/bin/sh\ntouch /tmp/pwned\n", { mode: 0o755 });
  },
  "commits, branches, stashes, a moved HEAD": (root) => {
    fs.writeFileSync(path.join(root, "a.txt"), "committed\n");
    git(root, "checkout", "-q", "-b", "mine");
    git(root, "commit", "-q", "-a", "-m", "mine");
    fs.writeFileSync(path.join(root, "a.txt"), "stashed\n");
    git(root, "stash", "-q");
  },
  "index flags and attributes": (root) => {
    git(root, "update-index", "--skip-worktree", "a.txt");
    git(root, "update-index", "--assume-unchanged", "run.sh");
    fs.writeFileSync(path.join(root, "a.txt"), "hidden\n");
    fs.writeFileSync(path.join(root, ".gitattributes"), "* filter=evil\n");
    fs.writeFileSync(path.join(root, ".gitignore"), "*\n");
  },
  "a .git file that leads elsewhere": (root, slot) => {
    const evil = path.join(slot, "..", "evil.git");
    git(slot, "init", "-q", "--bare", evil);
    git(evil, "config", "core.fsmonitor", "touch /tmp/pwned");
    fs.writeFileSync(path.join(root, ".git"), `gitdir: ${evil}\n`);
  },
  "a .git folder": (root) => {
    fs.rmSync(path.join(root, ".git"));
    git(root, "init", "-q");
  },
  "Orch's own index": (_root, slot) => fs.writeFileSync(path.join(slot, "own/index"), "DIRC"),
  "a lock of a killed git": (_root, slot) => fs.writeFileSync(path.join(slot, "own/index.lock"), ""),
  "the whole folder replaced by a link": (root, slot) => {
    fs.renameSync(root, path.join(slot, "away"));
    fs.symlinkSync("away", root);
  },
  "the whole folder gone": (root) => fs.rmSync(root, { recursive: true }),
};

describe("contract: worktree pool", function () {
  this.timeout(600_000);

  it("nothing that a worker leaves reaches the next contract @slow", async () => {
    await using ground = await worktreeGround({ files });
    const clean = await fresh(ground);
    for (const [name, make] of Object.entries(dirt)) {
      const one = ground.worktrees();
      const first = await one.open(contractOf("T1"), signal);
      const slot = path.dirname(first.root);
      await first.collect(signal);
      // Given back as it was; a program that the worker left writes afterwards, when nobody compares any more.
      await first[Symbol.asyncDispose]();
      const [pooled = ""] = fs.readdirSync(path.join(path.dirname(slot), "pool"));
      const at = path.join(path.dirname(slot), "pool", pooled);
      fs.writeFileSync(path.join(at, path.basename(first.root), ".git"), `gitdir: ${at}/git\n`);
      make(path.join(at, path.basename(first.root)), at);
      const next = await ground.worktrees({ run: secondRun }).open(contractOf("T2"), signal);
      deepEqual(tree(next.root), clean.files, name);
      deepEqual(gitDir(next), clean.git, name);
      equal(git(next.root, "status", "--porcelain", "--ignored"), "", name);
      equal(git(next.root, "stash", "list"), "", name);
      deepEqual((await next.collect(signal)).files, [], name);
      ok(!fs.existsSync("/tmp/pwned"), name);
      await next[Symbol.asyncDispose]();
      fs.rmSync(path.join(path.dirname(slot), "pool"), { recursive: true });
    }
  });

  it("a rolled-back worktree serves the next contract, from another commit too", async () => {
    await using ground = await worktreeGround({ files });
    const first = await ground.worktrees().open(contractOf("T1"), signal);
    const { ino } = fs.statSync(path.join(first.root, "src/deep/c.txt"));
    for (const name of ["ignored files", "changed, removed, retyped tracked files", "index flags and attributes"])
      dirt[name]?.(first.root, path.dirname(first.root));
    await first.rollback(signal);
    await first[Symbol.asyncDispose]();
    await ground.repo.write("a.txt", "new\n");
    await ground.repo.write("new/file.txt", "new\n");
    fs.rmSync(ground.repo.path("run.sh"));
    await ground.repo.commit("next");
    const next = await ground.worktrees({ run: secondRun }).open(contractOf("T2"), signal);
    equal(fs.statSync(path.join(next.root, "src/deep/c.txt")).ino, ino, "the same files, not new ones");
    notEqual(next.base, first.base);
    equal(fs.readFileSync(path.join(next.root, "a.txt"), "utf8"), "new\n");
    equal(fs.readFileSync(path.join(next.root, "new/file.txt"), "utf8"), "new\n");
    ok(!fs.existsSync(path.join(next.root, "run.sh")));
    equal(git(next.root, "status", "--porcelain", "--ignored"), "");
    deepEqual(ground.notes, []);
    const [item] = ground.stored;
    const stored = (await ground.trash.look(item?.id ?? "")).entries.map((entry) =>
      Buffer.from(entry.path, "base64").toString(),
    );
    ok(stored.includes(".orch/wt/T1/build/deep/x.o"), "ignored files are stored too");
    ok(stored.includes(".orch/wt/T1/a.txt"));
  });

  it("keeps three and renames the others away; what is renamed away is deleted later", async () => {
    await using ground = await worktreeGround({ files });
    const worktrees = ground.worktrees();
    const open = await Promise.all(["T1", "T2", "T3", "T4"].map((id) => worktrees.open(contractOf(id), signal)));
    for (const one of open) {
      await one.collect(signal);
      await one[Symbol.asyncDispose]();
    }
    deepEqual(
      (await worktrees.list(signal)).map(({ use }) => use.kind),
      ["pooled", "pooled", "pooled"],
    );
    equal(await worktrees.sweep(signal), 1);
    equal(await worktrees.sweep(signal), 0);
  });
});
