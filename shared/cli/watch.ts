import type { RunState } from "../events/run-state.ts";
import type { CommandResult } from "../model/command-result.ts";
import { isOrchError } from "../model/error.ts";
import { exitCodes } from "../model/exit-code.ts";
import type { ExitCode } from "../model/exit-code.ts";
import type { ParsedEvent } from "../model/event.ts";
import type { Answer, Question } from "../ports/editor.ts";
import { whyGone } from "../runner/client.ts";
import { dropControl, dropReply, withdrawControl } from "../runner/drop.ts";
import { followRun, type TailEnd } from "../runner/tail.ts";
import type { OnInterrupt } from "./interrupts.ts";
import type { Output } from "./output.ts";

export interface Watched {
  readonly run: string;
  readonly dir: string;
  /** Events up to this one are not shown: the run went on after it. */
  readonly seen?: number;
}

export interface WatchDeps {
  readonly output: Output;
  readonly now: () => number;
  /** Asks the person; absent where nobody is there. */
  readonly ask?: (question: Question, signal: AbortSignal) => Promise<Answer | undefined>;
  readonly onInterrupt: OnInterrupt;
  /** Ctrl-C's that came while the runner was started. */
  readonly interrupted?: number;
}

/**
 * Follows a run to its end: lines as it goes, questions asked here and answered by a file, the first Ctrl-C interrupts the
 * attempt (the run can be resumed), the second cancels it with its process tree.
 */
export async function watchRun(watched: Watched, deps: WatchDeps): Promise<CommandResult> {
  const asking = new Map<string, AbortController>();
  const dropped: string[] = [];
  let interrupts = 0;
  const interrupt = (): void => {
    interrupts += 1;
    const verb = interrupts === 1 ? "interrupt" : "cancel";
    deps.output.note(verb === "interrupt" ? "Stopping the attempt; once more ends the run" : "Ending the run");
    for (const stop of asking.values()) stop.abort();
    dropped.push(dropControl(watched.dir, { v: 1, verb, target: watched.run, host: "cli", at: deps.now() }));
  };
  const stopListening = deps.onInterrupt(interrupt);
  for (let n = 0; n < Math.min(deps.interrupted ?? 0, 2); n += 1) interrupt();
  try {
    const onEvents = (events: readonly ParsedEvent[], state: RunState): void => {
      const several = state.contracts.length > 1;
      for (const parsed of events) if (isNew(parsed, state, watched)) deps.output.event(parsed, several);
      askPending(state, watched, deps, asking);
    };
    const end = await followRun({ ...watched, onEvents }, new AbortController().signal);
    // What came after the run had stopped already would end it when it is resumed, which is what the person is told to do.
    if (end.kind !== "finished") for (const id of dropped) withdrawControl(watched.dir, id);
    return resultOf(watched, end, interrupts);
  } finally {
    stopListening();
    for (const stop of asking.values()) stop.abort();
  }
}

function isNew(parsed: ParsedEvent, { seq }: RunState, { seen = 0 }: Watched): boolean {
  return (parsed.kind === "bad" ? seq : parsed.event.seq) > seen;
}

/** Follows a run that nobody answers. An abort cancels it and waits for its end, so that nothing is left running. */
export async function followToResult(
  watched: Watched,
  onEvent: (event: ParsedEvent) => void,
  signal: AbortSignal,
  now: () => number,
): Promise<CommandResult> {
  const cancel = (): void =>
    void dropControl(watched.dir, { v: 1, verb: "cancel", target: watched.run, host: "cli", at: now() });
  signal.addEventListener("abort", cancel, { once: true });
  try {
    if (signal.aborted) cancel();
    const onEvents = (events: readonly ParsedEvent[]): void => events.forEach(onEvent);
    const end = await followRun({ ...watched, onEvents }, new AbortController().signal);
    return resultOf(watched, end, 0);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Each pending question is asked once; one that was answered elsewhere meanwhile is taken back. */
function askPending(state: RunState, watched: Watched, deps: WatchDeps, asking: Map<string, AbortController>): void {
  const { ask } = deps;
  if (ask === undefined) return;
  const open = new Set(state.pending.map(({ id }) => id));
  for (const [id, stop] of asking) if (!open.has(id)) stop.abort();
  for (const pending of state.pending) {
    if (asking.has(pending.id)) continue;
    const stop = new AbortController();
    asking.set(pending.id, stop);
    const { id, kind, weight, title, choices, detail, otherwise } = pending;
    const question: Question = {
      kind,
      weight,
      title,
      choices,
      ...(detail === undefined ? {} : { detail }),
      ...(otherwise === undefined ? {} : { otherwise }),
    };
    void ask(question, stop.signal).then(
      (answer) => {
        if (answer === undefined || stop.signal.aborted) return;
        const { choice, text, by } = answer;
        const about = { ...(choice === undefined ? {} : { choice }), ...(text === undefined ? {} : { text }) };
        dropReply(watched.dir, { v: 1, id, ...about, by, host: "cli", at: deps.now() });
      },
      (error: unknown) => deps.output.note(isOrchError(error) ? error.message : String(error)),
    );
  }
}

function resultOf({ run, dir }: Watched, end: TailEnd, interrupts: number): CommandResult {
  const { state } = end;
  switch (end.kind) {
    case "finished": {
      const { result } = state;
      if (result === undefined)
        return { ok: false, code: exitCodes.cancelled, summary: "Cancelled", next: ["orch status"] };
      const { ok, summary, next, data, error } = result;
      return {
        ok,
        code: result.code as ExitCode,
        summary,
        next,
        ...(data === undefined ? {} : { data }),
        ...(error === undefined ? {} : { error: errorOf(error) }),
      };
    }
    case "parked": {
      const { why = "it waits for a person", hint = `orch status ${run}` } = state.parked ?? {};
      const code = interrupts > 0 ? exitCodes.cancelled : exitCodes.decide;
      return {
        ok: false,
        code,
        summary: `Parked: ${why}`,
        next: [`orch resume ${run}`],
        error: { code: "run.parked", message: why, hint },
        data: { run },
      };
    }
    case "interrupted": {
      const { code, message, hint } = whyGone(run, dir);
      return {
        ok: false,
        code: exitCodes.decide,
        summary: message,
        next: [`orch resume ${run}`, `orch status ${run}`],
        data: { run },
        error: { code, message, hint },
      };
    }
  }
}

function errorOf(error: {
  code: string;
  message: string;
  hint: string;
  at?: string | undefined;
}): NonNullable<CommandResult["error"]> {
  const { code, message, hint, at } = error;
  return { code, message, hint, ...(at === undefined ? {} : { at }) };
}
