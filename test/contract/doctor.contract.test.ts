import { deepEqual, equal, match } from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import type { CheckRow } from "../../shared/app/doctor/check.ts";
import { checks } from "../../shared/app/doctor/checks.ts";
import { nodeRow } from "../../shared/app/doctor/machine-checks.ts";
import { doctor, type DoctorData, type DoctorRow } from "../../shared/app/handlers/doctor.ts";
import type { Answer, Question } from "../../shared/ports/editor.ts";
import { makeAnywhere } from "../support/anywhere.ts";
import { args } from "../support/bench.ts";
import { eventually } from "../support/eventually.ts";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo, type TempRepoOptions } from "../support/temp-repo.ts";

const never = new AbortController().signal;

interface Look {
  readonly code: number;
  readonly summary: string;
  readonly next: readonly string[];
  readonly rows: readonly DoctorRow[];
  readonly text: string;
  readonly asked: readonly Question[];
  row(title: string): DoctorRow;
}

async function look(
  place: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly answer?: (question: Question) => Answer | undefined;
  },
  fix = false,
): Promise<Look> {
  const { context, asked } = await makeAnywhere(place);
  const { code, summary, next, data } = await doctor(context, args(fix ? { fix } : {}), never);
  const { checks, text } = data as DoctorData;
  return {
    code,
    summary,
    next,
    rows: checks,
    text: text.join("\n"),
    asked,
    row(title) {
      const found = checks.find((one) => one.title === title);
      if (found === undefined) throw new Error(`no line ${title} in:\n${text.join("\n")}`);
      return found;
    },
  };
}

async function lookAt(id: string, place: Parameters<typeof look>[0]): Promise<readonly CheckRow[]> {
  const { context } = await makeAnywhere(place);
  const check = checks.find((one) => one.id === id);
  if (check === undefined) throw new Error(`there is no check ${id}`);
  return check.look(context, never);
}

const configFile = (repo: TempRepo, name: string): string => path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch", name);
const stateFile = (repo: TempRepo, ...parts: string[]): string =>
  path.join(repo.env["XDG_STATE_HOME"] ?? "", "orch", ...parts);

async function put(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** What each situation must be told as: title, state, words, next keystroke. */
interface Situation {
  readonly name: string;
  readonly options?: TempRepoOptions;
  readonly env?: Readonly<Record<string, string>>;
  make?(repo: TempRepo): Promise<unknown>;
  /** The only check that is carried out. */
  readonly check: string;
  readonly title: string;
  readonly state: DoctorRow["state"];
  readonly what: RegExp;
  readonly next?: RegExp;
}

const situations: readonly Situation[] = [
  { name: "Node", check: "node", title: "node", state: "ok", what: /^\d+\.\d+\.\d+ at \// },
  { name: "locks", check: "locks", title: "locks", state: "ok", what: /node:sqlite holds them in/ },
  { name: "git", check: "git", title: "git", state: "ok", what: /^\d+\.\d+.* at \// },
  {
    name: "no git at all",
    env: { PATH: "/nowhere" },
    check: "git",
    title: "git",
    state: "fail",
    what: /not on the PATH/,
    next: /Install git/,
  },
  {
    name: "no identity",
    options: { firstCommit: false, identity: false },
    check: "repository",
    title: "identity",
    state: "fail",
    what: /not set/,
    next: /^Set it with: git config/,
  },
  {
    name: "an unborn branch",
    options: { firstCommit: false },
    check: "repository",
    title: "branch",
    state: "warn",
    what: /no commit yet/,
  },
  {
    name: "a detached HEAD",
    make: (repo) => repo.git("switch", "-q", "--detach"),
    check: "repository",
    title: "branch",
    state: "warn",
    what: /detached/,
    next: /git switch main/,
  },
  {
    name: "a merge in progress",
    async make(repo) {
      await repo.git("switch", "-q", "-c", "other");
      await repo.commit("theirs", { "README.md": "theirs\n" });
      await repo.git("switch", "-q", "main");
      await repo.commit("ours", { "README.md": "ours\n" });
      await repo.tryGit("merge", "other");
    },
    check: "repository",
    title: "operation",
    state: "warn",
    what: /a merge is unfinished/,
    next: /git merge --abort/,
  },
  { name: "a remote", options: { remote: true }, check: "repository", title: "remote", state: "ok", what: /^origin$/ },
  { name: "no remote", check: "repository", title: "remote", state: "ok", what: /^none/ },
  {
    name: "a configuration that hides modes",
    make: (repo) => repo.git("config", "core.fileMode", "false"),
    check: "git-config",
    title: "git config",
    state: "warn",
    what: /core\.filemode = false/,
    next: /git config core\.fileMode true/,
  },
  {
    name: "an untrusted repository with a filter",
    make: (repo) => repo.git("config", "filter.x.clean", "touch /tmp/never"),
    check: "trust",
    title: "trust",
    state: "warn",
    what: /git would run: filter\.x\.clean/,
    next: /^orch trust$/,
  },
  {
    name: "a key in the environment, never its value",
    env: { OPENAI_API_KEY: "sk-doctor-must-not-show-this-value" },
    check: "providers",
    title: "providers",
    state: "ok",
    what: /OPENAI_API_KEY is set/,
  },
  {
    name: "a provider whose key is not here",
    make: (repo) =>
      put(
        configFile(repo, "config.json"),
        '{"models": {"providers": {"lab": {"baseUrl": "http://127.0.0.1:9/v1", "keyEnv": "LAB_KEY"}}}}',
      ),
    check: "providers",
    title: "provider lab",
    state: "warn",
    what: /LAB_KEY is not set/,
    next: /Set LAB_KEY/,
  },
  {
    name: "a model that cannot be asked",
    make: (repo) => put(configFile(repo, "model_chain.json"), '["openai/gpt-x"]'),
    check: "models",
    title: "models",
    state: "fail",
    what: /no model of the order can be asked/,
    next: /orch model/,
  },
  {
    name: "broken settings of the user",
    make: (repo) => put(configFile(repo, "config.json"), '{\n  "keep_runs": "many"\n}'),
    check: "settings",
    title: "settings",
    state: "fail",
    what: /config\.json:2: keep_runs/,
    next: /line 2/,
  },
  {
    name: "broken settings of the project that nobody trusts",
    make: (repo) => repo.write(".orch/config.json", "{\n<<<<<<< ours\n"),
    check: "settings",
    title: "settings",
    state: "fail",
    what: /config\.json:2: .*conflict markers.*without effect/,
  },
  {
    name: "a broken registry",
    make: (repo) => repo.write(".features.json", '{"known_features": {\n  "Invoice": 7}}'),
    check: "registry",
    title: "registry",
    state: "fail",
    what: /\.features\.json:2/,
  },
  {
    name: "a broken trust store",
    make: (repo) => put(stateFile(repo, "trust.json"), "nonsense"),
    check: "trust",
    title: "trust",
    state: "fail",
    what: /trust\.json:1/,
  },
  {
    name: "a sandbox that is required and not there",
    env: { PATH: "/nowhere" },
    make: (repo) => put(configFile(repo, "config.json"), '{"sandbox": "required"}'),
    check: "protections",
    title: "sandbox",
    state: "fail",
    what: /sandbox is "required", and there is none: bwrap, socat, rg not found/,
    next: /apt-get install bubblewrap socat ripgrep/,
  },
  {
    name: "a sandbox that is preferred and not there",
    env: { PATH: "/nowhere" },
    check: "protections",
    title: "sandbox",
    state: "warn",
    what: /none, so workers and checks run as you/,
    next: /apt-get install/,
  },
  {
    name: "a sandbox that is switched off",
    make: (repo) => put(configFile(repo, "config.json"), '{"sandbox": "off"}'),
    check: "protections",
    title: "sandbox",
    state: "ok",
    what: /off in the settings: workers and checks run as you/,
  },
  {
    name: "that programs are ended with what they started",
    check: "protections",
    title: "process trees",
    state: "ok",
    what: /ended with what they started/,
  },
  {
    name: "how many workers may live on this machine",
    check: "protections",
    title: "worker slots",
    state: "ok",
    what: /at most 3 workers are alive on this machine, 0 now/,
  },
  {
    name: "that the repository is sealed around attempts",
    check: "protections",
    title: "seal",
    state: "ok",
    what: /compared around every attempt/,
  },
  { name: "enough disk", check: "disk", title: "disk, state", state: "ok", what: /iB free at/ },
];

describe("orch doctor", () => {
  for (const { name, options, env, make, check, title, state, what, next } of situations) {
    it(`tells ${name}`, async () => {
      await using repo = await makeTempRepo(options);
      await make?.(repo);
      const rows = await lookAt(check, { cwd: repo.root, env: { ...repo.env, ...env } });
      const row = rows.find((one) => one.title === title);
      deepEqual([row?.title, row?.state], [title, state], JSON.stringify(rows));
      match(row?.what ?? "", what);
      if (next !== undefined) match(row?.next ?? "", next);
      equal(JSON.stringify(rows).includes("sk-doctor-must-not-show-this-value"), false);
      const open = rows.filter((one) => one.state !== "ok" && one.next === undefined);
      deepEqual(open, [], "every warning and failure has a next keystroke");
    });
  }

  it("fails below the floor of Node", async () => {
    await using repo = await makeTempRepo();
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    deepEqual(
      ["20.1.0", "22.18.9", "22.19.0", "24.0.0"].map((version) => nodeRow(context, version)[0]?.state),
      ["fail", "fail", "ok", "ok"],
    );
  });

  it("works outside a repository", async () => {
    await using repo = await makeTempRepo();
    const seen = await look({ cwd: repo.base, env: repo.env });
    const row = seen.row("repository");
    deepEqual([row.state, seen.code], ["warn", 0]);
    match(row.next ?? "", /orch init/);
    equal(
      seen.rows.some(({ id }) => id === "trust"),
      false,
    );
  });

  it("finds the real pi, and says that it has no login", async () => {
    await using repo = await makeTempRepo();
    const bin = path.join(sourceRoot, "node_modules", ".bin");
    const env = { ...repo.env, PATH: `${bin}${path.delimiter}${repo.env["PATH"] ?? ""}` };
    const [row] = await lookAt("pi", { cwd: repo.root, env });
    deepEqual([row?.state, row?.next], ["warn", "Log in with: pi, then /login"]);
  });

  it("warns of a test program that is missing where the project has that language, and nowhere else", async () => {
    await using repo = await makeTempRepo({ files: { "pyproject.toml": "[project]\n", "a.py": "x = 1\n" } });
    const states = async (): Promise<Record<string, string>> => {
      const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
      const none = { ...context, process: { ...context.process, which: () => Promise.resolve(undefined) } };
      const rows = (await checks.find(({ id }) => id === "tests")?.look(none, never)) ?? [];
      return Object.fromEntries(rows.map(({ title, state }) => [title, state]));
    };
    deepEqual(await states(), { "tests, Python": "warn", "tests, TypeScript": "ok" });
    await repo.commit("ts", { "web/a.ts": "export const a = 1;\n" });
    deepEqual(await states(), { "tests, Python": "warn", "tests, TypeScript": "warn" });
  });

  it("asks the project's own interpreter only after trust", async () => {
    await using repo = await makeTempRepo();
    const mark = path.join(repo.base, "ran");
    const own = `#!/bin/sh\necho ran >> '${mark}'\nexit 0\n`;
    await repo.write(".venv/bin/python", own, 0o755);
    const python = async (): Promise<CheckRow> => {
      const rows = await lookAt("tests", { cwd: repo.root, env: repo.env });
      const found = rows.find(({ title }) => title === "tests, Python");
      return found ?? { title: "", state: "fail", what: "no line for Python" };
    };
    const ran = (): Promise<string> => readFile(mark, "utf8").catch(() => "");
    const before = await python();
    equal(await ran(), "");
    equal(before.what.includes(".venv"), false);
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const { repository } = context;
    if (repository.kind !== "open") throw repository.why;
    await repository.trust.grant(await repository.trust.state());
    const after = await python();
    deepEqual([after.state, after.what], ["ok", ".venv/bin/python -m pytest"]);
    match(await ran(), /ran/);
  });

  it("names broken rules of the project once they are trusted, queries that do not compile among them", async () => {
    await using repo = await makeTempRepo();
    const rule = {
      id: "shop.query",
      group: "standards",
      kind: "ast",
      severity: "FAIL",
      message: "no",
      query: "(no_such_node) @at",
    };
    await repo.write(
      ".orch/rules/python/own.json",
      JSON.stringify({ set: "python", extensions: [".py"], checks: [rule] }),
    );
    await repo.write(".orch/personas/backend_agent.md", "no front matter\n");
    deepEqual(
      (await lookAt("rules", { cwd: repo.root, env: repo.env })).map(({ state }) => state),
      ["ok"],
    );
    const { context } = await makeAnywhere({ cwd: repo.root, env: repo.env });
    const { repository } = context;
    if (repository.kind !== "open") throw repository.why;
    await repository.trust.grant(await repository.trust.state());
    const seen = await look({ cwd: repo.root, env: repo.env });
    match(seen.row("rules").what, /own\.json:1 \(shop\.query\): .*left out, the others run/);
    match(seen.row("personas").what, /\.orch\/personas\/backend_agent\.md:1/);
  });

  it("names links of .agents that are missing or somebody else's, and makes the missing ones", async () => {
    await using repo = await makeTempRepo();
    await repo.write(".features.json", "{}");
    const rows = () => lookAt("agents", { cwd: repo.root, env: repo.env });
    const [missing] = await rows();
    match(missing?.what ?? "", /^missing: \.agents$/);
    match((await missing?.mend?.apply()) ?? "", /^linked \.agents$/);
    deepEqual(
      (await rows()).map(({ state, what }) => [state, what]),
      [["ok", ".agents"]],
    );
    await rm(repo.path(".agents"));
    await repo.write(".agents/orch", "somebody else's\n");
    const mixed = await rows();
    deepEqual(
      mixed.map(({ state }) => state),
      ["warn", "warn"],
    );
    match(mixed[0]?.what ?? "", /^\.agents\/orch is not Orch's/);
    match((await mixed[1]?.mend?.apply()) ?? "", /^linked \.agents\/rules, \.agents\/personas$/);
    equal(await repo.read(".agents/orch"), "somebody else's\n");
  });

  it("--fix does what is safe and says so; without it nothing changes", async () => {
    await using repo = await makeTempRepo();
    const old = stateFile(repo, "short", "r-20200101-000000-dead");
    const young = stateFile(repo, "pi", "young");
    await put(path.join(old, "note"), "x");
    await mkdir(young, { recursive: true });
    await utimes(old, new Date(0), new Date(0));
    await mkdir(repo.path(".orch/runs"), { recursive: true });
    await chmod(stateFile(repo), 0o777);

    const before = await look({ cwd: repo.root, env: repo.env });
    deepEqual(
      ["ignore file", "private folders", "own files"].map((title) => before.row(title).state),
      ["warn", "warn", "fail"],
    );
    deepEqual(before.next[0], "orch doctor --fix");
    equal(await repo.read(".orch/runs/.gitignore"), undefined);

    const after = await look({ cwd: repo.root, env: repo.env }, true);
    deepEqual(
      ["ignore file", "private folders", "own files"].map((title) => [
        after.row(title).state,
        after.row(title).mend?.done,
      ]),
      [
        ["ok", true],
        ["ok", true],
        ["ok", true],
      ],
    );
    match(after.summary, /3 mended$/);
    equal(await repo.read(".orch/runs/.gitignore"), "*\n");
    const again = await look({ cwd: repo.root, env: repo.env });
    equal(
      again.rows.some(({ mend }) => mend !== undefined),
      false,
      again.text,
    );
    equal(await rm(young, { recursive: true }).then(() => "there"), "there");
  });

  it("leftovers of a run whose runner is gone are named; ending them waits for a person's yes", async () => {
    await using repo = await makeTempRepo();
    const run = "r-20260131-101500-ab12";
    const marker = "marker-of-a-dead-run";
    const child = spawn("sleep", ["300"], {
      detached: true,
      stdio: "ignore",
      env: { ...process.env, ORCH_ATTEMPT: marker },
    });
    const { pid } = child;
    if (pid === undefined) throw new Error("sleep did not start");
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    try {
      const startTime = await eventually("its start time", () => createProcess().startTimeOf(pid));
      const events = [
        { type: "run.started", command: "do", host: "cli", version: "0", pid: 1, cwd: repo.root, machine: "x" },
        { type: "process.started", pid, startTime, marker, what: "model" },
      ];
      const lines = events.map((event, index) => JSON.stringify({ v: 1, run, seq: index + 1, at: 1, ...event }));
      await repo.write(`.orch/runs/${run}/events.jsonl`, `${lines.join("\n")}\n`);
      await repo.write(".orch/runs/.gitignore", "*\n");

      const alone = await look({ cwd: repo.root, env: repo.env }, true);
      deepEqual([alone.row("leftovers").state, alone.row("leftovers").next], ["warn", `orch cancel ${run}`]);
      match(alone.row("runs").what, /is interrupted/);
      deepEqual(alone.row("runs").next, `orch resume ${run}`);

      const no = await look({ cwd: repo.root, env: repo.env, answer: () => ({ choice: "no", by: "person" }) }, true);
      deepEqual([no.asked.length, no.row("leftovers").state], [1, "warn"]);

      const yes = await look({ cwd: repo.root, env: repo.env, answer: () => ({ choice: "yes", by: "person" }) }, true);
      deepEqual([yes.row("leftovers").state, yes.row("leftovers").mend?.done], ["ok", true]);
      await gone;
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("says how many runs clean would remove, and none where it would remove none", async () => {
    await using repo = await makeTempRepo();
    await put(configFile(repo, "config.json"), '{"keep_runs": 1}');
    await repo.write(".orch/runs/.gitignore", "*\n");
    for (const end of ["aaaa", "bbbb", "cccc"]) {
      const run = `r-20260131-101500-${end}`;
      const finished = { type: "command.finished", ok: true, code: 0, summary: "done", next: [] };
      await repo.write(
        `.orch/runs/${run}/events.jsonl`,
        `${JSON.stringify({ v: 1, run, seq: 1, at: 1, ...finished })}\n`,
      );
    }
    const kept = async (): Promise<CheckRow | undefined> => {
      const rows = await lookAt("runs", { cwd: repo.root, env: repo.env });
      return rows.find(({ title }) => title === "runs kept");
    };
    const row = await kept();
    deepEqual([row?.state, row?.next], ["warn", "orch clean"]);
    match(row?.what ?? "", /^2 runs that nothing needs any more, beyond the 1 of keep_runs$/);

    for (const end of ["aaaa", "bbbb"]) {
      const run = `r-20260131-101500-${end}`;
      const lines = [
        { type: "run.started", command: "run", title: "One", host: "cli", version: "0", pid: 1 },
        { type: "contract.queued", contract: end, title: end, hash: "", maxAttempts: 3 },
        { type: "contract.finished", contract: end, state: "awaiting-review" },
        { type: "command.finished", ok: true, code: 0, summary: "done", next: [] },
      ];
      const text = lines
        .map((line, n) => `${JSON.stringify({ v: 1, run, seq: n + 1, at: n + 1, ...line })}\n`)
        .join("");
      await repo.write(`.orch/runs/${run}/events.jsonl`, text);
    }
    equal(await kept(), undefined);
  });

  it("its lines stay the same kind of text for every screen", async () => {
    await using repo = await makeTempRepo();
    const { text, rows } = await look({ cwd: repo.root, env: repo.env });
    const width = Math.max(...rows.map(({ title }) => title.length));
    const line = new RegExp(`^(?:(?:ok  |warn|fail)  \\S.{${width - 1}}  \\S| {${width + 8}}\\S)`);
    for (const one of text.split("\n")) match(one, line);
  });
});
