import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { unknownUsage } from "../../shared/model/usage.ts";
import type { Worker } from "../../shared/ports/worker.ts";
import { contractOf, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;
const contract = contractOf("T1", { worktree_links: ["packages/*/node_modules", "data/*.bin"] });

/** A workspace as npm and pnpm lay it out: a third-party package, a program, and packages of the repository itself. */
async function monorepo(): Promise<Awaited<ReturnType<typeof worktreeGround>>> {
  const ground = await worktreeGround({
    files: {
      ".gitignore": "node_modules/\n.venv/\n*.bin\n",
      "packages/core/package.json": '{"name": "@shop/core", "main": "index.js"}\n',
      "packages/core/index.js": "module.exports = 'core of the main tree';\n",
      "packages/app/app.js": "console.log(require('@shop/core'), require('left-pad'));\n",
      "data/kept.txt": "tracked\n",
    },
  });
  const { repo } = ground;
  await repo.write("node_modules/left-pad/index.js", "module.exports = 'padded';\n");
  await repo.write("node_modules/left-pad/package.json", '{"name": "left-pad", "main": "index.js"}\n');
  await repo.link("node_modules/@shop/core", "../../packages/core");
  await repo.write("node_modules/@other/thing/index.js", "1\n");
  await repo.link("node_modules/.bin/pad", "../left-pad/index.js");
  await repo.link("node_modules/.bin/core", "../@shop/core/index.js");
  await repo.write("node_modules/.pnpm/dep@1/node_modules/dep/index.js", "1\n");
  await repo.link("node_modules/dep", ".pnpm/dep@1/node_modules/dep");
  await repo.link("node_modules/absolute", repo.path("packages/core"));
  await repo.write("packages/app/node_modules/only-here/index.js", "1\n");
  await repo.write(".venv/pyvenv.cfg", "home = /usr\n");
  await repo.write("data/big.bin", "big\n");
  return ground;
}

describe("contract: worktree links", function () {
  this.timeout(600_000);

  it("links a plain folder whole, and one that leads back entry by entry with its own packages rebuilt", async () => {
    await using ground = await monorepo();
    const { repo } = ground;
    const worktrees = ground.worktrees({ links: ["node_modules", ".venv", "nothing-here", "data/kept.txt"] });
    await using workspace = await worktrees.open(contract, signal);
    const at = (name: string): string => path.join(workspace.root, name);
    const link = (name: string): string => fs.readlinkSync(at(name));
    equal(link(".venv"), repo.path(".venv"));
    equal(link("packages/app/node_modules"), repo.path("packages/app/node_modules"));
    equal(link("data/big.bin"), repo.path("data/big.bin"));
    ok(fs.lstatSync(at("node_modules")).isDirectory(), "never linked whole");
    equal(link("node_modules/left-pad"), repo.path("node_modules/left-pad"));
    equal(link("node_modules/@other"), repo.path("node_modules/@other"));
    equal(link("node_modules/.pnpm"), repo.path("node_modules/.pnpm"));
    equal(fs.realpathSync(at("node_modules/@shop/core")), at("packages/core"));
    equal(fs.realpathSync(at("node_modules/absolute")), at("packages/core"));
    equal(fs.realpathSync(at("node_modules/.bin/core")), at("packages/core/index.js"));
    equal(fs.realpathSync(at("node_modules/dep")), repo.path("node_modules/.pnpm/dep@1/node_modules/dep"));
    deepEqual(ground.notes, ["data/kept.txt is tracked, so the worktree has its own and no link"]);

    fs.writeFileSync(at("packages/core/index.js"), "module.exports = 'core of the worktree';\n");
    const ran = spawnSync(process.execPath, [at("packages/app/app.js")], { encoding: "utf8", cwd: at("packages/app") });
    equal(ran.stdout.trim(), "core of the worktree padded", ran.stderr);

    const change = await workspace.collect(signal);
    deepEqual(
      change.files.map((file) => file.path),
      ["packages/core/index.js"],
    );
    deepEqual(workspace.observed?.(), {}, "declared links are no ignored leftovers");
    await workspace.rollback(signal);
    equal(fs.readFileSync(repo.path("node_modules/left-pad/index.js"), "utf8"), "module.exports = 'padded';\n");
    ok(fs.existsSync(at("node_modules/left-pad/index.js")), "linked again after the way back");
  });

  it("a link that a worker replaced is part of its change; files added beside links are seen", async () => {
    await using ground = await monorepo();
    const worktrees = ground.worktrees({ links: ["node_modules", ".venv"] });
    await using workspace = await worktrees.open(contractOf("T1"), signal);
    fs.rmSync(path.join(workspace.root, ".venv"));
    fs.symlinkSync("/etc", path.join(workspace.root, ".venv"));
    fs.mkdirSync(path.join(workspace.root, "node_modules/planted"));
    fs.writeFileSync(path.join(workspace.root, "node_modules/planted/index.js"), "1\n");
    const change = await workspace.collect(signal);
    deepEqual(
      change.files.map(({ path: name, newMode }) => [name, newMode]),
      [[".venv", "120000"]],
    );
    deepEqual(workspace.observed?.().ignoredFiles, ["node_modules/planted/index.js"]);
    await workspace.rollback(signal);
  });

  it("what is written through a link is noticed, whoever wrote it", async () => {
    await using ground = await monorepo();
    const worktrees = ground.worktrees({ links: ["node_modules"] });
    await using workspace = await worktrees.open(contractOf("T1"), signal);
    const worker = (said: string): Worker => ({
      id: "scripted",
      can: { resume: false, supervise: false, write: true },
      run: async () => {
        const file = path.join(workspace.root, "node_modules/left-pad/index.js");
        const { atime, mtime } = fs.statSync(file);
        fs.writeFileSync(file, "module.exports = 'PADDED';\n");
        fs.utimesSync(file, atime, mtime);
        fs.writeFileSync(path.join(workspace.root, "node_modules/@other/new.js"), "1\n");
        return {
          ...{ kind: "done", summary: "", claims: [], concerns: [], refused: [], problems: [] },
          ...{ usage: unknownUsage, durationMs: 0, transcript: said },
        };
      },
    });
    const order = { contract: contractOf("T1"), attempt: 1, messages: [], workspace, replyDir: "" };
    await worktrees.watched(worker("edit node_modules/left-pad/index.js")).run(order, signal);
    deepEqual(
      worktrees.changes("T1").map(({ what, kind, change, traced }) => [what, kind, change, traced]),
      [
        ["node_modules/@other/new.js", "linked", "added", false],
        ["node_modules/left-pad/index.js", "linked", "changed", true],
      ],
    );
    deepEqual(worktrees.observed("T1").writesOutside, ["node_modules/left-pad/index.js"]);
    await workspace.rollback(signal);
  });

  it("refuses patterns that leave the repository or mean git's or Orch's own folder", async () => {
    await using ground = await worktreeGround();
    for (const pattern of ["../outside", "/etc", ".git/hooks", ".orch"]) {
      const opening = ground.worktrees({ links: [pattern] }).open(contractOf("T1"), signal);
      await rejects(opening, { code: "path.refused" }, pattern);
    }
  });
});
