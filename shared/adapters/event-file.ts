import fs from "node:fs";
import { isDiskFull } from "../base/disk-full.ts";
import { OrchError } from "../model/error.ts";
import { parseEvent, type ParsedEvent } from "../model/event.ts";

/**
 * The bytes of `events.jsonl`: read, mended, appended. Lines end in LF; what follows the last one was never finished
 * and is cut before the first append. The runner that holds the run's lock is the only one that appends.
 */
export interface EventFile {
  /** Whole events on disk when the file was opened. */
  readonly history: readonly ParsedEvent[];
  /** A whole line or nothing; `sync` waits for the disk. On a full disk: `env.disk-full`, and the file is as before. */
  append(line: string, sync: boolean): void;
  close(): void;
}

const lineFeed = 0x0a;

export function openEventFile(at: string): EventFile {
  const kept = mend(at);
  const file = fs.openSync(at, fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT, 0o600);
  let size = kept.bytes;
  return {
    history: kept.events,
    append(line, sync) {
      const bytes = Buffer.from(line, "utf8");
      try {
        for (let done = 0; done < bytes.length;) done += fs.writeSync(file, bytes, done);
        if (sync) fs.fdatasyncSync(file);
        size += bytes.length;
      } catch (error) {
        // A part may be in the file: take it back, or the next line would be joined to it.
        fs.truncateSync(at, size);
        throw isDiskFull(error)
          ? new OrchError("env.disk-full", `The disk is full: ${at} could not be written`, { cause: error })
          : error;
      }
    },
    close: () => fs.closeSync(file),
  };
}

/** Cuts the torn tail and reads the rest. A whole line that cannot be read is no torn tail: it is refused and kept. */
function mend(at: string): { readonly bytes: number; readonly events: ParsedEvent[] } {
  let content: Buffer;
  try {
    content = fs.readFileSync(at);
  } catch (error) {
    if (typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT")
      return { bytes: 0, events: [] };
    throw error;
  }
  const bytes = content.lastIndexOf(lineFeed) + 1;
  if (bytes < content.length) {
    fs.truncateSync(at, bytes);
    content = content.subarray(0, bytes);
  }
  return { bytes, events: readEvents(at, content.toString("utf8")) };
}

function readEvents(at: string, text: string): ParsedEvent[] {
  const events: ParsedEvent[] = [];
  let last = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "") continue;
    const parsed = parseEvent(line);
    const refuse = (why: string): never => {
      throw new OrchError("file.invalid", `${at}:${index + 1}: ${why}`, { data: { path: at, line: index + 1 } });
    };
    if (parsed.kind === "bad") return refuse(parsed.why);
    if (parsed.event.seq !== last + 1) return refuse(`event ${parsed.event.seq} follows event ${last}`);
    last = parsed.event.seq;
    events.push(parsed);
  }
  return events;
}
