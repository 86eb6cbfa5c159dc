/** What a scope must give back when it ends. Matches the host APIs' shape, so their disposables fit. */
export interface Disposable {
  dispose(): void;
}

/** Owns disposables. One that is added after the store was disposed is disposed at once, so late answers cannot leak. */
export class DisposableStore implements Disposable {
  readonly #items = new Set<Disposable>();
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  /** Returns its argument, so the creator registers on the line that creates. */
  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose();
    else this.#items.add(item);
    return item;
  }

  /** Disposes in reverse order of registration; every item is tried, the first error is thrown at the end. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const items = [...this.#items].toReversed();
    this.#items.clear();
    const errors: unknown[] = [];
    for (const item of items) {
      try {
        item.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

export function toDisposable(dispose: () => void): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      dispose();
    },
  };
}
