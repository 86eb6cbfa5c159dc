import path from "node:path";
import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, absPath, inRoot, type RepoPath } from "../base/paths.ts";
import type { Change } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Observed } from "../model/observed.ts";
import type { StateChange } from "../model/state-change.ts";
import type { Worker } from "../ports/worker.ts";
import type { Rollback, Workspace } from "../ports/workspace.ts";
import type { RunWorktrees, Snapshot } from "../ports/worktrees.ts";
import { diffTrees } from "./git-diff.ts";
import { createReach } from "./workspace-reach.ts";
import { writeAll } from "./workspace-write.ts";
import { absent, readMark } from "./workspace-state.ts";
import { shownPaths } from "./worktree-collect.ts";
import { exactly } from "./worktree-ignore.ts";
import {
  dispose,
  numbered,
  readState,
  type Slot,
  slotAt,
  sweepGone,
  takeSlot,
  unfinished,
  type WorktreeState,
  writeState,
} from "./worktree-place.ts";
import type { TakenSnapshot } from "./worktree-snapshot.ts";
import { createWorktreeFilling } from "./worktree-filling.ts";
import { createWorktreeHold, type OpenWorktree, type WorktreeDeps, type WorktreeOptions } from "./worktree-hold.ts";
import { createWorktreeRows, nameOf } from "./worktree-rows.ts";
import { fileHash, writeWorkersGit } from "./worktree-tree.ts";

/**
 * A worktree for each contract of a run, outside the repository. All of its state lies beside it, by run and contract, so
 * that a runner that takes a killed run up finds the same files. Git is only ever called with the person's repository and
 * this folder named: what is in the folder is never asked. Long because every step of its life reads and writes that state.
 */
export function createWorktreeWorkspaces(deps: WorktreeDeps, options: WorktreeOptions): RunWorktrees {
  const { call, files } = deps;
  const main = call.place.root;
  const hold = createWorktreeHold(deps, options);
  const { home, collect, openOn, linkByName, pin, storeIfNew, giveBack } = hold;
  const { snapshotFor, fill, putOnTop, remake, rebuildIndex, removeTorn } = createWorktreeFilling(deps, options, hold);
  const rows = createWorktreeRows(deps, options, hold);
  const opened = new Map<string, OpenWorktree>();
  const snapshots = new Map<string, Snapshot>();
  let cleaned: Promise<void> | undefined;

  async function open(contract: Contract, signal: AbortSignal): Promise<Workspace> {
    throwIfAborted(signal);
    const at = await home();
    await (cleaned ??= tidy(at));
    const found = await slotOf(at, options.run, contract.id);
    const one = found === undefined ? await begin(at, contract, signal) : await goOn(found, contract, signal);
    opened.set(contract.id, one);
    snapshots.set(contract.id, snapshotOf(one.state));
    await linkByName(contract.id, one.slot);
    return workspaceOf(one, contract);
  }

  /** What an earlier life of this run was making when it was killed, and what was renamed away and not deleted. */
  async function tidy(at: AbsPath): Promise<void> {
    for (const { folder, run } of await unfinished(at)) if (run === options.run) await dispose(at, folder);
    // Not waited for: nobody needs it gone.
    void sweepGone(at).catch(() => undefined);
  }

  async function slotOf(
    at: AbsPath,
    run: string,
    contract: string,
  ): Promise<{ readonly slot: Slot; readonly state: WorktreeState } | undefined> {
    for (const folder of await numbered(at)) {
      const slot = slotAt(folder, main);
      const state = await readState(files, slot);
      if (state?.run === run && state.contract === contract) return { slot, state };
    }
    return undefined;
  }

  async function begin(at: AbsPath, contract: Contract, signal: AbortSignal): Promise<OpenWorktree> {
    const kept = (await mayBeKept(contract.id)) ? await deps.kept.find(options.run, contract.id) : undefined;
    const snapshot: TakenSnapshot =
      kept === undefined ? await snapshotFor(contract) : { commit: kept.base, carried: [], leftBehind: [] };
    throwIfAborted(signal);
    const base = snapshot.commit;
    const state: WorktreeState & { readonly run: string } = {
      v: 1,
      phase: "making",
      run: options.run,
      contract: contract.id,
      base,
      ...(snapshot.made === undefined ? {} : { parent: snapshot.made.parent }),
      carried: [...snapshot.carried],
      leftBehind: [...snapshot.leftBehind],
      links: [],
      linked: [],
    };
    await pin(contract.id, snapshot.made?.tree);
    const { slot, from } = await takeSlot(files, at, main, state);
    const one = await fill(
      at,
      slot,
      { ...state, ...(from?.index === undefined ? {} : { index: from.index }) },
      contract,
      from?.base,
    );
    if (kept !== undefined) await putOnTop(slot, kept.tree);
    return one;
  }

  /** Whether to ask git at all: a run that has kept nothing is the usual one. */
  async function mayBeKept(contract: string): Promise<boolean> {
    const ref = `refs/orch/kept/${options.run}/${contract}`;
    const { commonDir } = call.place;
    if ((await files.stat(inRoot(commonDir, ref))) !== undefined) return true;
    if ((await files.stat(inRoot(commonDir, "reftable"))) !== undefined) return true;
    return (await files.readText(inRoot(commonDir, "packed-refs")))?.includes(` ${ref}\n`) === true;
  }

  /** The worktree of an earlier life of the run, as its worker left it. Only git's own files are made anew. */
  async function goOn(
    found: { readonly slot: Slot; readonly state: WorktreeState },
    contract: Contract,
    signal: AbortSignal,
  ): Promise<OpenWorktree> {
    const { slot, state } = found;
    throwIfAborted(signal);
    if (state.phase === "making") {
      await remake(state);
      const { index: _unknown, ...rest } = state;
      return fill(await home(), slot, rest, contract);
    }
    await remake(state);
    // Of a git that was killed with its runner: nobody else uses this index.
    await files.remove(inRoot(slot.own, "index.lock"));
    const base = state.base ?? "HEAD";
    const excludes = state.links.map((link) => exactly(link.path));
    if ((await files.stat(slot.index)) === undefined || (await fileHash(slot.index)) !== state.index) {
      await rebuildIndex(slot, base);
    }
    await writeWorkersGit(call, slot, base, excludes);
    const next: WorktreeState = { ...state, phase: "open" };
    const index = await fileHash(slot.index);
    if (index !== undefined) next.index = index;
    await writeState(files, slot, next);
    const one = openOn(slot, next);
    await removeTorn(one, base);
    const changed = await one.watch.sinceKilled();
    if (changed.length > 0) {
      options.onNote?.(
        `${contract.id}: since the interrupted attempt began, git's ${changed.join(", ")} changed; nobody can say by whom`,
      );
    }
    return one;
  }

  function workspaceOf(one: OpenWorktree, contract: Contract): Workspace {
    const { slot } = one;
    const base = one.state.base ?? "HEAD";
    const reach = createReach(files, slot.tree, contract);
    return {
      kind: "worktree",
      root: slot.tree,
      reads: readsOf(one),
      base,
      async read(own, signal) {
        throwIfAborted(signal);
        return files.read(inRoot(slot.tree, await reach.resolve(own)));
      },
      async readBase(own, signal) {
        throwIfAborted(signal);
        const answer = await call.answer(["cat-file", "blob", `${base}:${own}`]);
        return answer.code === 0 ? answer.stdout : undefined;
      },
      async write(wanted, signal) {
        throwIfAborted(signal);
        const writes = [];
        const seen: Record<string, Awaited<ReturnType<typeof readMark>> & object> = {};
        for (const { path: own, data } of wanted) {
          reach.check(own);
          const real = await reach.resolve(own, { keepLast: data === undefined });
          reach.check(real);
          seen[real] = (await readMark(files, inRoot(slot.tree, real))) ?? absent;
          writes.push({ path: real, data });
        }
        return writeAll({ files, root: slot.tree, seen }, writes);
      },
      async collect(signal): Promise<Change> {
        throwIfAborted(signal);
        const { tree } = await collect(one);
        throwIfAborted(signal);
        return diffTrees(call, base, tree);
      },
      async changedSince(tree, signal) {
        throwIfAborted(signal);
        const { last } = one;
        const now = await collect(one);
        // What was judged stays what is remembered of this attempt.
        if (last !== undefined) one.last = last;
        return now.tree === tree ? [] : (await diffTrees(call, tree, now.tree)).files;
      },
      observed: () => observedOf(contract.id),
      async rollback(signal): Promise<Rollback> {
        throwIfAborted(signal);
        const trash = await putBackAll(one, contract);
        return trash === undefined ? { kind: "rolled-back" } : { kind: "rolled-back", trash };
      },
      async [Symbol.asyncDispose]() {
        await close(one, contract);
      },
    };
  }

  function readsOf({ slot, state }: OpenWorktree): readonly AbsPath[] {
    const linked = state.linked.map((own) => inRoot(main, own));
    return [slot.git, absPath(path.join(call.place.commonDir, "objects")), ...linked];
  }

  async function putBackAll(one: OpenWorktree, contract: Contract): Promise<string | undefined> {
    const trash = await storeIfNew(one.slot, one.state, contract.title, one);
    const at = await home();
    const next = { ...one.state, phase: "rolled-back" as const };
    await writeState(files, one.slot, next);
    const ready = await fill(at, one.slot, next, contract);
    one.state = { ...ready.state, phase: "rolled-back" };
    await writeState(files, one.slot, one.state);
    delete one.last;
    return trash;
  }

  /** Back to the pool, or held for the review; what is neither stays where it is, for a resume or for `clean`. */
  async function close(one: OpenWorktree, contract: Contract): Promise<void> {
    opened.delete(contract.id);
    const { slot, state, last } = one;
    const kept = await deps.kept.find(options.run, contract.id);
    if (kept !== undefined && (last === undefined || kept.tree === last.tree) && state.phase !== "rolled-back") {
      await writeState(files, slot, { ...state, phase: "held" });
      return;
    }
    const untouchedTree = state.phase === "rolled-back" || (await isAsMade(one));
    if (untouchedTree) await giveBack(slot, state);
  }

  async function isAsMade(one: OpenWorktree): Promise<boolean> {
    if (one.last === undefined) return false;
    return one.last.files.length === 0 && one.last.ignored.length === 0;
  }

  function observedOf(contract: string): Observed {
    const one = opened.get(contract);
    if (one === undefined) return {};
    const ignored = one.last?.ignored ?? [];
    return { ...one.watch.observed(), ...(ignored.length === 0 ? {} : { ignoredFiles: shownPaths(ignored) }) };
  }

  function watched(worker: Worker): Worker {
    return {
      ...worker,
      run: (order, signal) => {
        const one = opened.get(order.contract.id);
        return one === undefined
          ? worker.run(order, signal)
          : one.watch.around(() => worker.run(order, signal), signal);
      },
    };
  }

  return {
    open,
    watched,
    changes: (contract): readonly StateChange[] => opened.get(contract)?.watch.changes() ?? [],
    observed: observedOf,
    snapshot: (contract) => snapshots.get(contract),
    async holds(contract) {
      const found = await slotOf(await home(), options.run, contract);
      return found !== undefined && (await files.stat(found.slot.tree))?.kind === "directory";
    },
    async release(contract, signal, keptBy) {
      throwIfAborted(signal);
      const found = await slotOf(await home(), options.run, contract);
      if (found === undefined) return {};
      const trash = await storeIfNew(found.slot, found.state, nameOf(found.state), undefined, keptBy);
      await giveBack(found.slot, found.state);
      return trash === undefined ? {} : { trash };
    },
    list: rows.list,
    remove: (row, signal) => {
      throwIfAborted(signal);
      return rows.remove(row);
    },
    async sweep(signal) {
      throwIfAborted(signal);
      return sweepGone(await home());
    },
  };
}

function snapshotOf({ base, carried, leftBehind }: WorktreeState): Snapshot {
  return { commit: base ?? "HEAD", carried: carried as RepoPath[], leftBehind: leftBehind as RepoPath[] };
}
