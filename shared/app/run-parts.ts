import { createClock } from "../adapters/clock.ts";
import { createFiles } from "../adapters/files.ts";
import { createIds } from "../adapters/ids.ts";
import { createLocks, machineName } from "../adapters/lock.ts";
import { createProcess } from "../adapters/process.ts";
import { createRedactor, type Redactor, secretsOf } from "../adapters/redact.ts";
import { createRunLogs } from "../adapters/run-log.ts";
import { createRunStore } from "../adapters/run-store.ts";
import type { AbsPath } from "../base/paths.ts";
import type { Clock } from "../ports/clock.ts";
import type { Files } from "../ports/files.ts";
import type { Ids } from "../ports/ids.ts";
import type { Locks } from "../ports/lock.ts";
import type { Process, ProcessSweep } from "../ports/process.ts";
import type { RunLogs } from "../ports/run-log.ts";
import type { RunStore } from "../ports/run-store.ts";

/** The machine's parts that runs need, wherever they are: in the runner, and in commands that look at runs. */
export interface RunParts {
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly locks: Locks;
  readonly logs: RunLogs;
  readonly store: RunStore;
  readonly process: Process & ProcessSweep;
  readonly machine: string;
  /** What `logs` are written through. */
  readonly redactor: Redactor;
}

/** `env` is only looked at for secrets, so that the log never holds one; `runsDirs` are those of model/run-place.ts. */
export function createRunParts(
  env: Readonly<Record<string, string | undefined>>,
  runsDirs: readonly AbsPath[],
): RunParts {
  const files = createFiles();
  const clock = createClock();
  const process = createProcess();
  const locks = createLocks(process);
  const redactor = createRedactor(secretsOf(env));
  return {
    files,
    clock,
    ids: createIds(clock),
    locks,
    logs: createRunLogs({ clock, files, redactor }),
    store: createRunStore({ files, locks, dirs: runsDirs }),
    process,
    machine: machineName(),
    redactor,
  };
}
