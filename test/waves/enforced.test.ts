// What a worker or a check is kept from by something it cannot reach: programs that try, as checks of a real repository.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { createChecksGate } from "../../shared/gates/checks.ts";
import { checkEnvironment } from "../../shared/adapters/test-runner-env.ts";
import { createConfinements } from "../../shared/app/sandbox.ts";
import { type AbsPath, absPath, inRoot } from "../../shared/base/paths.ts";
import type { Finding } from "../../shared/model/finding.ts";
import type { Notice } from "../../shared/ports/editor.ts";
import type { Confinement } from "../../shared/ports/sandbox.ts";
import { type Bench, makeBench } from "../support/bench.ts";
import { eventually } from "../support/eventually.ts";
import { featureContract, gateInput } from "../support/gate-input.ts";
import { processesIn } from "../support/own-processes.ts";
import { RecordingSink } from "../support/recording-sink.ts";
import { needsSandbox } from "../support/sandbox-here.ts";
import { fixture } from "../support/source-root.ts";

const never = new AbortController().signal;

interface Room extends AsyncDisposable {
  readonly bench: Bench;
  readonly told: Notice[];
  readonly attempt: AbsPath;
  readonly secret: string;
  /** Requests that a server outside has answered. */
  readonly hits: string[];
  readonly port: number;
  /** Runs a shell script as a check; what it found, and all it printed. */
  check(script: string): Promise<{ readonly findings: readonly Finding[]; readonly output: string }>;
}

async function makeRoom(sandbox: "required" | "preferred" | "off"): Promise<Room> {
  const bench = await makeBench({ files: { "src/a.txt": "a\n" } });
  const { repo, context } = bench;
  const told: Notice[] = [];
  context.editor.notify = (notice) => void told.push(notice);
  const secret = path.join(repo.home, ".ssh", "id_ed25519");
  fs.mkdirSync(path.dirname(secret), { recursive: true });
  fs.writeFileSync(secret, "PRIVATE-KEY-BYTES\n");
  const other = inRoot(context.machine.stateDir, "worktrees/other");
  fs.mkdirSync(other, { recursive: true });
  fs.writeFileSync(inRoot(other, "work.txt"), "theirs\n");
  const attempt = absPath(path.join(repo.base, "runs", "attempt-1"));
  const home = absPath(path.join(repo.base, "check-home"));
  for (const folder of [attempt, home, inRoot(repo.root, ".orch/runs/r-1/replies")])
    fs.mkdirSync(folder, { recursive: true });
  const hits: string[] = [];
  const server = http.createServer((request, response) => {
    hits.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const settings = { ...context, config: { ...context.config, sandbox } };
  const { check: confine } = createConfinements(settings);
  return {
    bench,
    told,
    attempt,
    secret,
    hits,
    port: (server.address() as AddressInfo).port,
    async check(script) {
      let output = "";
      const sink = new RecordingSink();
      const gate = createChecksGate({
        tests: { run: () => assert.fail("no report was asked for") },
        process: context.process,
        env: checkEnvironment(context.machine, home),
        confine,
        ids: context.ids,
        groupOf: () => undefined,
      });
      const result = await gate.run(
        {
          ...gateInput({ contract: featureContract({ checks: [{ name: "try", argv: ["/bin/sh", "-c", script] }] }) }),
          root: repo.root,
          attemptDir: { relative: "attempt-1", absolute: attempt },
          sink: {
            append: (event) => sink.append(event),
            sidecar: (name, text) => {
              output = String(text);
              return sink.sidecar(name, text);
            },
          },
        },
        never,
      );
      if (result.kind !== "ran") throw new assert.AssertionError({ message: JSON.stringify(result) });
      return { findings: result.findings, output };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await bench[Symbol.asyncDispose]();
    },
  };
}

interface Attack {
  readonly name: string;
  readonly script: (room: Room) => string;
  /** What must not have come about. */
  readonly harmless: (room: Room) => void;
  readonly swallowed?: true;
}

const absent = (at: string): void => assert.equal(fs.existsSync(at), false, `${at} is there`);

const attacks: readonly Attack[] = [
  {
    name: "reads a key of ~/.ssh",
    script: ({ secret }) => `cat '${secret}'`,
    harmless: () => undefined,
  },
  {
    name: "reads a key through a link that it makes in the tree",
    script: ({ secret, bench }) => `ln -s '${secret}' '${bench.repo.root}/key'; cat key`,
    harmless: () => undefined,
  },
  {
    name: "adds a key to ~/.ssh",
    script: ({ secret }) => `echo mine >> '${path.dirname(secret)}/authorized_keys'`,
    harmless: ({ secret }) => absent(path.join(path.dirname(secret), "authorized_keys")),
  },
  {
    name: "writes beside the repository",
    // The test's folders lie in /tmp, and a check has a /tmp of its own: what it writes there goes with it.
    swallowed: true,
    script: ({ bench }) => `echo x > '${bench.repo.base}/outside.txt'`,
    harmless: ({ bench }) => absent(path.join(bench.repo.base, "outside.txt")),
  },
  {
    name: "writes to a folder of the system",
    script: () => "echo x > /etc/orch-enforced-test",
    harmless: () => absent("/etc/orch-enforced-test"),
  },
  {
    name: "writes in another worktree",
    script: ({ bench }) => `echo mine > '${bench.context.machine.stateDir}/worktrees/other/work.txt'`,
    harmless: ({ bench }) =>
      assert.equal(fs.readFileSync(`${bench.context.machine.stateDir}/worktrees/other/work.txt`, "utf8"), "theirs\n"),
  },
  {
    name: "switches hooks in .git/config",
    script: () => "git config core.hooksPath evil && git config core.fsmonitor 'touch pwned'",
    harmless: ({ bench }) =>
      assert.doesNotMatch(fs.readFileSync(bench.repo.path(".git", "config"), "utf8"), /evil|pwned/),
  },
  {
    name: "plants a hook",
    script: () => "mkdir -p .git/hooks && printf '#!/bin/sh\\ntrue\\n' > .git/hooks/post-commit",
    harmless: ({ bench }) => absent(bench.repo.path(".git", "hooks", "post-commit")),
  },
  {
    name: "puts another .git in place of the real one",
    script: () => "mv .git aside && echo 'gitdir: /nowhere' > .git",
    harmless: ({ bench }) => assert.ok(fs.statSync(bench.repo.path(".git")).isDirectory()),
  },
  {
    name: "answers a decision in the person's name",
    script: () => "echo '{}' > .orch/runs/r-1/replies/q-1.json",
    harmless: ({ bench }) => absent(bench.repo.path(".orch", "runs", "r-1", "replies", "q-1.json")),
  },
  {
    name: "installs a package",
    script: ({ port }) =>
      `npm_config_offline=false npm install --no-audit --fetch-retries 0 --registry http://127.0.0.1:${port}/ left-pad`,
    harmless: ({ hits, bench }) => {
      assert.deepEqual(hits, []);
      absent(bench.repo.path("node_modules", "left-pad"));
    },
  },
  {
    name: "sends what it knows to a server",
    script: ({ port }) =>
      `node -e 'fetch("http://127.0.0.1:${port}/secret").then(() => process.exit(0), () => process.exit(3))'`,
    harmless: ({ hits }) => assert.deepEqual(hits, []),
  },
  {
    name: "ends a program of somebody else",
    script: () => `kill -9 ${process.pid}`,
    harmless: () => undefined,
  },
  {
    name: "mounts something over the tree's .git",
    script: () => "mount --bind src .git",
    harmless: ({ bench }) => assert.ok(fs.existsSync(bench.repo.path(".git", "HEAD"))),
  },
];

describe("e2e: enforced, not instructed", function () {
  this.timeout(600_000);

  describe("in the sandbox, a check that", () => {
    for (const { name, script, harmless, swallowed } of attacks) {
      it(`${name} is stopped`, async function () {
        await using room = await makeRoom("required");
        await needsSandbox(this, room.bench.context.sandbox);
        const { findings, output } = await room.check(script(room));
        harmless(room);
        assert.deepEqual(
          findings.map(({ rule, severity }) => `${severity} ${rule}`),
          swallowed ? [] : ["FAIL check_failed"],
          output,
        );
        assert.doesNotMatch(output, /PRIVATE-KEY-BYTES/);
        assert.deepEqual(room.told, []);
      });
    }

    it("starts a server and daemons that ignore TERM leaves nothing running", async function () {
      await using room = await makeRoom("required");
      await needsSandbox(this, room.bench.context.sandbox);
      const pids = path.join(room.bench.repo.root, "pids.json");
      const untidy = `'${process.execPath}' '${copyOf(room)}' '${pids}' end group session daemon clean`;
      const { findings, output } = await room.check(untidy);
      assert.deepEqual(findings, [], output);
      assert.equal((JSON.parse(fs.readFileSync(pids, "utf8")) as number[]).length, 5, "all of them ran");
      await eventually("all gone", () => processesIn(room.bench.repo.root).length === 0);
    });

    it("works as it should passes: it writes the tree, its attempt's folder, its home and /tmp", async function () {
      await using room = await makeRoom("required");
      await needsSandbox(this, room.bench.context.sandbox);
      const { findings, output } = await room.check(
        `set -e; echo b > src/a.txt; echo r > '${room.attempt}/report'; echo h > "$HOME/h"; t=$(mktemp); echo t > "$t";
         git status --porcelain; echo "uv: $UV_OFFLINE$UV_NO_SYNC"; python3 -c 'import tempfile; tempfile.TemporaryFile()'; node -e 'process.exit(0)'`,
      );
      assert.deepEqual(findings, [], output);
      assert.match(output, /M src\/a\.txt/);
      assert.match(output, /uv: 11/);
      assert.deepEqual(
        [fs.readFileSync(room.bench.repo.path("src", "a.txt"), "utf8"), fs.existsSync(`${room.attempt}/report`)],
        ["b\n", true],
      );
    });

    it("lies in a folder of the tree still has the whole tree, and a program that is not there is no red check", async function () {
      await using room = await makeRoom("required");
      await needsSandbox(this, room.bench.context.sandbox);
      const { context, repo } = room.bench;
      const { check } = createConfinements({ ...context, config: { ...context.config, sandbox: "required" } });
      const env = { PATH: repo.env["PATH"] ?? "" };
      const spec = { cwd: repo.path("src"), env, timeoutMs: 60_000, maxOutputBytes: 10_000 };
      const places = { tree: repo.root, write: [] };
      const wrapped = await check({ ...spec, argv: ["/bin/sh", "-c", "pwd; echo c > ../c.txt"] }, places, never);
      const exit = await context.process.run(wrapped, never);
      assert.deepEqual([exit.kind, new TextDecoder().decode(exit.stdout)], ["exited", `${repo.path("src")}\n`]);
      assert.equal(await repo.read("c.txt"), "c\n");
      const missing = await check({ ...spec, argv: ["no-such-program"] }, places, never);
      assert.equal((await context.process.run(missing, never)).kind, "not-started");
    });
  });

  describe("a worker that may speak to one host", () => {
    it("reaches that one, no other, and has the same walls around it", async function () {
      await using room = await makeRoom("required");
      const { context, repo } = room.bench;
      await needsSandbox(this, context.sandbox);
      const { worker } = createConfinements({ ...context, config: { ...context.config, sandbox: "required" } });
      const within = (hosts: readonly string[]): Confinement => ({
        write: [repo.root],
        denyWrite: [repo.path(".git")],
        denyRead: [repo.home, context.machine.stateDir],
        allowRead: [],
        hosts,
      });
      const script = `
        node -e 'fetch("http://127.0.0.1:${room.port}/model").then((r) => console.log("answered", r.status), () => console.log("refused"))'
        cat '${room.secret}'; echo x > '${repo.base}/outside.txt'; echo x > .git/config; echo w > src/w.txt; echo done`;
      const spec = {
        argv: ["/bin/sh", "-c", script] as const,
        cwd: repo.root,
        env: { PATH: repo.env["PATH"] ?? "" },
        timeoutMs: 120_000,
        maxOutputBytes: 100_000,
      };
      const run = async (hosts: readonly string[]): Promise<string> => {
        const exit = await context.process.run(await worker({ ...spec }, within(hosts), never), never);
        return new TextDecoder().decode(exit.stdout);
      };
      assert.equal(await run(["127.0.0.1"]), "answered 200\ndone\n");
      const answers = (["SIGINT", "SIGTERM"] as const).flatMap((signal) => process.listeners(signal)).map(String);
      assert.deepEqual(
        answers.filter((code) => code.includes("registerCleanup")),
        [],
        "how this process ends is not the runtime's to say",
      );
      assert.equal(await run(["api.example.org"]), "refused\ndone\n");
      assert.deepEqual(room.hits, ["/model"]);
      assert.equal(await repo.read("src/w.txt"), "w\n");
      absent(path.join(repo.base, "outside.txt"));
      assert.notEqual(await repo.read(".git/config"), "x\n");
      assert.deepEqual(
        fs.readdirSync(repo.root).toSorted(),
        [".git", ".orch", "src"],
        "nothing is put into the tree for the walls",
      );
    });
  });

  describe("without a sandbox", () => {
    it("the tree of a check still ends with it, and is told of", async () => {
      await using room = await makeRoom("off");
      const pids = path.join(room.bench.repo.root, "pids.json");
      const untidy = `'${process.execPath}' '${copyOf(room)}' '${pids}' end group session daemon`;
      const { findings } = await room.check(untidy);
      assert.deepEqual(
        findings.map(({ rule, message }) => `${rule}: ${message}`),
        ["process_left: try left 3 processes running, which were ended"],
      );
      assert.deepEqual(processesIn(room.bench.repo.root), []);
      assert.deepEqual(room.told, []);
    });

    it("one that shed its marks is found by its folder", async () => {
      await using room = await makeRoom("off");
      const pids = path.join(room.bench.repo.root, "pids.json");
      await room.check(`'${process.execPath}' '${copyOf(room)}' '${pids}' end clean`);
      const [, stray = 0] = JSON.parse(fs.readFileSync(pids, "utf8")) as number[];
      assert.deepEqual(await room.bench.context.process.endLeftovers({ folder: room.bench.repo.root }), [stray]);
      assert.deepEqual(processesIn(room.bench.repo.root), []);
    });

    it("preferred and not there: it runs, and that is said once", async () => {
      await using room = await makeRoom("preferred");
      const { context, repo } = room.bench;
      const told: Notice[] = [];
      const off = { kind: "off", why: "bwrap is not here", hint: "Install it" } as const;
      const { check, worker } = createConfinements({
        ...context,
        editor: { ...context.editor, interactive: false, notify: (notice) => told.push(notice) },
        sandbox: { ...context.sandbox, state: () => Promise.resolve(off) },
      });
      const spec = { argv: ["true"] as const, cwd: repo.root, env: {}, timeoutMs: 1000, maxOutputBytes: 10 };
      const within: Confinement = { write: [], denyWrite: [], denyRead: [], allowRead: [], hosts: [] };
      for (const wrapped of [
        await check({ ...spec }, { tree: repo.root, write: [] }, never),
        await worker({ ...spec }, within, never),
      ])
        assert.deepEqual(wrapped, spec);
      assert.deepEqual(told, [
        {
          severity: "warning",
          text: "No sandbox here, so workers and checks run as you: bwrap is not here",
          hint: "Install it",
        },
      ]);
    });
  });
});

/** The program lies in the tree: what is beside the tree is not to be relied on inside. */
function copyOf({ bench }: Room): string {
  const at = bench.repo.path("untidy.mjs");
  fs.copyFileSync(fixture("programs", "untidy.mjs"), at);
  return at;
}
