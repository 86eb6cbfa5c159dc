import assert from "node:assert/strict";
import { createFiles } from "../../../shared/adapters/files.ts";
import type { Recipe, StreamParser } from "../../../shared/adapters/recipes/recipe.ts";
import { type CliWorkerDeps, createCliWorker } from "../../../shared/adapters/worker-cli.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { isAbort } from "../../../shared/base/abort.ts";
import { inRoot } from "../../../shared/base/paths.ts";
import type { WorkerReport } from "../../../shared/model/attempt.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import { unknownUsage } from "../../../shared/model/usage.ts";
import type { Exit, Output, Process, ProcessSpec } from "../../../shared/ports/process.ts";
import type { Confinement } from "../../../shared/ports/sandbox.ts";
import type { Slots } from "../../../shared/ports/slots.ts";
import type { LeftBudget } from "../../../shared/ports/worker.ts";
import type { Workspace } from "../../../shared/ports/workspace.ts";
import { readFinal } from "../../../shared/prompts/final-word.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { RecordingSink } from "../../support/recording-sink.ts";
import { TempDir } from "../../support/temp-dir.ts";

/** Lines of words: `call`, `tool`, `tool-end`, `tools untold`, `perhaps`, `cost N`, `end TEXT`. */
function parser(): StreamParser {
  let calls = 0;
  let tools = 0;
  let untold = false;
  let inTool: boolean | "unknown" = false;
  let costUsd = 0;
  let text: string | undefined;
  return {
    line(said) {
      if (said === "call") calls += 1;
      if (said === "tool") inTool = true;
      if (said === "tool-end") [inTool, tools] = [false, tools + 1];
      if (said === "perhaps") inTool = "unknown";
      if (said === "tools untold") untold = true;
      if (said.startsWith("cost ")) costUsd = Number(said.slice(5));
      if (said.startsWith("end ")) text = said.slice(4);
    },
    look: () => ({ calls, tools: untold ? "unknown" : tools, costUsd, inTool }),
    end: () => ({ ended: text !== undefined, text: text ?? "", session: "s", usage: unknownUsage, calls, denied: [] }),
    isNoise: (line) => line === "delta",
  };
}

const recipe: Recipe = {
  client: "fake",
  program: "fake",
  tier: "untested",
  can: { resume: "cache-warm", cost: "tokens", readOnly: true, ownSandbox: true, tellsTokenLimit: true },
  env: () => ["FAKE_KEY"],
  logins: [{ from: ".fake/login.json", to: ".fake/login.json", as: "link" }],
  hosts: () => ["api.fake.example"],
  stray: [".fake-droppings"],
  command: ({ confined, access, home }) => ({
    args: [confined ? "open" : "closed", access],
    env: { FAKE_HOME: home },
    files: [{ path: inRoot(home, "settings.json"), text: "{}" }],
  }),
  parser,
};

const final = '{"status": "done", "summary": "fine", "files_changed": [], "concerns": ["slow"]}';

interface Scene {
  readonly report: WorkerReport;
  readonly sink: RecordingSink;
  readonly specs: readonly ProcessSpec[];
  readonly dir: TempDir;
}

interface Part {
  readonly left?: LeftBudget;
  readonly can?: Partial<Recipe["can"]>;
  readonly recipe?: Partial<Recipe>;
  readonly lines?: readonly string[];
  /** After its lines it says nothing until it is ended. */
  readonly hangs?: boolean;
  readonly deps?: Partial<CliWorkerDeps>;
  readonly contract?: Partial<ContractInput>;
  readonly before?: (dir: TempDir) => Promise<void>;
  readonly during?: (dir: TempDir) => Promise<void>;
  readonly advanceMs?: number;
  readonly signal?: AbortSignal;
  /** Called when the time has passed. */
  readonly endWith?: () => void;
}

async function play(part: Part): Promise<Scene> {
  const dir = new TempDir();
  const files = createFiles();
  await files.makeDir(dir.at("tree"));
  await part.before?.(dir);
  const clock = new FakeClock();
  const sink = new RecordingSink();
  const specs: ProcessSpec[] = [];
  const output: Output = { stdout: new Uint8Array(), stderr: new Uint8Array(), durationMs: 1, leftovers: 0 };
  const process: Process = {
    which: () => Promise.resolve(undefined),
    run: () => Promise.reject(new Error("workers are followed, not run")),
    stream(spec, signal) {
      specs.push(spec);
      spec.onStart?.(42, "t0");
      const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      async function* lines(): AsyncIterable<string> {
        await part.during?.(dir);
        yield* part.lines ?? [];
        if (part.hangs === true) await ended;
      }
      const exit = (): Exit => (signal.aborted ? { kind: "cancelled" } : { kind: "exited", code: 0 });
      const done = part.hangs === true ? ended : Promise.resolve();
      return { pid: 42, lines, done: done.then(() => ({ ...exit(), ...output })) };
    },
  };
  const worker = createCliWorker(
    { ...recipe, ...part.recipe, can: { ...recipe.can, ...part.can } },
    {
      id: "w",
      argv: ["/bin/fake"],
      process,
      files,
      clock,
      ids: { next: () => "m-1" },
      sink,
      run: "r-1",
      denyRead: [],
      allowRead: [],
      homeOf: ({ id }) => dir.at("homes", id),
      shared: dir.at("shared"),
      userHome: dir.at("person"),
      env: { PATH: "/bin", FAKE_KEY: "fake-key-0123456789", OTHER_TOKEN: "other-0123456789", HOME: dir.at("person") },
      extraEnv: [],
      extraHosts: [],
      extraArgs: [],
      limits: () => ({ wallMs: 60_000, silenceMs: 1000, maxCalls: 3, maxCostUsd: 1, maxOutputBytes: 1000 }),
      readFinal,
      unusable: (text) => (text === "" ? { why: "empty", detail: "an empty reply" } : undefined),
      ...part.deps,
    },
  );
  const running = worker.run(
    {
      contract: Contract.parse({ id: "A", title: "A", goal: "a", allowed: ["**"], ...part.contract }),
      attempt: 2,
      messages: [{ role: "user", content: "Do it with fake-key-0123456789." }],
      workspace: { root: dir.at("tree") } as unknown as Workspace,
      replyDir: "",
      ...(part.left === undefined ? {} : { left: part.left }),
    },
    part.signal ?? new AbortController().signal,
  );
  if (part.advanceMs !== undefined) {
    while (clock.sleeping === 0) await settle();
    await clock.advance(part.advanceMs);
    part.endWith?.();
  }
  const report = await running.catch((error: unknown) => {
    dir[Symbol.dispose]();
    throw error;
  });
  return { report, sink, specs, dir };
}

describe("a client as a worker", () => {
  it("reports what the stream said, after the process was told", async () => {
    const { report, sink, specs, dir } = await play({ lines: ["call", "delta", `end ${final}`] });
    using _dir = dir;
    const { durationMs: _ms, transcript, ...rest } = report;
    assert.deepEqual(rest, {
      kind: "done",
      summary: "fine",
      problems: [],
      claims: [],
      concerns: ["slow"],
      refused: [],
      status: "done",
      acceptance: {},
      calls: 1,
      session: "s",
      usage: unknownUsage,
    });
    assert.deepEqual(sink.types(), ["process.started", "process.ended", "usage.recorded"]);
    assert.deepEqual(sink.of("process.started")[0], {
      type: "process.started",
      contract: "A",
      attempt: 2,
      pid: 42,
      startTime: "t0",
      marker: "m-1",
      what: "w",
    });
    assert.equal(specs[0]?.marker, "m-1");
    assert.equal(specs[0]?.stdin, undefined, "closed at once");
    assert.ok(transcript !== undefined && !transcript.includes("delta") && !transcript.includes("fake-key-0123456789"));
    assert.match(transcript, /Do it with \[redacted\]/);
  });

  it("its whole environment is built", async () => {
    const { specs, dir } = await play({ lines: [`end ${final}`] });
    using _dir = dir;
    assert.deepEqual(specs[0]?.env, {
      PATH: "/bin",
      FAKE_KEY: "fake-key-0123456789",
      HOME: dir.at("homes", "A", "home"),
      USERPROFILE: dir.at("homes", "A", "home"),
      TMPDIR: dir.at("homes", "A", "tmp"),
      TMP: dir.at("homes", "A", "tmp"),
      TEMP: dir.at("homes", "A", "tmp"),
      TERM: "dumb",
      NO_COLOR: "1",
      PAGER: "cat",
      GIT_PAGER: "cat",
      GIT_EDITOR: "true",
      PYTEST_ADDOPTS: "-p no:cacheprovider",
      PYTHONDONTWRITEBYTECODE: "1",
      GIT_TERMINAL_PROMPT: "0",
      FAKE_HOME: dir.at("homes", "A", "home"),
    });
  });

  const limits: readonly (readonly [string, Part, RegExp])[] = [
    [
      "silence while the model is asked",
      { lines: ["call"], hangs: true, advanceMs: 1500 },
      /^failed models w heard nothing/,
    ],
    [
      "silence of a tool is borne longer",
      { lines: ["call", "tool"], hangs: true, advanceMs: 4500 },
      /^timed-out - a command of w/,
    ],
    [
      "a loop without answers",
      { lines: ["call", "call", "call", "call"], hangs: true },
      /^failed models w asked its model 3 times/,
    ],
    [
      "a loop of tools is the worker's own",
      { lines: ["call", "tool", "tool-end", "call", "tool", "tool-end", "call", "call"], hangs: true },
      /^failed - w was not done after 3 calls/,
    ],
    [
      "silence of one that does not tell of its tools is blamed on nobody",
      { lines: ["tools untold", "call"], hangs: true, advanceMs: 1500 },
      /^failed models w said nothing for longer than 1 s allows and was ended$/,
    ],
    [
      "silence in which a tool may run is borne as long, and blamed on nobody",
      { lines: ["call", "perhaps"], hangs: true, advanceMs: 4500 },
      /^failed models w said nothing for longer than 1 s allows and was ended$/,
    ],
    [
      "calls of one that does not tell of its tools are its own",
      { lines: ["tools untold", "call", "call", "call", "call"], hangs: true },
      /^failed - w was not done after 3 calls/,
    ],
    ["money", { lines: ["call", "cost 1.5"], hangs: true }, /^failed - w reached the limit of 1 USD/],
    [
      "money that other attempts left",
      { lines: ["call", "cost 0.5"], hangs: true, left: { usd: 0.30000000000000004 } },
      /^failed - w reached the limit of 0\.3 USD/,
    ],
  ];
  for (const [name, part, expected] of limits) {
    it(`ends it: ${name}`, async () => {
      const { report, dir } = await play(part);
      using _dir = dir;
      assert.match(`${report.kind} ${report.cause ?? "-"} ${report.summary}`, expected);
    });
  }

  it("the minutes that other attempts left, and never more than its own", async () => {
    const spans: (number | undefined)[] = [];
    for (const minutes of [0.5, 5]) {
      const { specs, dir } = await play({ lines: [`end ${final}`], left: { minutes } });
      using _dir = dir;
      spans.push(specs[0]?.timeoutMs);
    }
    assert.deepEqual(spans, [30_000, 60_000]);
  });

  it("a tool may be silent for longer than a model", async () => {
    const stop = new AbortController();
    const { report, dir } = await play({
      lines: ["call", "tool"],
      hangs: true,
      advanceMs: 3900,
      endWith: () => stop.abort(),
      signal: stop.signal,
    }).catch((error: unknown) => {
      assert.ok(isAbort(error), "it still ran when the person stopped it");
      return { report: undefined, dir: undefined };
    });
    assert.deepEqual([report, dir], [undefined, undefined]);
  });

  const wrapped = { argv: ["/sandbox", "/bin/fake"] } as const;

  it("the person's login is a link, in a home that is kept for the next attempt", async () => {
    const files = createFiles();
    const { dir } = await play({
      lines: [`end ${final}`],
      before: async (at) => {
        await files.makeDir(at.at("person", ".fake"));
        await files.write(at.at("person", ".fake", "login.json"), "{}");
      },
    });
    using _dir = dir;
    const at = dir.at("homes", "A", "home", ".fake", "login.json");
    assert.equal((await files.stat(at))?.kind, "symlink");
    assert.equal(await files.realPath(at), dir.at("person", ".fake", "login.json"));
  });

  const brought = [
    { from: ".fake/models.json", to: ".fake/models.json", as: "copy" },
    { from: ".fake/auth.json", to: ".fake/auth.json", as: "tokens" },
  ] as const;
  const oauth = (access: string, expires: number): unknown => ({
    type: "oauth",
    access,
    refresh: `${access}-r`,
    expires,
  });

  it("a file that can name a command is a copy, in and out of the sandbox; only refreshed tokens come back", async () => {
    const files = createFiles();
    for (const confined of [true, false]) {
      const seen: Confinement[] = [];
      const models = '{"apiKey":"key"}';
      const auth = JSON.stringify({ a: oauth("old", 1), b: { type: "api_key", key: "mine" } });
      const { dir } = await play({
        lines: [`end ${final}`],
        recipe: { logins: brought },
        deps: confined
          ? {
              confine: (spec, within) => {
                seen.push(within);
                return Promise.resolve({ ...spec, argv: [...wrapped.argv, ...spec.argv.slice(1)] });
              },
            }
          : {},
        before: async (at) => {
          await files.makeDir(at.at("person", ".fake"));
          await files.write(at.at("person", ".fake", "models.json"), models);
          await files.write(at.at("person", ".fake", "auth.json"), auth);
        },
        during: async (at) => {
          const own = (name: string) => at.at("homes", "A", "home", ".fake", name);
          assert.deepEqual(
            [await files.readText(own("models.json")), await files.readText(own("auth.json"))],
            [models, auth],
          );
          await files.write(own("models.json"), '{"apiKey":"!touch pwned"}');
          const planted = {
            a: { ...(oauth("new", 2) as object), key: "!x" },
            b: { type: "api_key", key: "!x" },
            c: oauth("c", 3),
          };
          await files.write(own("auth.json"), JSON.stringify(planted));
        },
      });
      using _dir = dir;
      assert.equal(await files.readText(dir.at("person", ".fake", "models.json")), models);
      assert.deepEqual(JSON.parse(String(await files.readText(dir.at("person", ".fake", "auth.json")))), {
        a: oauth("new", 2),
        b: { type: "api_key", key: "mine" },
      });
      assert.ok(
        seen.every(({ write }) => write.every((at) => !at.startsWith(dir.at("person")))),
        "nothing of the person's",
      );
    }
  });

  it("nothing of ours is written through a link that the worker left in its home", async () => {
    const files = createFiles();
    const theirs = ["settings.json", "models.json", "auth.json"] as const;
    const { dir } = await play({
      lines: [`end ${final}`],
      recipe: {
        logins: brought,
        command: ({ home }) => ({
          args: [],
          env: {},
          files: [{ path: inRoot(home, ".fake", "settings.json"), text: "ours" }],
        }),
      },
      before: async (at) => {
        await files.makeDir(at.at("person", ".fake"));
        for (const name of theirs) await files.write(at.at("person", ".fake", name), "{}");
        await files.makeDir(at.at("elsewhere"));
        for (const name of theirs) await files.write(at.at("elsewhere", name), "theirs");
        await files.makeDir(at.at("homes", "A", "home"));
        // As an earlier attempt left it.
        await files.symlink(at.at("elsewhere"), at.at("homes", "A", "home", ".fake"));
      },
    });
    using _dir = dir;
    for (const name of theirs) assert.equal(await files.readText(dir.at("elsewhere", name)), "theirs", name);
    assert.equal(await files.readText(dir.at("homes", "A", "home", ".fake", "settings.json")), "ours");
  });

  it("what a client unpacks for all homes is another place with a sandbox than without", async () => {
    const files = createFiles();
    const seen: string[] = [];
    const { dir } = await play({
      lines: [`end ${final}`],
      recipe: {
        command: ({ confined, home, shared }) => {
          seen.push(`${confined} ${shared.split("/").at(-1)}`);
          return { args: [], env: {}, files: [], links: [{ at: inRoot(home, "cache"), to: inRoot(shared, "x") }] };
        },
      },
      before: async (at) => {
        await files.makeDir(at.at("homes", "A", "home"));
        await files.makeDir(at.at("shared", "confined", "x"));
        await files.linkFolder(at.at("shared", "confined", "x"), at.at("homes", "A", "home", "cache"));
      },
    });
    using _dir = dir;
    assert.deepEqual(seen, ["false open"]);
    assert.equal(
      await files.realPath(dir.at("homes", "A", "home", "cache")),
      await files.realPath(dir.at("shared", "open", "x")),
    );
  });

  it("what the client drops into the tree is removed and named; what was there stays", async () => {
    const files = createFiles();
    const dropped = async (at: TempDir): Promise<void> => files.write(at.at("tree", ".fake-droppings"), "x");
    const came = await play({ lines: [`end ${final}`], during: dropped });
    using _came = came.dir;
    assert.deepEqual(came.report.stray, [".fake-droppings"]);
    assert.equal(await files.stat(came.dir.at("tree", ".fake-droppings")), undefined);
    const was = await play({ lines: [`end ${final}`], before: dropped });
    using _was = was.dir;
    assert.equal(was.report.stray, undefined);
    assert.notEqual(await files.stat(was.dir.at("tree", ".fake-droppings")), undefined);
  });

  it("in the sandbox the client's own is off; it may write its tree and its home, and reach its provider", async () => {
    const seen: Confinement[] = [];
    const { specs, dir } = await play({
      lines: [`end ${final}`],
      deps: {
        confine: (spec, within) => {
          seen.push(within);
          return Promise.resolve({ ...spec, argv: [...wrapped.argv, ...spec.argv.slice(1)] });
        },
      },
    });
    using _dir = dir;
    assert.deepEqual(specs[0]?.argv, ["/sandbox", "/bin/fake", "open", "edit"]);
    assert.deepEqual(seen[0]?.write, [
      dir.at("tree"),
      dir.at("homes", "A", "home"),
      dir.at("homes", "A", "tmp"),
      dir.at("shared", "confined"),
    ]);
    assert.deepEqual(seen[0]?.denyWrite, [dir.at("tree", ".git")]);
    assert.deepEqual(seen[0]?.hosts, ["api.fake.example"]);
  });

  it("reaches the hosts of the settings, too, and of an address among its variables", async () => {
    const seen: (readonly string[])[] = [];
    const { dir } = await play({
      lines: [`end ${final}`],
      deps: {
        env: { PATH: "/bin", GATEWAY_URL: "https://gateway.example:8443/v1", PLAIN: "gateway.elsewhere.example" },
        extraEnv: ["GATEWAY_URL", "PLAIN"],
        extraHosts: ["login.example", "api.fake.example"],
        confine: (spec, { hosts }) => {
          seen.push(hosts);
          return Promise.resolve(spec);
        },
      },
    });
    using _dir = dir;
    assert.deepEqual(seen, [["api.fake.example", "gateway.example", "login.example"]]);
  });

  it("a read-only contract may not write its tree, neither does a second opinion", async () => {
    for (const contract of [{ mode: "read_only" }, { kind: "second_opinion" }] as const) {
      const seen: Confinement[] = [];
      const { specs, dir } = await play({
        lines: [`end ${final}`],
        contract,
        deps: {
          confine: (spec, within) => {
            seen.push(within);
            return Promise.resolve({ ...spec, argv: [...wrapped.argv, ...spec.argv.slice(1)] });
          },
        },
      });
      using _dir = dir;
      assert.ok(seen[0] !== undefined && !seen[0].write.includes(dir.at("tree")));
      assert.equal(specs[0]?.argv.at(-1), "read");
    }
  });

  it("a session that can only be gone on in to write is not told by a reading contract: its retry starts afresh", async () => {
    const sessions: (string | undefined)[] = [];
    for (const mode of ["read_only", "edit"] as const) {
      const { report, dir } = await play({
        lines: [`end ${final}`],
        contract: { mode },
        can: { resumesToWrite: true },
      });
      using _dir = dir;
      sessions.push(report.session);
    }
    assert.deepEqual(sessions, [undefined, "s"]);
  });

  it("a sandbox that cannot be set up is a refusal, and nothing is started", async () => {
    const scene = play({ deps: { confine: () => Promise.reject(new Error("no shell")) } });
    await assert.rejects(
      scene,
      (error: unknown) => isOrchError(error) && /w could not be put into the sandbox: no shell/.test(error.message),
    );
  });

  it("where there is no sandbox the client's own is on", async () => {
    const { specs, dir } = await play({ lines: [`end ${final}`], deps: { confine: (spec) => Promise.resolve(spec) } });
    using _dir = dir;
    assert.deepEqual(specs[0]?.argv, ["/bin/fake", "closed", "edit"]);
  });

  it("holds a place while it lives, and writes down who lives in it", async () => {
    const told: string[] = [];
    const slots: Pick<Slots, "take"> = {
      take: (tenant) => {
        told.push(`take ${tenant.worker} ${tenant.contract} ${tenant.run}`);
        return Promise.resolve({
          number: 1,
          occupy: ({ pid, startTime, marker }) => {
            told.push(`occupy ${pid} ${startTime} ${marker}`);
            return Promise.resolve();
          },
          [Symbol.dispose]: () => void told.push("free"),
        });
      },
    };
    const { dir } = await play({ lines: [`end ${final}`], deps: { slots: slots as Slots } });
    using _dir = dir;
    assert.deepEqual(told, ["take w A r-1", "occupy 42 t0 m-1", "free"]);
  });
});
