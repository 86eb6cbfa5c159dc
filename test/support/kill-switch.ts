/**
 * Stands in for kill -9 between two steps: objects share one count of calls, and from call `at` on (that one included)
 * nothing is done and nothing ever settles, as in a process that is no more. `finally` blocks of the code under test do
 * not run either, which a thrown error could not show.
 */
export class KillSwitch {
  readonly stopped: Promise<"stopped">;
  calls = 0;
  readonly #at: number;
  #stop: () => void = () => undefined;

  constructor(at: number) {
    this.#at = at;
    this.stopped = new Promise((resolve) => {
      this.#stop = () => resolve("stopped");
    });
  }

  /** `only`: the calls that change something; a kill before any other is a kill before the next of these. */
  wrap<T extends object>(target: T, only: readonly (keyof T)[]): T {
    return new Proxy(target, {
      get: (object, key, receiver) => {
        const value: unknown = Reflect.get(object, key, receiver);
        if (typeof value !== "function" || !(only as readonly PropertyKey[]).includes(key)) return value;
        return (...args: readonly unknown[]) => {
          this.calls += 1;
          if (this.calls < this.#at) return Reflect.apply(value, object, args) as unknown;
          this.#stop();
          return new Promise(() => undefined);
        };
      },
    });
  }

  /** The work's own end, or `stopped` when the switch fell first. */
  async run<T>(work: () => Promise<T>): Promise<T | "stopped"> {
    return await Promise.race([work(), this.stopped]);
  }
}
