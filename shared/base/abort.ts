/** True for any abort, also one thrown by another realm's or another bundle's classes: the name is the contract. */
export function isAbort(error: unknown): boolean {
  return typeof error === "object" && error !== null && "name" in error && error.name === "AbortError";
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortError(signal);
}

/** The signal's own reason when it is an AbortError, else a new one that keeps the reason as cause. */
export function abortError(signal: AbortSignal): Error {
  if (signal.reason instanceof Error && isAbort(signal.reason)) return signal.reason;
  return new DOMException("cancelled", { name: "AbortError", cause: signal.reason });
}

/** Settles with `work`, or rejects with an AbortError as soon as `signal` aborts; `work` itself is not stopped. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  throwIfAborted(signal);
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    stop = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}

/**
 * Why a run is stopped. `interrupt` ends the attempt and leaves the run resumable; `cancel` ends the run. Whoever aborts
 * says which with `controller.abort(stopReason(verb))`; a signal that says nothing means `interrupt`, which loses less.
 */
export type StopVerb = "interrupt" | "cancel";

export function stopReason(verb: StopVerb): Error {
  return new DOMException(verb, "AbortError");
}

export function stopVerbOf(signal: AbortSignal): StopVerb {
  return isAbort(signal.reason) && signal.reason.message === "cancel" ? "cancel" : "interrupt";
}
