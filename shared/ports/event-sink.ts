import type { NewEvent } from "../model/event.ts";
import type { Sidecar } from "../model/sidecar.ts";

/** Where the engine says what happened. Append is synchronous and ordered; redaction happens before it. */
export interface EventSink {
  append(event: NewEvent): void;
  /** Writes a payload into the run folder (redacted when it is text) and returns what the event carries. `path` is relative to it. */
  sidecar(path: string, data: string | Uint8Array): Promise<Sidecar>;
}
