import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createLocks } from "../../shared/adapters/lock.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createSlots } from "../../shared/adapters/slots.ts";
import { isAbort } from "../../shared/base/abort.ts";
import type { Clock } from "../../shared/ports/clock.ts";
import type { Slots, SlotState } from "../../shared/ports/slots.ts";
import { createClock } from "../../shared/adapters/clock.ts";
import { eventually } from "../support/eventually.ts";
import { TempDir } from "../support/temp-dir.ts";

/** Several Nodes start at once, on a machine that may be busy. */
const startMs = 90_000;
const never = new AbortController().signal;
const tenant = { run: "r-1", contract: "A1", worker: "pi" };
const entry = ["ts", "js"]
  .map((ext) => path.join(import.meta.dirname, "..", "support", `slot-entry.${ext}`))
  .find((file) => fs.existsSync(file));

interface Held {
  readonly number: number;
  readonly runner: number;
  readonly worker: number;
}

describe("slots", function () {
  this.timeout(600_000);
  let dir: TempDir;
  let started: ChildProcess[];
  let now: number;
  const sweep = createProcess();

  beforeEach(() => {
    dir = new TempDir();
    started = [];
    now = 1_000_000;
  });
  afterEach(() => {
    for (const child of started) child.kill("SIGKILL");
    for (const { worker } of heldBy()) end(worker);
    dir[Symbol.dispose]();
  });

  const clock: Clock = { ...createClock(), now: () => now };
  const open = (): Slots =>
    createSlots({ locks: createLocks(sweep), sweep, files: createFiles(), clock, stateDir: dir.at("state"), count: 3 });
  const start = (...args: readonly string[]): ChildProcess => {
    const argv = ["--disable-warning=ExperimentalWarning", entry ?? "", dir.at("state"), dir.at("log"), ...args];
    const child = spawn(process.execPath, argv, { stdio: "inherit" });
    started.push(child);
    return child;
  };
  const lines = (): string[] =>
    fs.existsSync(dir.at("log")) ? fs.readFileSync(dir.at("log"), "utf8").split("\n").slice(0, -1) : [];
  const heldBy = (): Held[] =>
    lines().flatMap((line) => {
      const [number = 0, runner = 0, worker = 0] = line.split(" ").map(Number);
      return Number.isNaN(number) ? [] : [{ number, runner, worker }];
    });
  const alive = (pid: number): boolean => sweep.startTimeOf(pid) !== undefined;
  const end = (pid: number): void => {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // ended by the test already
    }
  };
  const kinds = (states: readonly SlotState[]): string[] => states.map(({ kind }) => kind);

  it("three at once, never more, over six processes and many turns", async () => {
    const children = Array.from({ length: 6 }, () => start("turns", "8"));
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    assert.deepEqual(
      codes,
      codes.map(() => 0),
    );
    let inside = 0;
    let most = 0;
    for (const line of lines()) {
      inside += line.startsWith("in ") ? 1 : -1;
      most = Math.max(most, inside);
    }
    assert.deepEqual([lines().length, inside, most], [6 * 8 * 2, 0, 3]);
  });

  it("in one process too, and whoever waits is told who is there, once", async () => {
    const slots = open();
    const taken = [await slots.take(tenant, never), await slots.take({ ...tenant, contract: "A2" }, never)];
    taken.push(await open().take({ ...tenant, contract: "A3" }, never));
    assert.deepEqual(
      taken.map(({ number }) => number),
      [1, 2, 3],
    );
    const told: (readonly SlotState[])[] = [];
    const waiting = slots.take({ ...tenant, contract: "A4" }, never, (held) => told.push(held));
    await eventually("told", () => told.length > 0);
    taken[1]?.[Symbol.dispose]();
    const fourth = await waiting;
    assert.equal(fourth.number, 2);
    assert.deepEqual(
      told.map((held) => held.map((state) => (state.kind === "taken" ? state.tenant?.contract : state.kind))),
      [["A1", "A2", "A3"]],
    );
    for (const slot of [...taken, fourth]) slot[Symbol.dispose]();
    assert.deepEqual(kinds(await slots.list()), ["free", "free", "free"]);
  });

  it("an abort ends the wait and takes nothing", async () => {
    const slots = open();
    const taken = await Promise.all([1, 2, 3].map(() => slots.take(tenant, never)));
    const controller = new AbortController();
    const waiting = slots.take(tenant, controller.signal, () => controller.abort());
    await assert.rejects(waiting, (error) => isAbort(error));
    for (const slot of taken) slot[Symbol.dispose]();
    await assert.rejects(slots.take(tenant, controller.signal), (error) => isAbort(error));
    assert.deepEqual(kinds(await slots.list()), ["free", "free", "free"]);
  });

  it("kill -9 of a runner frees its place; the worker it left is ended before the place is given out", async () => {
    for (let index = 0; index < 3; index += 1) start("hold");
    const held = await eventually("three hold", () => (heldBy().length === 3 ? heldBy() : false), startMs);
    assert.deepEqual(kinds(await open().list()), ["taken", "taken", "taken"]);
    const victim = held.find(({ number }) => number === 2);
    assert.ok(victim !== undefined && alive(victim.worker));
    process.kill(victim.runner, "SIGKILL");
    using slot = await open().take(tenant, never);
    assert.deepEqual([slot.number, alive(victim.worker)], [2, false]);
    assert.deepEqual(
      held.filter(({ number }) => number !== 2).map(({ worker }) => alive(worker)),
      [true, true],
    );
  });

  it("a runner that sleeps keeps its place, and its worker lives", async () => {
    for (let index = 0; index < 3; index += 1) start("hold");
    const held = await eventually("three hold", () => (heldBy().length === 3 ? heldBy() : false), startMs);
    for (const { runner } of held) process.kill(runner, "SIGSTOP");
    const controller = new AbortController();
    let looks = 0;
    const counting: Clock = {
      ...clock,
      sleep: (ms, signal) => {
        looks += 1;
        if (looks === 5) controller.abort();
        return clock.sleep(ms, signal);
      },
    };
    const slots = createSlots({
      locks: createLocks(sweep),
      sweep,
      files: createFiles(),
      clock: counting,
      stateDir: dir.at("state"),
      count: 3,
    });
    await assert.rejects(slots.take(tenant, controller.signal), (error) => isAbort(error));
    assert.equal(looks, 5);
    assert.deepEqual(
      held.map(({ worker }) => alive(worker)),
      [true, true, true],
    );
  });

  it("a place whose dead worker cannot be ended is not given out", async () => {
    start("hold");
    const [held] = await eventually("it holds", () => (heldBy().length === 1 ? heldBy() : false), startMs);
    assert.ok(held !== undefined);
    process.kill(held.runner, "SIGKILL");
    const unable = { ...sweep, endIfSame: () => Promise.resolve(false), endLeftovers: () => Promise.resolve([]) };
    const slots = createSlots({
      locks: createLocks(sweep),
      sweep: unable,
      files: createFiles(),
      clock,
      stateDir: dir.at("state"),
      count: 3,
    });
    await eventually("the lock is free", () => createLocks(sweep).isFree(dir.at("state", "slots", "slot-1.db")));
    using taken = await slots.take(tenant, never);
    assert.deepEqual([taken.number, alive(held.worker)], [2, true]);
    using mended = await open().take(tenant, never);
    assert.deepEqual([mended.number, alive(held.worker)], [1, false]);
  });

  it("a prepared place counts over processes until it is released or its time is over", async () => {
    const slots = open();
    const prepared = [];
    for (const contract of ["A1", "A2", "A3"])
      prepared.push(await slots.prepare({ ...tenant, contract }, now + 60_000));
    assert.deepEqual(
      prepared.map((one) => one?.number),
      [1, 2, 3],
    );
    assert.equal(await open().prepare(tenant, now + 60_000), undefined);
    assert.deepEqual((await open().list())[1], {
      number: 2,
      kind: "taken",
      tenant: { ...tenant, contract: "A2" },
      until: now + 60_000,
    });
    await slots.release(prepared[1]?.token ?? "");
    await slots.release(prepared[1]?.token ?? "");
    await slots.release("nobody's");
    const second = await open().take(tenant, never);
    assert.equal(second.number, 2);
    await slots.release(prepared[1]?.token ?? "");
    assert.deepEqual(kinds(await slots.list()), ["taken", "taken", "taken"]);
    now += 60_000;
    assert.deepEqual(kinds(await slots.list()), ["free", "taken", "free"]);
    using third = await slots.take(tenant, never);
    assert.equal(third.number, 1);
    await slots.release(prepared[0]?.token ?? "");
    assert.deepEqual(kinds(await slots.list()), ["taken", "taken", "free"]);
    second[Symbol.dispose]();
  });

  it("a record that nobody can read names nobody to end, and a late word of a gone tenant changes nothing", async () => {
    fs.mkdirSync(dir.at("state", "slots"), { recursive: true });
    fs.writeFileSync(dir.at("state", "slots", "slot-1.json"), "{");
    const slots = open();
    const slot = await slots.take(tenant, never);
    const record = dir.at("state", "slots", "slot-1.json");
    const written = slot.occupy({ pid: 1, startTime: "long ago", marker: "m" });
    slot[Symbol.dispose]();
    await written;
    await eventually("given back", () => createLocks(sweep).isFree(dir.at("state", "slots", "slot-1.db")));
    assert.deepEqual([slot.number, fs.existsSync(record)], [1, false]);
    await slot.occupy({ pid: 1, startTime: "long ago", marker: "m" });
    assert.equal(fs.existsSync(record), false);
  });
});
