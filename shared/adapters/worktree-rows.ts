import { throwIfAborted } from "../base/abort.ts";
import type { RepoPath } from "../base/paths.ts";
import type { WorktreeRow } from "../ports/worktrees.ts";
import { shownPaths } from "./worktree-collect.ts";
import type { WorktreeDeps, WorktreeHold, WorktreeOptions } from "./worktree-hold.ts";
import {
  dispose,
  numbered,
  pooled,
  readState,
  type Slot,
  slotAt,
  unfinished,
  type WorktreeState,
} from "./worktree-place.ts";

/** Every worktree of the repository, whosever it is, and the removal of one. */
export interface WorktreeRows {
  list(signal: AbortSignal): Promise<readonly WorktreeRow[]>;
  remove(row: WorktreeRow): Promise<{ readonly trash?: string }>;
}

export function createWorktreeRows(deps: WorktreeDeps, options: WorktreeOptions, hold: WorktreeHold): WorktreeRows {
  const { files } = deps;
  const main = deps.call.place.root;
  const { home, collect, openOn, storeIfNew, unlinkName, unpin } = hold;

  async function isAlive(run: string | undefined): Promise<boolean> {
    if (run === undefined) return false;
    if (run === options.run) return true;
    const folder = await deps.runs.find(run);
    return folder?.run === run && deps.runs.isAlive(folder.dir);
  }

  async function list(signal: AbortSignal): Promise<readonly WorktreeRow[]> {
    const at = await home();
    const rows: WorktreeRow[] = [];
    for (const folder of await numbered(at)) {
      throwIfAborted(signal);
      const slot = slotAt(folder, main);
      const state = await readState(files, slot);
      const { run, contract } = state ?? {};
      const use =
        run !== undefined && contract !== undefined && (await isAlive(run))
          ? ({ kind: "used", run, contract } as const)
          : ({
              kind: "leftover",
              ...(run === undefined ? {} : { run }),
              ...(contract === undefined ? {} : { contract }),
            } as const);
      // Nobody looks into a worktree that is worked in: its files are half written.
      rows.push({ folder, use, changed: use.kind === "used" ? [] : await changedIn(slot, state) });
    }
    for (const { folder, run } of await unfinished(at)) {
      if (!(await isAlive(run))) rows.push({ folder, use: { kind: "leftover", run }, changed: [] });
    }
    for (const folder of await pooled(at)) rows.push({ folder, use: { kind: "pooled" }, changed: [] });
    return rows;
  }

  async function changedIn(slot: Slot, state: WorktreeState | undefined): Promise<readonly RepoPath[]> {
    if ((await files.stat(slot.tree))?.kind !== "directory") return [];
    const found = await collect(openOn(slot, state ?? emptyState));
    const kept =
      state?.run === undefined || state.contract === undefined
        ? undefined
        : await deps.kept.find(state.run, state.contract);
    return shownPaths([...(kept?.tree === found.tree ? [] : found.files), ...found.ignored]) as RepoPath[];
  }

  async function remove(row: WorktreeRow): Promise<{ readonly trash?: string }> {
    const at = await home();
    const slot = slotAt(row.folder, main);
    const state = (await readState(files, slot)) ?? emptyState;
    const trash =
      row.use.kind === "pooled" || state.phase === "making" ? undefined : await storeIfNew(slot, state, nameOf(state));
    await unlinkName(state.contract, slot);
    await dispose(at, row.folder);
    await unpin(state);
    return trash === undefined ? {} : { trash };
  }

  return { list, remove };
}

const emptyState: WorktreeState = { v: 1, phase: "open", carried: [], leftBehind: [], links: [], linked: [] };

export const nameOf = ({ contract, run }: WorktreeState): string =>
  `worktree of ${contract ?? "an unknown contract"}${run === undefined ? "" : ` in ${run}`}`;
