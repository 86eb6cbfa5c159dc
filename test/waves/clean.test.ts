import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { contractOf, secondRun, type WorktreeGround, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;

interface Cleaning {
  readonly ground: WorktreeGround;
  cli(...args: readonly string[]): Promise<CliDocument>;
}

async function cleaning(ground: WorktreeGround, config: object = {}): Promise<Cleaning> {
  const place = { cwd: ground.repo.root, env: ground.repo.env };
  const folder = path.join(ground.repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "config.json"), JSON.stringify(config));
  return { ground, cli: (...args) => orchJson(place, ...args) };
}

const files = { "a.txt": "a\n", ".gitignore": "*.log\n" };

/** Where the command line keeps its state. */
const stateOf = (ground: WorktreeGround): { stateDir: WorktreeGround["stateDir"] } => ({
  stateDir: path.join(ground.repo.env["XDG_STATE_HOME"] ?? "", "orch") as WorktreeGround["stateDir"],
});

describe("e2e: clean", function () {
  this.timeout(600_000);

  it("removes what killed and finished runs left, and every byte of it comes back", async () => {
    await using ground = await worktreeGround({ files });
    const { cli } = await cleaning(ground);
    const worktrees = ground.worktrees(stateOf(ground));
    const killed = await worktrees.open(contractOf("T1"), signal);
    fs.writeFileSync(path.join(killed.root, "a.txt"), "half done\n");
    fs.writeFileSync(path.join(killed.root, "note.log"), "ignored\n");
    const pooled = await worktrees.open(contractOf("T2"), signal);
    await pooled.collect(signal);
    await pooled[Symbol.asyncDispose]();

    const told = await cli("clean", "--dry-run");
    equal(told.summary, "Would remove 1 worktree (2 changed files); nothing was changed");
    deepEqual(told.next, ["orch clean"]);
    deepEqual((await cli("clean", "--all", "--purge", "--dry-run")).next, ["orch clean --all --purge"]);
    ok(fs.existsSync(killed.root));
    const refused = await cli("clean");
    deepEqual([refused.code, refused.error?.code], [2, "confirm.needed"]);
    match(refused.error?.message ?? "", /Remove 1 worktree \(2 changed files\); all of it can be restored\?/);

    const done = await cli("clean", "--yes");
    equal(done.code, 0, done.summary);
    ok(!fs.existsSync(killed.root));
    ok(!fs.existsSync(ground.repo.path(".orch/wt/T1")));
    const [id] = done.data.stored as string[];
    deepEqual(done.next[0], `orch restore ${id}`);
    equal((await cli("restore", id ?? "")).code, 0);
    equal(await ground.repo.read(".orch/wt/T1/a.txt"), "half done\n");
    equal(await ground.repo.read(".orch/wt/T1/note.log"), "ignored\n");
    equal(await ground.repo.git("status", "--porcelain"), "", "nothing of it is in the person's way");

    const all = await cli("clean", "--all", "--yes");
    match(all.summary, /^Removed 1 worktree \(0 changed files\) and \d+ runs/);
    match((await cli("clean", "--dry-run")).summary, /^Nothing to remove/);
    equal(await ground.repo.git("for-each-ref", "refs/orch/wt"), "");
  });

  it("touches nothing of a run that is alive, and no folder that a program works in: it is reported", async () => {
    await using ground = await worktreeGround({ files });
    const { cli } = await cleaning(ground);
    const worktrees = ground.worktrees(stateOf(ground));
    const open = await worktrees.open(contractOf("T1"), signal);
    const left = spawn("sleep", ["300"], { cwd: open.root, stdio: "ignore" });
    try {
      await once(left, "spawn");
      const busy = await cli("clean", "--all", "--yes");
      equal(busy.code, 0);
      match(busy.summary, new RegExp(`left running: process ${left.pid}`));
      deepEqual(busy.data.processes, [{ folder: path.dirname(open.root), pids: [left.pid] }]);
      ok(busy.next.includes(`kill ${left.pid}`));
      ok(fs.existsSync(open.root));
    } finally {
      left.kill("SIGKILL");
      await once(left, "exit");
    }
    equal((await cli("clean", "--all", "--yes")).code, 0);
    ok(!fs.existsSync(open.root));
  });

  it("keeps the newest runs, stores older ones for restore, and forgets for good only when told to", async () => {
    await using ground = await worktreeGround({ files });
    const { cli } = await cleaning(ground, { keep_runs: 2 });
    for (let n = 0; n < 4; n += 1) await cli("restore");
    const before = (await cli("runs")).data.runs.map(({ run }: { run: string }) => run) as string[];
    equal(before.length, 4);
    const done = await cli("clean", "--yes");
    deepEqual(done.data.removed, before.slice(2));
    const after = (await cli("runs")).data.runs.map(({ run }: { run: string }) => run) as string[];
    deepEqual(after.slice(1), before.slice(0, 2));
    const [id] = done.data.stored as string[];
    equal((await cli("restore", id ?? "")).code, 0);
    ok(
      (await cli("runs")).data.runs.some(({ run }: { run: string }) => run === before[2]),
      "a run that is back is a run",
    );

    const told = await cli("clean", "--purge", "--dry-run");
    match(told.summary, /forget 2 stored entries with \d+ files and 0 branches/);
    ok((told.data.text as string[]).some((line) => line.includes("such as .env with secrets")));
    const purged = await cli("clean", "--purge", "--yes");
    equal((purged.data.purged as string[]).length, 2);
    const left = (await cli("restore")).data.entries.map((entry: { id: string }) => entry.id) as string[];
    deepEqual(left.toSorted(), (purged.data.stored as string[]).toSorted(), "what this clean stored stays");
  });

  it("a kill at any step of making and giving back leaves nothing that it does not find @slow", async () => {
    await using ground = await worktreeGround({ files });
    const { cli } = await cleaning(ground);
    const state = stateOf(ground);
    const entry = path.join(
      import.meta.dirname,
      `../support/worktree-cycle.${path.extname(import.meta.filename).slice(1)}`,
    );
    /** How long it lived, and whether it was killed, after so long. */
    const live = async (killAfterMs?: number): Promise<{ readonly ms: number; readonly killed: boolean }> => {
      const argv = ["--disable-warning=ExperimentalWarning", entry, ground.repo.root, state.stateDir, secondRun];
      const options = { cwd: ground.repo.root, env: { ...ground.repo.env }, detached: true };
      const child = spawn(process.execPath, argv, { ...options, stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout, "data");
      const began = performance.now();
      const kill = (): void => void process.kill(-(child.pid ?? 0), "SIGKILL");
      const timer = killAfterMs === undefined ? undefined : setTimeout(kill, killAfterMs);
      await once(child, "exit");
      clearTimeout(timer);
      return { ms: performance.now() - began, killed: child.signalCode === "SIGKILL" };
    };
    let { ms: whole } = await live();
    let killed = 0;
    for (let part = 1; part <= 10; part += 1) {
      const life = await live((whole * part) / 12);
      if (life.killed) killed += 1;
      // The machine is less busy than it was: the next moments lie in a life of this length.
      else whole = Math.min(whole, life.ms);
    }
    ok(killed >= 5, `${killed} killed`);
    const done = await cli("clean", "--all", "--yes");
    equal(done.code, 0, `${done.summary} ${done.error?.message ?? ""}`);
    const home = path.join(state.stateDir, "wt");
    const [repository = ""] = fs.readdirSync(home);
    const left = fs.readdirSync(path.join(home, repository), { recursive: true });
    deepEqual(
      left.filter((name) => name !== "pool" && name !== "gone"),
      [],
    );
    equal(await ground.repo.git("for-each-ref", "refs/orch/wt"), "");
    equal(await ground.repo.git("status", "--porcelain"), "");
    ok(!fs.existsSync(ground.repo.path(".orch/wt/T1")));
  });
});
