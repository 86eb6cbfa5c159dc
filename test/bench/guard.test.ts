import { equal, ok } from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { changedProject } from "../support/guard-bench.ts";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo } from "../support/temp-repo.ts";
import { openGuardBench } from "./guard-contender.ts";
import { keepBench } from "./kept.ts";
import { type Measured, measure, median } from "./measured.ts";

const rounds = Number(process.env["ORCH_BENCH_ROUNDS"] ?? 3);

/** Gate 1 beside git's own diff of the same two trees: CPU of whole processes in turns, and again and again in one. */
describe("bench: guard", function () {
  this.timeout(900_000);

  it("judges a diff in a few times of what git needs to make it, and twice the lines in twice the time", async () => {
    const temp = fs.mkdtempSync(path.join(os.tmpdir(), "orch-bench-"));
    const sizes = [100, 10_000, 40_000] as const;
    const inProcess = new Map<number, { readonly ms: number; readonly lines: number }>();
    const contender = await bundled(path.join(sourceRoot, "test/bench/guard-contender.ts"));
    let whole: { readonly guard: number; readonly git: number } = { guard: Number.NaN, git: Number.NaN };
    try {
      for (const size of sizes) {
        await using repo = await makeTempRepo();
        const { base, tree } = await changedProject(repo, size);
        const env = { ...repo.env, PATH: "/usr/bin:/bin" };
        const run = (argv: readonly string[]): Measured => {
          const out = path.join(temp, "out");
          return measure(argv, { cwd: repo.root, env, out, read: (file) => fs.readFileSync(file, "utf8") });
        };
        if (size === 10_000) {
          const guards: number[] = [];
          const gits: number[] = [];
          for (let round = 0; round < rounds * 2; round += 1) {
            const guard = run([
              process.execPath,
              "--disable-warning=ExperimentalWarning",
              contender,
              repo.root,
              base,
              tree,
            ]);
            equal(guard.code, 0, guard.stdout);
            guards.push(guard.cpuS);
            gits.push(run(["git", "diff", "--raw", "--numstat", "-p", "-U0", "-M", base, tree]).cpuS);
          }
          whole = { guard: median(guards), git: median(gits) };
        }
        using bench = await openGuardBench(repo.root, env);
        const change = await bench.diff(base, tree);
        const times: number[] = [];
        // A process that runs has compiled its code: the first goes at a small change are the compiler's.
        const cold = size === 100 ? rounds * 6 : 1;
        for (let round = 0; round < rounds * 2 + cold; round += 1) {
          // A change is judged once: a copy is another change.
          const cpu = process.cpuUsage();
          const { findings } = await bench.judge({ ...change, files: change.files.map((file) => ({ ...file })) });
          const { user, system } = process.cpuUsage(cpu);
          ok(
            findings.every(({ severity }) => severity === "WARN"),
            JSON.stringify(findings.slice(0, 3)),
          );
          if (round >= cold) times.push((user + system) / 1000);
        }
        const lines = change.files.reduce((sum, { added = 0, removed = 0 }) => sum + added + removed, 0);
        inProcess.set(size, { ms: median(times), lines });
      }
    } finally {
      fs.rmSync(temp, { recursive: true, force: true });
    }
    const ms = (size: (typeof sizes)[number]): number => inProcess.get(size)?.ms ?? Number.NaN;
    keepBench("guard", {
      ratios: [
        {
          what: "the guard on 10,000 lines, whole process",
          reference: "git diff",
          ratio: whole.guard / whole.git,
          goal: 8,
        },
        { what: "40,000 lines", reference: "10,000 lines", ratio: ms(40_000) / ms(10_000), goal: 4.5 },
      ],
      goals: [{ what: "a diff of 100 lines in a running process", measured: ms(100), goal: 10, unit: "ms" }],
      measured: { rounds, whole, inProcess: Object.fromEntries(inProcess) },
    });
  });
});

/** As users get it: one file. Hundreds of modules would cost more than the guard. It lies where it finds its grammars. */
async function bundled(source: string): Promise<string> {
  const outdir = path.join(sourceRoot, "out/bench");
  await build({
    entryPoints: [source],
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    outExtension: { ".js": ".mjs" },
    mainFields: ["module", "main"],
    minifySyntax: true,
    minifyWhitespace: true,
    banner: {
      js: 'import { createRequire as orchRequire } from "node:module"; const require = orchRequire(import.meta.url);',
    },
  });
  return path.join(outdir, "guard-contender.mjs");
}
