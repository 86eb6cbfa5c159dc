import assert from "node:assert/strict";
import { lstat, mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { treeDisk } from "../../shared/adapters/tree-disk.ts";
import { type BranchWorkspaceDeps, createBranchWorkspaces } from "../../shared/adapters/workspace-branch.ts";
import { type AbsPath, absPath, type RepoPath } from "../../shared/base/paths.ts";
import { Contract } from "../../shared/model/contract.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Git } from "../../shared/ports/git.ts";
import type { TrashItem, TrashOrder } from "../../shared/ports/trash.ts";
import type { Workspace } from "../../shared/ports/workspace.ts";
import { diskWith, treeCalls } from "../support/tree-steps.ts";
import { KillSwitch } from "../support/kill-switch.ts";
import { registryText, slice } from "../support/sample-slice.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";

const signal = new AbortController().signal;
const dir = "features/Billing/Invoice" as RepoPath;
const contract = Contract.parse({
  id: "Invoice",
  title: "Invoice",
  goal: "x",
  allowed: [`${dir}/**`, `${dir}/Tests.py`],
  protected: [`${dir}/spec.md`, ".features.json"],
});
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const at = (name: string): RepoPath => `${dir}/${name}` as RepoPath;

/** Keeps what would go, as the bytes were when it was stored. */
class StoredBytes {
  readonly orders: TrashOrder[] = [];
  readonly held = new Map<string, string>();
  readonly #root: AbsPath;
  constructor(root: AbsPath) {
    this.#root = root;
  }
  async store(order: TrashOrder): Promise<TrashItem> {
    this.orders.push(order);
    for (const path of order.paths) this.held.set(path, (await readFile(join(this.#root, path))).toString("latin1"));
    const id = `t-${this.orders.length}`;
    return { id, by: order.by, what: order.what, at: 0, files: order.paths.length, bytes: 0, branches: [], kept: [] };
  }
}

interface Ground extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly trash: StoredBytes;
  readonly deps: BranchWorkspaceDeps & { readonly git: Git };
  readonly stateFile: AbsPath;
  open(deps?: BranchWorkspaceDeps): Promise<Workspace>;
  /** path -> kind, mode and content of everything in the working tree. */
  tree(): Promise<Record<string, string>>;
}

/** A branch with a committed slice, and uncommitted work of every kind in it. */
async function ground(globalConfig?: string): Promise<Ground> {
  const repo = await makeTempRepo({
    files: { "README.md": "# sample\n", ".gitignore": "*.log\n", ".features.json": registryText({}) },
    ...(globalConfig === undefined ? {} : { globalConfig }),
    folder: "with space ü",
  });
  await repo.git("switch", "-q", "-c", "Billing/Invoice");
  await repo.commit("slice", slice(dir));
  await repo.write(".features.json", registryText({ Invoice: "Billing" }));
  await repo.write(at("Schema.py"), "# edited, not staged\r\n", 0o600);
  await repo.write(at("staged.py"), "# staged\n");
  await repo.git("add", at("staged.py"));
  await repo.write(at("loose ü.bin"), new Uint8Array([0, 13, 10, 255]));
  await repo.write(at("run.sh"), "#!/bin/sh\n", 0o755);
  await repo.write(at("debug.log"), "ignored\n");
  await repo.link(at("link.py"), "Handler.py");
  await mkdir(repo.path(dir, "empty"));
  const process = createProcess();
  const trash = new StoredBytes(repo.root);
  const deps = { git: await createGit({ folder: repo.root, process, env: repo.env }), files: createFiles(), trash };
  const stateFile = absPath(join(repo.base, "run", "workspace.json"));
  await mkdir(join(repo.base, "run"));
  const options = { slice: dir, registry: ".features.json" as RepoPath, stateFile };
  return {
    repo,
    trash,
    deps,
    stateFile,
    async open(other) {
      // As whoever takes the repository's lock does.
      if (other === undefined) await deps.git.settleWrites(trash);
      return createBranchWorkspaces(other ?? deps, options).open(contract, signal);
    },
    tree: () => treeOf(repo.root),
    [Symbol.asyncDispose]: () => repo.cleanup(),
  };
}

async function treeOf(root: string, below = ""): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (path === ".git") continue;
    const mode = ((await lstat(join(root, path))).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) out[path] = `link ${await readlink(join(root, path))}`;
    else if (entry.isDirectory()) Object.assign(out, { [path]: "folder" }, await treeOf(root, path));
    else out[path] = `${mode} ${(await readFile(join(root, path))).toString("latin1")}`;
  }
  return out;
}

const attempt = [
  { path: at("Handler.py"), data: bytes("# attempt 1\n") },
  { path: at("Schema.py"), data: bytes("# attempt 1\n") },
  { path: at("staged.py"), data: undefined },
  { path: at("new/deep/Made.py"), data: bytes("# made\n") },
  { path: at("loose ü.bin"), data: bytes("text now\n") },
];

async function dyingBy(kill: KillSwitch, { deps, repo }: Ground): Promise<BranchWorkspaceDeps> {
  const disk = kill.wrap(treeDisk, treeCalls);
  const git = await createGit({ folder: repo.root, process: createProcess(), env: repo.env, disk });
  return {
    git: kill.wrap(git, ["snapshot", "updateRef", "deleteRef"]),
    files: kill.wrap(deps.files, ["write", "remove", "makeDir", "removeEmptyDir", "symlink", "chmod"]),
    trash: kill.wrap(deps.trash, ["store"]),
  };
}

describe("workspace-branch @slow", function () {
  this.timeout(600_000);

  it("writes, collects what differs from the base, and rolls back byte for byte, modes and folders included", async () => {
    for (const config of ["", "[core]\n\tautocrlf = true\n"]) {
      await using here = await ground(config);
      const before = await here.tree();
      const index = await here.repo.git("ls-files", "-s");
      const workspace = await here.open();
      assert.deepEqual((await workspace.collect(signal)).files, []);
      assert.deepEqual(await workspace.write(attempt, signal), { kind: "written" });
      assert.deepEqual(await workspace.read(at("Handler.py"), signal), bytes("# attempt 1\n"));
      assert.deepEqual(await workspace.readBase(at("Schema.py"), signal), bytes("# edited, not staged\r\n"));
      const change = await workspace.collect(signal);
      assert.deepEqual(
        change.files.map((file) => [file.status, file.path, file.binary]),
        [
          ["modified", at("Handler.py"), false],
          ["modified", at("Schema.py"), false],
          ["modified", at("loose ü.bin"), true],
          ["added", at("new/deep/Made.py"), false],
          ["deleted", at("staged.py"), false],
        ],
      );
      assert.equal((await lstat(here.repo.path(at("Schema.py")))).mode & 0o777, 0o600);
      assert.deepEqual(await workspace.write([{ path: at("Handler.py"), data: bytes("# attempt 2\n") }], signal), {
        kind: "written",
      });
      assert.deepEqual(await workspace.rollback(signal), { kind: "rolled-back", trash: "t-1" });
      await workspace[Symbol.asyncDispose]();
      assert.deepEqual(await here.tree(), before);
      assert.equal(await here.repo.git("ls-files", "-s"), index);
      assert.equal(here.trash.held.get(at("Handler.py")), "# attempt 2\n");
      assert.equal(here.trash.held.get(at("new/deep/Made.py")), "# made\n");
      assert.equal(await here.repo.git("for-each-ref", "refs/orch"), "");
    }
  });

  it("rolls back nothing when nothing was written", async () => {
    await using here = await ground();
    const before = await here.tree();
    const workspace = await here.open();
    assert.deepEqual(await workspace.rollback(signal), { kind: "rolled-back" });
    assert.deepEqual(await workspace.rollback(signal), { kind: "rolled-back" });
    assert.deepEqual([await here.tree(), here.trash.orders], [before, []]);
  });

  it("begins anew after a rollback", async () => {
    await using here = await ground();
    const first = await here.open();
    await first.write(attempt, signal);
    await first.rollback(signal);
    await here.repo.write(at("Handler.py"), "# the person's, later\n");
    const second = await here.open();
    await second.write([{ path: at("Handler.py"), data: bytes("# again\n") }], signal);
    await second.rollback(signal);
    assert.equal(await here.repo.read(at("Handler.py")), "# the person's, later\n");
  });

  it("never writes over a person's edit: all or none", async () => {
    await using here = await ground();
    const workspace = await here.open();
    await workspace.write(attempt, signal);
    await here.repo.write(at("Handler.py"), "# the person's\n");
    const before = await here.tree();
    assert.deepEqual(
      await workspace.write(
        [
          { path: at("Schema.py"), data: bytes("# 2\n") },
          { path: at("Handler.py"), data: bytes("# 2\n") },
        ],
        signal,
      ),
      { kind: "person-edited", paths: [at("Handler.py")] },
    );
    assert.deepEqual(await here.tree(), before);
    assert.deepEqual(await workspace.rollback(signal), { kind: "person-edited", paths: [at("Handler.py")] });
    assert.deepEqual([await here.tree(), here.trash.orders], [before, []]);
  });

  it("takes a file that a person made, deleted or put back for what it is", async () => {
    await using here = await ground();
    const workspace = await here.open();
    await workspace.write(attempt, signal);
    await here.repo.write(at("mine.py"), "# mine\n");
    assert.deepEqual(await workspace.write([{ path: at("mine.py"), data: bytes("#\n") }], signal), {
      kind: "person-edited",
      paths: [at("mine.py")],
    });
    // Back to what it was before: nothing to take away.
    await here.repo.write(at("Handler.py"), slice(dir)[at("Handler.py")] ?? "");
    assert.equal((await workspace.rollback(signal)).kind, "rolled-back");
    assert.equal(await here.repo.read(at("mine.py")), "# mine\n");
  });

  it("refuses paths that are not the contract's business", async () => {
    await using here = await ground();
    const { repo } = here;
    await repo.write("outside/there.py", "x\n");
    await symlink("/etc", repo.path(dir, "etc"));
    await symlink("../../../outside", repo.path(dir, "out"));
    await symlink("nowhere", repo.path(dir, "dangling"));
    await symlink("loop", repo.path(dir, "loop"));
    await symlink("../../../.git/hooks", repo.path(dir, "hooks"));
    const before = await here.tree();
    const workspace = await here.open();
    const refused = [
      "README.md",
      ".features.json",
      at("spec.md"),
      at("etc/passwd"),
      at("out/there.py"),
      at("hooks/pre-commit"),
      at("dangling"),
      at("loop"),
      at("empty"),
      at("Handler.py/below.py"),
      at(".git/config"),
      at(".GIT/config"),
      `${dir}/../../../README.md`,
      "/etc/passwd",
    ];
    for (const path of refused) {
      await assert.rejects(
        workspace.write(
          [
            { path: at("Handler.py"), data: bytes("#\n") },
            { path: path as RepoPath, data: bytes("#\n") },
          ],
          signal,
        ),
        (error) => isOrchError(error, "path.refused"),
        path,
      );
    }
    await assert.rejects(workspace.read(at("etc/passwd"), signal), (error) => isOrchError(error, "path.refused"));
    assert.deepEqual(await here.tree(), before);
  });

  it("writes through a link that stays in reach, and deletes the link itself", async () => {
    await using here = await ground();
    const before = await here.tree();
    const workspace = await here.open();
    await workspace.write([{ path: at("link.py"), data: bytes("# through\n") }], signal);
    assert.equal(await here.repo.read(at("Handler.py")), "# through\n");
    await workspace.write([{ path: at("link.py"), data: undefined }], signal);
    assert.equal(await here.repo.read(at("Handler.py")), "# through\n");
    await workspace.rollback(signal);
    assert.deepEqual(await here.tree(), before);
  });

  it("leaves no byte code behind, and removes none that was there", async () => {
    await using here = await ground();
    const { repo } = here;
    await repo.write(at("kept/__pycache__/old.cpython-311.pyc"), "old");
    const before = await here.tree();
    const workspace = await here.open();
    await workspace.write(attempt, signal);
    await repo.write(at("__pycache__/Handler.cpython-311.pyc"), "new");
    await repo.write("features/__pycache__/x.cpython-311.pyc", "new");
    await repo.write(".pytest_cache/CACHEDIR.TAG", "Signature");
    await repo.write(at(".pytest_cache/v/cache/lastfailed"), "no tag: not a cache");
    const change = await workspace.collect(signal);
    assert.ok(!change.files.some((file) => file.path.endsWith(".pyc")));
    await workspace.rollback(signal);
    await workspace[Symbol.asyncDispose]();
    assert.deepEqual(await here.tree(), {
      ...before,
      [at(".pytest_cache")]: "folder",
      [at(".pytest_cache/v")]: "folder",
      [at(".pytest_cache/v/cache")]: "folder",
      [at(".pytest_cache/v/cache/lastfailed")]: "644 no tag: not a cache",
    });
  });

  it("does not judge commits that a person made meanwhile", async () => {
    await using here = await ground();
    const workspace = await here.open();
    await here.repo.write("other.txt", "x\n");
    await here.repo.git("add", "other.txt");
    await here.repo.git("commit", "-q", "-m", "mine", "--", "other.txt");
    await assert.rejects(workspace.collect(signal), (error) => isOrchError(error, "tree.changed"));
  });

  it("goes on only on the branch where it began", async () => {
    await using here = await ground();
    await here.open();
    await here.repo.git("switch", "-q", "-c", "elsewhere");
    await assert.rejects(here.open(), (error) => {
      assert.ok(isOrchError(error, "branch.wrong"));
      assert.equal(error.hint, "Go there first: git switch Billing/Invoice");
      return true;
    });
  });

  it("refuses a state file it cannot read", async () => {
    await using here = await ground();
    await here.deps.files.write(here.stateFile, "{");
    await assert.rejects(here.open(), (error) => isOrchError(error, "file.invalid"));
  });

  it("keeps what it needs from garbage collection", async () => {
    await using here = await ground();
    const before = await here.tree();
    const workspace = await here.open();
    await workspace.write(attempt, signal);
    await here.repo.git("gc", "-q", "--prune=now");
    await (await here.open()).rollback(signal);
    assert.deepEqual(await here.tree(), before);
  });

  it("forgets the way back once it has settled", async () => {
    await using here = await ground();
    const workspace = await here.open();
    await workspace.write(attempt, signal);
    await workspace.settle?.();
    assert.equal(await here.repo.git("for-each-ref", "refs/orch"), "");
    const base = (await here.open()).base;
    assert.notEqual(base, workspace.base);
  });

  for (const save of ["writing", "the rollback"] as const) {
    it(`a person's save at any step of ${save} stands`, async () => {
      let met = 0;
      for (let step = 1; ; step += 1) {
        await using here = await ground();
        const { repo, trash } = here;
        const text = `# saved at step ${step}\n`;
        const watched = diskWith(step, () => repo.write(at("Handler.py"), text));
        const own = await createGit({
          folder: repo.root,
          process: createProcess(),
          env: repo.env,
          disk: watched.disk,
        });
        let end: string;
        if (save === "writing") {
          const workspace = await here.open({ ...here.deps, git: own });
          end = (await workspace.write(attempt, signal)).kind;
        } else {
          await (await here.open()).write(attempt, signal);
          end = (await (await here.open({ ...here.deps, git: own })).rollback(signal)).kind;
        }
        if (watched.calls() < step) break;
        await here.deps.git.settleWrites(trash);
        assert.equal(await repo.read(at("Handler.py")), text, `step ${step}: ${end}`);
        if (end === "person-edited") met += 1;
      }
      assert.ok(met > 3, `met ${met} times`);
    });
  }

  it("goes back to before from a kill at any step of writing", async () => {
    let last = 0;
    for (let step = 1; ; step += 1) {
      await using here = await ground();
      const before = await here.tree();
      const kill = new KillSwitch(step);
      const dying = await dyingBy(kill, here);
      const end = await kill.run(async () => {
        const workspace = await here.open(dying);
        await workspace.write(attempt, signal);
        return "written" as const;
      });
      const again = await here.open();
      assert.deepEqual(
        (await again.write([{ path: at("Controller.py"), data: bytes("# more\n") }], signal)).kind,
        "written",
        `step ${step}`,
      );
      const back = await again.rollback(signal);
      assert.equal(back.kind, "rolled-back", `step ${step}: ${JSON.stringify(back)}`);
      assert.deepEqual(await here.tree(), before, `step ${step}`);
      last = step;
      if (end === "written") break;
    }
    assert.ok(last > 12, `only ${last} steps`);
  });

  it("goes back to before from a kill at any step of the rollback, and stores once", async () => {
    for (let step = 1; ; step += 1) {
      await using here = await ground();
      const before = await here.tree();
      const workspace = await here.open();
      await workspace.write(attempt, signal);
      const kill = new KillSwitch(step);
      const dying = await dyingBy(kill, here);
      const end = await kill.run(async () => {
        const doomed = await here.open(dying);
        return (await doomed.rollback(signal)).kind;
      });
      const resumed = await here.open();
      assert.equal((await resumed.rollback(signal)).kind, "rolled-back", `step ${step}`);
      assert.deepEqual(await here.tree(), before, `step ${step}`);
      for (const path of ["Handler.py", "Schema.py", "new/deep/Made.py"])
        assert.ok(here.trash.held.has(at(path)), `step ${step}`);
      if (end === "rolled-back") break;
    }
  });
});
