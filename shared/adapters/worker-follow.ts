import type { ChatMessage } from "../model/completion.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Files } from "../ports/files.ts";
import type { Ids } from "../ports/ids.ts";
import type { Exit, Output, Process, ProcessSpec } from "../ports/process.ts";
import type { Slot } from "../ports/slots.ts";
import type { WorkerOrder } from "../ports/worker.ts";
import type { Recipe, StreamParser, WorkerCommand } from "./recipes/recipe.ts";
import type { ItsOwnDoing, WorkerStop } from "./worker-verdict.ts";

/** Enforced by us: no client keeps a deadline of its own. */
export interface WorkerLimits {
  readonly wallMs: number;
  /** No line of output for so long; four times as long while a tool runs. */
  readonly silenceMs: number;
  readonly maxCalls: number;
  readonly maxCostUsd?: number;
  readonly maxOutputBytes: number;
}

const maxTranscriptChars = 8 * 1024 * 1024;
const toolPatience = 4;

export interface FollowDeps {
  readonly id: string;
  readonly process: Process;
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "next">;
  readonly sink: EventSink;
}

/** How the program is started: its files are written, nothing runs yet. */
export interface Started {
  readonly command: WorkerCommand;
  readonly spec: ProcessSpec;
}

export interface Ran {
  readonly parser: StreamParser;
  readonly done: Exit & Output;
  readonly stop: WorkerStop | undefined;
  readonly itsOwnDoing: ItsOwnDoing;
  readonly transcript: string;
}

interface Running extends Started {
  readonly limits: WorkerLimits;
  readonly slot: Slot | undefined;
}

/** Reads along until the program ends, and ends it when it goes over a limit. */
export async function follow(
  recipe: Recipe,
  deps: FollowDeps,
  order: WorkerOrder,
  { command, spec, limits, slot }: Running,
  signal: AbortSignal,
): Promise<Ran> {
  const { contract, attempt } = order;
  const { sink, clock } = deps;
  const marker = deps.ids.next("marker");
  const parser = recipe.parser();
  const ending = new AbortController();
  const over = new AbortController();
  let stop: WorkerStop | undefined;
  let itsOwnDoing: ItsOwnDoing = false;
  const endBecause = (why: WorkerStop, own: ItsOwnDoing): void => {
    if (stop !== undefined) return;
    stop = why;
    itsOwnDoing = own;
    ending.abort();
  };
  let occupied: Promise<void> | undefined;
  const pids: number[] = [];
  const running = deps.process.stream(
    {
      ...spec,
      marker,
      onStart: (pid, startTime) => {
        pids.push(pid);
        sink.append({ type: "process.started", contract: contract.id, attempt, pid, startTime, marker, what: deps.id });
        occupied = slot?.occupy({ pid, startTime, marker });
        spec.onStart?.(pid, startTime);
      },
    },
    AbortSignal.any([signal, ending.signal]),
  );
  let heard = clock.tick();
  const watching = watchSilence({ clock, over: over.signal, heard: () => heard, limits, parser, endBecause });
  const kept = createTranscript(order.messages);
  for await (const line of running.lines()) {
    heard = clock.tick();
    parser.line(line);
    if (!parser.isNoise(line)) kept.add(line);
    const { calls, tools, costUsd } = parser.look();
    if (calls > limits.maxCalls) endBecause("loop", tools === "unknown" ? tools : tools * 2 >= calls);
    if (limits.maxCostUsd !== undefined && costUsd !== "unknown" && costUsd > limits.maxCostUsd)
      endBecause("cost", true);
  }
  const done = await running.done;
  over.abort();
  await watching;
  await occupied;
  for (const pid of pids) sink.append({ type: "process.ended", pid, how: howText(done) });
  const told = command.afterwards === undefined ? undefined : await deps.files.readText(command.afterwards);
  if (told !== undefined) parser.file?.(told);
  return { parser, done, stop, itsOwnDoing, transcript: kept.text() };
}

interface Watch {
  readonly clock: Clock;
  readonly over: AbortSignal;
  readonly heard: () => number;
  readonly limits: WorkerLimits;
  readonly parser: StreamParser;
  readonly endBecause: (why: WorkerStop, own: ItsOwnDoing) => void;
}

async function watchSilence({ clock, over, heard, limits, parser, endBecause }: Watch): Promise<void> {
  while (!over.aborted) {
    const { inTool, tools } = parser.look();
    const patience = limits.silenceMs * (inTool === false ? 1 : toolPatience);
    const left = heard() + patience - clock.tick();
    if (left <= 0) {
      endBecause("silence", tools === "unknown" ? tools : inTool);
      return;
    }
    try {
      await clock.sleep(Math.min(left, limits.silenceMs), over);
    } catch {
      return;
    }
  }
}

function createTranscript(messages: readonly ChatMessage[]): { add(line: string): void; text(): string } {
  const lines = messages.map((message) => JSON.stringify(message));
  let chars = 0;
  let left = 0;
  return {
    add(line) {
      if (chars > maxTranscriptChars) left += 1;
      else lines.push(line);
      chars += line.length;
    },
    text: () =>
      [...lines, ...(left === 0 ? [] : [JSON.stringify({ role: "note", content: `${left} more lines` })]), ""].join(
        "\n",
      ),
  };
}

function howText(end: Exit & Output): string {
  const left = end.leftovers > 0 ? `, ${end.leftovers} left behind and ended` : "";
  if (end.kind === "exited") return `exited ${end.code}${left}`;
  if (end.kind === "signalled") return `${end.signal}${left}`;
  return `${end.kind}${left}`;
}
