/** The only source of time, so that logs replay byte for byte. */
export interface Clock {
  /** Milliseconds since 1970; may jump. For stamps only. */
  now(): number;
  /** Monotonic milliseconds. For durations. */
  tick(): number;
  /** Rejects with an AbortError when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
