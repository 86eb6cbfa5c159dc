import type { AbsPath } from "../base/paths.ts";
import type { ParsedEvent } from "../model/event.ts";
import type { EventSink } from "./event-sink.ts";

/** A run's folder while its runner lives: the single writer of `events.jsonl`. */
export interface RunLog extends EventSink, Disposable {
  readonly run: string;
  readonly dir: AbsPath;
  /** Every event so far, also those of earlier runners of this run. */
  history(): readonly ParsedEvent[];
}

export interface RunLogs {
  /** Takes nothing by itself: the caller holds the run's lock. Cuts a torn tail, replays, then appends. */
  open(run: string, dir: AbsPath): Promise<RunLog>;
}
