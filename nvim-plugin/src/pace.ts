import type { Disposable } from "../../shared/base/disposable.ts";

const everyMs = 50;

export interface Paced extends Disposable {
  ask(): void;
}

/** Does `work` at the leading edge, then at most every 50 ms; what was asked for meanwhile is done once, at the end. */
export function paced(work: () => void): Paced {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  const ask = (): void => {
    if (timer !== undefined) {
      again = true;
      return;
    }
    work();
    timer = setTimeout(() => {
      timer = undefined;
      if (!again) return;
      again = false;
      ask();
    }, everyMs);
  };
  return { ask, dispose: () => clearTimeout(timer) };
}
