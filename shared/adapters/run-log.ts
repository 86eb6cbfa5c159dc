import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isDiskFull } from "../base/disk-full.ts";
import { inRoot, repoPath, type AbsPath } from "../base/paths.ts";
import { toJsonl } from "../base/jsonl.ts";
import { OrchError } from "../model/error.ts";
import { eventVersion, type EventType, type NewEvent, type ParsedEvent, parseEvent } from "../model/event.ts";
import type { Sidecar } from "../model/sidecar.ts";
import type { Clock } from "../ports/clock.ts";
import type { Files } from "../ports/files.ts";
import type { RunLog, RunLogs } from "../ports/run-log.ts";
import { openEventFile, type EventFile } from "./event-file.ts";
import type { Redactor } from "./redact.ts";

/** After these the disk is asked to have it: a restart must not forget what was decided, spent, started or stored. */
const deciding: ReadonlySet<EventType> = new Set<EventType>([
  "run.started",
  "run.parked",
  "run.resumed",
  "run.cancelled",
  "run.finished",
  "attempt.started",
  "process.started",
  "verdict.reached",
  "decision.made",
  "question.asked",
  "question.answered",
  "decision.asked",
  "decision.answered",
  "contract.finished",
  "review.closed",
  "trash.stored",
  "commit.made",
  "command.finished",
]);

/** Given back when the disk is full, so that the run can still say that it parks and why. */
const reserveName = ".reserve";
const reserveBytes = 64 * 1024;

export interface RunLogDeps {
  readonly clock: Clock;
  readonly files: Files;
  readonly redactor: Redactor;
}

export function createRunLogs(deps: RunLogDeps): RunLogs {
  return {
    async open(run, dir) {
      await deps.files.makeDir(dir, { mode: 0o700 });
      const file = openEventFile(inRoot(dir, "events.jsonl"));
      const reserve = reserveIn(dir);
      reserve.take();
      return createRunLog(run, dir, file, reserve, deps);
    },
  };
}

function createRunLog(
  run: string,
  dir: AbsPath,
  file: EventFile,
  reserve: Reserve,
  { clock, files, redactor }: RunLogDeps,
): RunLog {
  const history: ParsedEvent[] = [...file.history];
  let closed = false;
  return {
    run,
    dir,
    history: () => history,
    append(event: NewEvent) {
      if (closed) throw new TypeError(`${event.type} after the log of ${run} was closed`);
      const { type, ...body } = redactor.value(event);
      const envelope = { v: eventVersion, run, seq: history.length + 1, at: clock.now(), type: event.type };
      const line = toJsonl({ ...envelope, ...body });
      // What cannot be read back (a NaN that became null) would keep every later runner from opening this log.
      const parsed = parseEvent(line);
      if (parsed.kind === "bad") throw new TypeError(`an event that cannot be read back: ${parsed.why}`);
      try {
        file.append(line, deciding.has(type));
      } catch (error) {
        reserve.giveBack();
        throw error;
      }
      history.push(parsed);
    },
    async sidecar(at, data) {
      const relative = repoPath(at);
      if (relative === undefined) throw new OrchError("path.refused", `${at} is no path inside the run's folder`);
      const bytes = typeof data === "string" ? Buffer.from(redactor.text(data), "utf8") : data;
      try {
        await makePrivateDirs(dir, path.posix.dirname(relative), files);
        await files.write(inRoot(dir, relative), bytes, { mode: 0o600 });
      } catch (error) {
        if (isDiskFull(error) || (error instanceof OrchError && error.code === "env.disk-full")) reserve.giveBack();
        throw error;
      }
      return {
        path: relative,
        bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      } satisfies Sidecar;
    },
    [Symbol.dispose]() {
      if (closed) return;
      closed = true;
      reserve.giveBack();
      file.close();
    },
  };
}

/** Makes each folder on the way by itself: one that is a link could lead a payload out of the run's folder. */
async function makePrivateDirs(dir: AbsPath, below: string, files: Files): Promise<void> {
  let at: AbsPath = dir;
  for (const part of below === "." ? [] : below.split("/")) {
    at = inRoot(at, part);
    const found = await files.stat(at);
    if (found === undefined) await files.makeDir(at, { mode: 0o700 });
    else if (found.kind !== "directory") throw new OrchError("path.refused", `${at} is no folder`);
  }
}

interface Reserve {
  take(): void;
  giveBack(): void;
}

function reserveIn(dir: AbsPath): Reserve {
  const at = inRoot(dir, reserveName);
  return {
    take() {
      try {
        fs.writeFileSync(at, Buffer.alloc(reserveBytes, 0x20), { mode: 0o600 });
      } catch (error) {
        fs.rmSync(at, { force: true });
        if (!isDiskFull(error)) throw error; // full from the start: the first append says so
      }
    },
    giveBack: () => fs.rmSync(at, { force: true }),
  };
}
