import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { abortError } from "../base/abort.ts";
import type { Clock } from "../ports/clock.ts";

/** The machine's clock. A sleep never keeps the process alive by itself longer than its waiter does. */
export function createClock(): Clock {
  return {
    now: () => Date.now(),
    tick: () => performance.now(),
    async sleep(ms, signal) {
      try {
        await delay(ms, undefined, { signal });
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        throw error;
      }
    },
  };
}
