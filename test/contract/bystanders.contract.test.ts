import assert from "node:assert/strict";
import { appendFile, chmod, mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { type BystandersDeps, createBystanders } from "../../shared/adapters/bystanders.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { Touched, Watch, WatchOrder } from "../../shared/ports/bystanders.ts";
import { type GitRepo, makeGitRepo, paths } from "../support/git-repo.ts";

const never = new AbortController().signal;

interface Room extends AsyncDisposable {
  readonly repo: GitRepo;
  /** Watches while `run` does what tests would do. */
  during(run: (watch: Watch) => Promise<unknown>, order?: Partial<WatchOrder>): Promise<Touched>;
  readonly told: string[];
  entries(): Promise<readonly string[]>;
}

async function room(deps: Partial<BystandersDeps> = {}): Promise<Room> {
  const repo = await makeGitRepo({ files: { "lib/real.py": "REAL = 1\n", ".gitignore": "*.log\n" } });
  const told: string[] = [];
  const bystanders = createBystanders({
    git: repo.port,
    trash: repo.trash,
    confined: () => Promise.resolve(false),
    onLarge: (some) => told.push(...some),
    onUnseen: (some) => told.push(...some.map((folder) => `unseen ${folder}`)),
    onStored: ({ files }) => told.push(`stored ${files}`),
    ...deps,
  });
  return {
    repo,
    told,
    async during(run, order = {}) {
      const root = absPath(repo.root);
      const watch = await bystanders.watch({ root, by: "do", what: "checks of a", known: [], ...order }, never);
      assert.ok(watch);
      await run(watch);
      return await watch.done();
    },
    entries: async () => (await repo.trash.list()).map(({ what, files }) => `${files} ${what}`),
    [Symbol.asyncDispose]: () => repo.cleanup(),
  };
}

async function nestedRepository(repo: GitRepo, folder: string): Promise<void> {
  await repo.write(`${folder}/real.py`, "REAL = 1\n");
  await repo.gitIn(repo.path(folder), "init", "-q");
  await repo.gitIn(repo.path(folder), "add", "real.py");
  await repo.gitIn(repo.path(folder), "commit", "-qm", "own");
}

const rows = ({ files }: Touched): string[] =>
  files.map(({ path, how, was, kept, surely }) =>
    [
      path,
      how,
      was,
      ...(kept === "entry" ? ["kept"] : kept === "no" ? ["lost"] : []),
      ...(surely ? ["surely"] : []),
    ].join(" "),
  );

describe("contract: bystanders", () => {
  it("stores nothing where nothing is uncommitted, and forgets what was not needed", async () => {
    await using at = await room();
    assert.deepEqual(await at.during(async () => undefined), { files: [] });
    await at.repo.write("notes.txt", "mine\n");
    await at.repo.write("lib/real.py", "REAL = 2\n");
    assert.deepEqual(await at.during(async () => undefined), { files: [] });
    assert.deepEqual([await at.entries(), at.told], [[], []]);
  });

  it("keeps exactly what changed or vanished: modified, staged, untracked, links and modes", async () => {
    await using at = await room();
    const { repo } = at;
    const before = { "notes.txt": "mine\n", "lib/real.py": "REAL = 2\n", "staged.txt": "staged\n", "gone.txt": "g\n" };
    for (const [name, text] of Object.entries({ ...before, "same.txt": "same\n" })) await repo.write(name, text);
    await repo.git("add", "staged.txt");
    await repo.write("run.sh", "#!/bin/sh\n", 0o755);
    await repo.link("link", "lib");
    const touched = await at.during(async () => {
      for (const name of ["notes.txt", "lib/real.py", "staged.txt"]) await repo.write(name, "wiped");
      await rm(repo.path("gone.txt"));
      await rm(repo.path("link"));
      await chmod(repo.path("run.sh"), 0o644);
      await repo.write("same.txt", "same\n");
    });
    assert.deepEqual(rows(touched).toSorted(), [
      "gone.txt vanished uncommitted kept",
      "lib/real.py changed uncommitted kept",
      "link vanished uncommitted kept",
      "notes.txt changed uncommitted kept",
      "run.sh changed uncommitted kept",
      "staged.txt changed uncommitted kept",
    ]);
    assert.deepEqual([await at.entries(), at.told], [["6 uncommitted files before the checks of a"], ["stored 6"]]);
    await repo.git("gc", "-q", "--prune=now");
    for (const name of Object.keys(before)) await rm(repo.path(name), { force: true });
    const back = await repo.trash.restore(touched.entry ?? "");
    assert.deepEqual(back.beside, []);
    for (const [name, text] of Object.entries(before)) assert.equal(await repo.read(name), text, name);
    assert.equal(await repo.read("link/real.py"), before["lib/real.py"]);
  });

  it("what was stored before a runner died stays for restore", async () => {
    await using at = await room();
    const { repo } = at;
    await repo.write("notes.txt", "mine\n");
    const nothing = (): void => undefined;
    const parts = { git: repo.port, trash: repo.trash, onLarge: nothing, onUnseen: nothing, onStored: nothing };
    const dying = createBystanders({ ...parts, confined: () => Promise.resolve(false) });
    await dying.watch({ root: absPath(repo.root), by: "do", what: "checks of a", known: [] }, never);
    await rm(repo.path("notes.txt"));
    const [item] = await repo.trash.list();
    assert.equal(item?.what, "uncommitted files before the checks of a");
    await repo.trash.restore(item.id);
    assert.equal(await repo.read("notes.txt"), "mine\n");
  });

  it("what grew, was touched or saved again lost nothing", async () => {
    await using at = await room();
    const { repo } = at;
    for (const name of ["server.out", "touched.txt", "again.txt"]) await repo.write(name, "one\n");
    const touched = await at.during(async () => {
      await appendFile(repo.path("server.out"), "two\n");
      await utimes(repo.path("touched.txt"), 1, 1);
      await rm(repo.path("again.txt"));
      await writeFile(repo.path("again.txt"), "one\n", { mode: 0o644 });
      await chmod(repo.path("again.txt"), 0o644);
    });
    assert.deepEqual([rows(touched), await at.entries()], [["server.out grew uncommitted"], []]);
  });

  it("tells committed files and new ones; caches and ignored files are nobody's", async () => {
    await using at = await room();
    const { repo } = at;
    await repo.write(".coverage", "earlier\n");
    const touched = await at.during(async () => {
      await repo.write("lib/real.py", "wiped");
      await repo.write("conftest.py", "");
      for (const name of [".coverage", "a.log", "__pycache__/a.pyc", "node_modules/x/index.js", "htmlcov/index.html"])
        await repo.write(name, "x");
    });
    assert.deepEqual(rows(touched), ["lib/real.py changed clean", "conftest.py appeared absent"]);
    assert.deepEqual([touched.entry, await at.entries()], [undefined, []]);
  });

  it("names what is too large to be kept, once, and tells when it changed", async () => {
    await using at = await room({ limits: { fileBytes: 10, allBytes: 12, files: 3, mounts: 10 } });
    const { repo } = at;
    for (const [name, bytes] of Object.entries({ "a.bin": 4, "b.bin": 6, "c.bin": 8, "d.bin": 11 }))
      await repo.write(name, "x".repeat(bytes));
    const wipe = async (): Promise<void> => {
      for (const name of ["a.bin", "c.bin", "d.bin"]) await repo.write(name, "y");
    };
    assert.deepEqual(rows(await at.during(wipe)).toSorted(), [
      "a.bin changed uncommitted kept",
      "c.bin changed uncommitted lost",
      "d.bin changed uncommitted lost",
    ]);
    assert.deepEqual(at.told, ["c.bin", "d.bin", "stored 1"]);
    for (const name of ["c.bin", "d.bin"]) await repo.write(name, "x".repeat(11));
    await at.during(async () => undefined);
    assert.deepEqual(at.told, ["c.bin", "d.bin", "stored 1"]);
  });

  it("a model's own bytes are compared, and not kept twice", async () => {
    await using at = await room();
    await at.repo.write("s/Handler.py", "judged\n");
    const touched = await at.during(() => at.repo.write("s/Handler.py", "other\n"), { known: paths("s/Handler.py") });
    assert.deepEqual([rows(touched), await at.entries()], [["s/Handler.py changed uncommitted"], []]);
  });

  it("in a sandbox a change is the person's, unless the folder was moved away under the file", async () => {
    await using at = await room({ confined: () => Promise.resolve(true) });
    const { repo } = at;
    await repo.write("notes.txt", "mine\n");
    await repo.write("lib/real.py", "REAL = 2\n");
    assert.deepEqual(await at.during(() => repo.write("notes.txt", "mine, edited\n")), { files: [] });
    assert.deepEqual(await at.entries(), []);
    const touched = await at.during(async () => {
      await rename(repo.path("lib"), repo.path("lib2"));
      await mkdir(repo.path("lib"));
      await repo.write("lib/real.py", "wiped");
    });
    assert.deepEqual(rows(touched), ["lib/real.py changed uncommitted kept surely", "lib2/real.py appeared absent"]);
  });

  it("mounts files only, not links, not what a build writes, and no more than the limit", async () => {
    const keepOf = async (limits?: BystandersDeps["limits"]): Promise<readonly string[]> => {
      await using repo = await makeGitRepo({ files: { "lib/real.py": "REAL = 1\n", "dist/a.js": "1\n" } });
      await repo.write("a.txt", "a\n");
      await repo.write("dist/a.js", "2\n");
      await repo.write("build/a.o", "o");
      await repo.write("lib/real.py", "REAL = 2\n");
      await repo.link("link", "a.txt");
      const nothing = (): void => undefined;
      const parts = { git: repo.port, trash: repo.trash, confined: () => Promise.resolve(true) };
      const some = limits === undefined ? {} : { limits };
      const bystanders = createBystanders({
        ...parts,
        onLarge: nothing,
        onUnseen: nothing,
        onStored: nothing,
        ...some,
      });
      const order = { root: absPath(repo.root), by: "do", what: "checks", known: [] } as const;
      const watch = await bystanders.watch(order, never);
      await watch?.done();
      return (watch?.keep ?? []).map((path) => path.slice(repo.root.length + 1)).toSorted();
    };
    assert.deepEqual(await keepOf(), ["a.txt", "lib/real.py"]);
    assert.equal((await keepOf({ fileBytes: 10, allBytes: 10, files: 10, mounts: 1 })).length, 1);
  });

  it("keeps edits of files that git is told not to look at, and leaves their flags", async () => {
    await using at = await room();
    const { repo } = at;
    await repo.commit("settings", { "a.json": "{}\n", "b.json": "{}\n", "same.json": "{}\n", "sparse/c.json": "{}\n" });
    await repo.git("update-index", "--skip-worktree", "a.json", "same.json", "sparse/c.json");
    await repo.git("update-index", "--assume-unchanged", "b.json");
    await rm(repo.path("sparse"), { recursive: true });
    for (const name of ["a.json", "b.json"]) await repo.write(name, `{"my": "${name}"}\n`);
    const flags = await repo.git("ls-files", "-v");
    assert.deepEqual([await at.during(async () => undefined), at.told], [{ files: [] }, []]);
    const touched = await at.during(async () => {
      for (const name of ["a.json", "b.json"]) await repo.write(name, "{}\n");
      await repo.write("same.json", "[]\n");
    });
    assert.deepEqual(rows(touched), [
      "a.json changed uncommitted kept",
      "b.json changed uncommitted kept",
      "same.json changed clean",
    ]);
    for (const name of ["a.json", "b.json"]) await rm(repo.path(name));
    await repo.trash.restore(touched.entry ?? "");
    for (const name of ["a.json", "b.json"]) assert.equal(await repo.read(name), `{"my": "${name}"}\n`);
    assert.equal(await repo.git("ls-files", "-v"), flags);
  });

  it("keeps what a nested repository and a submodule do not hold in a commit, one in the other too", async () => {
    await using at = await room();
    const { repo } = at;
    await nestedRepository(repo, "vendor/lib");
    await nestedRepository(repo, "vendor/lib/deep");
    await nestedRepository(repo, ".venv/src/x");
    await nestedRepository(repo, "mod");
    await repo.git("add", "mod");
    await repo.git("commit", "-qm", "a submodule");
    const mine = ["vendor/lib/note.txt", "vendor/lib/deep/real.py", "mod/real.py"];
    for (const name of mine) await repo.write(name, "mine\n");
    assert.deepEqual([await at.during(async () => undefined), await at.entries(), at.told], [{ files: [] }, [], []]);
    const touched = await at.during(async () => {
      for (const name of mine) await repo.write(name, "wiped");
      for (const name of ["vendor/lib/real.py", "mod/build/a.o", "mod/a.pyc"]) await repo.write(name, "x");
      await nestedRepository(repo, "vendor/new");
    });
    assert.deepEqual(rows(touched).toSorted(), [
      "mod/build/a.o appeared absent",
      "mod/real.py changed uncommitted kept",
      "vendor/lib/deep/real.py changed uncommitted kept",
      "vendor/lib/note.txt changed uncommitted kept",
      "vendor/lib/real.py changed clean",
      "vendor/new appeared absent",
    ]);
    for (const name of mine) await rm(repo.path(name));
    await repo.trash.restore(touched.entry ?? "");
    for (const name of mine) assert.equal(await repo.read(name), "mine\n", name);
    const gone = await at.during(() => rm(repo.path("vendor/lib/.git"), { recursive: true }));
    assert.deepEqual(rows(gone), ["vendor/lib/.git vanished uncommitted lost"]);
  });

  it("shuts the git folder of a nested repository, its uncommitted files, and the whole of one git cannot read", async () => {
    for (const confined of [true, false]) {
      const keep: string[] = [];
      await using at = await room({ confined: () => Promise.resolve(confined) });
      const { repo } = at;
      await nestedRepository(repo, "lib2");
      await repo.write("lib2/note.txt", "mine\n");
      await nestedRepository(repo, "broken");
      await repo.write("broken/.git/config", "[core\n");
      const touched = await at.during(async (watch) => keep.push(...watch.keep));
      const under = keep.map((path) => path.slice(repo.root.length + 1)).toSorted();
      assert.deepEqual(
        [touched, under, at.told],
        [{ files: [] }, confined ? ["broken", "lib2/.git", "lib2/note.txt"] : [], confined ? [] : ["unseen broken"]],
      );
    }
  });

  it("takes new files away and keeps them; another tree is not watched", async () => {
    await using at = await room();
    const { repo } = at;
    const nothing = (): void => undefined;
    const confined = (): Promise<boolean> => Promise.resolve(false);
    const bystanders = createBystanders({
      git: repo.port,
      trash: repo.trash,
      confined,
      onLarge: nothing,
      onUnseen: nothing,
      onStored: nothing,
    });
    const order = { by: "do", what: "checks of a", known: [] } as const;
    assert.equal(await bystanders.watch({ ...order, root: absPath("/elsewhere") }, never), undefined);
    const watch = await bystanders.watch({ ...order, root: absPath(repo.root) }, never);
    await repo.write("conftest.py", "x = 1\n");
    await watch?.done();
    const id = await watch?.takeAway(paths("conftest.py"));
    assert.equal(await repo.read("conftest.py"), undefined);
    assert.equal(await watch?.takeAway(paths("conftest.py")), undefined);
    assert.deepEqual(await at.entries(), ["1 checks of a, new files they left"]);
    await repo.trash.restore(id ?? "");
    assert.equal(await repo.read("conftest.py"), "x = 1\n");
  });
});
