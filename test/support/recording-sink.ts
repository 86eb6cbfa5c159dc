import { createHash } from "node:crypto";
import type { NewEvent } from "../../shared/model/event.ts";
import type { Sidecar } from "../../shared/model/sidecar.ts";
import type { EventSink } from "../../shared/ports/event-sink.ts";

/** Keeps what was appended, in order, and the payloads by path. */
export class RecordingSink implements EventSink {
  readonly events: NewEvent[] = [];
  readonly sidecars = new Map<string, string>();

  append(event: NewEvent): void {
    this.events.push(event);
  }

  sidecar(path: string, data: string | Uint8Array): Promise<Sidecar> {
    const bytes = Buffer.from(data);
    this.sidecars.set(path, bytes.toString("utf8"));
    return Promise.resolve({ path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }

  of<T extends NewEvent["type"]>(type: T): Extract<NewEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<NewEvent, { type: T }> => event.type === type);
  }
}
