import { abortError } from "../../shared/base/abort.ts";
import type { Clock } from "../../shared/ports/clock.ts";

/** Time that moves only when a test says so. `sleep` settles during `advance`, in order of its due time. */
export class FakeClock implements Clock {
  #now: number;
  #tick = 0;
  #sleepers: { readonly due: number; readonly wake: () => void }[] = [];

  constructor(now = Date.UTC(2026, 0, 31, 10, 15, 0)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  tick(): number {
    return this.#tick;
  }

  /** Sleepers that wait now. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortError(signal));
        return;
      }
      const sleeper = { due: this.#tick + ms, wake: () => {} };
      const leave = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        leave();
        reject(abortError(signal));
      };
      sleeper.wake = () => {
        leave();
        resolve();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /** Moves both clocks and wakes who is due, earliest first; what they start is given its turn. */
  async advance(ms: number): Promise<void> {
    const end = this.#tick + ms;
    for (;;) {
      await settle();
      const next = this.#sleepers.filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#move(next.due);
      next.wake();
    }
    this.#move(end);
    await settle();
  }

  #move(to: number): void {
    if (to <= this.#tick) return;
    this.#now += to - this.#tick;
    this.#tick = to;
  }
}

/** Lets every promise that is ready run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
