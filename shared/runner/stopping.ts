import { stopReason, type StopVerb } from "../base/abort.ts";
import type { CommandResult } from "../model/command-result.ts";
import type { OrchError } from "../model/error.ts";

/** After a stop the command has this long to end its processes and put its files right; then the tree is ended. */
const unwindMs: Readonly<Record<StopVerb, number>> = { interrupt: 30_000, cancel: 20_000 };

/** How the command's part of a run ended. */
export type End =
  | { readonly kind: "result"; readonly result: CommandResult }
  | { readonly kind: "stopped" }
  /** Told to stop, and not waited for any longer: what it had begun is half done. */
  | { readonly kind: "left" }
  | { readonly kind: "refused"; readonly error: OrchError }
  /** It is to be ended, but what an earlier life left cannot be put back yet. */
  | { readonly kind: "kept"; readonly error: OrchError }
  | { readonly kind: "crashed"; readonly error: unknown };

/** What can happen to the process from outside; runner-process.ts connects it to signals and uncaught errors. */
export interface RunnerEvents {
  /** Asked to stop: once to interrupt, again to end at once. */
  onStop(listener: (signal: string) => void): void;
  /** A bug outside the command's own promise. Registered before anything starts. */
  onCrash(listener: (error: unknown) => void): void;
}

export interface Stopping {
  readonly signal: AbortSignal;
  /** Set once somebody asked. */
  readonly asked: () => { readonly verb: StopVerb; readonly by: string } | undefined;
  readonly stop: (verb: StopVerb, by: string) => void;
  readonly crash: (error: unknown) => void;
  /** Settles when waiting for the command is over: its time to unwind is up, it was told twice, or a bug escaped. */
  readonly over: Promise<End>;
}

/** Turns control files, signals and escaped errors into one signal and one end. */
export function createStopping(events: RunnerEvents): Stopping {
  const controller = new AbortController();
  let asked: { readonly verb: StopVerb; readonly by: string } | undefined;
  let giveUp: (end: End) => void = () => undefined;
  const over = new Promise<End>((resolve) => (giveUp = resolve));
  const stop = (verb: StopVerb, by: string): void => {
    // A cancel may follow an interrupt; nothing follows a cancel.
    if (asked?.verb === "cancel" || asked?.verb === verb) return;
    asked = { verb, by };
    controller.abort(stopReason(verb));
    setTimeout(() => giveUp({ kind: "left" }), unwindMs[verb]).unref();
  };
  const crash = (error: unknown): void => giveUp({ kind: "crashed", error });
  events.onStop((signal) => {
    if (asked === undefined) stop("interrupt", signal);
    else giveUp({ kind: "left" });
  });
  events.onCrash(crash);
  return { signal: controller.signal, asked: () => asked, stop, crash, over };
}
