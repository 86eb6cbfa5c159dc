// Real runner processes around a scripted command: start, follow, stop, crash, resume, cancel.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { cancel } from "../../shared/app/handlers/cancel.ts";
import { reply } from "../../shared/app/handlers/reply.ts";
import { resume } from "../../shared/app/handlers/resume.ts";
import { status } from "../../shared/app/handlers/status.ts";
import { wait } from "../../shared/app/handlers/wait.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { runsDir } from "../../shared/model/run-place.ts";
import { resumeRun, type StartedRun } from "../../shared/runner/client.ts";
import { dropControl } from "../../shared/runner/drop.ts";
import { followRun } from "../../shared/runner/tail.ts";
import { eventually } from "../support/eventually.ts";
import { RunFixture } from "../support/run-fixture.ts";
import { never, untidy, context, args, refusal, standing, briefly, told, pidsIn } from "../support/runs-context.ts";

describe("runs @slow", function () {
  this.timeout(600_000);
  let f: RunFixture;
  beforeEach(() => (f = new RunFixture()));
  afterEach(() => f[Symbol.asyncDispose]());

  it("a run goes from start to end, outlives nobody's pipe, and tells it", async () => {
    const started = await f.start([
      { do: "note", text: "one" },
      { do: "note", text: "two" },
    ]);
    const seen: string[] = [];
    const end = await followRun(
      {
        ...started,
        onEvents: (events) => seen.push(...events.map((row) => (row.kind === "event" ? row.event.type : row.kind))),
      },
      never,
    );
    assert.deepEqual([end.kind, end.state.result?.summary], ["finished", "All steps done"]);
    assert.deepEqual(seen, ["run.started", "progress.noted", "progress.noted", "run.finished", "command.finished"]);
    assert.deepEqual(end.state, f.state(started));
    assert.deepEqual(briefly(await wait(context(f), args({}), never)), { code: 0, summary: "All steps done" });
    const idle = await status(context(f), args({}), never);
    assert.deepEqual([idle.summary, idle.next], ["nothing runs", ["orch runs"]]);
    assert.equal(fs.readFileSync(path.join(runsDir(f.dir.path), ".gitignore"), "utf8"), "*\n");
    assert.equal(fs.statSync(started.dir).mode & 0o777, 0o700);
    assert.equal(fs.statSync(path.join(started.dir, "events.jsonl")).mode & 0o777, 0o600);
    assert.equal(await refusal(resumeRun(started.dir, f.starter())), `run.finished: Run ${started.run} has ended`);
  });

  it("a key of the environment never reaches the disk", async () => {
    const key = "sk-test-0123456789abcdefghijklmnop";
    const started = await f.start([{ do: "secret", name: "DEMO_API_KEY" }], { DEMO_API_KEY: key });
    await followRun(started, never);
    for (const name of fs.readdirSync(started.dir, { recursive: true, encoding: "utf8" })) {
      const at = path.join(started.dir, name);
      if (name !== "lock.db" && fs.statSync(at).isFile())
        assert.equal(fs.readFileSync(at, "utf8").includes(key), false, name);
    }
    assert.match(fs.readFileSync(path.join(started.dir, "events.jsonl"), "utf8"), /the key is \[redacted\]/);
  });

  describe("a runner killed with -9", () => {
    it("leaves the status truthful, and resume ends its orphans and goes on", async () => {
      const started = await f.start([
        {
          do: "program",
          argv: [process.execPath, untidy, f.dir.at("pids"), "end", "group", "session"],
          marker: "m-before",
        },
        { do: "hang-first-time" },
      ]);
      await f.until(started, "hanging", ({ note }) => note === "program: exited");
      const held = f.dir.at("held");
      const second = await f.start([
        { do: "program", argv: [process.execPath, untidy, held, "stay", "group", "session"], marker: "m-kill" },
      ]);
      await eventually("program up", () => fs.existsSync(held));
      assert.equal(await standing(f, second), "running");
      assert.equal(
        await refusal(resume(context(f), args({ words: [second.run] }), never)),
        `run.locked: Run ${second.run} has a runner already`,
      );

      process.kill(second.pid, "SIGKILL");
      await f.gone(second.pid);
      await f.free(second); // the kernel takes its threads down one by one, the lock goes with the last
      assert.equal(await standing(f, second), "interrupted");
      assert.equal((await followRun(second, never)).kind, "interrupted");
      assert.deepEqual(briefly(await wait(context(f), args({ words: [second.run] }), never)), {
        code: 4,
        summary: `${second.run} was interrupted: its runner is gone`,
      });
      const alive = pidsIn(held).filter((pid) => f.parts.process.startTimeOf(pid) !== undefined);
      assert.equal(alive.length, 3, "the programs outlive a runner that is killed");

      process.kill(started.pid, "SIGKILL");
      await f.gone(started.pid);
      f.note(await resumeRun(started.dir, f.starter()));
      const end = await followRun(started, never);
      assert.deepEqual([end.kind, end.state.result?.data], ["finished", { answers: [], resumed: true }]);

      const pid = await resumeRun(second.dir, f.starter());
      f.note(pid);
      await f.until(second, "swept", () => told(f, second).some((line) => line.includes("left by a runner that died")));
      assert.deepEqual(
        alive.filter((gone) => f.parts.process.startTimeOf(gone) !== undefined),
        [],
      );
      assert.equal(
        briefly(await cancel(context(f), args({ words: [second.run] }), never)).summary,
        `${second.run} cancelled: its processes are ended`,
      );
    });

    it("at any moment: the next runner takes the log up where it ends", async () => {
      const started = await f.start([{ do: "fill", bytes: 2_000_000 }, { do: "hang-first-time" }]);
      await f.until(started, "some events", ({ seq }) => seq > 50);
      process.kill(started.pid, "SIGKILL");
      await f.gone(started.pid);
      f.note(await resumeRun(started.dir, f.starter()));
      const end = await followRun(started, never);
      assert.deepEqual([end.kind, end.state.faults, end.state.result?.ok], ["finished", [], true]);
    });
  });

  describe("one run, one runner", () => {
    it("a second runner refuses and names the first", async () => {
      const started = await f.start([{ do: "hang" }]);
      assert.equal(
        await refusal(resumeRun(started.dir, f.starter())),
        `run.locked: Run ${started.run} has a runner already, process ${started.pid}`,
      );
      assert.equal(f.events(started).length, 1);
    });

    it("of several that start at once on a dead run exactly one goes on", async () => {
      const started = await f.start([{ do: "hang" }]);
      process.kill(started.pid, "SIGKILL");
      await f.gone(started.pid);
      await f.free(started);
      const tries = await Promise.all(
        [1, 2, 3, 4].map(() =>
          resumeRun(started.dir, f.starter()).catch((error: unknown) =>
            isOrchError(error) ? error.code : String(error),
          ),
        ),
      );
      const pids = tries.filter((row) => typeof row === "number");
      for (const pid of pids) f.note(pid);
      assert.deepEqual([pids.length, tries.filter((row) => row === "run.locked").length], [1, 3]);
      assert.deepEqual(f.state(started).faults, []);
    });
  });

  describe("stopping", () => {
    for (const row of [
      {
        name: "SIGTERM interrupts and the run can be resumed",
        by: (started: StartedRun) => process.kill(started.pid, "SIGTERM"),
        why: "interrupted from SIGTERM",
      },
      {
        name: "SIGINT interrupts",
        by: (started: StartedRun) => process.kill(started.pid, "SIGINT"),
        why: "interrupted from SIGINT",
      },
      {
        name: "control interrupt ends the attempt and parks",
        by: (started: StartedRun) =>
          dropControl(started.dir, { v: 1, verb: "interrupt", target: started.run, host: "nvim", at: 1 }),
        why: "interrupted from nvim",
      },
    ]) {
      it(row.name, async () => {
        const started = await f.start([
          {
            do: "program",
            argv: [process.execPath, untidy, f.dir.at("pids"), "stay", "group", "session", "daemon"],
            marker: "m-stop",
          },
        ]);
        await eventually("program up", () => fs.existsSync(f.dir.at("pids")));
        row.by(started);
        const end = await followRun(started, never);
        assert.deepEqual(
          [end.kind, end.state.parked],
          ["parked", { why: row.why, hint: `Go on with: orch resume ${started.run}` }],
        );
        assert.deepEqual(
          pidsIn(f.dir.at("pids")).filter((pid) => f.parts.process.startTimeOf(pid) !== undefined),
          [],
        );
        assert.deepEqual(fs.readdirSync(path.join(started.dir, "control")), []);
      });
    }

    it("SIGHUP is not for a runner", async () => {
      const started = await f.start([{ do: "ask", weight: "question", title: "Go on?" }]);
      await f.until(started, "asked", ({ pending }) => pending.length === 1);
      process.kill(started.pid, "SIGHUP");
      await reply(context(f), args({ words: [f.state(started).pending[0]?.id ?? ""], choice: "yes" }), never);
      assert.equal((await followRun(started, never)).kind, "finished");
    });

    it("a command that does not unwind is left behind by the second signal, its tree ended", async () => {
      const started = await f.start([
        { do: "program", argv: [process.execPath, untidy, f.dir.at("pids"), "end"], marker: "m-two" },
        { do: "ignore-stop" },
      ]);
      await f.until(started, "hanging", ({ note }) => note === "program: exited");
      process.kill(started.pid, "SIGINT");
      process.kill(started.pid, "SIGTERM");
      const end = await followRun(started, never);
      assert.equal(end.kind, "parked");
    });

    it("controls that do not fit are refused by an event and gone", async () => {
      const started = await f.start([{ do: "hang" }]);
      const control = { v: 1, host: "cli", at: 1 } as const;
      dropControl(started.dir, { ...control, verb: "steer", target: started.run, text: "left" });
      dropControl(started.dir, { ...control, verb: "cancel", target: "another" });
      fs.writeFileSync(path.join(started.dir, "control", "broken.json"), "{");
      await eventually("refused", () => told(f, started).filter((line) => line.includes("refused")).length === 3);
      assert.deepEqual(
        told(f, started)
          .filter((line) => line.includes("refused"))
          .toSorted(),
        [
          "cancel refused: another is not what this run works on",
          "steer refused: a run of this kind takes no steer",
          "unknown refused: the file is no control file of this version",
        ],
      );
      assert.deepEqual(fs.readdirSync(path.join(started.dir, "control")), []);
    });
  });

  describe("cancel", () => {
    it("ends a whole tree that forks, ignores signals and holds stdout", async () => {
      const started = await f.start([
        {
          do: "program",
          argv: [process.execPath, untidy, f.dir.at("pids"), "stay", "group", "group", "session", "daemon"],
          marker: "m-tree",
        },
      ]);
      await eventually("program up", () => fs.existsSync(f.dir.at("pids")));
      const result = await cancel(context(f), args({}), never);
      assert.deepEqual(briefly(result), { code: 0, summary: `${started.run} cancelled: its processes are ended` });
      const state = f.state(started);
      assert.deepEqual(
        [state.phase, state.cancelledBy, state.result?.code, await standing(f, started)],
        ["cancelled", "cli", 130, "cancelled"],
      );
      assert.deepEqual(
        pidsIn(f.dir.at("pids")).filter((pid) => f.parts.process.startTimeOf(pid) !== undefined),
        [],
      );
      assert.equal(
        await refusal(cancel(context(f), args({ words: [started.run] }), never)),
        `run.finished: Run ${started.run} has ended`,
      );
    });

    it("ends a runner that does not answer, and its programs, and has the end written", async () => {
      const started = await f.start([
        {
          do: "program",
          argv: [process.execPath, untidy, f.dir.at("pids"), "stay", "group", "session"],
          marker: "m-deaf",
        },
      ]);
      await eventually("program up", () => fs.existsSync(f.dir.at("pids")));
      process.kill(started.pid, "SIGSTOP"); // asleep: it holds its lock and reads nothing
      assert.equal(await standing(f, started), "running");
      const result = await cancel(context(f), args({ words: [started.run] }), never);
      assert.deepEqual(briefly(result), {
        code: 0,
        summary: `${started.run} cancelled: its runner did not answer and was ended`,
      });
      assert.deepEqual(
        [...pidsIn(f.dir.at("pids")), started.pid].filter((pid) => f.parts.process.startTimeOf(pid) !== undefined),
        [],
      );
      assert.equal(await standing(f, started), "cancelled");
    });

    it("of a parked run writes its end without carrying anything out", async () => {
      const started = await f.start([
        { do: "refuse", code: "env.no-key", message: "No key" },
        { do: "note", text: "must not happen" },
      ]);
      assert.equal((await followRun(started, never)).kind, "parked");
      await cancel(context(f), args({ words: [started.run.slice(-4)] }), never);
      assert.equal(await standing(f, started), "cancelled");
      assert.equal(told(f, started).includes("must not happen"), false);
      assert.equal(f.state(started).note, "put back");
    });

    it("of a run whose half-done work cannot be put back leaves it parked", async () => {
      const started = await f.start([{ do: "refuse", code: "env.no-key", message: "No key" }]);
      assert.equal((await followRun(started, never)).kind, "parked");
      const why = "this work began on Billing/Invoice";
      await cancel(context(f, { TEST_END_REFUSES: why }), args({ words: [started.run] }), never);
      assert.equal(await standing(f, started), "parked");
      assert.equal(f.state(started).parked?.why, why);
      await cancel(context(f), args({ words: [started.run] }), never);
      assert.equal(await standing(f, started), "cancelled");
    });

    it("refuses when nothing is alive", async () => {
      assert.equal(await refusal(cancel(context(f), args({}), never)), "run.unknown: No run is alive");
    });
  });
});
