import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { absPath } from "../../shared/base/paths.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Git } from "../../shared/ports/git.ts";
import { confirmed, gitIn, type GitRepo, makeGitRepo, paths } from "../support/git-repo.ts";
import type { TempRepo } from "../support/temp-repo.ts";

const hooks = [
  ...["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push", "post-checkout", "post-merge"],
  ...["pre-merge-commit", "post-index-change", "reference-transaction", "post-rewrite", "fsmonitor-watchman"],
];

/** A program that leaves a file named by what started it, and hands its input on. */
async function canary(repo: TempRepo, name: string, more = "cat"): Promise<string> {
  const file = path.join(repo.base, "canaries", name);
  await mkdir(path.dirname(file), { recursive: true });
  await mkdir(path.join(repo.base, "ran"), { recursive: true });
  await writeFile(file, `#!/bin/sh\ntouch '${repo.base}/ran/${name}'\n${more}\n`, { mode: 0o755 });
  return file;
}

async function ran(repo: TempRepo): Promise<readonly string[]> {
  return (await readdir(path.join(repo.base, "ran"))).toSorted();
}

async function forget(repo: TempRepo): Promise<void> {
  await rm(path.join(repo.base, "ran"), { recursive: true });
  await mkdir(path.join(repo.base, "ran"));
}

const keys = [
  ...["core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "core.gitProxy"],
  ...["core.alternateRefsCommand", "sequence.editor", "diff.external", "interactive.diffFilter", "gpg.program"],
  ...["gpg.ssh.program", "credential.helper", "filter.evil.clean", "filter.evil.smudge", "merge.evil.driver"],
  ...["diff.evil.command", "diff.evil.textconv", "remote.origin.uploadpack", "remote.origin.receivepack"],
  ...["submodule.lib.update", "tar.evil.command", "trailer.evil.command", "pager.status", "pager.diff", "pager.log"],
];

async function programs(repo: TempRepo): Promise<ReadonlyMap<string, string>> {
  const out = new Map<string, string>();
  for (const key of keys) out.set(key, await canary(repo, key));
  for (const verb of ["status", "diff", "log", "commit", "push", "fetch", "branch", "switch"]) {
    out.set(`alias.${verb}`, `!${await canary(repo, `alias.${verb}`)}`);
  }
  out.set("commit.gpgSign", "true");
  out.set("push.gpgSign", "if-asked");
  return out;
}

/** Where a hostile repository can say it. */
const places: Readonly<Record<string, (repo: TempRepo) => Promise<void>>> = {
  async "the repository's configuration"(repo) {
    for (const [key, value] of await programs(repo)) await repo.git("config", "--local", key, value);
  },
  async "a file it includes"(repo) {
    for (const [key, value] of await programs(repo)) await repo.git("config", "--file", ".git/more", key, value);
    await repo.git("config", "--local", "include.path", "more");
  },
  async "a file it includes on this branch"(repo) {
    for (const [key, value] of await programs(repo)) await repo.git("config", "--file", ".git/more", key, value);
    await repo.git("config", "--local", "includeIf.onbranch:**.path", "more");
  },
  async "the worktree's configuration"(repo) {
    await repo.git("config", "--local", "extensions.worktreeConfig", "true");
    for (const [key, value] of await programs(repo)) await repo.git("config", "--worktree", key, value);
  },
};

/** main and a feature branch that differ, a conflict to make, a submodule, files with every attribute. */
async function subject(deps: Parameters<typeof makeGitRepo>[1] = {}): Promise<GitRepo> {
  const files = {
    "a.txt": "one\ntwo\nthree\n",
    "b.txt": "b\n",
    "c.md": "c\n",
    ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n",
  };
  const repo = await makeGitRepo({ remote: true, files }, deps);
  await repo.git("switch", "-q", "-c", "side");
  await repo.commit("side", { "a.txt": "one\nTWO\nthree\n", "new.txt": "new\n" });
  await repo.git("switch", "-q", "main");
  await repo.commit("main moves", { "a.txt": "one\ntwo\nTHREE\nfour\n" });
  await repo.git("push", "-q", "origin", "main", "side");
  await repo.write("b.txt", "b changed\n");
  await repo.write("fresh/f.txt", "fresh\n");
  return repo;
}

async function plantHooks(repo: TempRepo): Promise<void> {
  for (const hook of hooks) {
    const file = await canary(repo, `hook.${hook}`, "cat >/dev/null");
    await writeFile(path.join(repo.root, ".git", "hooks", hook), `#!/bin/sh\nexec '${file}' "$@"\n`, { mode: 0o755 });
  }
}

/** Every verb of the port; `trusted` goes to the two that may run something. */
function verbs(git: Git, repo: GitRepo, trusted: boolean): Readonly<Record<keyof Git, () => Promise<unknown>>> {
  const head = async (ref = "HEAD"): Promise<string> => (await git.resolve(ref)) ?? "";
  return {
    place: async () => git.place,
    head: () => git.head(),
    defaultBranch: () => git.defaultBranch(),
    operation: () => git.operation(),
    indexLock: () => git.indexLock(),
    uncommitted: () => git.uncommitted(() => false),
    status: () => git.status({ ignoredIn: paths("fresh")[0] as never }),
    branches: () => git.branches(),
    resolve: () => git.resolve("side"),
    isAncestor: () => git.isAncestor("main", "side"),
    mergedHow: () => git.mergedHow("side", "main"),
    remote: () => git.remote(),
    remotes: () => git.remotes(),
    identity: () => git.identity(),
    fileAt: () => git.fileAt("HEAD", paths("a.txt")[0] as never),
    checkedOut: () => git.checkedOut("HEAD", paths("a.txt")[0] as never),
    wouldCommit: () => git.wouldCommit("HEAD", paths("a.txt")[0] as never),
    filesAt: () => git.filesAt("HEAD"),
    listFiles: () => git.listFiles(),
    programKeys: () => git.programKeys(),
    subject: () => git.subject("HEAD"),
    mergeBase: () => git.mergeBase("main", "side"),
    commitsOnly: () => git.commitsOnly("side", "main"),
    checkedOutElsewhere: () => git.checkedOutElsewhere("side"),
    snapshot: () => git.snapshot(paths("a.txt", "b.txt", "fresh")),
    diff: async () => git.diff("main", await git.snapshot(paths("b.txt", "fresh"))),
    changedPaths: () => git.changedPaths("main", "side"),
    mergeTree: () => git.mergeTree("main", "side"),
    followCommit: async () =>
      git.followCommit({ paths: paths("a.txt"), before: await head("main~1"), commit: await head("main") }),
    commitTree: async () => git.commitTree(`${await head()}^{tree}`, [await head()], "off-tree"),
    updateRef: async () => git.updateRef("refs/orch/base/x", await head(), undefined),
    deleteRef: async () => git.deleteRef("refs/orch/base/x", await head()),
    checkoutTo: () => git.checkoutTo("side", absPath(path.join(repo.base, "out"))),
    create: () => git.create("Billing/Invoice", "HEAD", "Billing/Invoice"),
    switch: async () => {
      await git.switch("side");
      await git.switch("main");
    },
    rename: () => git.rename("Billing/Invoice", "Billing/Bill"),
    delete: async () => git.delete("Billing/Bill", await head("Billing/Bill")),
    fastForward: async () => {
      await repo.tryGit(
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "branch",
        "-f",
        "old",
        "main~1",
      );
      await git.fastForward("old", "main");
      await git.create("behind", "main~1", "a/b");
      await git.discard(paths("b.txt"), "HEAD", confirmed);
      await git.switch("behind");
      await git.fastForward("behind", "main");
      await git.switch("main");
    },
    discard: async () => {
      await repo.write("a.txt", "mine\n");
      await git.discard(paths("a.txt"), "HEAD", confirmed);
    },
    commitPaths: async () => {
      await repo.write("c.md", "c changed\n");
      return git.commitPaths({ paths: paths("c.md"), message: "docs: c", trusted });
    },
    fetch: () => git.fetch("origin"),
    push: () => git.push({ remote: "origin", from: "main", to: "main", setUpstream: true, trusted }),
    deleteRemote: async () => git.deleteRemote("origin", "side", await head("side")),
    replaceFiles: () => {
      const data = new TextEncoder().encode("x\n");
      return git.replaceFiles("do", [
        { path: paths("made/by.txt")[0] as never, old: { kind: "absent" }, next: { kind: "file", data } },
      ]);
    },
    unfinishedWrites: () => git.unfinishedWrites(),
    settleWrites: () => git.settleWrites({ store: () => Promise.reject(new Error("nothing is to be stored")) }),
    applyPatch: async () => {
      const change = await git.diff("HEAD", await git.snapshot(paths("b.txt", "fresh")));
      return git.applyPatch((await git.diff(change.tree, "HEAD")).patch);
    },
  };
}

describe("contract: git runs nothing of an untrusted repository", () => {
  for (const [where, plant] of Object.entries(places)) {
    it(`no verb starts a program named in ${where}`, async () => {
      await using repo = await subject();
      await plant(repo);
      await plantHooks(repo);
      const table = verbs(repo.port, repo, false);
      assert.deepEqual(Object.keys(table).toSorted(), Object.keys(repo.port).toSorted());
      for (const [name, verb] of Object.entries(table)) {
        await verb();
        assert.deepEqual(await ran(repo), [], `${name} ran something`);
      }
      await repo.write("late.txt", "late\n");
      const item = await repo.trash.store({
        by: "undo",
        what: "all",
        paths: paths("fresh", "a.txt", "late.txt"),
        branches: ["old"],
      });
      await repo.trash.removeStored(item.id);
      await repo.trash.restore(item.id);
      assert.deepEqual(await ran(repo), [], "trash ran something");
      // The twin: the same repository under plain git does run them.
      await repo.tryGit("add", "-A");
      await repo.tryGit("status");
      await repo.tryGit("diff", "HEAD");
      await repo.tryGit("commit", "-q", "--no-gpg-sign", "-m", "x");
      await repo.tryGit("merge", "side");
      const awake = await ran(repo);
      for (const name of [
        "core.fsmonitor",
        "filter.evil.clean",
        "diff.evil.command",
        "hook.pre-commit",
        "merge.evil.driver",
      ]) {
        assert.ok(awake.includes(name), `plain git ran ${awake.join(", ")}`);
      }
    });
  }

  it("names the local keys, and only those", async () => {
    await using repo = await subject();
    await repo.git("config", "--global", "filter.mine.clean", "cat");
    await repo.git("config", "--local", "filter.evil.clean", "sed s/a/b/");
    await repo.git("config", "--local", "alias.st", "status");
    await repo.git("config", "--local", "user.nick", "x");
    assert.deepEqual(await repo.port.programKeys(), [
      { key: "filter.evil.clean", value: "sed s/a/b/" },
      { key: "alias.st", value: "status" },
    ]);
  });

  it("sees what was planted a moment ago", async () => {
    await using repo = await subject();
    await repo.port.status();
    await repo.git("config", "--local", "filter.evil.clean", await canary(repo, "late"));
    await repo.write("a.txt", "touched\n");
    await repo.port.status();
    assert.deepEqual(await ran(repo), []);
  });

  it("does not commit unfiltered what a filter was meant for", async () => {
    await using repo = await subject();
    await repo.git("config", "--local", "filter.evil.clean", await canary(repo, "clean"));
    await assert.rejects(
      repo.port.commitPaths({ paths: paths("b.txt"), message: "x", trusted: true }),
      (error) => isOrchError(error, "git.unsafe-config") && error.data["keys"]?.toString() === "filter.evil.clean",
    );
    assert.deepEqual(await ran(repo), []);
  });

  it("does not check out unfiltered what is useless without its filter", async () => {
    await using repo = await subject();
    await repo.git("config", "--local", "filter.evil.smudge", await canary(repo, "smudge"));
    await repo.git("config", "--local", "filter.evil.required", "true");
    await assert.rejects(repo.port.switch("side"), (error) => isOrchError(error, "git.unsafe-config"));
    assert.deepEqual(
      [await repo.port.head().then((head) => head.kind === "branch" && head.branch), await ran(repo)],
      ["main", []],
    );
  });

  it("does not look into a submodule with a configuration of its own", async () => {
    await using repo = await subject();
    await repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", String(repo.remote), "lib");
    await repo.commit("submodule");
    await repo.git("config", "--file", ".git/modules/lib/config", "core.fsmonitor", await canary(repo, "inner"));
    await repo.write("lib/c.md", "touched\n");
    await repo.port.status();
    await repo.port.diff("HEAD~1", "HEAD");
    await repo.port.switch("side");
    assert.deepEqual(await ran(repo), []);
  });

  it("runs nothing that a nested repository or a submodule configures when it looks into them", async () => {
    await using repo = await subject();
    await repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", String(repo.remote), "lib");
    await repo.commit("submodule");
    await repo.write("own/c.md", "c\n");
    await repo.gitIn(repo.path("own"), "init", "-q");
    await repo.gitIn(repo.path("own"), "add", "c.md");
    for (const folder of ["lib", "own"]) {
      const evil = await canary(repo, folder);
      for (const key of [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.process",
        "core.sshCommand",
        "alias.status",
      ])
        await repo.gitIn(repo.path(folder), "config", "--local", key, evil);
      await repo.write(`${folder}/.gitattributes`, "*.md filter=evil\n");
      await repo.write(`${folder}/c.md`, "touched\n");
    }
    const { entries, repositories, again } = await repo.port.uncommitted(() => false);
    await again();
    const inside = entries.flatMap(({ path: name }) => (/^(?:lib|own)\//.test(name) ? name : [])).toSorted();
    assert.deepEqual(
      [inside, repositories, await ran(repo)],
      [
        ["lib/.gitattributes", "lib/c.md", "own/.gitattributes", "own/c.md"],
        [
          { path: "lib", seen: true },
          { path: "own", seen: true },
        ],
        [],
      ],
    );
  });

  it("asks only the user's own credential helpers", async () => {
    await using repo = await subject();
    const server = createServer((_request, response) => {
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const port = (server.address() as AddressInfo).port;
      await repo.git("remote", "add", "web", `http://127.0.0.1:${port}/x.git`);
      await repo.git("config", "--global", "credential.helper", await canary(repo, "global-helper"));
      await repo.git("config", "--local", "credential.helper", await canary(repo, "local-helper"));
      await repo.git(
        "config",
        "--local",
        `credential.http://127.0.0.1:${port}.helper`,
        await canary(repo, "url-helper"),
      );
      assert.equal((await repo.port.fetch("web")).kind, "failed");
      assert.deepEqual(await ran(repo), ["global-helper"]);
    } finally {
      server.close();
    }
  });

  for (const url of ["ext::sh -c 'touch %S'", "git://127.0.0.1:1/x", "ssh://127.0.0.1:1/x"]) {
    it(`fetching from ${url.slice(0, 6)} starts no program of the repository`, async () => {
      await using repo = await subject();
      await places["the repository's configuration"]?.(repo);
      await repo.git("config", "remote.evil.url", url.replace("%S", path.join(repo.base, "ran", "ext")));
      await repo.git("config", "remote.evil.fetch", "+refs/heads/*:refs/remotes/evil/*");
      assert.equal((await repo.port.fetch("evil")).kind, "failed");
      assert.deepEqual(await ran(repo), []);
    });
  }

  it("keeps programs out of a PATH that leads into the repository, and git's own variables out", async () => {
    await using repo = await subject();
    await canary(repo, "ssh");
    await repo.write("ssh", `#!/bin/sh\ntouch '${repo.base}/ran/ssh'\n`, 0o755);
    const env = {
      ...repo.env,
      PATH: `:.:${repo.env["PATH"]}`,
      GIT_SSH_COMMAND: await canary(repo, "GIT_SSH_COMMAND"),
      GIT_EXTERNAL_DIFF: await canary(repo, "GIT_EXTERNAL_DIFF"),
      GIT_DIR: path.join(repo.base, "elsewhere"),
      GIT_INDEX_FILE: path.join(repo.base, "other-index"),
    };
    const git = await gitIn(repo, repo.root, { env });
    await repo.git("remote", "add", "far", "ssh://127.0.0.1:1/x");
    await git.fetch("far");
    await git.diff("main", "side");
    await git.status();
    assert.deepEqual([git.place.root, await ran(repo)], [repo.root, []]);
  });
});

describe("contract: git in a trusted repository", () => {
  const mark = (key: string, value: string): string => `${key}=${createHash("sha256").update(value).digest("hex")}`;
  const signer =
    "cat >/dev/null; printf '%s\\n' '-----BEGIN PGP SIGNATURE-----' '' x '-----END PGP SIGNATURE-----'; echo '[GNUPG:] SIG_CREATED D' >&2";

  it("runs hooks and signing at commit and push, nothing anywhere else", async () => {
    const approved: string[] = [];
    await using repo = await subject({ approvedKeys: () => Promise.resolve(approved) });
    await plantHooks(repo);
    const gpg = await canary(repo, "gpg", signer);
    await repo.git("config", "--local", "gpg.program", gpg);
    await repo.git("config", "--local", "commit.gpgSign", "true");
    approved.push(mark("gpg.program", gpg));
    await writeFile(path.join(repo.root, ".gitattributes"), "");
    const seen: Record<string, readonly string[]> = {};
    for (const [name, verb] of Object.entries(verbs(repo.port, repo, true))) {
      await verb();
      const now = await ran(repo);
      if (now.length > 0) seen[name] = now.filter((hook) => !/reference-transaction|post-index-change/.test(hook));
      await forget(repo);
    }
    assert.deepEqual(seen, {
      commitPaths: ["gpg", "hook.commit-msg", "hook.post-commit", "hook.pre-commit", "hook.prepare-commit-msg"],
      push: ["hook.pre-push"],
    });
    const signed = /gpgsig -----BEGIN PGP SIGNATURE-----/;
    assert.match(await repo.git("cat-file", "commit", "HEAD"), signed);
    const offTree = await repo.port.commitTree("HEAD^{tree}", ["HEAD"], "merge", { trusted: true });
    assert.match(await repo.git("cat-file", "commit", offTree), signed);
    assert.deepEqual(await ran(repo), ["gpg"]);
  });

  it("runs no hook while one waits for a person", async () => {
    let held = true;
    await using repo = await subject({ hooksHeld: () => Promise.resolve(held) });
    await plantHooks(repo);
    await repo.port.commitPaths({ paths: paths("b.txt"), message: "x", trusted: true });
    await repo.port.push({ remote: "origin", from: "main", to: "main", setUpstream: false, trusted: true });
    assert.deepEqual(await ran(repo), []);
    held = false;
    await repo.write("b.txt", "again\n");
    await repo.port.commitPaths({ paths: paths("b.txt"), message: "x", trusted: true });
    assert.ok((await ran(repo)).includes("hook.pre-commit"));
  });

  it("runs an approved filter at the commit, and not one whose command changed since", async () => {
    const approved: string[] = [];
    await using repo = await subject({ approvedKeys: () => Promise.resolve(approved) });
    await repo.git("config", "--local", "filter.evil.clean", "tr a-z A-Z");
    approved.push(mark("filter.evil.clean", "tr a-z A-Z"));
    await repo.port.commitPaths({ paths: paths("b.txt"), message: "x", trusted: true });
    assert.equal(await repo.git("cat-file", "blob", "HEAD:b.txt"), "B CHANGED");
    await repo.git("config", "--local", "filter.evil.clean", "rev");
    await appendFile(repo.path("b.txt"), "more\n");
    const again = repo.port.commitPaths({ paths: paths("b.txt"), message: "x", trusted: true });
    await assert.rejects(again, (error) => isOrchError(error, "git.unsafe-config"));
  });

  it("a hook that fails refuses with its words, and nothing is half done", async () => {
    await using repo = await subject();
    await repo.write("b.txt", "staged\n");
    await repo.git("add", "b.txt");
    await repo.write("b.txt", "b changed\n");
    const before = [
      await repo.git("rev-parse", "HEAD"),
      await repo.git("ls-files", "-s"),
      await repo.git("status", "--short"),
    ];
    for (const hook of ["pre-commit", "commit-msg"]) {
      await writeFile(path.join(repo.root, ".git", "hooks", hook), "#!/bin/sh\necho no emoji >&2\nexit 1\n", {
        mode: 0o755,
      });
      await assert.rejects(
        repo.port
          .commitPaths({ paths: paths("c.md", "fresh"), message: "x", trusted: true })
          .then(() => repo.write("c.md", "c\n")),
        (error) => isOrchError(error, "git.hook-failed") && error.message.includes("no emoji"),
      );
      await rm(path.join(repo.root, ".git", "hooks", hook));
    }
    const after = [
      await repo.git("rev-parse", "HEAD"),
      await repo.git("ls-files", "-s"),
      await repo.git("status", "--short"),
    ];
    assert.deepEqual(after, before);
  });

  it("what a hook adds to the commit is in it, and in the index", async () => {
    await using repo = await makeGitRepo({ files: { "a.py": "a\n", "log.txt": "0\n", "other.txt": "o\n" } });
    await repo.write("other.txt", "mine\n");
    await repo.git("add", "other.txt");
    await repo.write("a.py", "b\n");
    const hook = "#!/bin/sh\necho formatted >a.py\necho 1 >log.txt\ngit add a.py log.txt\n";
    await writeFile(path.join(repo.root, ".git", "hooks", "pre-commit"), hook, { mode: 0o755 });
    await repo.port.commitPaths({ paths: paths("a.py"), message: "x", trusted: true });
    assert.deepEqual(
      [
        await repo.git("show", "--format=", "--name-status", "HEAD"),
        await repo.git("show", "HEAD:a.py"),
        await repo.git("status", "--short"),
      ],
      ["M\ta.py\nM\tlog.txt", "formatted", "M  other.txt"],
    );
  });
});
