import assert from "node:assert/strict";
import { lstat, mkdir, readFile, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { absPath } from "../../shared/base/paths.ts";
import { refused } from "../support/bench.ts";
import { filesIn } from "../support/feature-bench.ts";
import { initIn } from "../support/init-room.ts";
import { type CliPlace, cliEntry, orchJson } from "../support/orch-cli.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";

const there = async (at: string): Promise<boolean> => (await lstat(at).catch(() => undefined)) !== undefined;
const text = (...parts: string[]): Promise<string> => readFile(path.join(...parts), "utf8");
const own = [".gitignore", ".python-version", "AGENTS.md", "pyproject.toml"];
const marked = "<!-- orch: constitution -->";

function placeIn(repo: TempRepo, cwd: string = repo.base): CliPlace {
  const { env } = repo;
  return { cwd, env: { ...env, PATH: [path.dirname(process.execPath), env["PATH"]].join(path.delimiter) } };
}

interface InitData {
  readonly added: readonly string[];
  readonly links: readonly string[];
  readonly notes: readonly string[];
  readonly commit: string | null;
  readonly trusted: boolean;
}

describe("init @slow", function () {
  this.timeout(600_000);

  it("makes folder, repository on main, links, constitution and the first commit, and the next command works", async () => {
    await using repo = await makeTempRepo();
    const made = await orchJson(placeIn(repo), "init", "work/mein shop ü", "sums of an invoice");
    assert.equal(made.code, 0, JSON.stringify(made));
    const root = path.join(repo.base, "work", "mein shop ü");
    const git = (...args: string[]) => repo.gitIn(root, ...args);
    assert.deepEqual(made.next, ["cd 'work/mein shop ü'", "orch new domain/Feature 'sums of an invoice'"]);
    assert.equal(await git("branch", "--show-current"), "main");
    assert.equal(await git("log", "--format=%s"), "init: mein shop ü");
    assert.equal(await git("ls-tree", "-r", "--name-only", "HEAD"), own.join("\n"));
    assert.equal(await git("status", "--porcelain"), "");
    assert.match(await text(root, ".python-version"), /^3\.\d+\n$/);
    assert.match(await text(root, "pyproject.toml"), /^\[project\]\nname = "mein-shop-u"\n/);
    const agents = await text(root, "AGENTS.md");
    for (let article = 1; article <= 11; article += 1) {
      assert.match(agents, new RegExp(`^${article}\\. \\*\\*.*\n {3}Rules?: \`constitution\\.${article}\``, "m"));
    }
    assert.ok((await lstat(path.join(root, ".agents"))).isSymbolicLink());
    assert.match(await text(root, ".git/info/exclude"), /^\/\.agents$/m);

    const here = placeIn(repo, root);
    assert.match((await orchJson(here, "trust")).summary, /^trusted already/);
    const audit = await orchJson(here, "qa");
    assert.deepEqual([audit.code, audit.data.findings], [0, []], JSON.stringify(audit));
    const feature = await orchJson(here, "new", "Billing/Invoice");
    assert.equal(feature.code, 0, JSON.stringify(feature));
    assert.equal((await orchJson(here, "runs")).data.runs.length, 2, "the run of init is known in the new repository");
  });

  it("./.agents/orch is the command, also after Orch has moved", async () => {
    await using repo = await makeTempRepo();
    const place = placeIn(repo);
    await orchJson(place, "init", "shop");
    const root = path.join(repo.base, "shop");
    const launcher = path.join(root, ".agents", "orch");
    const { execFile } = await import("node:child_process");
    const started = (): Promise<string> =>
      new Promise((resolve, reject) => {
        execFile(launcher, ["scan"], { cwd: root, env: place.env }, (error, stdout, stderr) =>
          error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stderr}`)),
        );
      });
    assert.match(await started(), /^0 features in 0 domains/);
    assert.ok(await there(path.join(root, ".agents/rules/python/core.json")));
    assert.ok(await there(path.join(root, ".agents/personas/backend_agent.md")));
    // An update: what the state folder holds is another installation's, gone by now.
    const state = path.join(repo.env["XDG_STATE_HOME"] ?? "", "orch", "agents");
    await writeFile(path.join(state, "orch"), "#!/bin/sh\nexit 70\n");
    await rm(path.join(state, "rules"));
    await symlink("/nowhere/rules", path.join(state, "rules"));
    await orchJson(placeIn(repo, root), "scan");
    assert.match(await started(), /^0 features in 0 domains/);
    assert.equal(
      await realpath(path.join(root, ".agents/rules")),
      path.join(path.dirname(path.dirname(path.dirname(cliEntry))), "rules"),
    );
  });

  it("adopts a repository: adds what is missing, commits that alone, leaves the tree as it is", async () => {
    await using repo = await makeTempRepo({
      remote: true,
      folder: "répo with space",
      files: { "README.md": "# sample\n", "AGENTS.md": "# ours\r\n", ".gitignore": "*.log" },
    });
    await repo.git("switch", "-qc", "mine");
    await repo.write("README.md", "# staged\n");
    await repo.git("add", "README.md");
    await repo.write("README.md", "# edited\n");
    await repo.write("notes.txt", "mine\n");
    await repo.write(".agents/skills/a/SKILL.md", "# a skill\n");
    await repo.git("add", ".agents");
    const before = await filesIn(repo.root, ".");
    const result = await initIn(repo, repo.root, { words: ["."] });
    const data = result.data as InitData;
    assert.equal(result.ok, true, result.summary);
    assert.deepEqual(data.added, [".python-version", "pyproject.toml"]);
    assert.deepEqual(data.links, [".agents/orch", ".agents/rules", ".agents/personas"]);
    assert.equal(data.trusted, false, "nobody has looked at this repository");
    assert.match(data.notes.join(), /The repository was here before, .*not trusted yet: .*: orch trust$/);
    assert.deepEqual(result.next, ["orch trust", 'orch new domain/Feature "what it does"']);
    assert.equal(
      await repo.git("show", "--name-status", "--format=%s", "HEAD"),
      `init: ${path.basename(repo.root)}\n\nA\t.python-version\nA\tpyproject.toml`,
    );
    assert.equal(await repo.git("status", "--porcelain"), "A  .agents/skills/a/SKILL.md\nMM README.md\n?? notes.txt");
    assert.equal(await repo.git("show", ":README.md"), "# staged");
    const after = await filesIn(repo.root, ".");
    for (const [name, content] of Object.entries(before)) {
      if (!name.startsWith("./.git/")) assert.equal(after[name], content, name);
    }
    assert.deepEqual(
      (await repo.read(".git/info/exclude"))?.split("\n").filter((line) => line.startsWith("/")),
      ["/.agents/orch", "/.agents/rules", "/.agents/personas"],
    );
    const head = await repo.git("rev-parse", "HEAD");
    const again = await initIn(repo, repo.root, { words: ["."] });
    assert.match(again.summary, /: nothing was missing\. The repository was here before, so its code is not trusted/);
    assert.equal(await repo.git("rev-parse", "HEAD"), head);
  });

  it("never writes what its own constitution forbids", async () => {
    await using repo = await makeTempRepo({
      files: { "requirements.txt": "x\n", ".tool-versions": "python 3.12.1\n" },
    });
    const data = (await initIn(repo, repo.root, { words: ["."] })).data as InitData;
    assert.deepEqual(data.added, ["AGENTS.md", ".gitignore"]);
    assert.deepEqual(data.notes, [
      ".python-version was left out: .tool-versions says it already",
      "pyproject.toml was left out: it would be a second manifest beside requirements.txt",
      "The repository was here before, so its code is not trusted yet: do, merge and qa run its tests: orch trust",
    ]);
  });

  it("a folder with files becomes a repository; they stay untracked, and nobody trusts them", async () => {
    await using repo = await makeTempRepo();
    const folder = absPath(path.join(repo.base, "unpacked"));
    await mkdir(folder);
    await writeFile(path.join(folder, "conftest.py"), "import os\n");
    await writeFile(path.join(folder, "pyproject.toml"), "[project]\nname = 'x'\n");
    const data = (await initIn(repo, folder, { words: ["."] })).data as InitData;
    assert.deepEqual([data.added, data.trusted], [["AGENTS.md", ".python-version", ".gitignore"], false]);
    assert.match(data.notes.join(), /not trusted yet: orch trust/);
    assert.equal(await repo.gitIn(folder, "status", "--porcelain"), "?? conftest.py\n?? pyproject.toml");
    assert.equal(await text(folder, "pyproject.toml"), "[project]\nname = 'x'\n");
  });

  it("inside a repository it makes a folder of it and no second repository", async () => {
    await using repo = await makeTempRepo();
    await repo.write("apps/notes.txt", "mine\n");
    const result = await initIn(repo, absPath(repo.path("apps")), { words: ["shop[1]"] });
    assert.deepEqual(
      (result.data as InitData).added.toSorted(),
      own.map((name) => `apps/shop[1]/${name}`),
      result.summary,
    );
    assert.equal(await there(repo.path("apps/shop[1]/.git")), false);
    assert.equal(await repo.git("status", "--porcelain", "-uall"), "?? apps/notes.txt");
    assert.ok((await lstat(repo.path("apps/shop[1]/.agents"))).isSymbolicLink());
  });

  it("changes nothing with --dry-run", async () => {
    await using repo = await makeTempRepo();
    const before = await filesIn(repo.base, ".");
    const result = await initIn(repo, repo.base, { words: ["work/shop"], dryRun: true });
    assert.match(result.summary, /^Would make a repository on main in .*\/work\/shop, add AGENTS\.md, .* nothing was/);
    assert.deepEqual(await filesIn(repo.base, "."), before);
  });

  it("what cannot be done leaves nothing behind", async () => {
    const rows: readonly {
      readonly what: string;
      readonly code: string;
      readonly word: string;
      readonly arrange: (repo: TempRepo) => Promise<unknown>;
      readonly cwd?: (repo: TempRepo) => string;
    }[] = [
      {
        what: "nobody known to git",
        code: "git.no-identity",
        word: "a/b/shop",
        arrange: (repo) => writeFile(path.join(repo.home, ".gitconfig"), "[user]\n\tuseConfigOnly = true\n"),
      },
      { what: "a file", code: "path.refused", word: "repo/README.md", arrange: async () => undefined },
      { what: "below a file", code: "path.refused", word: "repo/README.md/x", arrange: async () => undefined },
      { what: "git's own folder", code: "path.refused", word: "repo/.git/x", arrange: async () => undefined },
      { what: "a name of Windows", code: "path.refused", word: "aux", arrange: async () => undefined },
      { what: "a bare repository", code: "git.bare", word: "remote.git/x", arrange: async () => undefined },
      {
        what: "a detached HEAD",
        code: "tree.detached",
        word: ".",
        arrange: (repo) => repo.git("checkout", "-q", "--detach"),
        cwd: (repo) => repo.root,
      },
      {
        what: "a broken repository",
        code: "path.refused",
        word: "broken",
        arrange: (repo) => mkdir(path.join(repo.base, "broken/.git"), { recursive: true }),
      },
      {
        what: "a hook that says no",
        code: "git.hook-failed",
        word: ".",
        arrange: async (repo) => {
          await repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", 0o755);
          const place = placeIn(repo, repo.root);
          const hash = /[0-9a-f]{64}/.exec((await orchJson(place, "trust")).error?.message ?? "")?.[0] ?? "";
          await orchJson(place, "trust", "--hash", hash);
        },
        cwd: (repo) => repo.root,
      },
    ];
    for (const { what, code, word, arrange, cwd } of rows) {
      await using repo = await makeTempRepo({ remote: true, folder: "repo" });
      await arrange(repo);
      const before = await visible(repo);
      const error = await refused(initIn(repo, absPath(cwd?.(repo) ?? repo.base), { words: [word] }));
      assert.deepEqual([what, error.code], [what, code], error.message);
      assert.match(error.hint, /\S/);
      assert.deepEqual(await visible(repo), before, what);
    }
  });
});

describe("links of .agents @slow", function () {
  this.timeout(600_000);

  it("any command restores missing ones: in a clone, after rm, in a folder of other tools", async () => {
    await using repo = await makeTempRepo({ remote: true, files: { "README.md": "#\n" } });
    await initIn(repo, repo.root, { words: ["."] });
    await repo.git("push", "-q");
    const clone = await repo.clone();
    assert.equal(await there(path.join(clone, ".agents")), false);
    await orchJson(placeIn(repo, clone), "scan");
    assert.equal(await readlink(path.join(clone, ".agents")), await readlink(repo.path(".agents")));
    assert.equal(await repo.gitIn(clone, "status", "--porcelain"), "");
    await rm(repo.path(".agents"));
    await repo.write(".agents/skills/mine.md", "# mine\n");
    await orchJson(placeIn(repo, repo.root), "status");
    assert.ok(await there(repo.path(".agents/orch")));
    assert.equal(await repo.git("status", "--porcelain", "-uall"), "?? .agents/skills/mine.md");
    await rm(repo.path(".agents/personas"));
    await orchJson(placeIn(repo, repo.root), "runs");
    assert.ok(await there(repo.path(".agents/personas/backend_agent.md")));
  });

  it("leaves what is not ours, mends a link of ours that leads nowhere, and makes none where Orch is a stranger", async () => {
    await using stranger = await makeTempRepo();
    await orchJson(placeIn(stranger, stranger.root), "scan");
    assert.equal(await there(stranger.path(".agents")), false);

    await using repo = await makeTempRepo({
      files: { ".agents/orch": "#!/bin/sh\necho theirs\n", "AGENTS.md": marked },
    });
    const result = await initIn(repo, repo.root, { words: ["."] });
    assert.match(result.summary, /\.agents\/orch is not Orch's and stays as it is/);
    assert.equal(await repo.read(".agents/orch"), "#!/bin/sh\necho theirs\n");

    await using moved = await makeTempRepo({ files: { ".features.json": "{}\n" } });
    await symlink("/gone/.local/state/orch/agents", moved.path(".agents"));
    await orchJson(placeIn(moved, moved.root), "scan");
    assert.ok(await there(moved.path(".agents/rules/python/core.json")));

    await using theirs = await makeTempRepo({ files: { ".features.json": "{}\n", ".claude/x.md": "#\n" } });
    await theirs.link(".agents", ".claude");
    await orchJson(placeIn(theirs, theirs.root), "scan");
    assert.equal(await readlink(theirs.path(".agents")), ".claude");
    assert.equal(await there(theirs.path(".claude/orch")), false);
  });
});

/** Everything below the base but git's own folders of the repositories, runs and Orch's state. */
async function visible(repo: TempRepo): Promise<Record<string, string>> {
  const all = await filesIn(repo.base, ".");
  const hidden = /\/(?:\.git|\.state|\.orch)(?:\/|$)|^\.\/remote\.git/;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !hidden.test(name) || name === "./a"));
}
