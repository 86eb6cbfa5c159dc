import type { Exit, Output, Process, ProcessSpec } from "../ports/process.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Ids } from "../ports/ids.ts";

export interface ProcessRecord {
  readonly sink: EventSink;
  readonly ids: Pick<Ids, "next">;
  /** What the programs are, for a person: `pi`, `check tests`. */
  readonly what: string;
  readonly contract?: string;
  readonly attempt?: number;
}

/**
 * A Process whose programs are told to the log with pid, start time and marker before they do anything, and again when
 * they ended: a runner that takes over from a dead one ends what it finds. Specs that carry a marker are already told.
 */
export function recordProcesses(process: Process, record: ProcessRecord): Process {
  const { sink, ids, what, contract, attempt } = record;
  const of = { ...(contract === undefined ? {} : { contract }), ...(attempt === undefined ? {} : { attempt }) };
  const marked = (spec: ProcessSpec, pids: number[]): ProcessSpec => {
    const marker = ids.next("marker");
    const onStart = (pid: number, startTime: string): void => {
      pids.push(pid);
      sink.append({ type: "process.started", ...of, pid, startTime, marker, what });
      spec.onStart?.(pid, startTime);
    };
    return { ...spec, marker, onStart };
  };
  const tellEnd = (pids: readonly number[], end: Exit & Output): Exit & Output => {
    for (const pid of pids) sink.append({ type: "process.ended", pid, how: howText(end) });
    return end;
  };
  return {
    which: (command, path) => process.which(command, path),
    async run(spec, signal) {
      if (spec.marker !== undefined) return process.run(spec, signal);
      const pids: number[] = [];
      return tellEnd(pids, await process.run(marked(spec, pids), signal));
    },
    stream(spec, signal) {
      if (spec.marker !== undefined) return process.stream(spec, signal);
      const pids: number[] = [];
      const running = process.stream(marked(spec, pids), signal);
      return { pid: running.pid, lines: () => running.lines(), done: running.done.then((end) => tellEnd(pids, end)) };
    },
  };
}

function howText(end: Exit & Output): string {
  const left = end.leftovers > 0 ? `, ${end.leftovers} left behind and ended` : "";
  if (end.kind === "exited") return `exited ${end.code}${left}`;
  if (end.kind === "signalled") return `${end.signal}${left}`;
  return `${end.kind}${left}`;
}
