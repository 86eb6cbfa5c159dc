/**
 * Places for workers that are alive on this machine, counted over all hosts, repositories and processes. A place is an
 * OS lock, so the death of its process frees it; what the dead one left running is ended by whoever takes it next.
 */
export interface SlotTenant {
  readonly run: string;
  readonly contract: string;
  readonly worker: string;
}

export interface SlotProcess {
  readonly pid: number;
  readonly startTime: string;
  /** ORCH_ATTEMPT of the worker and of everything it starts. */
  readonly marker: string;
}

export interface Slot extends Disposable {
  /** From 1. */
  readonly number: number;
  /** Writes down which process lives in it, before that process does anything. */
  occupy(process: SlotProcess): Promise<void>;
}

/** A worker that Orch did not start (`prepare`): it holds its place by a record that ends at `until`, not by a lock. */
export interface PreparedSlot {
  readonly number: number;
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export type SlotState =
  | { readonly number: number; readonly kind: "free" }
  | { readonly number: number; readonly kind: "taken"; readonly tenant?: SlotTenant; readonly until?: number };

export interface Slots {
  readonly count: number;
  /** Waits for a free place; `onWait` is told once when there is none yet. Rejects with an AbortError only. */
  take(tenant: SlotTenant, signal: AbortSignal, onWait?: (held: readonly SlotState[]) => void): Promise<Slot>;
  /** Undefined when every place is taken. */
  prepare(tenant: SlotTenant, until: number): Promise<PreparedSlot | undefined>;
  /** Gives a prepared place back; a token that is gone or ran out is no error. */
  release(token: string): Promise<void>;
  list(): Promise<readonly SlotState[]>;
}
