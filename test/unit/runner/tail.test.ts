import assert from "node:assert/strict";
import fs from "node:fs";
import { toJsonl } from "../../../shared/base/jsonl.ts";
import { isAbort } from "../../../shared/base/abort.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { NewEvent } from "../../../shared/model/event.ts";
import { dropControl, dropReply } from "../../../shared/runner/drop.ts";
import { followRun, readRun, runnerAlive, watchFolder } from "../../../shared/runner/tail.ts";
import { createProcess } from "../../../shared/adapters/process.ts";
import { TempDir } from "../../support/temp-dir.ts";

const run = "r-20260131-101500-ab12";
const never = new AbortController().signal;
const started: NewEvent = { type: "run.started", command: "do", title: "do", host: "cli", version: "0", pid: 1 };
const note = (text: string): NewEvent => ({ type: "progress.noted", text });
const finished: NewEvent = { type: "command.finished", ok: true, code: 0, summary: "s", next: [] };

const line = (seq: number, event: NewEvent): string => toJsonl({ v: 1, run, seq, at: seq, ...event });

describe("tail", function () {
  this.timeout(60_000);
  let dir: TempDir;
  beforeEach(() => (dir = new TempDir()));
  afterEach(() => dir[Symbol.dispose]());
  const append = (text: string | Buffer): void => fs.appendFileSync(dir.at("events.jsonl"), text);

  it("follows from the first event to the end, each once and in order", async () => {
    append(line(1, started));
    const seen: number[] = [];
    let alive = true;
    const following = followRun(
      {
        run,
        dir: dir.path,
        isAlive: () => alive,
        onEvents: (events, state, before) => {
          seen.push(...events.map((row) => (row.kind === "bad" ? -1 : row.event.seq)));
          assert.equal(state.seq - before.seq, events.length);
          if (state.seq === 1) append(line(2, note("é".repeat(10))));
          if (state.seq === 2) append(`${line(3, note("a"))}${line(4, finished)}`);
          if (state.seq === 4) alive = false;
        },
      },
      never,
    );
    const end = await following;
    assert.deepEqual([end.kind, seen, end.state.result?.summary], ["finished", [1, 2, 3, 4], "s"]);
  });

  it("a line that is not whole yet is not seen, at any byte of it", () => {
    const whole = Buffer.from(line(2, note("漢🙂")));
    for (let size = 0; size < whole.length; size += 1) {
      fs.writeFileSync(dir.at("events.jsonl"), Buffer.concat([Buffer.from(line(1, started)), whole.subarray(0, size)]));
      const state = readRun(run, dir.path);
      assert.deepEqual([state.seq, state.faults], [1, []], `cut at ${size}`);
    }
  });

  it("a torn tail that the next runner cuts is never seen", async () => {
    append(line(1, started));
    append('{"v":1,"run":"torn');
    let alive = true;
    let rounds = 0;
    const end = await followRun(
      {
        run,
        dir: dir.path,
        isAlive: () => {
          rounds += 1;
          if (rounds === 2) fs.writeFileSync(dir.at("events.jsonl"), line(1, started) + line(2, finished));
          if (rounds > 2) alive = false;
          return alive;
        },
        onEvents: () => append(""),
      },
      never,
    );
    assert.deepEqual([end.kind, end.state.seq, end.state.faults], ["finished", 2, []]);
  });

  it("a file that was made anew is read anew", async () => {
    append(line(1, started) + line(2, note("a")) + line(3, note("b")));
    const seqs: number[] = [];
    let rounds = 0;
    const end = await followRun(
      {
        run,
        dir: dir.path,
        isAlive: () => {
          rounds += 1;
          if (rounds === 2) fs.writeFileSync(dir.at("events.jsonl"), line(1, finished));
          return rounds < 3;
        },
        onEvents: (_events, state) => seqs.push(state.seq),
      },
      never,
    );
    assert.deepEqual([seqs, end.state.seq, end.state.faults], [[3, 1], 1, []]);
  });

  for (const row of [
    { name: "finished", events: [started, finished], is: "finished" },
    { name: "parked", events: [started, { type: "run.parked", why: "w", hint: "h" } as const], is: "parked" },
    { name: "nothing said", events: [started], is: "interrupted" },
    { name: "no log at all", events: [], is: "interrupted" },
    {
      name: "parked and resumed by a runner that died",
      events: [
        started,
        { type: "run.parked", why: "w", hint: "h" } as const,
        { type: "run.resumed", host: "cli", pid: 3 } as const,
      ],
      is: "interrupted",
    },
  ]) {
    it(`a runner that is gone: ${row.name}`, async () => {
      if (row.events.length > 0) append(row.events.map((event, index) => line(index + 1, event)).join(""));
      assert.equal((await followRun({ run, dir: dir.path, isAlive: () => false }, never)).kind, row.is);
    });
  }

  it("following ends at once when it is told to, the run does not", async () => {
    append(line(1, started));
    const stop = new AbortController();
    const following = followRun(
      { run, dir: dir.path, isAlive: () => true, onEvents: () => setImmediate(() => stop.abort()) },
      stop.signal,
    );
    await assert.rejects(following, isAbort);
  });

  it("a change is told at once, also one that came before the wait", async () => {
    using changes = watchFolder(dir.path);
    fs.writeFileSync(dir.at("a"), "");
    const began = performance.now();
    await changes.next(60_000, never);
    assert.ok(performance.now() - began < 30_000);
    await changes.next(20, never);
  });

  it("a folder that cannot be watched is looked at", async () => {
    using changes = watchFolder(dir.at("gone"));
    await changes.next(30, never);
  });

  it("a runner is alive while its process is the one that was written down", () => {
    const startTime = createProcess().startTimeOf(process.pid) ?? "";
    const file = { v: 1, pid: process.pid, startTime, host: "cli", machine: "m", version: "0", at: 1 };
    const alive = (value: unknown): boolean => {
      fs.writeFileSync(dir.at("runner.json"), JSON.stringify(value));
      return runnerAlive(dir.path);
    };
    assert.deepEqual(
      [runnerAlive(dir.path), alive(file), alive({ ...file, pid: 2 ** 30 }), alive({ ...file, pid: "x" })],
      [false, true, false, false],
    );
    if (process.platform === "linux") assert.equal(alive({ ...file, startTime: "another" }), false);
  });
});

describe("drop", () => {
  let dir: TempDir;
  beforeEach(() => (dir = new TempDir()));
  afterEach(() => dir[Symbol.dispose]());
  const reply = { v: 1, id: "q-1", by: "kim", host: "cli", at: 1 } as const;

  it("the first reply stands, nothing is left beside it", () => {
    assert.deepEqual(
      [dropReply(dir.path, { ...reply, choice: "yes" }), dropReply(dir.path, { ...reply, choice: "no" })],
      [true, false],
    );
    assert.deepEqual(
      [fs.readdirSync(dir.at("replies")), JSON.parse(fs.readFileSync(dir.at("replies", "q-1.json"), "utf8"))],
      [["q-1.json"], { ...reply, choice: "yes" }],
    );
  });

  for (const id of ["../x", "a/b", "", ".hidden", "x".repeat(101)]) {
    it(`an id that is no id makes no file: ${JSON.stringify(id)}`, () => {
      assert.throws(
        () => dropReply(dir.path, { ...reply, id }),
        (error) => isOrchError(error, "reply.unknown"),
      );
      assert.deepEqual(fs.readdirSync(dir.path), []);
    });
  }

  it("every control has a name of its own", () => {
    const control = { v: 1, verb: "cancel", target: run, host: "cli", at: 1 } as const;
    const ids = [dropControl(dir.path, control), dropControl(dir.path, control)];
    assert.deepEqual(fs.readdirSync(dir.at("control")).toSorted(), ids.map((id) => `${id}.json`).toSorted());
  });

  it("a folder that cannot be written is a refusal", () => {
    fs.writeFileSync(dir.at("file"), "");
    assert.throws(
      () => dropReply(dir.at("file"), { ...reply, choice: "yes" }),
      (error) => isOrchError(error, "path.refused"),
    );
  });
});
