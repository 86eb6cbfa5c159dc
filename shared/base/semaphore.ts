import { abortError } from "./abort.ts";

/** Bounded concurrency, first come first served. A waiter whose signal aborts leaves the line without a permit. */
export class Semaphore {
  #free: number;
  readonly #waiting: { readonly grant: () => void }[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  async acquire(signal: AbortSignal): Promise<Disposable> {
    if (signal.aborted) throw abortError(signal);
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let released = false;
    return {
      [Symbol.dispose]: () => {
        if (released) return;
        released = true;
        const next = this.#waiting.shift();
        if (next) next.grant();
        else this.#free += 1;
      },
    };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const entry = {
        grant: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(entry);
        if (at !== -1) this.#waiting.splice(at, 1);
        reject(abortError(signal));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(entry);
    });
  }
}
