import type { AbsPath } from "../base/paths.ts";
import type { CommandResult } from "../model/command-result.ts";
import type { RunRequest } from "../model/run-files.ts";
import type { Editor } from "./editor.ts";
import type { RunLog } from "./run-log.ts";

/** What a runner hands to the command it carries out. */
export interface RunJob {
  readonly request: RunRequest;
  readonly run: string;
  readonly dir: AbsPath;
  readonly log: RunLog;
  readonly editor: Editor;
  /** True when an earlier runner began this run: `log.history()` says how far it came. */
  readonly resumed: boolean;
}

/** Carries nothing out, but puts back what a killed runner left half done: its run is ended and does not go on. */
export type EndRun = (job: RunJob) => Promise<void>;

/**
 * Carries out a request to its end. Rejects with an AbortError when `signal` aborts, after its own processes ended and
 * its locks are free; with an OrchError for a refusal. A refusal or result whose error code is in `parkingCodes`
 * (model/run.ts) parks the run instead of ending it: `resume` calls this again, with `resumed`.
 */
export type ExecuteRun = (job: RunJob, signal: AbortSignal) => Promise<CommandResult>;
