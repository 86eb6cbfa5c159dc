import type { AbsPath } from "../base/paths.ts";
import type { ParsedEvent } from "../model/event.ts";
import type { ControlFile, ReplyFile, RunnerFile, RunRequest } from "../model/run-files.ts";

export interface RunFolder {
  readonly run: string;
  readonly dir: AbsPath;
}

/**
 * Which requests a person gave on this machine. A repository can ship a run folder; nobody asked for what is in it, so
 * no runner takes it up.
 */
export interface RunOwnership {
  note(run: string, requestSha256: string): Promise<void>;
  isOurs(run: string, requestSha256: string): Promise<boolean>;
  /** Once a run is over: nothing can be resumed. */
  forget(run: string): Promise<void>;
}

/** The run folders of a repository, for those who look at runs and drop files. Never appends an event. */
export interface RunStore {
  /** Newest first. */
  list(): Promise<readonly RunFolder[]>;
  /** By id, or by a beginning or end of it that only one run has. */
  find(run: string): Promise<RunFolder | undefined>;
  /** `file.invalid` (path, line, reason) when it is broken or of another Orch; undefined when there is none. */
  request(dir: AbsPath): Promise<RunRequest | undefined>;
  /** Complete events only; bad lines are kept as `bad`. */
  events(dir: AbsPath): Promise<readonly ParsedEvent[]>;
  runner(dir: AbsPath): Promise<RunnerFile | undefined>;
  /** A runner holds the run's lock. */
  isAlive(dir: AbsPath): boolean;
  /** False when a reply stands already. */
  reply(dir: AbsPath, reply: ReplyFile): Promise<boolean>;
  readReply(dir: AbsPath, id: string): Promise<ReplyFile | undefined>;
  control(dir: AbsPath, id: string, control: ControlFile): Promise<void>;
  /** Makes `.orch/runs/<contract>` lead to this run's folder of that contract. */
  link(contract: string, folder: RunFolder): Promise<void>;
}
