import type { AbsPath } from "../base/paths.ts";

/** Starts runners. The runner is a process of its own: it outlives whoever asked for it. */
export interface RunHost {
  /**
   * Starts a runner for a run that is parked or interrupted. Resolves once it holds the run; refuses with `run.locked`,
   * `run.finished` or `env.no-runner`.
   */
  resume(run: string, dir: AbsPath): Promise<void>;
  /** Resolves when something in the run's folder changed, after `floorMs` at the latest; rejects on an abort. */
  changed(dir: AbsPath, floorMs: number, signal: AbortSignal): Promise<void>;
}
