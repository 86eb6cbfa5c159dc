import { deepEqual, equal, rejects } from "node:assert/strict";
import { isAbort, raceAbort } from "../../../shared/base/abort.ts";
import { DisposableStore, toDisposable } from "../../../shared/base/disposable.ts";
import { Emitter } from "../../../shared/base/emitter.ts";
import { Semaphore } from "../../../shared/base/semaphore.ts";

const never = new AbortController().signal;

describe("semaphore", () => {
  it("grants in order of asking and never more than its permits", async () => {
    const gate = new Semaphore(1);
    const order: string[] = [];
    const first = await gate.acquire(never);
    const waiting = ["a", "b"].map(async (name) => {
      using _permit = await gate.acquire(never);
      order.push(name);
    });
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await Promise.all(waiting);
    deepEqual(order, ["a", "b"]);
  });

  it("lets a waiter leave, without losing the permit", async () => {
    const gate = new Semaphore(1);
    const held = await gate.acquire(never);
    const leaving = new AbortController();
    const waiter = gate.acquire(leaving.signal);
    leaving.abort();
    await rejects(waiter, isAbort);
    held[Symbol.dispose]();
    using again = await gate.acquire(never);
    equal(typeof again[Symbol.dispose], "function");
  });
});

describe("scopes", () => {
  it("disposes in reverse, at once when late, all of it when one throws", () => {
    const order: number[] = [];
    const store = new DisposableStore();
    for (const n of [1, 2]) store.add(toDisposable(() => void order.push(n)));
    store.add(
      toDisposable(() => {
        throw new Error("third");
      }),
    );
    try {
      store.dispose();
    } catch (error) {
      equal((error as Error).message, "third");
    }
    store.add(toDisposable(() => void order.push(9)));
    deepEqual(order, [2, 1, 9]);
  });

  it("reports a listener that throws and tells the others", () => {
    const heard: unknown[] = [];
    const emitter = new Emitter<string>((error) => heard.push((error as Error).message));
    emitter.on(() => {
      throw new Error("bad listener");
    });
    const second = emitter.on((value) => heard.push(value));
    emitter.fire("x");
    second.dispose();
    emitter.fire("y");
    deepEqual(heard, ["bad listener", "x", "bad listener"]);
  });

  it("rejects a race at the abort, whatever the work does", async () => {
    const stop = new AbortController();
    const raced = raceAbort(new Promise<string>(() => {}), stop.signal);
    stop.abort();
    await rejects(raced, isAbort);
    equal(await raceAbort(Promise.resolve("done"), never), "done");
  });
});
