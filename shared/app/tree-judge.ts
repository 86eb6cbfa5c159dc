import type { AbsPath } from "../base/paths.ts";
import type { Feature } from "../model/feature.ts";
import type { Verdict } from "../model/verdict.ts";
import type { RepoContext } from "./context.ts";

/** A tree that is about to become the default branch's, checked out raw in a folder of its own. */
export interface TreeSubject {
  readonly feature: Feature;
  readonly folder: AbsPath;
  readonly tree: string;
  /** Commit the tree is measured against: what the default branch holds now. */
  readonly base: string;
}

/**
 * The gates of the feature over a tree: the change from `base`, and the slice's tests run in `folder`. Changes nothing
 * outside that folder and the run folder. compose.ts wires it.
 */
export type TreeJudge = (subject: TreeSubject, signal: AbortSignal) => Promise<Verdict>;

export interface MergeContext extends RepoContext {
  readonly judgeTree: TreeJudge;
}
