import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cliEntry } from "../support/orch-cli.ts";
import { makeTempRepo } from "../support/temp-repo.ts";
import { keepBench } from "./kept.ts";
import { median } from "./measured.ts";

const rounds = Number(process.env["ORCH_BENCH_ROUNDS"] ?? 3) * 5;

describe("bench: start", function () {
  this.timeout(600_000);

  it("what a person waits for before anything happens, beside Node's own start", async () => {
    await using repo = await makeTempRepo();
    await repo.write(".features.json", '{"known_features": {"Invoice": "Billing"}}');
    const programs: Readonly<Record<string, readonly string[]>> = {
      "node -e 0": ["-e", "0"],
      "orch __complete": [cliEntry, "__complete", "--", "do", ""],
      "orch --version": [cliEntry, "--version"],
      "orch config explain": [cliEntry, "config", "explain"],
      "orch scan": [cliEntry, "scan"],
    };
    const times = new Map<string, number[]>(Object.keys(programs).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, args] of Object.entries(programs)) {
        const began = performance.now();
        const done = spawnSync(process.execPath, [...args], { cwd: repo.root, env: { ...repo.env } });
        times.get(name)?.push(performance.now() - began);
        equal(done.status, 0, `${name}: ${done.stderr}`);
      }
    }
    const ms = (name: string): number => median(times.get(name) ?? []);
    const above = (name: string): number =>
      median((times.get(name) ?? []).map((one, round) => one - (times.get("node -e 0")?.[round] ?? Number.NaN)));
    keepBench("start", {
      ratios: Object.keys(programs)
        .filter((name) => name !== "node -e 0")
        .map((name) => ({ what: name, reference: "node -e 0", ratio: ms(name) / ms("node -e 0") })),
      goals: [{ what: "orch __complete above node -e 0", measured: above("orch __complete"), goal: 150, unit: "ms" }],
      measured: { rounds, ms: Object.fromEntries(Object.keys(programs).map((name) => [name, ms(name)])) },
    });
  });
});
