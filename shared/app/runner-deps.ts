import { findMachine } from "../adapters/machine.ts";
import { createRunOwnership } from "../adapters/run-ownership.ts";
import { type ThisProcess, thisProcess } from "../adapters/this-process.ts";
import { ownRunsDir } from "../model/run-place.ts";
import type { RunHost } from "../ports/run-host.ts";
import type { RunOwnership } from "../ports/run-store.ts";
import { createEnd, createExecute } from "./execute.ts";
import { createRunParts, type RunParts } from "./run-parts.ts";
import type { EndRun, ExecuteRun } from "../ports/run-job.ts";

export interface RunnerFacts extends ThisProcess {
  readonly moduleUrl: string;
}

/** What runner/main.ts hands to the runner. A runner starts no other runner: whoever answers a parked run does. */
export function createRunnerDeps(moduleUrl: string): RunnerParts {
  const facts: RunnerFacts = { ...thisProcess(), moduleUrl };
  const places = findMachine(facts);
  const env = plainEnv(facts.env);
  const parts = createRunParts(env, []);
  const host: RunHost = {
    resume: () => Promise.reject(new TypeError("a runner does not start runners")),
    changed: () => Promise.reject(new TypeError("a runner does not wait for runs")),
  };
  return {
    ...parts,
    execute: createExecute({ places, env, nodePath: facts.execPath, host, redactor: parts.redactor }),
    end: createEnd({ places, env, nodePath: facts.execPath, host, redactor: parts.redactor }),
    ownership: createRunOwnership(parts.files, ownRunsDir(places.stateDir)),
    sweep: parts.process,
    pid: facts.pid,
    version: places.version,
  };
}

export interface RunnerParts extends RunParts {
  readonly execute: ExecuteRun;
  readonly end: EndRun;
  readonly ownership: RunOwnership;
  readonly sweep: RunParts["process"];
  readonly pid: number;
  readonly version: string;
}

/** Node's environment without the holes its type allows. */
export function plainEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
