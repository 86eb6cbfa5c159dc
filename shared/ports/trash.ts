import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { TrashManifest } from "../model/trash.ts";

/** Keeps what a command is about to remove under `refs/orch/trash/<id>`, byte for byte. */
export interface TrashOrder {
  readonly by: "undo" | "delete" | "do" | "clean" | "merge" | "final" | "move" | "modify" | "qa" | "run" | "apply";
  /** For the list: what it was. */
  readonly what: string;
  /** Files or folders; a folder means everything in it, ignored files and nested repositories included. */
  readonly paths: readonly RepoPath[];
  /**
   * The paths lie in another folder of this machine (a worktree, git's own folder, run folders elsewhere): `restore`
   * brings them back below `under`, never into git's own folder.
   */
  readonly from?: {
    readonly folder: AbsPath;
    readonly under: RepoPath;
    /** More names, as bytes: not every name is text. */
    readonly names?: readonly Uint8Array[];
  };
  /** The files stay, and are stored in case something happens to them: the disk is not waited for. */
  readonly quick?: true;
  readonly branches?: readonly string[];
  /** The run whose kept results go with it. */
  readonly keptOf?: string;
  readonly registry?: { readonly file: RepoPath; readonly feature: string; readonly domain: string };
}

export interface TrashItem {
  readonly id: string;
  readonly by: string;
  readonly what: string;
  readonly at: number;
  readonly files: number;
  readonly bytes: number;
  readonly branches: readonly string[];
  /** Contracts whose kept result it holds. */
  readonly kept: readonly string[];
}

export interface Restored {
  readonly id: string;
  readonly restored: readonly string[];
  /** A newer file stood in the way: the stored one was written beside it. */
  readonly beside: readonly { readonly path: string; readonly wroteTo: string }[];
  /** Branches that are where they were. */
  readonly branches: readonly string[];
  /** Contracts whose result is kept again. */
  readonly kept: readonly string[];
  /** Branches of that name that are somewhere else now: left alone; the entry keeps `stored` reachable. */
  readonly branchesElsewhere: readonly { readonly name: string; readonly stored: string }[];
  /** All of it was there as it was stored: nothing was made. */
  readonly unchanged: boolean;
}

/** What `removeStored` did: `kept` differs from what was stored (a person's edit in between) or was not stored. */
export interface RemovedStored {
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

export interface Trash {
  /** Stores and removes nothing. Refuses (`env.disk-full`, `path.refused`, `tree.changed`) before an entry exists. */
  store(order: TrashOrder): Promise<TrashItem>;
  /**
   * Removes from the working tree exactly what the entry holds: each file's bytes are compared with the stored ones just
   * before it goes, folders go when they are empty. Index, branches and what was not stored stay.
   */
  removeStored(id: string): Promise<RemovedStored>;
  /** Forgets what an entry holds beside these paths and what lies below them; branches and the registry's line stay. */
  keepOnly(id: string, paths: readonly RepoPath[]): Promise<TrashItem>;
  /** Newest first. */
  list(): Promise<readonly TrashItem[]>;
  /** What an entry holds; refuses with `trash.unknown` or `trash.damaged`. Changes nothing. */
  look(id: string): Promise<TrashManifest>;
  /**
   * Brings back branches (absent or equal only), files, links, folders, modes, and the index entries when HEAD is where it
   * was and nothing else was staged for the path. Never overwrites: see `beside`. Can be run again after a stop.
   */
  restore(id: string): Promise<Restored>;
  /** Forgets entries for good, damaged ones too; the ids of those that went. Git frees their space when it collects. */
  purge(ids: readonly string[]): Promise<readonly string[]>;
}
