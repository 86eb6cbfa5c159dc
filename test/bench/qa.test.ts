import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { cliEntry } from "../support/orch-cli.ts";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { type Measured, measure, median } from "./measured.ts";

/**
 * Files per second beside ruff (wasm) and pycodestyle, cold and warm, as ratios of CPU time measured in turns (A B A B)
 * on this machine: wall seconds say little on a shared one. Nothing here fails for being slow; the goals are printed
 * beside what was measured, and artifacts/bench/qa.json holds it all.
 */
const library = process.env["ORCH_BENCH_LIBRARY"] ?? "/usr/lib/python3.11";
const rounds = Number(process.env["ORCH_BENCH_ROUNDS"] ?? 3);

interface Goal {
  readonly what: string;
  readonly goal: number;
  readonly unit: string;
  readonly measured: number;
}

describe("bench: qa", function () {
  this.timeout(900_000);
  let repo: TempRepo;
  let files: string[];
  let temp: string;

  before(async function () {
    if (!fs.existsSync(library)) this.skip();
    temp = fs.mkdtempSync(path.join(os.tmpdir(), "orch-bench-"));
    repo = await makeTempRepo();
    fs.cpSync(library, path.join(repo.root, "lib"), {
      recursive: true,
      filter: (from) =>
        !/__pycache__|site-packages|dist-packages/.test(from) &&
        (fs.lstatSync(from).isDirectory() || (fs.lstatSync(from).isFile() && from.endsWith(".py"))),
    });
    await repo.commit("the library");
    files = fs
      .readdirSync(path.join(repo.root, "lib"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".py"))
      .map((name) => path.join(repo.root, "lib", name))
      .filter((file) => fs.lstatSync(file).isFile());
    fs.writeFileSync(path.join(temp, "files"), files.join("\n"));
  });
  after(async () => {
    if (repo) await repo.cleanup();
    if (temp) fs.rmSync(temp, { recursive: true, force: true });
  });

  const run = (argv: readonly string[]): Measured =>
    measure(argv, {
      cwd: repo.root,
      // The system's interpreter itself: the shims of version managers cost more than what they start.
      env: { ...repo.env, PATH: "/usr/bin:/bin", ORCH_NODE: process.execPath },
      out: path.join(temp, "out"),
      read: (file) => fs.readFileSync(file, "utf8"),
    });
  // The young generation that the pool gives its threads, so that memory is what a thread needs.
  const contender = (what: string): Measured => {
    const entry = path.join(sourceRoot, "out/test/bench/contender.js");
    const result = run([
      process.execPath,
      "--disable-warning=ExperimentalWarning",
      "--max-semi-space-size=2",
      entry,
      what,
      path.join(temp, "files"),
    ]);
    assert.equal(result.code, 0, `${what} ended with ${result.code}`);
    return result;
  };
  const cache = (): string => path.join(repo.env["XDG_CACHE_HOME"] ?? "", "orch", "audit");
  const qa = (): Measured => run([process.execPath, cliEntry, "qa", "--json"]);

  const programs: Readonly<Record<string, () => Measured>> = {
    "read all files": () => contender("read"),
    "parse only": () => contender("parse only"),
    "20 rules": () => contender("20 rules"),
    "24 rules": () => contender("24 rules"),
    "all rules": () => contender("all rules"),
    "all rules, 1 thread": () => contender("all rules, 1 thread"),
    "all rules, 2 threads": () => contender("all rules, 2 threads"),
    "python3 compile()": () => contender("python compile"),
    "ruff (wasm)": () => contender("ruff (wasm)"),
    pycodestyle: () => run(["/usr/bin/python3", "-m", "pycodestyle", "--count", "-qq", "lib"]),
    "orch qa, cold": () => {
      fs.rmSync(cache(), { recursive: true, force: true });
      return qa();
    },
    "orch qa, warm": qa,
    "orch qa, 1 % changed": () => {
      for (const file of files.filter((_, index) => index % 100 === 0)) fs.appendFileSync(file, "# changed\n");
      return qa();
    },
  };

  it("prints files per second and ratios, and keeps them", () => {
    const results = new Map<string, Measured[]>(Object.keys(programs).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, start] of Object.entries(programs)) {
        const measured = start();
        results.get(name)?.push(measured);
        if (name.startsWith("orch qa")) {
          const document = JSON.parse(measured.stdout) as { data: { files: number } };
          assert.equal(document.data.files, files.length, name);
        } else if (name !== "pycodestyle") {
          const { files: answered } = JSON.parse(measured.stdout) as { files: number };
          assert.equal(answered, files.length, name);
        }
      }
    }
    const five = JSON.parse(contender("5 files, warm").stdout) as { found: number };
    const cpu = (name: string): number => median((results.get(name) ?? []).map(({ cpuS }) => cpuS));
    const wall = (name: string): number => median((results.get(name) ?? []).map(({ wallS }) => wallS));
    const peak = (name: string): number => median((results.get(name) ?? []).map(({ peakMiB }) => peakMiB));
    /** Paired: the ratio of each round, then the median of them. */
    const ratio = (a: string, b: string, of: "cpuS" | "wallS" = "cpuS"): number =>
      median((results.get(a) ?? []).map((one, round) => one[of] / (results.get(b)?.[round]?.[of] ?? Number.NaN)));
    const goals: readonly Goal[] = [
      { what: "20 rules / parse only", goal: 1.6, unit: "x", measured: ratio("20 rules", "parse only") },
      { what: "20 rules / python3 compile()", goal: 2.2, unit: "x", measured: ratio("20 rules", "python3 compile()") },
      { what: "20 rules / pycodestyle", goal: 0.3, unit: "x", measured: ratio("20 rules", "pycodestyle") },
      { what: "warm / cold", goal: 0.07, unit: "x", measured: ratio("orch qa, warm", "orch qa, cold") },
      { what: "1 % changed / cold", goal: 0.1, unit: "x", measured: ratio("orch qa, 1 % changed", "orch qa, cold") },
      {
        what: "2 threads / 1 thread, CPU",
        goal: 1.15,
        unit: "x",
        measured: ratio("all rules, 2 threads", "all rules, 1 thread"),
      },
      {
        what: "2 threads / 1 thread, wall",
        goal: 0.65,
        unit: "x",
        measured: ratio("all rules, 2 threads", "all rules, 1 thread", "wallS"),
      },
      {
        what: "each further ast rule / parse only",
        goal: 0.03,
        unit: "x",
        measured: (cpu("24 rules") - cpu("20 rules")) / 4 / cpu("parse only"),
      },
      { what: "peak memory, 20 rules, one thread", goal: 150, unit: "MiB", measured: peak("20 rules") },
      {
        what: "memory of a second thread",
        goal: 50,
        unit: "MiB",
        measured: peak("all rules, 2 threads") - peak("all rules, 1 thread"),
      },
      { what: "5 generated files, warm process", goal: 30, unit: "ms", measured: five.found },
    ];
    const rows = Object.keys(programs).map((name) => ({
      name,
      cpuS: cpu(name),
      wallS: wall(name),
      peakMiB: peak(name),
      filesPerCpuS: files.length / cpu(name),
      filesPerS: files.length / wall(name),
      overRuff: ratio(name, "ruff (wasm)"),
      overPycodestyle: ratio(name, "pycodestyle"),
    }));
    const bytes = files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
    const machine = {
      cpus: os.cpus().length,
      model: os.cpus()[0]?.model ?? "",
      node: process.version,
      load: os.loadavg()[0] ?? 0,
    };
    const folder = path.join(sourceRoot, "artifacts/bench");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(
      path.join(folder, "qa.json"),
      `${JSON.stringify({ library, files: files.length, bytes, rounds, machine, rows, goals }, null, 2)}\n`,
    );
    process.stdout.write(`${table(files.length, bytes, machine.load, rows, goals)}\n`);
  });
});

interface Row {
  readonly name: string;
  readonly cpuS: number;
  readonly wallS: number;
  readonly peakMiB: number;
  readonly filesPerCpuS: number;
  readonly filesPerS: number;
  readonly overRuff: number;
  readonly overPycodestyle: number;
}

function table(files: number, bytes: number, load: number, rows: readonly Row[], goals: readonly Goal[]): string {
  const head = `${files} files, ${(bytes / 1e6).toFixed(1)} MB of ${library}; median of ${rounds} rounds in turns; load ${load.toFixed(1)}`;
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(24) : cell.padStart(12))).join("");
  return [
    "",
    head,
    line(["", "CPU s", "files/CPU s", "wall s", "files/s", "MiB", "x ruff", "x pycodestyle"]),
    ...rows.map((row) =>
      line([
        row.name,
        row.cpuS.toFixed(2),
        row.filesPerCpuS.toFixed(0),
        row.wallS.toFixed(2),
        row.filesPerS.toFixed(0),
        row.peakMiB.toFixed(0),
        row.overRuff.toFixed(3),
        row.overPycodestyle.toFixed(3),
      ]),
    ),
    "",
    "goals (gates, same machine, paired)",
    ...goals.map(
      ({ what, goal, unit, measured }) =>
        `  ${measured <= goal ? "met   " : "missed"} ${what.padEnd(38)} ${measured.toFixed(3).padStart(9)} ${unit.padEnd(4)} goal <= ${goal}`,
    ),
  ].join("\n");
}
