import path from "node:path";
import { type AbsPath, absPath, inRoot, isInside } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import { diffTrees } from "./git-diff.ts";
import { copyIndex } from "./git-index.ts";
import { nulFields } from "./git-names.ts";
import { isTornWrite } from "./slice-files.ts";
import {
  type OpenWorktree,
  pins,
  type WorktreeDeps,
  type WorktreeHold,
  type WorktreeOptions,
} from "./worktree-hold.ts";
import { exactly } from "./worktree-ignore.ts";
import { makeLinks, planLinks } from "./worktree-links.ts";
import { dispose, type Slot, type WorktreeState, writeState } from "./worktree-place.ts";
import { includePatterns, snapshotCommit, takeSnapshot, type TakenSnapshot } from "./worktree-snapshot.ts";
import { fileHash, fillTree, resetTree, writeWorkersGit } from "./worktree-tree.ts";

/** What a worktree consists of before a worker sees it: its files, its links, its index, and the commit it stands on. */
export interface WorktreeFilling {
  /** What a contract starts from, and what of the checkout came along. */
  snapshotFor(contract: Contract): Promise<TakenSnapshot>;
  /** `madeFor`: the commit of which a pooled tree is thought to hold all files as they were made. */
  fill(at: AbsPath, slot: Slot, state: WorktreeState, contract: Contract, madeFor?: string): Promise<OpenWorktree>;
  putOnTop(slot: Slot, tree: string): Promise<void>;
  remake(state: WorktreeState): Promise<void>;
  rebuildIndex(slot: Slot, base: string): Promise<void>;
  /** What a killed runner had half written for its worker is nobody's change. */
  removeTorn(one: OpenWorktree, base: string): Promise<void>;
}

export function createWorktreeFilling(
  deps: WorktreeDeps,
  options: WorktreeOptions,
  { openOn, collect }: Pick<WorktreeHold, "openOn" | "collect">,
): WorktreeFilling {
  const { call, files } = deps;
  const main = call.place.root;
  return { snapshotFor, fill, putOnTop, remake, rebuildIndex, removeTorn };

  async function snapshotFor(contract: Contract): Promise<TakenSnapshot> {
    const listed = await files.readText(inRoot(main, ".worktreeinclude"));
    const startFrom = options.startFrom?.(contract);
    return takeSnapshot(call, {
      include: includePatterns(contract.include_untracked, listed),
      ...(options.below === undefined ? {} : { below: options.below }),
      ...(startFrom === undefined ? {} : { startFrom }),
    });
  }

  /** From a pooled tree where that leaves no doubt, else anew. */
  async function fill(
    at: AbsPath,
    slot: Slot,
    state: WorktreeState,
    contract: Contract,
    madeFor?: string,
  ): Promise<OpenWorktree> {
    const base = state.base ?? "HEAD";
    const pooledTree = state.index !== undefined;
    if (!pooledTree || !(await resetTree(call, slot, base, { index: state.index, commit: madeFor }))) {
      if (pooledTree) options.onNote?.("a pooled worktree was not clean and was made anew");
      await renew(at, slot, base);
    }
    const index = await fileHash(slot.index);
    const plan = await planFor(slot, contract);
    for (const note of plan.notes) options.onNote?.(note);
    const links = await makeLinks(slot.tree, plan);
    await writeWorkersGit(
      call,
      slot,
      base,
      links.map((link) => exactly(link.path)),
    );
    const ready: WorktreeState = {
      ...state,
      phase: "open",
      ...(index === undefined ? {} : { index }),
      links: links.map(({ path: own, target }) => ({ path: own, target })),
      linked: [...plan.linked],
    };
    await writeState(files, slot, ready);
    return openOn(slot, ready);
  }

  async function renew(at: AbsPath, slot: Slot, base: string): Promise<void> {
    for (const folder of [slot.tree, slot.git]) {
      if ((await files.stat(folder)) !== undefined) await dispose(at, folder);
    }
    for (const name of ["index", "index.lock"]) await files.remove(inRoot(slot.own, name));
    await fillTree(call, slot, base);
  }

  async function planFor(slot: Slot, contract: Contract): ReturnType<typeof planLinks> {
    const patterns = [...new Set([...options.links, ...contract.worktree_links])];
    if (patterns.length === 0) return { links: [], folders: [], linked: [], notes: [] };
    const tracked = nulFields(await call.at(slot.tree).bytes(["ls-files", "-z"], aside(slot, "index")));
    return planLinks({
      main,
      tree: slot.tree,
      patterns,
      isTracked: (own) => tracked.some((name) => isInside(name, own)),
    });
  }

  /** A result of this run whose worktree is gone, to be revised: its files are there again, the base stays. */
  async function putOnTop(slot: Slot, tree: string): Promise<void> {
    const index = aside(slot);
    await copyIndex(slot.index, index.indexFile);
    await call.at(slot.tree).bytes(["read-tree", "--reset", "-u", tree], { ...index, startsPrograms: true });
    await files.remove(absPath(index.indexFile));
  }

  /** Git prunes commits that no ref names; the tree is pinned, and the commit over it is the same whenever it is made. */
  async function remake({ base, parent, contract }: WorktreeState): Promise<void> {
    if (base === undefined || (await call.maybe(["cat-file", "-e", `${base}^{commit}`])) !== undefined) return;
    const again =
      parent === undefined
        ? undefined
        : await snapshotCommit(
            call,
            await call.text(["rev-parse", `${pins}${options.run}/${contract}^{tree}`]),
            parent,
          );
    if (again !== base) {
      throw new OrchError("git.failed", `what ${contract} started from is not in the repository any more`, {
        data: { argv: "cat-file" },
      });
    }
  }

  async function removeTorn(one: OpenWorktree, base: string): Promise<void> {
    const { files: changed } = await diffTrees(call, base, (await collect(one)).tree);
    for (const { status, path: own } of changed) {
      if (status === "added" && isTornWrite(own)) await files.remove(inRoot(one.slot.tree, own));
    }
    delete one.last;
  }

  async function rebuildIndex(slot: Slot, base: string): Promise<void> {
    for (const name of ["index", "index.lock"]) await files.remove(inRoot(slot.own, name));
    await call.at(slot.tree).bytes(["read-tree", base], aside(slot, "index"));
  }
}

/** Orch's own index of the tree, or one beside it that nobody needs afterwards. */
function aside(slot: Slot, name = "index-aside"): { readonly indexFile: string } {
  return { indexFile: path.join(slot.own, name) };
}
