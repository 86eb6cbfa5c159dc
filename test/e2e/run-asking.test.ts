// Real runner processes: questions and decisions, how runs end, and starts that fail.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { cancel } from "../../shared/app/handlers/cancel.ts";
import { reply } from "../../shared/app/handlers/reply.ts";
import { resume } from "../../shared/app/handlers/resume.ts";
import { runs } from "../../shared/app/handlers/runs.ts";
import { status } from "../../shared/app/handlers/status.ts";
import { wait } from "../../shared/app/handlers/wait.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { runsDir } from "../../shared/model/run-place.ts";
import { startRun } from "../../shared/runner/client.ts";
import { dropReply } from "../../shared/runner/drop.ts";
import { followRun } from "../../shared/runner/tail.ts";
import { RunFixture } from "../support/run-fixture.ts";
import { never, context, args, refusal, briefly, told } from "../support/runs-context.ts";

describe("runs that ask, end and start badly @slow", function () {
  this.timeout(600_000);
  let f: RunFixture;
  beforeEach(() => (f = new RunFixture()));
  afterEach(() => f[Symbol.asyncDispose]());

  describe("asking", () => {
    it("a decision nobody answers parks the run; the reply starts it again and stands", async () => {
      const started = await f.start([{ do: "ask", weight: "decision", title: "Discard it?" }], {
        TEST_PARK_AFTER_MS: "0",
      });
      const end = await followRun(started, never);
      const id = end.state.pending[0]?.id ?? "";
      assert.deepEqual(
        [end.kind, end.state.parked?.why, end.state.parked?.hint],
        ["parked", "Discard it?", `Answer with: orch reply ${id} --choice 'yes|no'`],
      );
      const waited = await wait(context(f), args({}), never);
      assert.deepEqual(
        [waited.code, waited.summary, waited.next],
        [4, `${id}: Discard it?`, [`orch reply ${id} --choice 'yes|no'`]],
      );
      assert.match(
        await refusal(reply(context(f), args({ words: [id], choice: "maybe" }), never)),
        /^usage.invalid: .* has no choice maybe: yes, no$/,
      );
      assert.equal(
        await refusal(reply(context(f), args({ words: ["q-00000000-1"], choice: "yes" }), never)),
        "reply.unknown: Nothing is asked under q-00000000-1",
      );
      const replied = await reply(context(f), args({ words: [id], choice: "yes" }), never);
      assert.equal(replied.summary, `${id} answered with yes, ${started.run} goes on`);
      const after = await followRun(started, never);
      assert.deepEqual(
        [after.kind, after.state.result?.data, after.state.pending],
        ["finished", { answers: ["yes"], resumed: true }, []],
      );
      assert.equal(
        await refusal(reply(context(f), args({ words: [id], choice: "no" }), never)),
        `reply.taken: ${id} is answered or its run is over`,
      );
    });

    it("a living runner takes the reply; of two at once one stands", async () => {
      const started = await f.start([{ do: "ask", weight: "decision", title: "Which?" }]);
      const { pending } = await f.until(started, "asked", (state) => state.pending.length === 1);
      const id = pending[0]?.id ?? "";
      const both = await Promise.all(
        ["yes", "no"].map((choice) =>
          reply(context(f), args({ words: [id], choice }), never).then(
            ({ summary }) => summary,
            (error: unknown) => (isOrchError(error) ? error.code : String(error)),
          ),
        ),
      );
      assert.equal(both.filter((row) => row === "reply.taken").length, 1);
      const stood = both
        .find((row) => row !== "reply.taken")
        ?.split(" ")
        .at(-1);
      const end = await followRun(started, never);
      assert.deepEqual(end.state.result?.data, { answers: [stood], resumed: false });
    });

    it("a question takes its stated default, and a dismissal is an answer to it", async () => {
      const first = await f.start(
        [
          { do: "ask", weight: "question", title: "Tidy up?", otherwise: "no" },
          { do: "ask", weight: "question", title: "Sure?" },
        ],
        { TEST_QUESTION_MS: "0" },
      );
      assert.deepEqual((await followRun(first, never)).state.result?.data, {
        answers: ["no", "dismissed"],
        resumed: false,
      });
    });

    it("a reply that fits no choice is told of, removed, and the next one stands", async () => {
      const started = await f.start([{ do: "ask", weight: "decision", title: "Which?" }]);
      const { pending } = await f.until(started, "asked", (state) => state.pending.length === 1);
      const id = pending[0]?.id ?? "";
      assert.equal(dropReply(started.dir, { v: 1, id, choice: "maybe", by: "x", host: "nvim", at: 1 }), true);
      await f.until(started, "refused", () => told(f, started).includes("reply refused: its choices are yes, no"));
      assert.equal(dropReply(started.dir, { v: 1, id, choice: "no", by: "x", host: "nvim", at: 1 }), true);
      assert.deepEqual((await followRun(started, never)).state.result?.data, { answers: ["no"], resumed: false });
    });

    it("the same words asked again are a new question", async () => {
      const ask = { do: "ask", weight: "decision", title: "Again?" } as const;
      const started = await f.start([ask, ask], { TEST_PARK_AFTER_MS: "0" });
      const ids: string[] = [];
      for (const choice of ["yes", "no"]) {
        const { state } = await followRun(started, never);
        ids.push(state.pending[0]?.id ?? "");
        await reply(context(f, { TEST_PARK_AFTER_MS: "0" }), args({ words: [ids.at(-1) ?? ""], choice }), never);
      }
      const stems = ids.map((id) => id.slice(0, -2));
      assert.equal(stems[0], stems[1]);
      assert.deepEqual(
        ids.map((id) => id.slice(-2)),
        ["-1", "-2"],
      );
    });
  });

  describe("ends", () => {
    it("a refusal is the result, with its hint", async () => {
      const started = await f.start([{ do: "refuse", code: "tree.detached", message: "HEAD is detached" }]);
      const end = await followRun(started, never);
      assert.deepEqual(end.state.result?.error, {
        code: "tree.detached",
        message: "HEAD is detached",
        hint: "Go back to a branch: git switch main",
      });
      assert.deepEqual(briefly(await wait(context(f), args({ words: [started.run] }), never)), {
        code: 5,
        summary: "HEAD is detached",
      });
    });

    it("a refusal that a person can mend parks, and resume goes on", async () => {
      const started = await f.start([{ do: "refuse", code: "tree.changed", message: "features/a.py was edited" }]);
      const end = await followRun(started, never);
      assert.deepEqual(
        [end.kind, end.state.parked?.hint],
        ["parked", `Nothing of it was overwritten. Look at the files, then: orch resume ${started.run}`],
      );
      assert.equal((await wait(context(f), args({}), never)).code, 4);
      const resumed = await resume(context(f), args({}), never);
      assert.equal(resumed.summary, `${started.run} goes on`);
      await f.until(
        started,
        "parked again",
        () => told(f, started).filter((line) => line.startsWith("parked")).length === 2,
      );
    });

    it("a full disk parks the run, and with room again it goes on @root", async function () {
      // Only root can make a file system of its own, which is the only honest full disk.
      if (process.getuid?.() !== 0) this.skip();
      const disk = f.dir.at(".orch");
      fs.mkdirSync(disk);
      execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", disk]);
      try {
        const started = await f.start([{ do: "fill", bytes: 800_000 }]);
        const end = await followRun(started, never);
        const hint = `Free some space, then: orch resume ${started.run}`;
        assert.deepEqual([end.kind, end.state.parked?.hint, end.state.faults], ["parked", hint, []]);
        execFileSync("/bin/mount", ["-o", "remount,size=8m", disk]);
        await resume(context(f), args({}), never);
        assert.deepEqual((await followRun(started, never)).state.result?.summary, "All steps done");
      } finally {
        execFileSync("/bin/umount", ["-l", disk]); // a runner may be a moment from its end
      }
    });

    for (const step of ["throw", "throw-later"] as const) {
      it(`a bug (${step}) is exit 70 with the stack in the run's folder`, async () => {
        const started = await f.start([{ do: step, message: "boom" }]);
        const end = await followRun(started, never);
        assert.deepEqual([end.state.result?.code, end.state.result?.summary], [70, "Orch made a mistake: boom"]);
        assert.match(fs.readFileSync(path.join(started.dir, "bug.txt"), "utf8"), /^Error: boom\n {4}at /);
      });
    }
  });

  describe("starting", () => {
    it("a runner that crashes at the start is noticed, with its last words", async () => {
      const entry = f.dir.at("crash.mjs");
      fs.writeFileSync(entry, "console.error('cannot find the moon');\nprocess.exit(9);\n");
      const order = { ...f.starter(), entry, runsDirs: [runsDir(f.dir.path)], ids: f.parts.ids };
      const said = await refusal(
        startRun({ v: 1, command: "do", args: {}, cwd: f.dir.path, host: "cli", at: 1 }, order),
      );
      assert.equal(said, "env.no-runner: The runner did not start: it ended with code 9\ncannot find the moon");
      assert.deepEqual(fs.readdirSync(runsDir(f.dir.path)), [".gitignore"], "nothing is left that could be resumed");
    });

    it("a runner that is not built is named", async () => {
      const order = { ...f.starter(), entry: f.dir.at("main.mjs"), runsDirs: [runsDir(f.dir.path)], ids: f.parts.ids };
      assert.equal(
        await refusal(startRun({ v: 1, command: "do", args: {}, cwd: f.dir.path, host: "cli", at: 1 }, order)),
        `env.no-runner: The runner is not built: ${f.dir.at("main.mjs")} is missing`,
      );
    });

    it("a repository that cannot take run folders uses the user's state; a link is refused", async () => {
      fs.writeFileSync(f.dir.at(".orch"), "in the way\n");
      const state = f.dir.at("state", "runs");
      const order = { ...f.starter(), runsDirs: [runsDir(f.dir.path), state], ids: f.parts.ids };
      const started = await startRun({ v: 1, command: "do", args: {}, cwd: f.dir.path, host: "cli", at: 1 }, order);
      f.note(started.pid);
      assert.equal(path.dirname(started.dir), state);
      await followRun(started, never);
      fs.rmSync(f.dir.at(".orch"));
      fs.symlinkSync(f.dir.at("state"), f.dir.at(".orch"));
      const said = await refusal(
        startRun({ v: 1, command: "do", args: {}, cwd: f.dir.path, host: "cli", at: 1 }, order),
      );
      assert.equal(
        said,
        `path.refused: ${f.dir.at(".orch")} is a symbolic link; run folders must be in the repository itself`,
      );
    });

    const requests: readonly {
      readonly name: string;
      readonly text: string | undefined;
      readonly is: RegExp;
      readonly code: number;
    }[] = [
      {
        name: "by hand",
        text: undefined,
        is: /holds no request\.json: the runner is started by a command, not by hand\nStart a command instead: orch --help\n$/,
        code: 2,
      },
      {
        name: "a request that is no JSON",
        text: '{"v":1,\n"command" "do"}',
        is: /request\.json:2: it is not JSON here \(colon expected\)\nMend .*request\.json at line 2, then run the command again\n$/,
        code: 5,
      },
      {
        name: "a request of another Orch",
        text: '{\n "v": 2,\n "command": "do"\n}',
        is: /request\.json:1: written by another Orch \(version 2, this one reads 1\)\n/,
        code: 5,
      },
      {
        name: "a request with a field too many",
        text: JSON.stringify({ v: 1, command: "do", args: {}, cwd: "/", host: "cli", at: 1, shell: "rm" }, null, 1),
        is: /request\.json:8: "shell": unknown key\n/,
        code: 5,
      },
      {
        name: "a request that lacks a field",
        text: JSON.stringify({ v: 1, command: "do", args: {}, cwd: "/", host: "emacs", at: 1 }, null, 1),
        is: /request\.json:6: host must be one of .*\n/,
        code: 5,
      },
    ];
    for (const row of requests) {
      it(`the runner started ${row.name} refuses`, async () => {
        const dir = f.dir.at("r-20260131-000000-aaaa");
        fs.mkdirSync(dir);
        if (row.text !== undefined) fs.writeFileSync(path.join(dir, "request.json"), row.text);
        const spec = {
          argv: [process.execPath, "--disable-warning=ExperimentalWarning", f.starter().entry, dir] as const,
          cwd: f.dir.path,
          env: { PATH: process.env["PATH"] ?? "" },
          timeoutMs: 20_000,
          maxOutputBytes: 100_000,
        };
        const result = await f.parts.process.run({ ...spec, argv: [...spec.argv] }, never);
        assert.deepEqual([result.kind === "exited" ? result.code : result.kind], [row.code]);
        assert.match(Buffer.from(result.stderr).toString("utf8"), row.is);
        assert.deepEqual(fs.readdirSync(dir), row.text === undefined ? [] : ["request.json"]);
      });
    }

    it("a run folder that came with a repository is nobody's request", async () => {
      const dir = path.join(runsDir(f.dir.path), "r-20260131-000000-aaaa");
      fs.mkdirSync(dir, { recursive: true });
      const steps = [{ do: "note", text: "must not happen" }];
      const request = { v: 1, command: "do", args: { words: [], steps }, cwd: f.dir.path, host: "cli", at: 1 };
      fs.writeFileSync(path.join(dir, "request.json"), JSON.stringify(request));
      const is =
        "run.foreign: Run r-20260131-000000-aaaa was not started on this machine, or its request was changed since";
      assert.equal(await refusal(resume(context(f), args({}), never)), is);
      assert.equal(await refusal(cancel(context(f), args({ words: ["aaaa"] }), never)), is);
      assert.equal(fs.existsSync(path.join(dir, "events.jsonl")), false);
    });

    it("a request that was changed since is not carried out; an ended run leaves no mark", async () => {
      const started = await f.start([{ do: "refuse", code: "env.no-key", message: "No key" }]);
      await followRun(started, never);
      const file = path.join(started.dir, "request.json");
      const before = fs.readFileSync(file, "utf8");
      fs.writeFileSync(file, before.replace("No key", "no key"));
      assert.match(await refusal(resume(context(f), args({}), never)), /^run\.foreign: /);
      fs.writeFileSync(file, before);
      assert.deepEqual(fs.readdirSync(f.dir.at("state", "own-runs")), [started.run]);
      await cancel(context(f), args({ words: [started.run] }), never);
      assert.deepEqual(fs.readdirSync(f.dir.at("state", "own-runs")), []);
    });

    it("without a folder at all it refuses too", async () => {
      const result = await f.parts.process.run(
        {
          argv: [process.execPath, f.starter().entry],
          cwd: f.dir.path,
          env: { PATH: process.env["PATH"] ?? "" },
          timeoutMs: 20_000,
          maxOutputBytes: 100_000,
        },
        never,
      );
      assert.deepEqual(result.kind === "exited" && result.code, 2);
    });
  });

  it("status and runs tell the same truth in lines and in data", async () => {
    const done = await f.start([{ do: "note", text: "x" }]);
    await followRun(done, never);
    const held = await f.start([{ do: "hang" }]);
    const parked = await f.start([{ do: "refuse", code: "env.no-key", message: "No key" }]);
    await followRun(parked, never);
    const all = await status(context(f), args({}), never);
    assert.equal(all.summary, "1 run running, 1 run waiting for you");
    const rows = (
      all.data as { readonly runs: readonly { readonly run: string; readonly standing: string }[] }
    ).runs.map(({ run, standing: how }) => [run, how]);
    assert.deepEqual(
      new Map(rows as [string, string][]),
      new Map([
        [held.run, "running"],
        [parked.run, "parked"],
        [done.run, "ok"],
      ]),
    );
    const listed = await runs(context(f), args({}), never);
    assert.equal(listed.summary, "3 runs");
    const one = await status(context(f), args({ words: [held.run] }), never);
    assert.deepEqual(
      [one.summary, one.next],
      [`${held.run} running`, [`orch wait ${held.run}`, `orch cancel ${held.run}`]],
    );
    assert.deepEqual(briefly(await wait(context(f), args({ words: [held.run], timeoutS: 0 }), never)), {
      code: 1,
      summary: `${held.run} still goes on after 0 s`,
    });
    assert.equal(
      await refusal(status(context(f), args({ words: ["r-none"] }), never)),
      "run.unknown: No run is called r-none",
    );
    assert.equal(
      await refusal(wait(context(f), args({ words: ["Invoice"] }), never)),
      "run.unknown: No run is called Invoice",
    );
  });
});
