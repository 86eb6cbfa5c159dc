import { absPath, isAbsolutePath } from "../base/paths.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import { exitCodes } from "../model/exit-code.ts";
import { type RunnerDeps, type RunnerOrder, runRunner } from "./runner.ts";
import type { RunnerEvents } from "./stopping.ts";

/** The part of the process that the runner uses, so that a test can stand in for it. */
export interface RunnerProcess {
  readonly argv: readonly string[];
  readonly on: (event: string, listener: (value: unknown) => void) => unknown;
  readonly writeError: (text: string) => void;
  readonly exit: (code: number) => void;
}

/**
 * `main.mjs <run folder> [--detached] [--fresh]`. SIGTERM and SIGINT interrupt, a second one ends at once; SIGHUP is not for us,
 * since a runner outlives its terminal. With --detached a refusal is one JSON line for client.ts, else plain text.
 */
export async function startRunnerProcess(process: RunnerProcess, deps: () => RunnerDeps): Promise<void> {
  const detached = process.argv.includes("--detached");
  let made: RunnerDeps | undefined;
  try {
    const order = orderOf(process.argv);
    made = deps();
    process.exit(await runRunner(order, made, eventsOf(process)));
  } catch (error) {
    const said = words(error, detached);
    process.writeError(`${made?.redactor.text(said) ?? said}\n`);
    process.exit(isOrchError(error) ? error.exit : exitCodes.bug);
  }
}

function orderOf(argv: readonly string[]): RunnerOrder {
  const [dir] = argv.filter((word) => !word.startsWith("--"));
  if (dir === undefined || !isAbsolutePath(dir)) {
    throw new OrchError(
      "run.by-hand",
      "The runner carries out one run's request; it is started by a command, not by hand",
    );
  }
  return { dir: absPath(dir.replace(/[\\/]+$/, "")), fresh: argv.includes("--fresh") };
}

function eventsOf(process: RunnerProcess): RunnerEvents {
  return {
    onStop(listener) {
      for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => listener(signal));
      process.on("SIGHUP", () => undefined);
    },
    onCrash(listener) {
      for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, listener);
    },
  };
}

function words(error: unknown, detached: boolean): string {
  if (!isOrchError(error)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (detached) return JSON.stringify({ code: error.code, message: error.message, data: error.data });
  return `${error.message}\n${error.hint}`;
}
