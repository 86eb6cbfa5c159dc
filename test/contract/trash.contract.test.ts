import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { isOrchError } from "../../shared/model/error.ts";
import { confirmed, gitIn, type GitRepo, makeGitRepo, paths } from "../support/git-repo.ts";

/** Everything below a folder: `name-as-latin1 kind mode bytes`. */
async function picture(root: string, folder: string): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  const visit = async (at: Buffer): Promise<void> => {
    const full = Buffer.concat([Buffer.from(`${root}/`), at]);
    const stat = await lstat(full).catch(() => undefined);
    if (stat === undefined) return;
    const mode = (stat.mode & 0o7777).toString(8);
    const key = at.toString("latin1");
    if (stat.isSymbolicLink()) out[key] = `link ${(await readlink(full, "buffer")).toString("latin1")}`;
    else if (stat.isFile()) out[key] = `file ${mode} ${(await readFile(full)).toString("latin1")}`;
    else if (stat.isDirectory()) {
      out[key] = `folder ${mode}`;
      for (const name of await readdir(full, { encoding: "buffer" }))
        await visit(Buffer.concat([at, Buffer.from("/"), name]));
    }
  };
  await visit(Buffer.from(folder));
  return out;
}

const at = (repo: GitRepo, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${repo.root}/`), Buffer.from(name, "latin1")]);

async function everything(repo: GitRepo): Promise<void> {
  await repo.write(".gitattributes", "* text=auto eol=crlf\n*.txt filter=up ident\n");
  await repo.write("s/committed.txt", "one\ntwo $Id$\n");
  await repo.write("s/mixed.txt", "one\r\ntwo\n");
  await repo.commit("slice");
  await repo.write("s/staged.txt", "staged\n");
  await repo.write("s/both.txt", "staged\n");
  await repo.git("add", "s");
  await repo.write("s/both.txt", "then more\r\n");
  await repo.write(".gitignore", "*.log\n__pycache__/\n");
  await repo.write("s/ignored.log", "log\n");
  await repo.write("s/__pycache__/x.pyc", Buffer.from([0, 1, 2, 255]));
  await repo.write("s/empty", "");
  await repo.write("s/run.sh", "#!/bin/sh\n", 0o755);
  await repo.write("s/read-only", "r\n", 0o444);
  await repo.write("s/private", "p\n", 0o600);
  await repo.write("s/twin-1", "twins\n");
  await repo.write("s/twin-2", "twins\n", 0o700);
  await repo.link("s/link", "committed.txt");
  await repo.link("s/dangling", "no/where\nelse");
  await repo.link("s/out", "/etc");
  await mkdir(repo.path("s/empty folder/deeper"), { recursive: true });
  await writeFile(at(repo, "s/latin-\xe9"), "bytes\n");
  await symlink(Buffer.from("target-\xff", "latin1"), at(repo, "s/link-\xfe"));
  await writeFile(at(repo, 's/line\nbreak\ttab"quote\\'), "odd\n");
  await writeFile(at(repo, "s/-rf"), "dash\n");
  await writeFile(at(repo, "s/ blank "), "blank\n");
  await repo.gitIn(repo.root, "init", "-q", "s/inner");
  await repo.write("s/inner/work.txt", "inner\n");
  await repo.gitIn(repo.path("s/inner"), "add", "-A");
  await repo.gitIn(repo.path("s/inner"), "commit", "-q", "-m", "inner");
  await repo.write("s/inner/more.txt", "uncommitted\n");
  await mkdir(repo.path("s/closed"));
  await repo.write("s/closed/file", "c\n");
  await chmod(repo.path("s/closed"), 0o555);
}

describe("contract: trash", () => {
  it("brings back byte for byte what it stored and removed, of every kind", async () => {
    await using repo = await makeGitRepo({ globalConfig: "[core]\n\tautocrlf = true\n" });
    await everything(repo);
    const [before, index] = [await picture(repo.root, "s"), await repo.git("ls-files", "-s")];
    const item = await repo.trash.store({ by: "undo", what: "Billing/Invoice", paths: paths("s") });
    assert.deepEqual([await picture(repo.root, "s"), await repo.git("ls-files", "-s")], [before, index]);
    const removed = await repo.trash.removeStored(item.id);
    assert.deepEqual([removed.kept, await picture(repo.root, "s"), removed.removed.length], [[], {}, item.files]);
    await repo.git("gc", "-q", "--prune=now");
    const back = await repo.trash.restore(item.id);
    assert.deepEqual([back.beside, back.restored.length], [[], item.files]);
    assert.deepEqual(await picture(repo.root, "s"), before);
    assert.equal(await repo.git("ls-files", "-s"), index);
    assert.equal(await repo.gitIn(repo.path("s/inner"), "--no-optional-locks", "status", "--short"), "?? more.txt");
    await repo.trash.restore(item.id);
    assert.deepEqual(await picture(repo.root, "s"), before);
    await chmod(repo.path("s/closed"), 0o755);
  });

  it("undoes an undo: branch, its configuration, commits, staged and unstaged work", async () => {
    await using repo = await makeGitRepo({ files: { "m.txt": "m\n" } });
    await repo.port.create("Billing/Invoice", "HEAD", "Billing/Invoice");
    await repo.git("switch", "-q", "Billing/Invoice");
    const tip = await repo.commit("work", { "s/a.txt": "a\n", "s/b.txt": "b\n" });
    await repo.write("s/a.txt", "staged\n");
    await repo.git("add", "s/a.txt");
    await repo.git("rm", "-q", "--cached", "s/b.txt");
    await repo.write("s/a.txt", "unstaged\n");
    await repo.write("s/c.txt", "untracked\n");
    const before = [
      await picture(repo.root, "s"),
      await repo.git("status", "--short"),
      await repo.git("ls-files", "-s"),
    ];
    const item = await repo.trash.store({
      by: "undo",
      what: "Billing/Invoice",
      paths: paths("s"),
      branches: ["Billing/Invoice", "no-such"],
    });
    await repo.trash.removeStored(item.id);
    await repo.port.discard(paths("s"), "HEAD", confirmed);
    await repo.port.switch("main");
    await repo.port.delete("Billing/Invoice", tip);
    assert.deepEqual([await picture(repo.root, "s"), await repo.git("status", "--short")], [{}, ""]);
    await repo.git("reflog", "expire", "--expire=now", "--all");
    await repo.git("gc", "-q", "--prune=now");
    assert.deepEqual((await repo.trash.look(item.id)).branches, { "Billing/Invoice": tip });
    const first = await repo.trash.restore(item.id);
    assert.deepEqual([first.branches, first.branchesElsewhere], [["Billing/Invoice"], []]);
    assert.equal(await repo.git("status", "--short"), "?? s/");
    assert.deepEqual(
      (await repo.port.branches()).find((branch) => branch.name === "Billing/Invoice"),
      { name: "Billing/Invoice", commit: tip, orch: "Billing/Invoice" },
    );
    // On the branch again the rest follows: the index is what it was.
    await repo.trash.removeStored(item.id);
    await repo.port.switch("Billing/Invoice");
    await rm(repo.path("s"), { recursive: true });
    await repo.trash.restore(item.id);
    assert.deepEqual(
      [await picture(repo.root, "s"), await repo.git("status", "--short"), await repo.git("ls-files", "-s")],
      before,
    );
  });

  it("keeps staged text that stands nowhere else", async () => {
    await using repo = await makeGitRepo();
    await repo.write("s/a.txt", "only staged\n");
    await repo.git("add", "s/a.txt");
    await rm(repo.path("s/a.txt"));
    const item = await repo.trash.store({ by: "delete", what: "x", paths: paths("s") });
    await repo.git("rm", "-q", "--cached", "s/a.txt");
    await repo.git("gc", "-q", "--prune=now");
    await repo.trash.restore(item.id);
    assert.equal(await repo.git("show", ":s/a.txt"), "only staged");
  });

  it("keeps what the index says beside content: announced files, and those git is not to look at", async () => {
    await using repo = await makeGitRepo({ files: { "s/told.txt": "1\n", "s/skip.txt": "1\n", "s/seen.txt": "1\n" } });
    await repo.write("s/announced.log", "not added yet\n");
    await repo.write(".git/info/exclude", "*.log\n");
    await repo.git("add", "-fN", "s/announced.log");
    await repo.git("update-index", "--assume-unchanged", "s/told.txt");
    await repo.git("update-index", "--skip-worktree", "s/skip.txt");
    for (const name of ["told", "skip", "seen"]) await repo.write(`s/${name}.txt`, "2\n");
    const look = async (): Promise<readonly string[]> => [
      await repo.git("ls-files", "-v", "-s"),
      await repo.git("status", "--porcelain=v2"),
    ];
    const before = await look();
    const item = await repo.trash.store({ by: "undo", what: "x", paths: paths("s") });
    await repo.trash.removeStored(item.id);
    await repo.git("rm", "-rq", "--cached", "s");
    await repo.trash.restore(item.id);
    assert.deepEqual(await look(), before);
  });

  it("leaves what a person staged since", async () => {
    await using repo = await makeGitRepo({ files: { "s/a.txt": "a\n", "s/b.txt": "b\n" } });
    await repo.write("s/a.txt", "then\n");
    await repo.write("s/b.txt", "then\n");
    await repo.git("add", "s");
    const item = await repo.trash.store({ by: "do", what: "x", paths: paths("s") });
    await repo.trash.removeStored(item.id);
    await repo.git("reset", "-q");
    await repo.write("s/a.txt", "since\n");
    await repo.git("add", "s/a.txt");
    const back = await repo.trash.restore(item.id);
    assert.deepEqual(
      [await repo.git("show", ":s/a.txt"), await repo.git("show", ":s/b.txt"), back.beside.map((entry) => entry.path)],
      ["since", "then", ["s/a.txt"]],
    );
  });

  it("never overwrites: a newer file, link or folder stays and the stored one goes beside it", async () => {
    await using repo = await makeGitRepo();
    await repo.write("s/file", "old\n");
    await repo.write("s/folder/in", "old in\n");
    await repo.write("s/gone/in", "old gone\n");
    await repo.link("s/link", "old");
    await repo.write("s/same", "same\n", 0o755);
    await repo.write("s/far/in", "old far\n");
    const item = await repo.trash.store({ by: "delete", what: "x", paths: paths("s") });
    await repo.trash.removeStored(item.id);
    await repo.write("s/file", "new\n");
    await repo.write("s/folder", "a file now\n");
    await repo.write("s/gone/in/deeper", "a folder now\n");
    await repo.link("s/link", "new");
    await repo.write("s/same", "same\n", 0o644);
    await repo.link("s/far", repo.base);
    const r = `restored-${item.id}`;
    const back = await repo.trash.restore(item.id);
    assert.deepEqual(Object.fromEntries(back.beside.map(({ path: from, wroteTo }) => [from, wroteTo])), {
      "s/far": `s/far.${r}`,
      "s/far/in": `s/far.${r}/in`,
      "s/file": `s/file.${r}`,
      "s/folder": `s/folder.${r}`,
      "s/folder/in": `s/folder.${r}/in`,
      "s/gone/in": `s/gone/in.${r}`,
      "s/link": `s/link.${r}`,
    });
    const now = await picture(repo.root, "s");
    const texts = [
      "s/file",
      `s/file.${r}`,
      "s/folder",
      `s/folder.${r}/in`,
      "s/gone/in/deeper",
      `s/gone/in.${r}`,
      "s/link",
      `s/link.${r}`,
      "s/same",
      `s/far.${r}/in`,
    ];
    assert.deepEqual(
      texts.map((name) => now[name]?.replace(/^file \d+ /, "")),
      [
        "new\n",
        "old\n",
        "a file now\n",
        "old in\n",
        "a folder now\n",
        "old gone\n",
        "link new",
        "link old",
        "same\n",
        "old far\n",
      ],
    );
    assert.equal((await lstat(repo.path("s/same"))).mode & 0o777, 0o755);
    assert.ok(!(await readdir(repo.base)).includes("in"));
    const again = await repo.trash.restore(item.id);
    assert.deepEqual([again.beside, await picture(repo.root, "s")], [back.beside, now]);
  });

  it("removes exactly what was stored: an edit in between stays, and so does what came later", async () => {
    await using repo = await makeGitRepo();
    await repo.write("s/a.txt", "a\n");
    await repo.write("s/b.txt", "b\n");
    await repo.link("s/l", "a.txt");
    await repo.write("s/d/c.txt", "c\n");
    const item = await repo.trash.store({ by: "undo", what: "x", paths: paths("s") });
    await repo.write("s/b.txt", "edited\n");
    await rm(repo.path("s/l"));
    await repo.link("s/l", "b.txt");
    await repo.write("s/d/new.txt", "new\n");
    assert.deepEqual(await repo.trash.removeStored(item.id), {
      removed: ["s/a.txt", "s/d/c.txt"],
      kept: ["s/b.txt", "s/d/new.txt", "s/l"],
    });
    assert.deepEqual(Object.keys(await picture(repo.root, "s")).toSorted(), [
      "s",
      "s/b.txt",
      "s/d",
      "s/d/new.txt",
      "s/l",
    ]);
  });

  it("does not go through a link that came into the way", async () => {
    await using repo = await makeGitRepo();
    await repo.write("s/d/a.txt", "a\n");
    const item = await repo.trash.store({ by: "undo", what: "x", paths: paths("s") });
    const outside = await mkdtemp(path.join(repo.base, "outside-"));
    await writeFile(path.join(outside, "a.txt"), "a\n");
    await rm(repo.path("s/d"), { recursive: true });
    await repo.link("s/d", outside);
    await repo.trash.removeStored(item.id);
    assert.deepEqual(await readdir(outside), ["a.txt"]);
    await assert.rejects(repo.trash.store({ by: "undo", what: "x", paths: paths("s/d/a.txt") }), {
      code: "path.refused",
    });
  });

  it("lists newest first, knows its entries, refuses others and damaged ones", async () => {
    await using repo = await makeGitRepo();
    await repo.write("s/a.txt", "abc\n");
    const registry = { file: paths(".features.json")[0] as never, feature: "Invoice", domain: "Billing" };
    const first = await repo.trash.store({ by: "delete", what: "first", paths: paths("s"), registry });
    const second = await repo.trash.store({
      by: "do",
      what: "second",
      paths: paths("s", "nothing"),
      branches: ["main"],
    });
    const list = await repo.trash.list();
    assert.deepEqual(list.map((item) => [item.what, item.files, item.bytes, item.branches]).toSorted(), [
      ["first", 1, 4, []],
      ["second", 1, 4, ["main"]],
    ]);
    assert.ok((list[0]?.at ?? 0) >= (list[1]?.at ?? 0));
    assert.deepEqual((await repo.trash.look(first.id)).registry, registry);
    for (const id of ["t-none", "../x", "-d", ""])
      await assert.rejects(repo.trash.restore(id), { code: "trash.unknown" });
    const manifest = JSON.parse(await repo.git("show", `refs/orch/trash/${second.id}:manifest.json`)) as Record<
      string,
      unknown
    >;
    const plant = async (id: string, change: object): Promise<void> => {
      const blob = path.join(repo.base, "manifest");
      await writeFile(blob, JSON.stringify({ ...manifest, id, ...change }));
      const oid = await repo.git("hash-object", "-w", blob);
      const tree = execFileSync("git", ["mktree"], {
        cwd: repo.root,
        env: { ...repo.env },
        input: `100644 blob ${oid}\tmanifest.json\n`,
      })
        .toString()
        .trim();
      await repo.git("update-ref", `refs/orch/trash/${id}`, await repo.git("commit-tree", "-m", "x", tree));
    };
    const entry = (name: string): object => ({
      entries: [{ path: Buffer.from(name).toString("base64"), kind: "symlink", mode: "0777", link: "L2V0Yw==" }],
    });
    for (const [at_, name] of [
      "../out",
      "/etc/x",
      "a/../../x",
      ".git/hooks/pre-commit",
      ".GIT/config",
      "a//b",
      "",
    ].entries()) {
      await plant(`t-bad-${at_}`, entry(name));
      await assert.rejects(repo.trash.restore(`t-bad-${at_}`), { code: "trash.damaged" }, name);
    }
    const tree = await repo.git("rev-parse", "HEAD^{tree}");
    for (const [at_, kept] of [
      { "../../heads/main": tree },
      { "r-20260101-000000-aaaa/../../heads": tree },
      { "r-20260101-000000-aaaa/T1/x": tree },
      { "main/T1": tree },
      { "r-20260101-000000-aaaa/T1": "HEAD" },
    ].entries()) {
      await plant(`t-kept-${at_}`, { kept });
      await assert.rejects(repo.trash.restore(`t-kept-${at_}`), { code: "trash.damaged" }, JSON.stringify(kept));
    }
    await plant("t-other", { id: second.id });
    await assert.rejects(repo.trash.look("t-other"), { code: "trash.damaged" });
    assert.ok((await repo.trash.list()).some((item) => item.id === "t-bad-0" && item.what === "damaged entry"));
  });

  it("restores nothing from an entry whose bytes are not what was stored", async () => {
    await using repo = await makeGitRepo();
    await repo.write("s/a.txt", "a\n");
    const item = await repo.trash.store({ by: "delete", what: "x", paths: paths("s") });
    await repo.trash.removeStored(item.id);
    const manifest = JSON.parse(await repo.git("show", `refs/orch/trash/${item.id}:manifest.json`)) as {
      entries: { blob?: string }[];
    };
    const oid = manifest.entries.find((found) => found.blob !== undefined)?.blob ?? "";
    await rm(repo.path(".git/objects", oid.slice(0, 2), oid.slice(2)), { force: true });
    await assert.rejects(repo.trash.restore(item.id), (error) => isOrchError(error));
    assert.deepEqual(await picture(repo.root, "s"), {});
  });

  it("leaves a branch that is somewhere else now, and keeps its old commits", async () => {
    await using repo = await makeGitRepo();
    await repo.git("switch", "-q", "-c", "a/b");
    const tip = await repo.commit("work", { "s/a.txt": "a\n" });
    const item = await repo.trash.store({ by: "undo", what: "x", paths: [], branches: ["a/b"] });
    await repo.git("reset", "-q", "--hard", "main");
    const now = await repo.commit("other work", { "s/b.txt": "b\n" });
    const back = await repo.trash.restore(item.id);
    assert.deepEqual(
      [back.branches, back.branchesElsewhere, await repo.port.resolve("a/b")],
      [[], [{ name: "a/b", stored: tip }], now],
    );
    await repo.git("reflog", "expire", "--expire=now", "--all");
    await repo.git("gc", "-q", "--prune=now");
    assert.equal(await repo.port.resolve(tip), tip);
  });

  it("stores a big file without holding it, works without identity, and keeps locks out", async () => {
    await using repo = await makeGitRepo({ identity: false, firstCommit: false });
    const size = 48 * 1024 * 1024;
    const big = Buffer.alloc(size);
    for (let n = 0; n < size; n += 4096) big.writeUInt32LE(n, n);
    await repo.write("s/big.bin", big);
    await repo.write(".orch/runs/r-1/lock.db", "lock");
    await repo.write(".orch/runs/r-1/events.jsonl", "{}\n");
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().arrayBuffers)), 5);
    const item = await repo.trash.store({ by: "clean", what: "x", paths: paths("s", ".orch/runs/r-1") });
    await repo.trash.removeStored(item.id);
    await repo.trash.restore(item.id);
    clearInterval(watch);
    assert.ok(peak - before < 16 * 1024 * 1024, `${peak - before} bytes`);
    assert.ok((await readFile(repo.path("s/big.bin"))).equals(big));
    assert.deepEqual(await readdir(repo.path(".orch/runs/r-1")), ["events.jsonl", "lock.db"]);
    assert.equal(item.files, 2);
  });

  it("refuses on a full disk before anything is removed", async function () {
    await using repo = await makeGitRepo();
    const objects = repo.path(".git/objects");
    const kept = path.join(repo.base, "objects");
    await repo.gitIn(repo.base, "init", "-q", "--bare", "spare.git");
    execFileSync("cp", ["-a", objects, kept]);
    const mounted = await mountTiny(objects);
    if (!mounted) return this.skip(); // only root may mount a small disk
    try {
      execFileSync("cp", ["-a", `${kept}/.`, objects]);
      for (let n = 0; n < 6; n += 1)
        await repo.write(`s/${n}.bin`, Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))));
      const before = await picture(repo.root, "s");
      await assert.rejects(repo.trash.store({ by: "undo", what: "x", paths: paths("s") }), { code: "env.disk-full" });
      assert.deepEqual([await picture(repo.root, "s"), await repo.trash.list()], [before, []]);
    } finally {
      execFileSync(disk.off, [objects]);
    }
  });

  it("shows in no log, and outlives git's own cleaning", async () => {
    await using repo = await makeGitRepo({ files: { "s/a.txt": "a\n" } });
    await repo.git("switch", "-qc", "topic");
    const tip = await repo.commit("mine", { "s/b.txt": "b\n" });
    await repo.write("s/loose.txt", "loose\n");
    const before = await repo.git("log", "--all", "--format=%H %s");
    const plain = await repo.trash.store({ by: "do", what: "an attempt", paths: paths("s") });
    const branch = await repo.trash.store({ by: "undo", what: "topic", paths: paths("s"), branches: ["topic"] });
    assert.equal(await repo.git("log", "--all", "--format=%H %s"), before, "no commit of ours");
    await repo.git("switch", "-q", "-f", "main");
    await repo.git("branch", "-qD", "topic");
    await rm(repo.path("s"), { recursive: true });
    await repo.git("reflog", "expire", "--expire=now", "--all");
    await repo.git("gc", "-q", "--prune=now");
    await repo.git("fsck", "--strict");
    await repo.trash.restore(branch.id);
    assert.equal(await repo.git("rev-parse", "topic"), tip);
    assert.equal(await repo.read("s/loose.txt"), "loose\n");
    assert.deepEqual((await repo.trash.list()).map(({ id }) => id).toSorted(), [plain.id, branch.id].toSorted());
  });

  it("is the same trash from a linked worktree", async () => {
    await using repo = await makeGitRepo({ files: { "s/a.txt": "a\n" } });
    const item = await repo.trash.store({ by: "delete", what: "x", paths: paths("s") });
    await repo.git("worktree", "add", "-q", "-b", "other", path.join(repo.base, "wt"));
    const git = await gitIn(repo, path.join(repo.base, "wt"));
    assert.equal(
      await git.resolve(`refs/orch/trash/${item.id}`),
      await repo.port.resolve(`refs/orch/trash/${item.id}`),
    );
  });

  it("any tree comes back (property)", async function () {
    this.timeout(600_000);
    // Every byte a name may hold but NUL and the slash; `.` and `..` are no names.
    const name = fc
      .uint8Array({ minLength: 1, maxLength: 12 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0 && byte !== 47)).toString("latin1"))
      .filter((text) => text !== "" && text !== "." && text !== "..");
    const leaf = fc.oneof(
      fc.record({
        kind: fc.constant("file" as const),
        data: fc.uint8Array({ maxLength: 300 }),
        mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444, 0o000),
      }),
      fc.record({ kind: fc.constant("link" as const), to: name }),
      fc.record({ kind: fc.constant("folder" as const), mode: fc.constantFrom(0o755, 0o700, 0o555) }),
    );
    const entry = fc.record({
      at: fc.array(fc.oneof(name, fc.constantFrom("a", "b", ".git", ".gitattributes")), { minLength: 1, maxLength: 4 }),
      leaf,
    });
    await using repo = await makeGitRepo({ globalConfig: "[core]\n\tautocrlf = true\n" });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 12 }), async (entries) => {
        await mkdir(repo.path("t"), { recursive: true });
        const modes: [Buffer, number][] = [];
        for (const { at: names, leaf: what } of entries) {
          const full = at(repo, ["t", ...names].join("/"));
          try {
            await mkdir(full.subarray(0, full.lastIndexOf(47)), { recursive: true });
            if (what.kind === "file") await writeFile(full, what.data, { flag: "wx" });
            else if (what.kind === "link") await symlink(Buffer.from(what.to, "latin1"), full);
            else await mkdir(full);
            if (what.kind !== "link") modes.push([full, what.mode]);
          } catch {
            continue; // a name below a file, or one taken already
          }
        }
        const root = process.getuid?.() === 0;
        for (const [full, mode] of modes.toReversed()) await chmod(full, root ? mode : mode | 0o400);
        const before = await picture(repo.root, "t");
        const item = await repo.trash.store({ by: "clean", what: "t", paths: paths("t") });
        const removed = await repo.trash.removeStored(item.id);
        assert.deepEqual([removed.kept, await picture(repo.root, "t")], [[], {}]);
        const back = await repo.trash.restore(item.id);
        assert.deepEqual([back.beside, await picture(repo.root, "t")], [[], before]);
        await repo.trash.removeStored(item.id);
      }),
      { numRuns: 25, seed: 20260131 },
    );
  });
});

const disk = { on: "mount", off: "umount" };

/** A disk of 256 kB over the folder; false where that is not allowed. */
async function mountTiny(folder: string): Promise<boolean> {
  try {
    execFileSync(disk.on, ["-t", "tmpfs", "-o", "size=256k", "orch-test", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
