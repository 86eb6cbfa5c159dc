import assert from "node:assert/strict";
import { createClock } from "../../../shared/adapters/clock.ts";
import { createFiles } from "../../../shared/adapters/files.ts";
import { createIds } from "../../../shared/adapters/ids.ts";
import { createProcess } from "../../../shared/adapters/process.ts";
import { workerTableRows } from "../../../shared/app/doctor/worker-checks.ts";
import { openWorkers, workerIds, type WorkerTable } from "../../../shared/app/workers.ts";
import { knownWorkers, workerEntries, workerRoutes } from "../../../shared/app/worker-entries.ts";
import { Config } from "../../../shared/model/config.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import type { AnywhereContext } from "../../../shared/app/anywhere.ts";
import { RecordingSink } from "../../support/recording-sink.ts";
import { TempDir } from "../../support/temp-dir.ts";

/** A folder of programs that exist; none of them is ever started. */
async function tableWith(
  programs: readonly string[],
  config: unknown = {},
): Promise<{ readonly table: WorkerTable; readonly dir: TempDir; readonly context: AnywhereContext }> {
  const dir = new TempDir();
  const files = createFiles();
  const clock = createClock();
  for (const name of programs) {
    await files.makeDir(dir.at("node_modules", name));
    await files.write(dir.at("node_modules", name, "package.json"), '{"version": "99.0.0"}');
    await files.write(dir.at("node_modules", name, "main.js"), "#!/usr/bin/env node\n", { mode: 0o755 });
    await files.makeDir(dir.at("bin"));
    await files.symlink(dir.at("node_modules", name, "main.js"), dir.at("bin", name));
  }
  const machine = {
    installRoot: dir.path,
    version: "0.0.0",
    configDir: dir.at("config"),
    stateDir: dir.at("state"),
    cacheDir: dir.at("cache"),
    env: { PATH: dir.at("bin"), HOME: dir.at("home") },
    platform: "posix",
  } as const;
  const parsed = Config.parse(config);
  const parts = {
    machine,
    files,
    process: createProcess(),
    clock,
    ids: createIds(clock),
    config: parsed,
    nodePath: process.execPath,
  };
  const table = await openWorkers({ ...parts, sink: new RecordingSink(), run: "r-1" });
  return { table, dir, context: { ...parts, settings: { config: parsed, sources: [] } } as unknown as AnywhereContext };
}

const contract = (over: Partial<ContractInput>): Contract =>
  Contract.parse({ id: "A", title: "A", goal: "a", allowed: ["**"], ...over });
const check = { name: "hidden", argv: ["true"] };

describe("the table of workers", () => {
  const ladders: readonly (readonly [
    name: string,
    programs: readonly string[],
    config: unknown,
    contract: Partial<ContractInput>,
    ladder: readonly string[],
    skipped: readonly string[],
  ])[] = [
    ["feature goes to sonnet, then opus", ["claude"], {}, { kind: "feature" }, ["sonnet", "opus"], []],
    [
      "a worker that needs live supervision is skipped, the ladder goes on",
      ["claude"],
      {},
      { kind: "mechanical" },
      ["sonnet"],
      [
        "rx-acp: needs live supervision (not in this version)",
        "rx-acp-max: needs live supervision (not in this version)",
        "agy: not installed: agy is not on the PATH",
      ],
    ],
    ["tests go to haiku first", ["claude"], {}, { kind: "tests" }, ["haiku", "sonnet"], []],
    [
      "haiku is refused for any other kind",
      ["claude"],
      {},
      { kind: "feature", worker: "haiku", ladder: ["sonnet"] },
      ["sonnet"],
      ["haiku: haiku is only for tests, and this is feature"],
    ],
    [
      "refactor by sonnet needs hidden checks",
      ["claude"],
      {},
      { kind: "refactor" },
      ["opus"],
      ["sonnet: sonnet takes refactor only with hidden checks, and there are none"],
    ],
    ["and has it then", ["claude"], {}, { kind: "refactor", hidden_checks: [check] }, ["sonnet", "opus"], []],
    [
      "critical without hidden checks goes to opus alone",
      ["claude"],
      {},
      { kind: "critical" },
      ["opus"],
      ["sonnet: sonnet takes critical only with hidden checks, and there are none"],
    ],
    [
      "a second opinion is asked of another family first",
      ["claude", "gemini"],
      {},
      { kind: "second_opinion" },
      ["gemini", "opus"],
      ["codex: not installed: codex is not on the PATH", "rx-flash: not installed: reasonix is not on the PATH"],
    ],
    [
      "the settings replace a route",
      ["claude", "pi"],
      { ladders: { feature: ["pi", "opus"] } },
      {},
      ["pi", "opus"],
      [],
    ],
    [
      "a worker of the settings, no code",
      ["claude"],
      { workers: { cheap: { client: "claude", model: "glm-5" } } },
      { worker: "cheap" },
      ["cheap"],
      [],
    ],
    [
      "an ACP agent of the settings",
      ["claude"],
      { workers: { live: { acp: ["goose", "acp"] } } },
      { worker: "live", ladder: ["opus"] },
      ["opus"],
      ["live: needs live supervision (not in this version)"],
    ],
    [
      "what is unknown, switched off or half described",
      ["claude"],
      { workers: { opus: { enabled: false }, half: { model: "x" } } },
      { worker: "nobody", ladder: ["opus", "half", "sonnet"] },
      ["sonnet"],
      [
        "nobody: there is no worker nobody; see the table with: orch doctor",
        "opus: switched off in the settings",
        "half: workers.half names no client that Orch knows and no argv with a command",
      ],
    ],
    [
      "a client of the person's without a read-only mode reads nothing",
      ["claude", "mine"],
      { workers: { mine: { command: "mine", argv: ["{prompt}"] } } },
      { worker: "mine", ladder: ["sonnet"], mode: "read_only" },
      ["sonnet"],
      ["mine: mine has no read-only mode"],
    ],
  ];
  for (const [name, programs, config, about, ladder, skipped] of ladders) {
    it(name, async () => {
      const { table, dir } = await tableWith(programs, config);
      using _dir = dir;
      const found = table.ladderOf(contract(about));
      assert.deepEqual(
        { ladder: found.ladder.map(({ id }) => id), skipped: found.skipped.map(({ id, why }) => `${id}: ${why}`) },
        { ladder, skipped },
      );
    });
  }

  it("one whose client is not here comes with what installs it", async () => {
    const { table, dir } = await tableWith([], { workers: { mine: { command: "mine", argv: ["{prompt}"] } } });
    using _dir = dir;
    assert.deepEqual(
      table.ladderOf(contract({ worker: "pi", ladder: ["mine"] })).skipped.map(({ id, install }) => [id, install]),
      [
        ["pi", "npm install -g @earendil-works/pi-coding-agent"],
        ["mine", undefined],
      ],
    );
  });

  it("an old client is named with what it should be", async () => {
    const { table, dir } = await tableWith([], {});
    using _dir = dir;
    const files = createFiles();
    await files.makeDir(dir.at("node_modules", "codex"));
    await files.write(dir.at("node_modules", "codex", "package.json"), '{"version": "0.45.0"}');
    await files.write(dir.at("node_modules", "codex", "main.js"), "#!/usr/bin/env node\n", { mode: 0o755 });
    await files.makeDir(dir.at("bin"));
    await files.symlink(dir.at("node_modules", "codex", "main.js"), dir.at("bin", "codex"));
    assert.equal(table.rows().find(({ id }) => id === "codex")?.state, "missing");
    const again = await openWorkers({
      machine: {
        installRoot: dir.path,
        version: "0",
        configDir: dir.path,
        stateDir: dir.path,
        cacheDir: dir.at("cache"),
        env: { PATH: dir.at("bin") },
        platform: "posix",
      },
      files,
      process: createProcess(),
      clock: createClock(),
      ids: createIds(createClock()),
      sink: new RecordingSink(),
      config: Config.parse({}),
      run: "r-1",
      nodePath: process.execPath,
    });
    const row = again.rows().find(({ id }) => id === "codex");
    assert.deepEqual([row?.state, row?.why, row?.version], ["too old", "codex 0.45.0 is older than 0.160.0", "0.45.0"]);
  });

  it("families: of the entry, else of the model", async () => {
    const { table, dir } = await tableWith([], {
      workers: {
        a: { client: "pi", model: "openrouter/deepseek/deepseek-v4" },
        b: { client: "pi", model: "x/y", family: "z" },
      },
    });
    using _dir = dir;
    assert.deepEqual(
      ["sonnet", "codex", "agy", "a", "b", "nobody"].map((id) => table.familyOf(id)),
      ["anthropic", "openai", "google", "deepseek", "z", undefined],
    );
  });

  it("an entry named like a client says for all of its workers where it is and whom it must reach", () => {
    const claude = { command: "/opt/claude", hosts: ["login.example"], minutes: 5 };
    const known = knownWorkers(Config.parse({ workers: { claude, opus: { hosts: [] } } }));
    assert.deepEqual(
      ["sonnet", "opus", "pi"].map((id) => {
        const { command, hosts, minutes } = known.find((one) => one.id === id) ?? {};
        return [command, hosts, minutes];
      }),
      [
        ["/opt/claude", ["login.example"], undefined],
        ["/opt/claude", [], undefined],
        [undefined, undefined, undefined],
      ],
    );
  });

  it("every route names workers of the table", () => {
    const named = Object.values(workerRoutes).flatMap((rungs) => rungs.map(({ worker }) => worker));
    assert.deepEqual(
      named.filter((id) => !Object.hasOwn(workerEntries, id)),
      [],
    );
    assert.ok(workerIds(Config.parse({ workers: { mine: {} } })).includes("mine"));
  });

  it("doctor shows it: usable ones with what they can do, the others with why", async () => {
    const { dir, context } = await tableWith(["claude"]);
    using _dir = dir;
    const [row] = await workerTableRows(context);
    assert.equal(row?.state, "ok");
    assert.equal(row?.what, "3 of 14 workers can be used");
    assert.deepEqual(
      row?.workers?.filter(({ state }) => state === "usable").map(({ id }) => id),
      ["sonnet", "opus", "haiku"],
    );
    assert.deepEqual(
      [...(row?.list ?? []), ...(row?.details ?? [])].filter((line) => /^(?:sonnet|haiku|pi|rx-acp):/.test(line)),
      [
        "sonnet: claude, sonnet 99.0.0; resumes warm, read-only mode; cost told by the client; first class; first call after 0.4 s, 228 MB, 88 KB prompt",
        "haiku: claude, haiku 99.0.0; resumes warm, read-only mode, only for tests; cost told by the client; first class; first call after 0.4 s, 228 MB, 88 KB prompt",
        "pi: not installed: pi is not on the PATH. Install it: npm install -g @earendil-works/pi-coding-agent. What it can do: resumes warm, read-only mode; cost told by the client; first class",
        "rx-acp: needs live supervision (not in this version)",
      ],
    );
  });

  it("doctor names those that are not here in one line, and how each comes here with --verbose", async () => {
    const { dir, context } = await tableWith([]);
    using _dir = dir;
    const [row] = await workerTableRows(context);
    assert.match(row?.what ?? "", /^none of 14 workers can be used/);
    assert.deepEqual([row?.next, row?.details?.length], [undefined, 14]);
    assert.deepEqual(row?.list, [
      "rx-acp, rx-acp-max: needs live supervision (not in this version)",
      "not here: sonnet, opus, haiku, pi, codex, opencode, gemini, copilot, cline, agy, rx-flash, rx-flash-max. What each can do and how it comes here: orch doctor --verbose",
    ]);
    assert.match(row?.details?.[0] ?? "", /^sonnet: not installed: .*Install it: npm/);
  });
});
