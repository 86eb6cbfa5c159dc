import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { removeNewCaches, removeTornWrites } from "../../shared/adapters/slice-files.ts";
import { furnish, makeWorkerHome } from "../../shared/adapters/worker-home.ts";
import { watchStray } from "../../shared/adapters/worker-stray.ts";
import { absPath, type AbsPath, inRoot, type RepoPath } from "../../shared/base/paths.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { attempt } from "../support/worktree-attempt.ts";
import { contractOf, secondRun, type WorktreeGround, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;
const contract = contractOf("T1");

/** A person's folder beside everything of Orch's, and what it holds. */
function personsFolder(ground: WorktreeGround): { readonly at: AbsPath; readonly holds: () => string[] } {
  const at = absPath(path.join(ground.repo.base, "Documents"));
  fs.mkdirSync(path.join(at, "sub/deep"), { recursive: true });
  for (const name of ["thesis.txt", "sub/deep/b.txt", "sub/c.txt"]) fs.writeFileSync(path.join(at, name), name);
  fs.chmodSync(path.join(at, "sub"), 0o700);
  const holds = (): string[] =>
    fs
      .readdirSync(at, { recursive: true, encoding: "utf8" })
      .map((name) => `${name} ${(fs.lstatSync(path.join(at, name)).mode & 0o7777).toString(8)}`)
      .toSorted();
  return { at, holds };
}

/** Entries of submodules that nobody checked out, at the top and in a folder that holds nothing else. */
async function withSubmodules(): Promise<WorktreeGround> {
  const ground = await worktreeGround({ files: { "a.txt": "a\n", "src/c.txt": "c\n" } });
  const { repo } = ground;
  const head = await repo.git("rev-parse", "HEAD");
  for (const name of ["sub", "deps/sub"]) {
    await repo.git("update-index", "--add", "--cacheinfo", `160000,${head},${name}`);
    fs.mkdirSync(repo.path(name), { recursive: true });
  }
  await repo.git("commit", "-q", "-m", "submodules");
  return ground;
}

function replaceByLink(at: string, target: string): void {
  fs.rmSync(at, { recursive: true });
  fs.symlinkSync(target, at);
}

describe("contract: links of a worker's to a person's files", function () {
  this.timeout(600_000);
  before(function () {
    if (process.platform === "win32") this.skip();
  });

  for (const [link, target] of [
    ["sub", "."],
    ["deps", "."],
    ["deps/sub", "sub"],
    ["src", "."],
  ] as const) {
    for (const moved of [false, true]) {
      it(`${link} in a pooled worktree, ${moved ? "another" : "the same"} commit next`, async () => {
        await using ground = await withSubmodules();
        const { at, holds } = personsFolder(ground);
        const before = holds();
        const first = await ground.worktrees().open(contract, signal);
        await first.collect(signal);
        await first[Symbol.asyncDispose]();
        const pool = path.join(path.dirname(path.dirname(first.root)), "pool");
        const [pooled = ""] = fs.readdirSync(pool);
        replaceByLink(path.join(pool, pooled, path.basename(first.root), link), path.join(at, target));
        if (moved) await ground.repo.commit("next", { "a.txt": "next\n" });
        const next = await ground.worktrees({ run: secondRun }).open(contractOf("T2"), signal);
        deepEqual(holds(), before);
        for (const name of ["sub", "deps", "deps/sub", "src"])
          ok(fs.lstatSync(path.join(next.root, name)).isDirectory(), name);
        deepEqual(fs.readdirSync(path.join(next.root, "sub")), []);
        deepEqual((await next.collect(signal)).files, []);
        await next.rollback(signal);
      });
    }

    it(`${link} when an attempt is rolled back: it is a change, and is stored`, async () => {
      await using ground = await withSubmodules();
      const { at, holds } = personsFolder(ground);
      const before = holds();
      await using workspace = await ground.worktrees().open(contract, signal);
      replaceByLink(path.join(workspace.root, link), path.join(at, target));
      ok((await workspace.collect(signal)).files.some((file) => file.path === link));
      const rolled = await workspace.rollback(signal);
      ok(rolled.kind === "rolled-back" && rolled.trash !== undefined);
      deepEqual(holds(), before);
      ok(fs.lstatSync(path.join(workspace.root, link)).isDirectory());
    });
  }

  it("in the place of .git, when git's own files are put back and when a killed run goes on", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { at, holds } = personsFolder(ground);
    const before = holds();
    const worktrees = ground.worktrees();
    const workspace = await worktrees.open(contract, signal);
    const dotGit = path.join(workspace.root, ".git");
    const own = fs.readFileSync(dotGit, "utf8");
    await attempt(worktrees, workspace, () => {
      execFileSync("git", ["config", "core.hooksPath", "x"], { cwd: workspace.root, env: { ...ground.repo.env } });
      replaceByLink(dotGit, path.join(at, "thesis.txt"));
    });
    ok(worktrees.changes("T1").some(({ traced }) => traced));
    equal(fs.readFileSync(dotGit, "utf8"), own);
    replaceByLink(dotGit, path.join(at, "thesis.txt"));
    const again = await ground.worktrees().open(contract, signal);
    equal(fs.readFileSync(dotGit, "utf8"), own);
    ok(fs.lstatSync(dotGit).isFile());
    deepEqual(holds(), before);
    equal(fs.readFileSync(path.join(at, "thesis.txt"), "utf8"), "thesis.txt");
    await again.rollback(signal);
  });

  it("in the place of the worktree: refused, and the repository it leads to keeps its .git", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { at, holds } = personsFolder(ground);
    fs.mkdirSync(path.join(at, ".git"));
    fs.writeFileSync(path.join(at, ".git/HEAD"), "ref: refs/heads/main\n");
    const before = holds();
    const workspace = await ground.worktrees().open(contract, signal);
    replaceByLink(workspace.root, at);
    await rejects(
      ground.worktrees().open(contract, signal),
      (error: unknown) => isOrchError(error, "path.refused") && error.message.includes(workspace.root),
    );
    deepEqual(holds(), before);
  });

  it("in the place of the repository's configuration: what it leads to is not written", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { at } = personsFolder(ground);
    const worktrees = ground.worktrees();
    await using workspace = await worktrees.open(contract, signal);
    const config = ground.repo.path(".git/config");
    const before = fs.readFileSync(config, "utf8");
    await attempt(
      worktrees,
      workspace,
      () => replaceByLink(config, path.join(at, "thesis.txt")),
      `ln -s elsewhere ${config}`,
    );
    equal(fs.readFileSync(config, "utf8"), before);
    ok(fs.lstatSync(config).isFile());
    equal(fs.readFileSync(path.join(at, "thesis.txt"), "utf8"), "thesis.txt");
    await workspace.rollback(signal);
  });

  it("in the place of .orch/wt: no name is made there", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { at, holds } = personsFolder(ground);
    fs.symlinkSync("/nowhere", path.join(at, "T1"));
    const before = holds();
    fs.mkdirSync(ground.repo.path(".orch"));
    fs.symlinkSync(at, ground.repo.path(".orch/wt"));
    await using workspace = await ground.worktrees().open(contract, signal);
    deepEqual(holds(), before);
    deepEqual(ground.notes, [`T1 works in ${workspace.root}; it could not be linked below .orch/wt`]);
    await workspace.rollback(signal);
  });

  it("that the commit has where the main tree has a folder: worktree_links make nothing behind it", async () => {
    await using ground = await worktreeGround({ files: { "a.txt": "a\n" } });
    const { repo } = ground;
    const { at, holds } = personsFolder(ground);
    const before = holds();
    await repo.link("packages", at);
    const startFrom = await repo.commit("linked");
    fs.rmSync(repo.path("packages"));
    await repo.write("packages/app/node_modules/x/index.js", "1\n");
    await repo.write("packages/lib/node_modules/x/index.js", "1\n");
    await repo.link("packages/lib/node_modules/own", "../../app");
    await using workspace = await ground
      .worktrees({ links: ["packages/*/node_modules"], startFrom: () => startFrom })
      .open(contract, signal);
    deepEqual(holds(), before);
    equal(fs.readlinkSync(path.join(workspace.root, "packages")), at);
    await workspace.rollback(signal);
  });

  it("above a file that a client leaves: nothing behind it is taken for the client's", async () => {
    await using ground = await worktreeGround();
    const { at, holds } = personsFolder(ground);
    const root = ground.repo.root;
    const stray = await watchStray(createFiles(), root, ["sub/c.txt", "sub", ".opencode/.gitignore"]);
    fs.mkdirSync(path.join(root, ".opencode"));
    fs.writeFileSync(path.join(root, ".opencode/.gitignore"), "*\n");
    fs.symlinkSync(path.join(at, "sub"), path.join(root, "sub"));
    const before = holds();
    deepEqual(await stray.clear(), ["sub", ".opencode/.gitignore"]);
    deepEqual(holds(), before);
    ok(!fs.existsSync(path.join(root, "sub")));
  });

  it("in its home: the next attempt's files take their place", async () => {
    await using ground = await worktreeGround();
    const { at, holds } = personsFolder(ground);
    const files = createFiles();
    const place = inRoot(ground.stateDir, "home-of-T1");
    const login = { from: ".login", to: ".client/login", as: "copy" as const };
    fs.writeFileSync(path.join(ground.repo.home, ".login"), "token");
    const order = { at: place, userHome: ground.repo.home, env: {}, withLogins: true };
    const { home } = await makeWorkerHome(files, { logins: [] }, order);
    for (const name of [".config", ".client", ".cache"]) fs.symlinkSync(at, path.join(home, name));
    const before = holds();
    await makeWorkerHome(files, { logins: [login] }, order);
    await furnish(files, home, {
      files: [{ path: inRoot(home, ".config/sub/c.txt"), text: "of Orch's" }],
      links: [{ at: inRoot(home, ".cache/shared"), to: inRoot(ground.stateDir, "shared") }],
    });
    deepEqual(holds(), before);
    equal(fs.readFileSync(path.join(at, "sub/c.txt"), "utf8"), "sub/c.txt");
    equal(fs.readFileSync(path.join(home, ".config/sub/c.txt"), "utf8"), "of Orch's");
    equal(fs.readFileSync(path.join(home, ".client/login"), "utf8"), "token");
    equal(fs.readlinkSync(path.join(home, ".cache/shared")), inRoot(ground.stateDir, "shared"));
  });

  it("above a slice: caches and torn writes elsewhere stay, those behind a link inside the checkout go", async () => {
    await using ground = await worktreeGround();
    const { at, holds } = personsFolder(ground);
    const { repo } = ground;
    const files = createFiles();
    const fill = (folder: string): void => {
      fs.mkdirSync(path.join(folder, "Invoice/__pycache__"), { recursive: true });
      fs.writeFileSync(path.join(folder, "Invoice/__pycache__/x.pyc"), "x");
      fs.writeFileSync(path.join(folder, "Invoice/.a.py.0123456789ab.tmp"), "x");
    };
    const clear = async (slice: RepoPath): Promise<void> => {
      await removeNewCaches(files, repo.root, slice, []);
      await removeTornWrites(files, repo.root, `${slice}/a.py` as RepoPath);
    };
    fill(at);
    fill(repo.path("app/Sales"));
    const before = holds();
    await repo.link("features/Billing", at);
    await repo.link("features/Sales", repo.path("app/Sales"));
    await clear("features/Billing/Invoice" as RepoPath);
    deepEqual(holds(), before);
    await clear("features/Sales/Invoice" as RepoPath);
    deepEqual(fs.readdirSync(repo.path("app/Sales/Invoice")), []);
  });
});
