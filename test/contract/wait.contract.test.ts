import { deepEqual, match } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { wait } from "../../shared/app/handlers/wait.ts";
import { inRoot } from "../../shared/base/paths.ts";
import { runsDir } from "../../shared/model/run-place.ts";
import { RunFixture } from "../support/run-fixture.ts";
import { args, context, never } from "../support/runs-context.ts";

const run = "r-20260131-101500-ab12";
const finished = { type: "run.finished", outcome: "ok" };
const result = { type: "command.finished", ok: true, code: 0, summary: "done", next: [] };

describe("orch wait, between the last two lines of a log", () => {
  it("waits for the result while the runner is alive, and tells a run without one as interrupted when it is not", async () => {
    await using fixture = new RunFixture();
    const dir = inRoot(runsDir(fixture.dir.path), run);
    fs.mkdirSync(dir, { recursive: true });
    const log = path.join(dir, "events.jsonl");
    const append = (seq: number, event: object): void =>
      fs.appendFileSync(log, `${JSON.stringify({ v: 1, run, seq, at: 1, ...event })}\n`);
    append(1, finished);
    const taken = fixture.parts.locks.try(inRoot(dir, "lock.db"), { run, host: "cli", what: "run" });
    if (taken.kind !== "held") throw new Error("the lock is held by somebody");
    const short = await wait(context(fixture), args({ words: [run], timeoutS: 0.3 }), never);
    match(short.summary, /still goes on/);

    const waiting = wait(context(fixture), args({ words: [run], timeoutS: 30 }), never);
    append(2, result);
    const ended = await waiting;
    deepEqual([ended.ok, ended.code, ended.summary], [true, 0, "done"]);

    fs.writeFileSync(log, "");
    append(1, finished);
    taken.lock[Symbol.dispose]();
    const lost = await wait(context(fixture), args({ words: [run] }), never);
    deepEqual([lost.code, lost.summary], [4, `${run} was interrupted: its runner is gone`]);
  });
});
