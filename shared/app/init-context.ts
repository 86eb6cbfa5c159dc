import type { AbsPath } from "../base/paths.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { MachineContext, RepoContext } from "./context.ts";

/** What `init` uses: there may be no repository yet. compose-init.ts wires it. */
export interface InitContext extends MachineContext {
  /** The folder the command was given in. */
  readonly cwd: AbsPath;
  readonly sink: EventSink;
  readonly run: string;
  /**
   * Top of the checkout that holds the folder, also when it is not there yet; undefined outside of one.
   *
   * @throws OrchError `git.bare`, `git.missing`, `git.too-old`, `git.failed`
   */
  findRoot(folder: AbsPath, signal: AbortSignal): Promise<AbsPath | undefined>;
  makeRepository(folder: AbsPath, signal: AbortSignal): Promise<void>;
  openRepository(folder: AbsPath, signal: AbortSignal): Promise<OpenedRepository>;
}

export interface OpenedRepository extends AsyncDisposable {
  readonly context: RepoContext;
}
