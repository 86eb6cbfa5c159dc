import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { TrashOrder } from "./trash.ts";

/** A file of the checkout that is not as it was before programs ran in it. */
export interface TouchedFile {
  readonly path: RepoPath;
  /** `grew`: what it held before is still its beginning, so nothing is lost. */
  readonly how: "changed" | "grew" | "vanished" | "appeared";
  /** What it was before: work that no commit holds, a file as the index has it, nothing. */
  readonly was: "uncommitted" | "clean" | "absent";
  /** Where what it was can be had: in the entry, in `WatchOrder.known`'s place or in git (`elsewhere`), nowhere. */
  readonly kept: "entry" | "elsewhere" | "no";
  /** Who works where the program ran could not have done it. */
  readonly surely: boolean;
}

export interface Touched {
  readonly files: readonly TouchedFile[];
  /** For `restore`: what the files with `kept: "entry"` were. Absent where there is none. */
  readonly entry?: string;
}

export interface WatchOrder {
  /** Top of the tree that the programs run in. */
  readonly root: AbsPath;
  readonly by: TrashOrder["by"];
  /** What runs, for the list of `restore`: `checks of billing-invoice`. */
  readonly what: string;
  /** Files whose present bytes are kept elsewhere already: a model's own, whose diff lies in the run folder. */
  readonly known: readonly RepoPath[];
}

export interface Watch {
  /** Files that a sandbox must not let the programs write; empty where there is none. */
  readonly keep: readonly AbsPath[];
  /**
   * To be called once when the programs have ended, however they did. What was stored and turns out not to be needed is
   * forgotten again.
   */
  done(): Promise<Touched>;
  /** Stores new files, then removes them; the entry's id. Undefined when none was there any more. */
  takeAway(paths: readonly RepoPath[]): Promise<string | undefined>;
}

/**
 * What lies in the person's own checkout and has no part in the tests that run there: above all the work that no commit
 * holds yet. Its bytes are stored before a program starts that a model may have written.
 */
export interface Bystanders {
  /** Undefined where the tree is not the person's checkout. Refuses (`env.disk-full`, `git.failed`) before anything runs. */
  watch(order: WatchOrder, signal: AbortSignal): Promise<Watch | undefined>;
}
