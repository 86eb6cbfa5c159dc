import { equal, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import { openGit } from "../../shared/adapters/git.ts";
import { takeSnapshot } from "../../shared/adapters/worktree-snapshot.ts";
import { absPath } from "../../shared/base/paths.ts";
import { contractOf, type WorktreeGround, worktreeGround } from "../support/worktree-ground.ts";
import { keepBench } from "./kept.ts";
import { median } from "./measured.ts";

const factor = Number(process.env["ORCH_BENCH_ROUNDS"] ?? 3) / 3;
const signal = new AbortController().signal;

/** CPU milliseconds of this process and of every child it has waited for; Linux counts those in hundredths of a second. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  const fields = fs.readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10;
}

interface Spent {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** The mean of `times` goes: one alone may be shorter than what can be counted. */
async function spent(times: number, work: (n: number) => unknown): Promise<Spent> {
  const [cpu, began] = [cpuMs(), performance.now()];
  for (let n = 0; n < times; n += 1) await work(n);
  return { cpuMs: (cpuMs() - cpu) / times, wallMs: (performance.now() - began) / times };
}

/** Files of 3.4 KB on average, 30 in a folder, committed. */
async function fill(ground: WorktreeGround, count: number): Promise<void> {
  const { repo } = ground;
  for (let n = 0; n < count; n += 1) {
    const folder = path.join(repo.root, `area-${Math.floor(n / 900)}`, `part-${Math.floor(n / 30)}`);
    if (n % 30 === 0) fs.mkdirSync(folder, { recursive: true });
    const lines = 20 + ((n * 7919) % 160);
    fs.writeFileSync(path.join(folder, `file-${n}.py`), `# file ${n}\n${`value_${n} = compute(${n})\n`.repeat(lines)}`);
  }
  await repo.git("add", "-A");
  await repo.git("commit", "-q", "-m", "files");
}

function run(argv: readonly [string, ...string[]], ground: WorktreeGround): void {
  const [program, ...args] = argv;
  const done = spawnSync(program, args, { cwd: ground.repo.root, env: { ...ground.repo.env } });
  equal(done.status, 0, `${argv.join(" ")}: ${String(done.stderr)}`);
}

async function measured(count: number, rounds: number, times: number): Promise<Record<string, readonly Spent[]>> {
  await using ground = await worktreeGround({ files: { ".gitignore": "*.log\n" } });
  await fill(ground, count);
  const { repo } = ground;
  const at = (name: string): string => path.join(repo.base, name);
  run(["tar", "cf", at("files.tar"), "--exclude=.git", "."], ground);
  const found: Record<string, Spent[]> = {};
  const note = async (name: string, work: (n: number) => unknown): Promise<void> => {
    (found[name] ??= []).push(await spent(times, work));
  };
  // Some file systems search long for room where files were deleted a moment ago: nothing is deleted before all is made.
  const removals: (() => Promise<void>)[] = [];
  let runs = 0;
  for (let round = 0; round < rounds; round += 1) {
    await note("tar x", (n) => {
      fs.mkdirSync(at(`tar-${round}-${n}`));
      run(["tar", "xf", at("files.tar"), "-C", at(`tar-${round}-${n}`)], ground);
    });
    await note("git worktree add", (n) =>
      run(["git", "worktree", "add", "-q", "--detach", at(`add-${round}-${n}`)], ground),
    );
    await note("git status", () => run(["git", "status", "--porcelain=v2", "-z"], ground));
    const { call } = await openGit({ folder: repo.root, process: createProcess(), env: repo.env });
    await call.config();
    await note("snapshot, clean", () => takeSnapshot(call, { include: [] }));
    for (const n of [1, 2, 3]) await repo.write(`area-0/part-0/file-${n}.py`, `# changed ${round} ${runs}\n`);
    await note("git status, changed", () => run(["git", "status", "--porcelain=v2", "-z"], ground));
    await note("snapshot, changed", () => takeSnapshot(call, { include: [] }));
    await repo.git("checkout", "-q", "--", ".");

    const id = (n: number): string => `r-20260131-${String(100_000 + runs * 100 + n)}-ab12`;
    const stateDir = absPath(at(`state-${round}`));
    fs.mkdirSync(stateDir);
    const fresh = Array.from({ length: times }, (_, n) => ground.worktrees({ run: id(n), stateDir }));
    const workspaces: Awaited<ReturnType<(typeof fresh)[number]["open"]>>[] = [];
    await note("new", async (n) => {
      const one = fresh[n];
      ok(one);
      workspaces.push(await one.open(contractOf("T1"), signal));
    });
    for (const [n, workspace] of workspaces.entries()) {
      fs.writeFileSync(path.join(workspace.root, "left.log"), "left by a worker\n");
      fs.writeFileSync(path.join(workspace.root, `area-0/part-0/file-4.py`), `${n}\n`);
      await workspace.rollback(signal);
    }
    await note("given back", async (n) => workspaces[n]?.[Symbol.asyncDispose]());
    const again: typeof workspaces = [];
    const pooledRuns = Array.from({ length: Math.min(times, 3) }, (_, n) =>
      ground.worktrees({ run: id(50 + n), stateDir }),
    );
    const before = { cpu: cpuMs(), wall: performance.now() };
    for (const one of pooledRuns) again.push(await one.open(contractOf("T1"), signal));
    (found["pooled"] ??= []).push({
      cpuMs: (cpuMs() - before.cpu) / pooledRuns.length,
      wallMs: (performance.now() - before.wall) / pooledRuns.length,
    });
    const look = ground.worktrees({ run: id(99), stateDir });
    removals.push(async () => {
      const rows = await look.list(signal);
      const removing: number[] = [];
      for (const row of rows) {
        const began = performance.now();
        await look.remove(row.use.kind === "pooled" ? row : { ...row, use: { kind: "pooled" } }, signal);
        removing.push(performance.now() - began);
      }
      (found["clean-up felt"] ??= []).push({ cpuMs: 0, wallMs: median(removing) });
      await note("git worktree remove", (n) =>
        run(["git", "worktree", "remove", "--force", at(`add-${round}-${n}`)], ground),
      );
    });
    runs += 1;
  }
  for (const remove of removals) await remove();
  return found;
}

/** Paired by round, so that what else the machine does is in both. */
function ratio(found: Readonly<Record<string, readonly Spent[]>>, a: string, b: string, what: keyof Spent): number {
  return median((found[a] ?? []).map((one, round) => one[what] / (found[b]?.[round]?.[what] ?? Number.NaN)));
}

describe("bench: worktrees", function () {
  this.timeout(1_200_000);
  const sizes = [
    { count: 100, rounds: 5, times: 6 },
    { count: 3_000, rounds: 5, times: 3 },
    { count: 50_000, rounds: 2, times: 1 },
  ];
  for (const { count, rounds, times } of sizes) {
    it(`${count} files: new, pooled, snapshot, clean-up, beside tar and git worktree`, async () => {
      const found = await measured(count, Math.max(1, Math.round(rounds * factor)), times);
      const cpu = (a: string, b: string): number => ratio(found, a, b, "cpuMs");
      const wall = (a: string, b: string): number => ratio(found, a, b, "wallMs");
      keepBench(`worktrees-${count}`, {
        ratios: [
          {
            what: "new worktree, CPU",
            reference: "tar x",
            ratio: cpu("new", "tar x"),
            ...(count === 3_000 ? { goal: 1.3 } : {}),
          },
          { what: "new worktree, wall", reference: "tar x", ratio: wall("new", "tar x") },
          { what: "git worktree add, CPU", reference: "tar x", ratio: cpu("git worktree add", "tar x") },
          { what: "new worktree, CPU", reference: "git worktree add", ratio: cpu("new", "git worktree add") },
          { what: "new worktree, wall", reference: "git worktree add", ratio: wall("new", "git worktree add") },
          {
            what: "pooled worktree, CPU",
            reference: "a new one",
            ratio: cpu("pooled", "new"),
            ...(count > 100 ? { goal: 0.08 } : {}),
          },
          { what: "pooled worktree, wall", reference: "a new one", ratio: wall("pooled", "new") },
          {
            what: "snapshot of a clean tree, CPU",
            reference: "git status",
            ratio: cpu("snapshot, clean", "git status"),
            goal: 1.2,
          },
          {
            what: "snapshot of 3 changed files, CPU",
            reference: "git status",
            ratio: cpu("snapshot, changed", "git status, changed"),
            goal: 1.2,
          },
          {
            what: "clean-up felt, wall",
            reference: "git worktree remove",
            ratio: wall("clean-up felt", "git worktree remove"),
          },
        ],
        goals: [
          {
            what: "clean-up felt",
            measured: median((found["clean-up felt"] ?? []).map(({ wallMs }) => wallMs)),
            goal: 50,
            unit: "ms",
          },
        ],
        measured: {
          rounds,
          ms: Object.fromEntries(
            Object.entries(found).map(([name, all]) => [
              name,
              { cpu: median(all.map((one) => one.cpuMs)), wall: median(all.map((one) => one.wallMs)) },
            ]),
          ),
        },
      });
    });
  }
});
