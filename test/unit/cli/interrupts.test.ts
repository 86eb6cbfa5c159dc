import assert from "node:assert/strict";
import { withoutGaps } from "../../../shared/cli/interrupts.ts";

/** A process whose Ctrl-C is pressed by the test, and that would end when nobody listens. */
function keyboard(): { press: () => void; onInterrupt: (listener: () => void) => () => void } {
  const listeners = new Set<() => void>();
  return {
    press() {
      assert.ok(listeners.size > 0, "a Ctrl-C now would end the process");
      for (const listener of listeners) listener();
    },
    onInterrupt(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

describe("interrupts", () => {
  it("a Ctrl-C between two listeners is told to the next one, once", () => {
    const { press, onInterrupt } = keyboard();
    const on = withoutGaps(onInterrupt);
    const heard: string[] = [];
    const stop = on(() => heard.push("start"));
    press();
    stop();
    press();
    press();
    on(() => heard.push("watch"))();
    on(() => heard.push("after"));
    assert.deepEqual(heard, ["start", "watch", "watch"]);
  });

  it("every listener hears it, and none after it stopped, also one that is registered twice", () => {
    const { press, onInterrupt } = keyboard();
    const on = withoutGaps(onInterrupt);
    const heard: string[] = [];
    const one = (): void => void heard.push("one");
    const stop = on(one);
    const other = on(one);
    const last = on(() => heard.push("two"));
    press();
    stop();
    press();
    other();
    last();
    press();
    assert.deepEqual(heard, ["one", "one", "two", "one", "two"]);
  });

  it("before the first listener nothing is heard: Ctrl-C ends the process as anywhere", () => {
    const { press, onInterrupt } = keyboard();
    withoutGaps(onInterrupt);
    assert.throws(press, /would end the process/);
  });
});
