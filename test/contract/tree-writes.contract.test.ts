import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { treeDisk, type TreeDisk } from "../../shared/adapters/tree-disk.ts";
import { type TreeStep, writeTree } from "../../shared/adapters/tree-write.ts";
import { hasErrno, toBytes } from "../../shared/adapters/git-walk.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Git } from "../../shared/ports/git.ts";
import { gitIn, type GitRepo, makeGitRepo } from "../support/git-repo.ts";
import { KillSwitch } from "../support/kill-switch.ts";
import { diskWith, treeCalls } from "../support/tree-steps.ts";

const long = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join("");
const edited = long.replace("line 25", "mine 25");
const merged = edited.replace("line 2\n", "line two\n");

/** A person's uncommitted edit, and a patch that changes, removes, adds and replaces by a link beside it. */
async function ground(): Promise<GitRepo & { readonly patch: Uint8Array }> {
  const repo = await makeGitRepo({
    files: { "a.txt": long, "gone/deep/b.txt": "b\n", "c.txt": "c\n", "run.sh": "#!/bin/sh\n" },
  });
  await repo.git("switch", "-q", "-c", "work");
  await repo.write("a.txt", long.replace("line 2\n", "line two\n"));
  await repo.write("new/deep/n.txt", "new\n");
  await repo.write("run.sh", "#!/bin/sh\n", 0o755);
  await rm(repo.path("gone"), { recursive: true });
  await rm(repo.path("c.txt"));
  await repo.link("c.txt", "a.txt");
  await repo.git("add", "-A");
  await repo.git("commit", "-q", "-m", "work");
  const { patch } = await repo.port.diff("main", "work");
  await repo.git("switch", "-q", "main");
  await repo.write("a.txt", edited, 0o600);
  return { ...repo, patch };
}

/** path -> mode and content of everything in the working tree. */
async function treeOf(root: string, below = ""): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const entry of await readdir(path.join(root, below), { withFileTypes: true })) {
    const own = below === "" ? entry.name : `${below}/${entry.name}`;
    if (own === ".git") continue;
    const mode = ((await lstat(path.join(root, own))).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) out[own] = `link ${await readlink(path.join(root, own))}`;
    else if (entry.isDirectory()) Object.assign(out, { [own]: "folder" }, await treeOf(root, own));
    else out[own] = `${mode} ${await readFile(path.join(root, own), "latin1")}`;
  }
  return out;
}

const leftovers = async (repo: GitRepo): Promise<string[]> =>
  [...(await readdir(repo.path(".git"))), ...(await readdir(repo.root))].filter((name) => name.startsWith(".orch-"));

/** Applied, or the code of the refusal. */
async function applied(git: Git, patch: Uint8Array): Promise<string> {
  try {
    return (await git.applyPatch(patch)).kind;
  } catch (error) {
    if (isOrchError(error)) return error.code;
    throw error;
  }
}

/** Everything that `restore` can bring back, as text. */
async function storedTexts(repo: GitRepo): Promise<string[]> {
  const texts: string[] = [];
  for (const { id } of await repo.trash.list()) {
    const { entries } = await repo.trash.look(id);
    for (const { blob } of entries)
      if (blob !== undefined) texts.push((await repo.gitIn(repo.root, "cat-file", "blob", blob)).trimEnd());
  }
  return texts;
}

/** What stood at names that became something else, and what takes their places. */
const turning = {
  old: {
    "t.txt": "t, a file\n",
    "in/u.txt": "u, a file\n",
    "pile/p.txt": "p, in a folder\n",
    "pile/deep/q.txt": "q, in a folder\n",
    "in/heap/h.txt": "h, in a folder\n",
  },
  next: {
    "t.txt/deep/n.txt": "n, below t\n",
    "t.txt/o.txt": "o, below t\n",
    "in/u.txt/v.txt": "v, below u\n",
    pile: "pile, a file\n",
    "in/heap": "heap, a file\n",
  },
} as const;

/** Files that become folders, and folders that become files. */
const turningGround = (): Promise<GitRepo> => makeGitRepo({ files: { ...turning.old, "z.txt": "z\n" } });

async function turned(repo: GitRepo, disk: TreeDisk): Promise<string> {
  const place = repo.port.place;
  const steps: TreeStep[] = [];
  for (const [own, text] of Object.entries({ ...turning.old, "z.txt": "z\n" })) {
    const sha256 = createHash("sha256").update(text).digest("hex");
    steps.push({ path: toBytes(own), old: { kind: "file", sha256 }, next: undefined });
  }
  for (const [own, text] of Object.entries({ ...turning.next, "z.txt.new": "z, new\n" })) {
    const next = { kind: "file", fill: (at: string) => writeFile(at, text), mode: () => undefined } as const;
    steps.push({ path: toBytes(own), old: { kind: "absent" }, next });
  }
  return (await writeTree({ place, disk }, { by: "apply", steps, prune: true })).kind;
}

const turnedTree = {
  "t.txt": "folder",
  "t.txt/deep": "folder",
  "t.txt/deep/n.txt": "644 n, below t\n",
  "t.txt/o.txt": "644 o, below t\n",
  in: "folder",
  "in/u.txt": "folder",
  "in/u.txt/v.txt": "644 v, below u\n",
  pile: "644 pile, a file\n",
  "in/heap": "644 heap, a file\n",
  "z.txt.new": "644 z, new\n",
};

/** As an editor saves that finds a folder where the file was, or a file where the folder was: under the other name. */
async function savedAt(repo: GitRepo, own: string, other: string, text: string): Promise<void> {
  for (const name of [own, other]) {
    try {
      await mkdir(path.dirname(repo.path(name)), { recursive: true });
      await writeFile(repo.path(name), text);
      return;
    } catch (error) {
      if (!hasErrno(error, "EISDIR", "ENOTDIR", "EEXIST")) throw error;
    }
  }
  assert.fail(`neither ${own} nor ${other} could be saved`);
}

const on = (repo: GitRepo, disk: TreeDisk): Promise<Git> => gitIn(repo, repo.root, { disk });

describe("contract: writes into a person's tree @slow", function () {
  this.timeout(600_000);

  it("applies as before, and leaves nothing beside it", async () => {
    await using repo = await ground();
    assert.equal(await applied(repo.port, repo.patch), "applied");
    assert.deepEqual(await treeOf(repo.root), {
      "a.txt": `600 ${merged}`,
      "c.txt": "link a.txt",
      new: "folder",
      "new/deep": "folder",
      "new/deep/n.txt": "644 new\n",
      "run.sh": "755 #!/bin/sh\n",
    });
    assert.deepEqual([await leftovers(repo), await repo.port.unfinishedWrites()], [[], []]);
  });

  const saves: Readonly<Record<string, (repo: GitRepo, text: string) => Promise<void>>> = {
    "saved in place": (repo, text) => writeFile(repo.path("a.txt"), text),
    "saved beside and renamed": async (repo, text) => {
      await writeFile(repo.path("a.txt~"), text);
      await rename(repo.path("a.txt~"), repo.path("a.txt"));
    },
    "made where the patch makes one": async (repo, text) => {
      await mkdir(repo.path("new/deep"), { recursive: true });
      await writeFile(repo.path("new/deep/n.txt"), text);
    },
    "saved where the patch removes one": async (repo, text) => {
      await mkdir(repo.path("gone/deep"), { recursive: true });
      await writeFile(repo.path("gone/deep/b.txt"), text);
    },
  };
  for (const [name, save] of Object.entries(saves)) {
    it(`a file ${name} at any step stands, whole`, async () => {
      const ends = new Set<string>();
      for (let at = 1; ; at += 1) {
        await using repo = await ground();
        const text = `saved at step ${at}\n`;
        const watched = diskWith(at, () => save(repo, text));
        const end = await applied(await on(repo, watched.disk), repo.patch);
        if (watched.calls() < at) break;
        ends.add(end);
        await repo.port.settleWrites(repo.trash);
        const tree = await treeOf(repo.root);
        const where = Object.entries(tree).filter(([, held]) => held.endsWith(text));
        assert.equal(where.length, 1, `step ${at}: ${JSON.stringify(tree)}`);
        assert.deepEqual(await leftovers(repo), [], `step ${at}`);
        if (end === "applied") continue;
        // Not applied: all else is as it was, and what their save met is there or can be restored.
        const theirs = where[0]?.[0];
        for (const [own, held] of [
          ["a.txt", edited],
          ["gone/deep/b.txt", "b\n"],
          ["c.txt", "c\n"],
          ["run.sh", "#!/bin/sh\n"],
        ] as const) {
          if (own !== theirs) assert.ok(tree[own]?.endsWith(held), `step ${at}: ${own}`);
        }
        if (theirs !== "new/deep/n.txt") assert.equal(tree["new"], undefined, `step ${at}`);
      }
      assert.ok(ends.has("tree.changed"), [...ends].join());
    });
  }

  it("writes into a file that was kept open are seen up to the last look", async () => {
    await using repo = await ground();
    const editor = await open(repo.path("a.txt"), "r+");
    // The first call after the file has been moved aside.
    let moved = false;
    const disk: TreeDisk = {
      ...treeDisk,
      async moveAside(from, to) {
        await treeDisk.moveAside(from, to);
        if (moved || !from.toString().endsWith("a.txt")) return;
        moved = true;
      },
      async link(from, to) {
        if (moved && to.toString().endsWith("a.txt")) await editor.write("typed while it lay aside\n", 0);
        return treeDisk.link(from, to);
      },
    };
    assert.equal(await applied(await on(repo, disk), repo.patch), "tree.changed");
    await editor.close();
    assert.match((await repo.read("a.txt")) ?? "", /^typed while it lay aside\n/);
    assert.deepEqual(await leftovers(repo), []);
  });

  const protectedBy = {
    EACCES: /^a\.txt may not be changed by you/,
    EPERM: /^a\.txt may not be changed: /,
    EROFS: /^a\.txt lies on a disk that can only be read/,
    EBUSY: /^a\.txt is in use by the system/,
    ENOSPC: /^The disk is full: a\.txt/,
  };
  for (const [code, message] of Object.entries(protectedBy)) {
    it(`${code} is a refusal that names the path in the repository, and all is as it was`, async () => {
      await using repo = await ground();
      const before = await treeOf(repo.root);
      const disk: TreeDisk = {
        ...treeDisk,
        moveAside: (from, to) =>
          from.toString().endsWith("/a.txt") && !from.toString().includes(".orch-")
            ? Promise.reject(Object.assign(new Error(`${code}: rename '${from.toString()}'`), { code }))
            : treeDisk.moveAside(from, to),
      };
      const git = await on(repo, disk);
      await assert.rejects(
        () => git.applyPatch(repo.patch),
        (error) => isOrchError(error) && message.test(error.message) && /run the command again|space/.test(error.hint),
      );
      assert.deepEqual(await treeOf(repo.root), before);
      assert.deepEqual(await leftovers(repo), []);
    });
  }

  it("what stood there is stored when something newer took its place", async () => {
    await using repo = await ground();
    const disk: TreeDisk = {
      ...treeDisk,
      async moveAside(from, to) {
        await treeDisk.moveAside(from, to);
        if (from.toString().endsWith("a.txt")) await writeFile(repo.path("a.txt"), "newer\n");
      },
    };
    assert.equal(await applied(await on(repo, disk), repo.patch), "tree.changed");
    assert.deepEqual(await repo.port.unfinishedWrites(), ["a.txt"]);
    const { stored } = await repo.port.settleWrites(repo.trash);
    assert.deepEqual(
      stored.map(({ by, what, files }) => [by, what, files]),
      [["merge", "a.txt, as it stood before it was written", 1]],
    );
    assert.equal(await repo.read("a.txt"), "newer\n");
    await repo.git("add", "c.txt");
    const index = await repo.git("ls-files", "-s");
    const back = await repo.trash.restore(stored[0]?.id ?? "");
    assert.equal(await repo.read(back.beside[0]?.wroteTo ?? ""), edited);
    assert.equal(await repo.git("ls-files", "-s"), index);
    // Where nothing stands it comes back under its own name, and git still knows the file.
    await rm(repo.path("a.txt"));
    assert.deepEqual((await repo.trash.restore(stored[0]?.id ?? "")).restored, ["a.txt"]);
    assert.equal(await repo.git("ls-files", "-s"), index);
  });

  it("a kill at any step is put back, also when that is killed at any step", async () => {
    let [last, torn] = [0, 0];
    for (let step = 1; ; step += 1) {
      await using repo = await ground();
      const before = await treeOf(repo.root);
      const kill = new KillSwitch(step);
      const dying = await on(repo, kill.wrap(treeDisk, treeCalls));
      const end = await kill.run(() => applied(dying, repo.patch));
      const named = await repo.port.unfinishedWrites();
      const missing = Object.keys(before).filter((own) => own.includes(".") && !named.includes(own));
      const now = await treeOf(repo.root);
      // What is not as it was has a name in `status` and `doctor`, but for a write that came to its end.
      const done = now["run.sh"]?.startsWith("755") === true && named.length === 0;
      if (!done) for (const own of missing) assert.equal(now[own], before[own], `step ${step}: ${own}`);
      if (named.length > 0) torn += 1;
      for (let again = 1; ; again += 1) {
        const second = new KillSwitch(again);
        const settling = await on(repo, second.wrap(treeDisk, treeCalls));
        if ((await second.run(() => settling.settleWrites(repo.trash))) !== "stopped") break;
      }
      assert.deepEqual(await repo.port.unfinishedWrites(), [], `step ${step}`);
      assert.deepEqual([await leftovers(repo), await repo.trash.list()], [[], []], `step ${step}`);
      if (!done) {
        assert.deepEqual(await treeOf(repo.root), before, `step ${step}`);
        assert.equal(await applied(repo.port, repo.patch), "applied", `step ${step}`);
      }
      assert.equal(await repo.read("a.txt"), merged, `step ${step}`);
      last = step;
      if (end === "applied") break;
    }
    assert.ok(last > 10 && torn > 5, `${last} steps, ${torn} torn`);
  });

  it("a file becomes a folder and a folder a file, and nothing stays beside them", async () => {
    await using repo = await turningGround();
    assert.equal(await turned(repo, treeDisk), "written");
    assert.deepEqual(await treeOf(repo.root), turnedTree);
    assert.deepEqual([await leftovers(repo), await repo.port.unfinishedWrites()], [[], []]);
  });

  it("a kill at any step is put back where files become folders and folders files", async () => {
    let last = 0;
    for (let step = 1; ; step += 1) {
      await using repo = await turningGround();
      const before = await treeOf(repo.root);
      const kill = new KillSwitch(step);
      const end = await kill.run(() => turned(repo, kill.wrap(treeDisk, treeCalls)));
      const named = await repo.port.unfinishedWrites();
      const now = await treeOf(repo.root);
      const done = now["z.txt.new"] !== undefined && named.length === 0;
      if (!done)
        for (const own of Object.keys(turning.old))
          if (!named.includes(own)) assert.equal(now[own], before[own], `step ${step}: ${own}`);
      // A folder that only holds what was moved is no path that the write had begun with.
      for (const own of ["pile", "in/heap"])
        if (now[own] === "folder") assert.ok(!named.includes(own), `step ${step}: ${own}`);
      for (let again = 1; ; again += 1) {
        const second = new KillSwitch(again);
        const settling = await on(repo, second.wrap(treeDisk, treeCalls));
        if ((await second.run(() => settling.settleWrites(repo.trash))) !== "stopped") break;
      }
      assert.deepEqual([await leftovers(repo), await repo.trash.list()], [[], []], `step ${step}`);
      assert.deepEqual(await treeOf(repo.root), done ? turnedTree : before, `step ${step}`);
      last = step;
      if (end === "written") break;
    }
    assert.ok(last > 20, `${last} steps`);
  });

  const turns = [
    ["a file that becomes a folder", "t.txt", "t.txt/deep/n.txt"],
    ["a file in the folder that a file becomes", "t.txt/deep/n.txt", "t.txt"],
    ["a nested file that becomes a folder", "in/u.txt", "in/u.txt/v.txt"],
    ["a file in a folder that becomes a file", "pile/deep/q.txt", "pile"],
    ["a file that a folder becomes", "pile", "pile/deep/q.txt"],
    ["a nested file that a folder becomes", "in/heap", "in/heap/h.txt"],
    ["a file beside them", "z.txt", "z.txt"],
  ] as const;
  for (const [name, own, other] of turns) {
    it(`${name}, saved at any step, stands, and the others come back`, async () => {
      const ends = new Set<string>();
      for (let at = 1; ; at += 1) {
        await using repo = await turningGround();
        const text = `saved at step ${at}\n`;
        const watched = diskWith(at, () => savedAt(repo, own, other, text));
        const end = await turned(repo, watched.disk);
        if (watched.calls() < at) break;
        ends.add(end);
        await repo.port.settleWrites(repo.trash);
        const tree = await treeOf(repo.root);
        const theirs = Object.keys(tree).filter((one) => tree[one]?.endsWith(text));
        assert.equal(theirs.length, 1, `step ${at}: ${JSON.stringify(tree)}`);
        assert.deepEqual(await leftovers(repo), [], `step ${at}`);
        if (end === "written") continue;
        // What is not back under its name has theirs in its way, and can be restored.
        const texts = await storedTexts(repo);
        for (const [one, held] of Object.entries({ ...turning.old, "z.txt": "z\n" })) {
          if (tree[one]?.endsWith(held) === true || theirs.includes(one)) continue;
          const inTheWay = theirs.some((met) => met.startsWith(`${one}/`) || one.startsWith(`${met}/`));
          assert.ok(inTheWay && texts.includes(held.trimEnd()), `step ${at}: ${one}, ${JSON.stringify(tree)}`);
        }
        for (const one of Object.keys(turning.next))
          if (!theirs.includes(one)) assert.ok(tree[one] === undefined || tree[one] === "folder", `step ${at}: ${one}`);
      }
      assert.ok(ends.has("changed"), [...ends].join());
    });
  }

  it("a folder that a person put in a file's place is kept whole", async () => {
    await using repo = await turningGround();
    let met = false;
    const disk: TreeDisk = {
      ...treeDisk,
      async moveAside(from, to) {
        if (!met && from.toString().endsWith("t.txt")) {
          met = true;
          await rm(repo.path("t.txt"));
          await repo.write("t.txt/theirs.txt", "theirs\n");
        }
        await treeDisk.moveAside(from, to);
      },
    };
    assert.equal(await turned(repo, disk), "changed");
    const { stored } = await repo.port.settleWrites(repo.trash);
    assert.equal(stored.length, 1);
    assert.deepEqual((await repo.trash.restore(stored[0]?.id ?? "")).restored, ["t.txt/theirs.txt"]);
    assert.equal(await repo.read("t.txt/theirs.txt"), "theirs\n");
    assert.deepEqual(await leftovers(repo), []);
  });

  it("a link that is put back is not followed to empty folders behind it", async () => {
    await using repo = await turningGround();
    await mkdir(repo.path("real/deep"), { recursive: true });
    await repo.link("way", "real");
    const next = { kind: "file", fill: (at: string) => writeFile(at, "n\n"), mode: () => undefined } as const;
    const steps: TreeStep[] = [
      { path: toBytes("way"), old: { kind: "symlink", target: "real" }, next: undefined },
      { path: toBytes("way/deep/n.txt"), old: { kind: "absent" }, next },
      { path: toBytes("z.txt"), old: { kind: "absent" }, next },
    ];
    const before = await treeOf(repo.root);
    const end = await writeTree({ place: repo.port.place, disk: treeDisk }, { by: "apply", steps, prune: true });
    assert.equal(end.kind, "changed");
    assert.deepEqual(await treeOf(repo.root), before);
    assert.deepEqual(await leftovers(repo), []);
  });

  it("what a person saves after a kill stands, and what lay aside can be restored", async () => {
    for (let step = 1; ; step += 1) {
      await using repo = await ground();
      const kill = new KillSwitch(step);
      const dying = await on(repo, kill.wrap(treeDisk, treeCalls));
      const end = await kill.run(() => applied(dying, repo.patch));
      if (end === "applied") break;
      await writeFile(repo.path("a.txt"), "saved after the kill\n");
      await repo.port.settleWrites(repo.trash);
      assert.equal(await repo.read("a.txt"), "saved after the kill\n", `step ${step}`);
      assert.deepEqual(await leftovers(repo), [], `step ${step}`);
    }
  });

  it("a journal that cannot be read loses nothing", async () => {
    await using repo = await ground();
    const before = await treeOf(repo.root);
    const kill = new KillSwitch(6);
    const dying = await on(repo, kill.wrap(treeDisk, treeCalls));
    await kill.run(() => applied(dying, repo.patch));
    const folder = (await leftovers(repo)).find((name) => name.startsWith(".orch-writes-")) ?? "";
    await writeFile(repo.path(".git", folder, "journal.json"), "{");
    const named = await repo.port.unfinishedWrites();
    assert.equal(named.length, 2);
    const [newer = ""] = named;
    await writeFile(repo.path(newer), "newer\n");
    await repo.port.settleWrites(repo.trash);
    assert.deepEqual(await leftovers(repo), []);
    assert.deepEqual(await storedTexts(repo), [before[newer]?.replace(/^\d+ /, "").trimEnd()]);
    assert.deepEqual(await treeOf(repo.root), { ...before, [newer]: "644 newer\n" });
  });
});
