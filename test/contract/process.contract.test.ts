// The Process port against the one implementation there is, with programs that behave as badly as real ones do.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import type { Exit, Output, ProcessSpec } from "../../shared/ports/process.ts";
import { eventually } from "../support/eventually.ts";
import { fixture } from "../support/source-root.ts";
import { quickest } from "../support/quickest.ts";
import { TempDir } from "../support/temp-dir.ts";

const processes = createProcess();
const never = new AbortController().signal;
const env = { PATH: process.env["PATH"] ?? "" };
const untidy = fixture("programs", "untidy.mjs");

function spec(dir: TempDir, argv: ProcessSpec["argv"], more: Partial<ProcessSpec> = {}): ProcessSpec {
  return { argv, cwd: dir.path, env, timeoutMs: 15_000, maxOutputBytes: 20_000_000, graceMs: 300, ...more };
}

function node(code: string, ...args: readonly string[]): [string, ...string[]] {
  return [process.execPath, "-e", code, ...args];
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

function brief(result: Exit & Output): Record<string, unknown> {
  const { stdout, stderr, durationMs, leftovers, ...exit } = result;
  assert.ok(durationMs >= 0);
  return {
    ...exit,
    ...(stdout.length > 0 ? { stdout: text(stdout) } : {}),
    ...(stderr.length > 0 ? { stderr: text(stderr) } : {}),
    ...(leftovers > 0 ? { leftovers } : {}),
  };
}

const isGone = (pid: number): boolean => processes.startTimeOf(pid) === undefined;

async function pidsIn(file: string): Promise<number[]> {
  await eventually(`${file} written`, () => fs.existsSync(file));
  return JSON.parse(fs.readFileSync(file, "utf8")) as number[];
}

describe("process", function () {
  this.timeout(600_000);
  let dir: TempDir;
  beforeEach(() => (dir = new TempDir()));
  afterEach(() => dir[Symbol.dispose]());

  describe("exits are values", () => {
    const rows: readonly {
      readonly name: string;
      readonly argv: ProcessSpec["argv"];
      readonly more?: Partial<ProcessSpec>;
      readonly is: Record<string, unknown>;
    }[] = [
      {
        name: "zero",
        argv: node("console.log('out'); console.error('err')"),
        is: { kind: "exited", code: 0, stdout: "out\n", stderr: "err\n" },
      },
      { name: "a code", argv: node("process.exit(3)"), is: { kind: "exited", code: 3 } },
      {
        name: "a signal of its own",
        argv: node("process.kill(process.pid, 'SIGKILL')"),
        is: { kind: "signalled", signal: "SIGKILL" },
      },
      {
        name: "no such command",
        argv: ["orch-no-such-command"],
        is: { kind: "not-started", reason: "orch-no-such-command is not on the PATH" },
      },
      {
        name: "no such file",
        argv: ["./nothing-here"],
        is: { kind: "not-started", reason: "./nothing-here is no program that can be run" },
      },
      {
        name: "an argument with NUL",
        argv: node("1", "a\0b"),
        is: { kind: "not-started", reason: "an argument holds a NUL character" },
      },
      {
        name: "stdin closed when absent",
        argv: node("process.stdin.on('data', () => {}).on('end', () => console.log('end'))"),
        is: { kind: "exited", code: 0, stdout: "end\n" },
      },
      {
        name: "stdin given",
        argv: node("process.stdin.pipe(process.stdout)"),
        more: { stdin: "déjà vu\n" },
        is: { kind: "exited", code: 0, stdout: "déjà vu\n" },
      },
      {
        name: "stdin that nobody reads",
        argv: node("process.exit(0)"),
        more: { stdin: new Uint8Array(5_000_000) },
        is: { kind: "exited", code: 0 },
      },
      {
        name: "arguments reach it as they are",
        argv: node("console.log(JSON.stringify(process.argv.slice(1)))", "a b", "$HOME", "'\"", "*"),
        is: { kind: "exited", code: 0, stdout: '["a b","$HOME","\'\\"","*"]\n' },
      },
      {
        name: "nothing is inherited",
        argv: node("console.log(Object.keys(process.env).filter((key) => key !== '__CF_USER_TEXT_ENCODING').join())"),
        is: { kind: "exited", code: 0, stdout: "PATH\n" },
      },
    ];
    for (const row of rows) {
      it(row.name, async () => {
        assert.deepEqual(brief(await processes.run(spec(dir, row.argv, row.more), never)), row.is);
      });
    }

    it("a folder that is not there", async () => {
      const result = await processes.run(spec(dir, ["true"], { cwd: dir.at("gone") }), never);
      assert.deepEqual(brief(result), { kind: "not-started", reason: `the folder ${dir.at("gone")} does not exist` });
    });

    it("a file that may not be run", async () => {
      fs.writeFileSync(dir.at("text"), "not a program\n", { mode: 0o644 });
      const result = await processes.run(spec(dir, [dir.at("text")]), never);
      assert.deepEqual(brief(result), {
        kind: "not-started",
        reason: `${dir.at("text")} is no program that can be run`,
      });
    });
  });

  describe("which", () => {
    it("finds programs in absolute folders only and never runs them", async () => {
      fs.mkdirSync(dir.at("bin"));
      fs.writeFileSync(dir.at("bin", "tool"), `#!/bin/sh\ntouch ${dir.at("ran")}\n`, { mode: 0o755 });
      fs.writeFileSync(dir.at("bin", "data"), "", { mode: 0o644 });
      const here = path.relative(process.cwd(), dir.at("bin"));
      assert.deepEqual(
        [
          await processes.which("tool", ["/nowhere", dir.at("bin")].join(path.delimiter)),
          await processes.which("tool", here),
          await processes.which("tool", ""),
          await processes.which("data", dir.at("bin")),
          await processes.which("bin/tool", dir.path),
          fs.existsSync(dir.at("ran")),
        ],
        [dir.at("bin", "tool"), undefined, undefined, undefined, undefined, false],
      );
    });

    it("a program of the working folder is not found by its bare name", async () => {
      fs.writeFileSync(dir.at("git"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
      const result = await processes.run(
        spec(dir, ["git"], { env: { PATH: `.${path.delimiter}${path.delimiter}/nowhere` } }),
        never,
      );
      assert.equal(result.kind, "not-started");
    });
  });

  describe("output", () => {
    it("10 MB on each of both streams", async () => {
      const code =
        "const b = Buffer.alloc(1e6, 120); for (let i = 0; i < 10; i++) { process.stdout.write(b); process.stderr.write(b); }";
      const result = await processes.run(spec(dir, node(code)), never);
      assert.deepEqual([result.kind, result.stdout.length, result.stderr.length], ["exited", 10_000_000, 10_000_000]);
    });

    it("more than the cap ends the tree and keeps what came first", async () => {
      const code =
        "process.stdout.on('error', () => {}); const b = Buffer.alloc(65536, 121); const w = () => { while (process.stdout.write(b)); process.stdout.once('drain', w); }; w();";
      const result = await processes.run(spec(dir, node(code), { maxOutputBytes: 1_000_000 }), never);
      assert.deepEqual([result.kind, result.stdout.length], ["too-much-output", 1_000_000]);
    });

    it("lines are framed by LF alone and end with the program", async () => {
      const running = processes.stream(spec(dir, node("process.stdout.write('a\\u2028b\\n\\nc\\r\\nlast')")), never);
      const lines: string[] = [];
      for await (const line of running.lines()) lines.push(line);
      assert.deepEqual([lines, (await running.done).kind], [["a\u2028b", "", "c", "last"], "exited"]);
    });

    it("lines of a program that could not start end at once", async () => {
      const running = processes.stream(spec(dir, ["orch-no-such-command"]), never);
      for await (const line of running.lines()) assert.fail(line);
      assert.equal(running.pid, undefined);
    });

    it("onStart tells pid and start time before the program ends", async () => {
      const seen: [number, string][] = [];
      const result = await processes.run(
        spec(dir, node("console.log(process.pid)"), { onStart: (pid, at) => void seen.push([pid, at]) }),
        never,
      );
      assert.equal(text(result.stdout).trim(), String(seen[0]?.[0]));
      assert.match(seen[0]?.[1] ?? "", /./);
      assert.equal(processes.isAlive(seen[0]?.[0] ?? 0, seen[0]?.[1] ?? ""), false);
    });
  });

  describe("ending", () => {
    it("an abort is honoured within 100 ms", async () => {
      const tookMs = await quickest(100, async () => {
        const stop = new AbortController();
        const running = processes.stream(
          spec(dir, node("console.log('up'); setInterval(() => {}, 1000)")),
          stop.signal,
        );
        for await (const line of running.lines()) {
          assert.equal(line, "up");
          break;
        }
        const at = performance.now();
        stop.abort();
        const result = await running.done;
        assert.equal(result.kind, "cancelled");
        return performance.now() - at;
      });
      assert.ok(tookMs < 100, `took ${tookMs} ms`);
    });

    it("an abort before the start starts nothing", async () => {
      const result = await processes.run(spec(dir, ["touch", "made"]), AbortSignal.abort());
      assert.deepEqual([result.kind, fs.existsSync(dir.at("made"))], ["cancelled", false]);
    });

    it("a timeout of a program that ignores TERM is KILL after the grace", async () => {
      // Deaf from its first moment: a Node that is still starting when TERM comes would end by it.
      const deaf: [string, ...string[]] = ["sh", "-c", "trap '' TERM INT; exec sleep 600"];
      const result = await processes.run(spec(dir, deaf, { timeoutMs: 700, graceMs: 200 }), never);
      assert.equal(result.kind, "timed-out");
      assert.ok(result.durationMs >= 850 && result.durationMs < 5000, `took ${result.durationMs} ms`);
    });

    it("a program may clean up on TERM", async () => {
      const code =
        "process.on('SIGTERM', () => { console.log('cleaned'); process.exit(0); }); console.log('up'); setInterval(() => {}, 1000)";
      const stop = new AbortController();
      const running = processes.stream(spec(dir, node(code)), stop.signal);
      const lines: string[] = [];
      for await (const line of running.lines()) {
        lines.push(line);
        stop.abort();
      }
      assert.deepEqual([lines, (await running.done).kind], [["up", "cleaned"], "cancelled"]);
    });

    for (const kinds of [["group"], ["session"], ["daemon"], ["group", "group", "session", "daemon"]]) {
      it(`cancel ends a tree that ignores signals and holds stdout: ${kinds.join(", ")}`, async () => {
        const stop = new AbortController();
        const running = processes.stream(
          spec(dir, [process.execPath, untidy, dir.at("pids"), "stay", ...kinds], {
            marker: `m-cancel-${kinds.length}`,
          }),
          stop.signal,
        );
        const pids = await pidsIn(dir.at("pids"));
        assert.equal(pids.length, kinds.length + 1);
        assert.deepEqual(pids.filter(isGone), []);
        stop.abort();
        const result = await running.done;
        assert.deepEqual([result.kind, pids.filter((pid) => !isGone(pid))], ["cancelled", []]);
      });

      it(`what a program leaves behind does not hang us and is ended: ${kinds.join(", ")}`, async () => {
        const result = await processes.run(
          spec(dir, [process.execPath, untidy, dir.at("pids"), "end", ...kinds], { marker: `m-end-${kinds.length}` }),
          never,
        );
        const pids = await pidsIn(dir.at("pids"));
        assert.deepEqual(
          [result.kind, text(result.stdout), result.leftovers, pids.filter((pid) => !isGone(pid))],
          ["exited", "ready\n", kinds.length, []],
        );
        assert.ok(result.durationMs < 6000, `took ${result.durationMs} ms`);
      });
    }

    it("what left the group and ends by itself with the program is nobody's leftover", async () => {
      // It reads what the program holds open, so it outlives the program by a moment.
      const code =
        'require("child_process").spawn("cat", [], { detached: true, stdio: ["pipe", "ignore", "ignore"] }).once("spawn", () => process.exit())';
      const result = await processes.run(spec(dir, node(code), { marker: "m-moment" }), never);
      assert.deepEqual([result.kind, result.leftovers], ["exited", 0]);
    });

    it("what left the group and emptied its environment is found by its folder", async () => {
      const result = await processes.run(
        spec(dir, [process.execPath, untidy, dir.at("pids"), "end", "clean"], { marker: "m-clean" }),
        never,
      );
      const [, clean = 0] = await pidsIn(dir.at("pids"));
      assert.deepEqual([result.kind, isGone(clean)], ["exited", false]);
      assert.deepEqual(await processes.endLeftovers({ folder: dir.path }), [clean]);
      assert.equal(isGone(clean), true);
    });

    it("programs of one attempt end alone: their shared marker ends the rest only on demand", async () => {
      const stop = new AbortController();
      const other = processes.stream(
        spec(dir, node("setInterval(() => {}, 1000)"), { marker: "m-shared" }),
        stop.signal,
      );
      await processes.run(spec(dir, ["true"], { marker: "m-shared" }), never);
      assert.equal(isGone(other.pid ?? 0), false);
      assert.deepEqual(await processes.endLeftovers({ marker: "m-shared" }), [other.pid]);
      assert.equal((await other.done).kind, "signalled");
    });

    it("a sweep leaves others alone: another marker, another folder, this process", async () => {
      const stop = new AbortController();
      const other = processes.stream(
        spec(dir, node("setInterval(() => {}, 1000)"), { marker: "m-other" }),
        stop.signal,
      );
      assert.deepEqual(await processes.endLeftovers({ marker: "m-othe", folder: dir.at("elsewhere") }), []);
      stop.abort();
      assert.equal((await other.done).kind, "cancelled");
    });

    it("the folder this process works in is never swept: a person's editor stands there too", async () => {
      fs.mkdirSync(dir.at("below"));
      const before = process.cwd();
      const stop = new AbortController();
      const other = processes.stream(spec(dir, node("setInterval(() => {}, 1000)")), stop.signal);
      process.chdir(dir.at("below"));
      try {
        assert.deepEqual(await processes.endLeftovers({ folder: dir.path }), []);
      } finally {
        process.chdir(before);
      }
      stop.abort();
      assert.equal((await other.done).kind, "cancelled");
    });

    it("a pid is ended only while it is the process that was recorded", async () => {
      const stop = new AbortController();
      const other = processes.stream(
        spec(dir, node("process.on('SIGTERM', () => {}); console.log(1); setInterval(() => {}, 1000)")),
        stop.signal,
      );
      for await (const line of other.lines()) {
        assert.equal(line, "1");
        break;
      }
      const pid = other.pid ?? 0;
      const startTime = processes.startTimeOf(pid) ?? "";
      assert.equal(await processes.endIfSame(pid, `${startTime}0`), false);
      assert.equal(processes.isAlive(pid, startTime), true);
      assert.equal(await processes.endIfSame(pid, startTime), true);
      assert.equal(processes.isAlive(pid, startTime), false);
      assert.equal((await other.done).kind, "signalled");
    });
  });
});
