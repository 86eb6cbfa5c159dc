import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, mkdir, mkdtemp, readFile, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ChangedFile } from "../../shared/model/change.ts";
import { gitIn, type GitRepo, makeGitRepo, paths } from "../support/git-repo.ts";

/** `status path (from old) modes +added -removed`, hunks left out. */
function gist(files: readonly ChangedFile[]): string[] {
  return files.map((file) => {
    const from = file.oldPath === undefined ? "" : ` from ${JSON.stringify(file.oldPath)}`;
    const count = file.binary ? "binary" : `+${file.added} -${file.removed}`;
    return `${file.status} ${JSON.stringify(file.path)}${from} ${file.oldMode}>${file.newMode} ${count}`;
  });
}

const bytes = (name: string): Buffer => Buffer.from(name, "latin1");
const long = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join("");

async function twoTrees(
  before: (repo: GitRepo) => Promise<void>,
  after: (repo: GitRepo) => Promise<void>,
): Promise<GitRepo & { base: string }> {
  const repo = await makeGitRepo({ files: { "README.md": "r\n" } });
  await before(repo);
  await repo.git("add", "-A");
  await repo.git("commit", "-q", "--allow-empty", "-m", "before");
  await after(repo);
  await repo.git("add", "-A");
  await repo.git("commit", "-q", "--allow-empty", "-m", "after");
  return repo;
}

describe("contract: git reads a diff", () => {
  it("of a hostile repository, entry by entry", async () => {
    await using repo = await twoTrees(
      async (r) => {
        await r.write("pure.txt", long);
        await r.write("edited.txt", `${long}tail\n`);
        await r.write("Case.txt", `case ${long}`);
        await r.write("bin.dat", Buffer.from([0, 1, 2, 3]));
        await r.write("gone.dat", Buffer.from([0, 9, 9]));
        await r.write("run.sh", "#!/bin/sh\n");
        await r.write("crlf.txt", "one\r\ntwo\r\n");
        await r.write("flip.txt", "one\ntwo\n");
        await r.write("turns.txt", "I am a file\n");
        await r.write("nolast.txt", "a\nb");
        await r.write("empty.txt", "");
        await r.link("link", "README.md");
        await r.write("a b/in b/side.txt", "x\n");
        await r.write("hidden.py", "a = 1\n");
        await r.write(".gitattributes", "hidden.py -diff\nsecret.py binary\n");
      },
      async (r) => {
        await r.git("mv", "pure.txt", "pure new é.txt");
        await r.git("mv", "edited.txt", "moved/ed ited.txt".replace("/", "-"));
        await r.write("moved-ed ited.txt", `${long}other tail\n`);
        await r.git("mv", "Case.txt", "case.txt");
        await r.write("bin.dat", Buffer.from([0, 1, 2, 4]));
        await r.write("new.dat", Buffer.from([0, 7]));
        await rm(r.path("gone.dat"));
        await r.write("run.sh", "#!/bin/sh\n", 0o755);
        await r.write("crlf.txt", "one\r\nTWO\r\n");
        await r.write("flip.txt", "one\r\ntwo\r\n");
        await rm(r.path("turns.txt"));
        await r.link("turns.txt", "README.md");
        await r.write("nolast.txt", "a\nc");
        await rm(r.path("empty.txt"));
        await r.write("also-empty.txt", "");
        await rm(r.path("link"));
        await r.link("link", "crlf.txt");
        await r.write("a b/in b/side.txt", "y\n");
        for (const name of [
          'quo"te',
          "tab\there",
          "line\nbreak",
          "back\\slash",
          "trailing ",
          "-dash",
          "emoji \u{1F600}",
        ]) {
          await r.write(name, `${name.length}\n`);
        }
        await writeFile(Buffer.concat([Buffer.from(`${r.root}/`), bytes("latin-\xe9")]), "latin\n");
        await r.write("liar.txt", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n:000000 100644\n");
        await r.write("hidden.py", "a = 2\n");
        await r.write("secret.py", "b = 3\n");
      },
    );
    const change = await repo.port.diff("HEAD~1", "HEAD");
    assert.deepEqual(gist(change.files).toSorted(), [
      'added "-dash" 000000>100644 +1 -0',
      'added "also-empty.txt" 000000>100644 +0 -0',
      'added "back\\\\slash" 000000>100644 +1 -0',
      'added "emoji \u{1F600}" 000000>100644 +1 -0',
      'added "latin-\uFFFD" 000000>100644 +1 -0',
      'added "liar.txt" 000000>100644 +7 -0',
      'added "line\\nbreak" 000000>100644 +1 -0',
      'added "new.dat" 000000>100644 binary',
      'added "quo\\"te" 000000>100644 +1 -0',
      'added "secret.py" 000000>100644 +1 -0',
      'added "tab\\there" 000000>100644 +1 -0',
      'added "trailing " 000000>100644 +1 -0',
      'deleted "empty.txt" 100644>000000 +0 -0',
      'deleted "gone.dat" 100644>000000 binary',
      'modified "a b/in b/side.txt" 100644>100644 +1 -1',
      'modified "bin.dat" 100644>100644 binary',
      'modified "crlf.txt" 100644>100644 +1 -1',
      'modified "flip.txt" 100644>100644 +2 -2',
      'modified "hidden.py" 100644>100644 +1 -1',
      'modified "link" 120000>120000 +1 -1',
      'modified "nolast.txt" 100644>100644 +1 -1',
      'modified "run.sh" 100644>100755 +0 -0',
      'renamed "case.txt" from "Case.txt" 100644>100644 +0 -0',
      'renamed "moved-ed ited.txt" from "edited.txt" 100644>100644 +1 -1',
      'renamed "pure new é.txt" from "pure.txt" 100644>100644 +0 -0',
      'type-changed "turns.txt" 100644>120000 +1 -1',
    ]);
    const of = (name: string): ChangedFile | undefined => change.files.find((file) => file.path === name);
    assert.deepEqual(of("liar.txt")?.hunks, [
      {
        oldStart: 0,
        newStart: 1,
        removed: [],
        added: ["diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-old", "+new", ":000000 100644"],
      },
    ]);
    assert.deepEqual(
      of("turns.txt")?.hunks.map(({ removed, added }) => [removed, added]),
      [
        [["I am a file"], []],
        [[], ["README.md"]],
      ],
    );
    assert.deepEqual(of("crlf.txt")?.hunks, [{ oldStart: 2, newStart: 2, removed: ["two"], added: ["TWO"] }]);
    assert.deepEqual(of("hidden.py")?.hunks, [{ oldStart: 1, newStart: 1, removed: ["a = 1"], added: ["a = 2"] }]);
    assert.equal(of("latin-\uFFFD")?.rawPath, bytes("latin-\xe9").toString("base64"));
    for (const file of change.files) {
      if (file.binary) continue;
      const counted = [
        file.hunks.flatMap((hunk) => hunk.added).length,
        file.hunks.flatMap((hunk) => hunk.removed).length,
      ];
      assert.deepEqual(counted, [file.added, file.removed], file.path);
    }
  });

  it("whatever the person's configuration says about diffs", async () => {
    const text = long.replace("line 8\n", "\n");
    await using repo = await twoTrees(
      (r) => r.write("a.txt", text),
      async (r) => {
        await r.git("mv", "a.txt", "b.txt");
        await r.write("b.txt", text.replace("line 7", "line seven").replace("line 9\n", "line nine\n"));
      },
    );
    const plain = await repo.port.diff("HEAD~1", "HEAD");
    for (const [key, value] of [
      ["diff.noprefix", "true"],
      ["diff.mnemonicPrefix", "true"],
      ["diff.renames", "false"],
      ["diff.interHunkContext", "20"],
      ["diff.context", "9"],
      ["diff.algorithm", "patience"],
      ["diff.relative", "true"],
      ["diff.colorMoved", "zebra"],
      ["color.ui", "always"],
      ["diff.orderFile", "no-such-file"],
      ["diff.suppressBlankEmpty", "true"],
    ] as const) {
      await repo.git("config", "--global", key, value);
    }
    const again = await (await gitIn(repo, repo.root)).diff("HEAD~1", "HEAD");
    assert.deepEqual([again.files, again.diffHash], [plain.files, plain.diffHash]);
    assert.deepEqual(
      plain.files[0]?.hunks.map(({ oldStart, added }) => [oldStart, added]),
      [
        [8, ["line seven"]],
        [10, ["line nine"]],
      ],
    );
  });

  it("every run of changed lines as a hunk of its own, however near they are", async () => {
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`);
    await using repo = await twoTrees(
      (r) => r.write("near.txt", lines.join("\n")),
      (r) =>
        r.write(
          "near.txt",
          ["line 0", ...lines.toSpliced(17, 1).toSpliced(6, 0, "and", "more").with(4, "five")].join("\n"),
        ),
    );
    const { files } = await repo.port.diff("HEAD~1", "HEAD");
    assert.deepEqual(files[0]?.hunks, [
      { oldStart: 0, newStart: 1, removed: [], added: ["line 0"] },
      { oldStart: 5, newStart: 6, removed: ["line 5"], added: ["five"] },
      { oldStart: 6, newStart: 8, removed: [], added: ["and", "more"] },
      { oldStart: 18, newStart: 20, removed: ["line 18"], added: [] },
    ]);
  });

  it("of submodules", async () => {
    await using repo = await makeGitRepo({ remote: true });
    await repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", String(repo.remote), "lib");
    await repo.commit("module");
    const { files } = await repo.port.diff("HEAD~1", "HEAD");
    assert.deepEqual(gist(files), ['added ".gitmodules" 000000>100644 +3 -0', 'added "lib" 000000>160000 +1 -0']);
  });

  it("of 50,000 lines and of one line of 3 MB", async () => {
    const many = (word: string): string => Array.from({ length: 50_000 }, (_, n) => `${word} ${n}`).join("\n");
    await using repo = await twoTrees(
      async (r) => r.write("many.txt", many("old")),
      async (r) => {
        await r.write("many.txt", many("new"));
        await r.write("wide.txt", "x".repeat(3_000_000));
      },
    );
    const { files } = await repo.port.diff("HEAD~1", "HEAD");
    assert.deepEqual(gist(files), [
      'modified "many.txt" 100644>100644 +50000 -50000',
      'added "wide.txt" 000000>100644 +1 -0',
    ]);
    assert.deepEqual(
      [files[0]?.hunks[0]?.added.length, files[0]?.hunks[0]?.added[49_999], files[1]?.hunks[0]?.added[0]?.length],
      [50_000, "new 49999", 3_000_000],
    );
  });

  it("of nothing", async () => {
    await using repo = await makeGitRepo();
    const change = await repo.port.diff("HEAD", "HEAD");
    assert.deepEqual([change.files, change.patch.length], [[], 0]);
  });

  it("the patch brings one tree to the other under plain git, and under ours", async () => {
    await using repo = await twoTrees(
      async (r) => {
        await r.write("text.txt", long);
        await r.write("bin.dat", Buffer.from([0, 1, 2]));
        await r.write("crlf.txt", "a\r\nb\r\n");
        await r.write("dir/was-file", "f\n");
        await r.write("gone/deep/x.txt", "gone\n");
        await r.link("link", "text.txt");
        await r.write("twin-1", "same\n");
      },
      async (r) => {
        await r.git("mv", "text.txt", "text 2.txt");
        await r.write("text 2.txt", long.replace("line 3", "LINE 3"));
        await r.write("bin.dat", Buffer.from([0, 1, 3, 200]));
        await r.write("crlf.txt", "a\r\nB\r\n");
        await rm(r.path("dir/was-file"));
        await r.write("dir/was-file/now-folder", "n\n", 0o755);
        await rm(r.path("gone"), { recursive: true });
        await rm(r.path("link"));
        await r.link("link", "bin.dat");
        await r.write("twin-2", "same\n");
        await r.write("twin-3", "same\n");
      },
    );
    const change = await repo.port.diff("HEAD~1", "HEAD");
    await repo.git("switch", "-q", "--detach", "HEAD~1");
    assert.deepEqual(
      await repo.port.applyPatch(change.patch, { checkOnly: true }).then((applied) => applied.kind),
      "applied",
    );
    assert.equal(await repo.git("status", "--short"), "");
    const applied = await repo.port.applyPatch(change.patch);
    assert.equal(applied.kind, "applied");
    assert.equal(await repo.git("diff", "--cached", "--name-only"), "");
    await repo.git("add", "-A");
    assert.equal(await repo.git("write-tree"), await repo.git("rev-parse", "main^{tree}"));
    await assert.rejects(lstat(repo.path("gone")), /ENOENT/);
    await repo.git("reset", "-q", "--hard", "main~1");
    execFileSync("git", ["apply", "--index", "-"], { cwd: repo.root, env: { ...repo.env }, input: change.patch });
    assert.equal(await repo.git("write-tree"), await repo.git("rev-parse", "main^{tree}"));
  });
});

describe("contract: git applies a patch", () => {
  async function patchOf(repo: GitRepo): Promise<Uint8Array> {
    await repo.git("switch", "-q", "-c", "work");
    await repo.commit("work", { "a.txt": long.replace("line 2\n", "line two\n"), "new.txt": "new\n" });
    const change = await repo.port.diff("main", "work");
    await repo.git("switch", "-q", "main");
    return change.patch;
  }

  it("beside the person's edits, staged and not", async () => {
    await using repo = await makeGitRepo({ files: { "a.txt": long, "b.txt": "b\n" } });
    const patch = await patchOf(repo);
    await repo.write("a.txt", long.replace("line 25", "mine 25"));
    await repo.write("b.txt", "staged\n");
    await repo.git("add", "b.txt");
    assert.equal((await repo.port.applyPatch(patch)).kind, "applied");
    assert.equal(await repo.read("a.txt"), long.replace("line 25", "mine 25").replace("line 2\n", "line two\n"));
    assert.equal(await repo.git("status", "--short"), " M a.txt\nM  b.txt\n?? new.txt");
  });

  it("a file that becomes a folder and a folder that becomes a file, and back again", async () => {
    await using repo = await makeGitRepo({ files: { tool: "t\n", "dir/a.txt": "a\n", "dir/deep/b.txt": "b\n" } });
    await repo.git("switch", "-q", "-c", "work");
    for (const name of ["tool", "dir"]) await rm(repo.path(name), { recursive: true });
    await repo.commit("work", { "tool/main": "m\n", "tool/help/h": "h\n", dir: "d\n" });
    const there = await repo.port.diff("main", "work");
    const back = await repo.port.diff("work", "main");
    await repo.git("switch", "-q", "main");
    for (const checkOnly of [true, false])
      assert.equal((await repo.port.applyPatch(there.patch, { checkOnly })).kind, "applied");
    await repo.git("add", "-A");
    assert.equal(await repo.git("write-tree"), await repo.git("rev-parse", "work^{tree}"));
    await repo.git("reset", "-q");
    assert.deepEqual([await repo.read("dir"), await repo.read("tool/help/h")], ["d\n", "h\n"]);
    assert.deepEqual(await repo.port.applyPatch(back.patch), {
      kind: "applied",
      paths: ["dir", "dir/a.txt", "dir/deep/b.txt", "tool", "tool/help/h", "tool/main"],
    });
    assert.equal(await repo.git("status", "--short"), "");

    for (const [mine, why] of [
      ["dir/mine.txt", "dir is no file: it holds dir/mine.txt"],
      ["dir/deep/mine/x", "dir is no file: it holds dir/deep/mine"],
    ] as const) {
      await repo.write(mine, "mine\n");
      assert.deepEqual(await repo.port.applyPatch(there.patch), { kind: "refused", output: why });
      assert.equal(await repo.read(mine), "mine\n");
      await repo.git("clean", "-fdq");
    }
    await mkdir(repo.path("dir/empty"));
    assert.equal((await repo.port.applyPatch(there.patch)).kind, "refused");
    assert.equal(await repo.git("status", "--short"), "");
  });

  const refusals: Readonly<Record<string, (repo: GitRepo) => Promise<void>>> = {
    "a hunk that does not fit": (repo) => repo.write("a.txt", long.replace("line 2\n", "mine\n")),
    "a file that is gone": (repo) => rm(repo.path("a.txt")),
    "a new file that is there already": (repo) => repo.write("new.txt", "mine\n"),
    "a link in the way": async (repo) => {
      await writeFile(path.join(repo.base, "outside"), long);
      await rm(repo.path("a.txt"));
      await symlink(path.join(repo.base, "outside"), repo.path("a.txt"));
    },
    "a folder in the way": (repo) => repo.write("new.txt/x", "mine\n"),
  };
  for (const [name, spoil] of Object.entries(refusals)) {
    it(`not at all with ${name}`, async () => {
      await using repo = await makeGitRepo({ files: { "a.txt": long } });
      const patch = await patchOf(repo);
      await spoil(repo);
      const before = await repo.git("status", "--short");
      assert.equal((await repo.port.applyPatch(patch)).kind, "refused");
      assert.equal(await repo.git("status", "--short"), before);
    });
  }

  it("never outside the repository", async () => {
    await using repo = await makeGitRepo();
    for (const name of ["../out.txt", "/tmp/out.txt", ".git/hooks/pre-commit", "a/../../out.txt"]) {
      const patch = `diff --git a/${name} b/${name}\nnew file mode 100755\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
      assert.equal((await repo.port.applyPatch(Buffer.from(patch))).kind, "refused", name);
    }
    await mkdtemp(path.join(repo.base, "elsewhere-"));
    await repo.link("way", repo.base);
    const through =
      "diff --git a/way/out.txt b/way/out.txt\nnew file mode 100644\n--- /dev/null\n+++ b/way/out.txt\n@@ -0,0 +1 @@\n+x\n";
    assert.equal((await repo.port.applyPatch(Buffer.from(through))).kind, "refused");
    assert.ok(!(await readdir(repo.base)).includes("out.txt"));
  });

  it("refuses what is no patch", async () => {
    await using repo = await makeGitRepo();
    assert.equal((await repo.port.applyPatch(Buffer.from("hello\n"))).kind, "refused");
  });
});

describe("contract: git takes and writes trees", () => {
  it("a snapshot holds the raw bytes of the named paths over HEAD, ignored files too", async () => {
    await using repo = await makeGitRepo({
      files: {
        "a.txt": "a\n",
        "s/b.txt": "b\n",
        "s/c.txt": "c\n",
        ".gitignore": "*.log\n",
        ".gitattributes": "* text=auto eol=crlf\n",
      },
    });
    await repo.write("a.txt", "not named\n");
    await repo.write("s/b.txt", "one\r\ntwo\n", 0o755);
    await rm(repo.path("s/c.txt"));
    await repo.write("s/x.log", "log\n");
    await repo.write("s/deep/\u00fc \n.txt", "new\n");
    await repo.write("s/inner/.git/config", "[core]\n");
    await repo.link("s/l", "nowhere");
    await repo.git("add", "a.txt");
    const index = await readFile(repo.path(".git/index"));
    const tree = await repo.port.snapshot(paths("s", "missing.txt"));
    assert.deepEqual(await readFile(repo.path(".git/index")), index);
    assert.deepEqual(
      (await repo.git("ls-tree", "-r", "-z", tree))
        .split("\0")
        .filter(Boolean)
        .map((line) => line.replace(/ \w+ \w+\t/, " ")),
      [
        "100644 .gitattributes",
        "100644 .gitignore",
        "100644 a.txt",
        "100755 s/b.txt",
        "100644 s/deep/\u00fc \n.txt",
        "120000 s/l",
        "100644 s/x.log",
      ],
    );
    assert.equal(new TextDecoder().decode(await repo.port.fileAt(tree, paths("s/b.txt")[0] as never)), "one\r\ntwo\n");
    assert.equal(new TextDecoder().decode(await repo.port.fileAt(tree, paths("a.txt")[0] as never)), "a\n");
  });

  it("a snapshot does not follow a link out of the repository", async () => {
    await using repo = await makeGitRepo();
    await repo.link("way", repo.base);
    await assert.rejects(repo.port.snapshot(paths("way/home")), { code: "path.refused" });
  });

  it("checkoutTo writes them back raw, whatever attributes say", async () => {
    await using repo = await makeGitRepo({
      files: { "a.txt": "a\n" },
      globalConfig: '[core]\n\tautocrlf = true\n[filter "up"]\n\tsmudge = tr a-z A-Z\n',
    });
    await repo.write("s/.gitattributes", "* filter=up eol=crlf ident\n");
    await repo.write("s/id.txt", "$Id$ one\n");
    await repo.write("s/same-1", "same\n");
    await repo.write("s/same-2", "same\n", 0o755);
    await repo.write("s/big", Buffer.alloc(5_000_000, 7));
    await repo.link("s/l", "id.txt");
    const tree = await repo.port.snapshot(paths("s"));
    const out = repo.path("..", "out");
    await repo.port.checkoutTo(tree, out);
    assert.deepEqual((await readdir(out, { recursive: true })).toSorted(), [
      "a.txt",
      "s",
      "s/.gitattributes",
      "s/big",
      "s/id.txt",
      "s/l",
      "s/same-1",
      "s/same-2",
    ]);
    assert.equal(await readFile(path.join(out, "s/id.txt"), "utf8"), "$Id$ one\n");
    assert.equal(await readlink(path.join(out, "s/l")), "id.txt");
    assert.deepEqual(
      [(await lstat(path.join(out, "s/same-1"))).mode & 0o111, (await lstat(path.join(out, "s/same-2"))).mode & 0o111],
      [0, 0o111],
    );
    assert.ok((await readFile(path.join(out, "s/big"))).equals(Buffer.alloc(5_000_000, 7)));
  });

  it("merges off-tree, honours union, and says which files conflict", async () => {
    await using repo = await makeGitRepo({
      files: { "a.txt": "1\n2\n3\n", "log.md": "0\n", ".gitattributes": "log.md merge=union\n" },
    });
    await repo.git("switch", "-q", "-c", "side");
    await repo.commit("side", { "a.txt": "one\n2\n3\n", "log.md": "0\nside\n", "side.txt": "s\n" });
    await repo.git("switch", "-q", "main");
    await repo.commit("main", { "a.txt": "1\n2\nthree\n", "log.md": "0\nmain\n" });
    const merged = await repo.port.mergeTree("main", "side");
    assert.ok(merged.kind === "merged");
    assert.equal(await repo.git("show", `${merged.tree}:a.txt`), "one\n2\nthree");
    assert.equal(await repo.git("show", `${merged.tree}:log.md`), "0\nmain\nside");
    await repo.commit("main again", { "a.txt": "uno\n2\nthree\n", "side.txt": "mine\n" });
    assert.deepEqual(await repo.port.mergeTree("main", "side"), { kind: "conflict", paths: ["a.txt", "side.txt"] });
    assert.equal(await repo.git("status", "--short"), "");
  });

  it("merges with a driver of the person's switched off, and never drops a side", async () => {
    await using repo = await makeGitRepo({
      files: { "a.txt": "1\n2\n3\n", ".gitattributes": "a.txt merge=mine\n" },
      globalConfig: '[merge "mine"]\n\tdriver = true\n',
    });
    await repo.git("switch", "-q", "-c", "side");
    await repo.commit("side", { "a.txt": "one\n2\n3\n" });
    await repo.git("switch", "-q", "main");
    await repo.commit("main", { "a.txt": "1\n2\nthree\n" });
    const merged = await repo.port.mergeTree("main", "side");
    assert.equal(merged.kind === "merged" && (await repo.git("show", `${merged.tree}:a.txt`)), "one\n2\nthree");
    await repo.commit("clash", { "a.txt": "uno\n2\nthree\n" });
    assert.deepEqual(await repo.port.mergeTree("main", "side"), { kind: "conflict", paths: ["a.txt"] });
  });

  it("moves a ref only from where it was", async () => {
    await using repo = await makeGitRepo();
    const [first, second] = [await repo.git("rev-parse", "HEAD"), await repo.commit("second")];
    const at = "refs/orch/kept/x";
    assert.deepEqual(
      [
        await repo.port.updateRef(at, first, undefined),
        await repo.port.updateRef(at, second, undefined),
        await repo.port.updateRef(at, second, second),
        await repo.port.updateRef(at, second, first),
        await repo.port.deleteRef(at, first),
        await repo.port.deleteRef(at, second),
        await repo.port.deleteRef(at, second),
      ],
      [true, false, false, true, false, true, false],
    );
    await assert.rejects(repo.port.deleteRef("refs/heads/main", second), { code: "usage.invalid" });
  });
});
