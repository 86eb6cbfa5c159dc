import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { type AbsPath, absPath, inRoot, type RepoPath } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";
import type { Files } from "../ports/files.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import type { KeptResults } from "../ports/worktrees.ts";
import type { GitCall } from "./git-call.ts";
import { shown, walk } from "./git-walk.ts";
import { isBehindLink } from "./link-parents.ts";
import { type Collected, collectTree } from "./worktree-collect.ts";
import { exactly, ignoreRulesOf } from "./worktree-ignore.ts";
import { untouched } from "./worktree-links.ts";
import { dispose, pooled, type Slot, toPool, worktreesHome, type WorktreeState, writeState } from "./worktree-place.ts";
import { storeLeft } from "./worktree-stored.ts";
import { createWatch, type Watch, type WatchOrder } from "./worktree-watch.ts";

export interface WorktreeDeps {
  /** Of `openGit`, for the person's checkout. */
  readonly call: GitCall;
  readonly files: Files;
  readonly trash: Pick<Trash, "store">;
  readonly kept: Pick<KeptResults, "find">;
  /** Tells whether the run of a worktree is still alive. */
  readonly runs: Pick<RunStore, "find" | "isAlive">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hooks?: WatchOrder["hooks"];
}

export interface WorktreeOptions {
  readonly run: string;
  readonly stateDir: AbsPath;
  /** `worktree_root` of the configuration. */
  readonly worktreeRoot?: string;
  /** `worktree_links` of the configuration; a contract's own come on top. */
  readonly links: readonly string[];
  /** Commit that a contract starts from instead of the checkout as it is: what it builds on. */
  readonly startFrom?: (contract: Contract) => string | undefined;
  /** Carried over although untracked, but for what git ignores: the slice that a feature's work is about. */
  readonly below?: readonly RepoPath[];
  /** The worker cannot write outside its worktree: a change elsewhere is not its own. */
  readonly confined?: () => boolean;
  readonly onStored?: (item: TrashItem) => void;
  /** For people: what was linked or left out, what a pooled worktree could not be used for. */
  readonly onNote?: (text: string) => void;
}

const maxPooled = 3;
/** Trees that worktrees started from. */
export const pins = "refs/orch/wt/";

/** A worktree in the hands of this process. */
export interface OpenWorktree {
  readonly slot: Slot;
  readonly watch: Watch;
  state: WorktreeState;
  rules?: string;
  last?: Collected;
}

/** What opening, working in and removing worktrees have in common. */
export interface WorktreeHold {
  home(): Promise<AbsPath>;
  openOn(slot: Slot, state: WorktreeState): OpenWorktree;
  collect(one: OpenWorktree): Promise<Collected>;
  linkByName(contract: string, slot: Slot): Promise<void>;
  unlinkName(contract: string | undefined, slot: Slot): Promise<void>;
  pin(contract: string, tree: string | undefined): Promise<void>;
  unpin(state: WorktreeState): Promise<void>;
  /** The entry for `restore`, when there was anything to store. */
  storeIfNew(
    slot: Slot,
    state: WorktreeState,
    what: string,
    known?: OpenWorktree,
    keptBy?: string,
  ): Promise<string | undefined>;
  /** To the pool, or away when that is full. The caller stored what was in it. */
  giveBack(slot: Slot, state: WorktreeState): Promise<void>;
}

export function createWorktreeHold(deps: WorktreeDeps, options: WorktreeOptions): WorktreeHold {
  const { call, files } = deps;
  const main = call.place.root;
  const homePath = worktreesHome({ stateDir: options.stateDir, configured: options.worktreeRoot }, call.place);

  const home = async (): Promise<AbsPath> => {
    await mkdir(homePath, { recursive: true, mode: 0o700 });
    return absPath(await realpath(homePath));
  };

  /**
   * Garbage collection must not take what uncommitted work a parked run started from. A ref to a tree is in no log; a
   * commit of the person's needs none.
   */
  async function pin(contract: string, tree: string | undefined): Promise<void> {
    if (tree === undefined) return;
    await call.bytes(["update-ref", "-m", "orch", `${pins}${options.run}/${contract}`, tree]);
  }

  function openOn(slot: Slot, state: WorktreeState): OpenWorktree {
    const watch = createWatch({
      main: call,
      slot,
      base: state.base ?? "HEAD",
      contract: state.contract ?? "",
      links: state.links.map((link) => exactly(link.path)),
      linked: state.linked as RepoPath[],
      trash: deps.trash,
      confined: options.confined ?? (() => false),
      ...(deps.hooks === undefined ? {} : { hooks: deps.hooks }),
      ...(options.onNote === undefined ? {} : { onNote: options.onNote }),
      ...(options.onStored === undefined ? {} : { onStored: options.onStored }),
    });
    return { slot, state, watch };
  }

  /** `.orch/wt/<ID>`, for people; where the checkout cannot be written there is none. */
  async function linkByName(contract: string, slot: Slot): Promise<void> {
    const folder = inRoot(main, ".orch", "wt");
    const at = inRoot(folder, contract);
    try {
      if (await isBehindLink(files, main, inRoot(folder, contract))) throw new Error("a link leads elsewhere");
      await files.makeDir(folder);
      await files.createOnce(inRoot(folder, ".gitignore"), "*\n");
      const there = await files.readLink(at);
      if (there === slot.tree) return;
      if (there !== undefined) await files.remove(at);
      await files.linkFolder(slot.tree, at);
    } catch {
      options.onNote?.(`${contract} works in ${slot.tree}; it could not be linked below .orch/wt`);
    }
  }

  async function unlinkName(contract: string | undefined, slot: Slot): Promise<void> {
    if (contract === undefined) return;
    const at = inRoot(main, ".orch", "wt", contract);
    if ((await files.readLink(at)) === slot.tree) await files.remove(at);
  }

  async function collect(one: OpenWorktree): Promise<Collected> {
    const { slot, state } = one;
    const base = state.base ?? "HEAD";
    one.rules ??= await ignoreRulesOf(call, base, deps.env);
    const kept = await untouched(slot.tree, state.links as { path: RepoPath; target: string }[]);
    const rules = `${one.rules}${kept.map((link) => `${exactly(link.path)}\n`).join("")}`;
    const found = await collectTree(call, { slot, base, index: state.index, rules });
    const ignored: Uint8Array[] = [];
    for (const name of found.ignored)
      ignored.push(
        ...(await besideLinks(
          slot,
          name,
          kept.map((link) => link.path),
        )),
      );
    const collected = { ...found, ignored };
    one.last = collected;
    return collected;
  }

  /** Git names a hidden folder as a whole; of one that holds declared links only what lies beside them is meant. */
  async function besideLinks(slot: Slot, name: Uint8Array, links: readonly string[]): Promise<readonly Uint8Array[]> {
    const text = shown(name);
    if (links.includes(text)) return [];
    if (!text.endsWith("/") || !links.some((link) => link.startsWith(text))) return [name];
    const declared = new Set(links);
    const entries = await walk(slot.tree, [name.subarray(0, -1)], (own) => declared.has(shown(own)));
    return entries.flatMap((entry) => (entry.kind === "directory" ? [] : [entry.path]));
  }

  /** What of the tree is in no commit and no kept result is stored for `restore`. */
  async function storeIfNew(
    slot: Slot,
    state: WorktreeState,
    what: string,
    known?: OpenWorktree,
    keptBy = state.run,
  ): Promise<string | undefined> {
    if ((await files.stat(slot.tree))?.kind !== "directory") return undefined;
    const one = known ?? openOn(slot, state);
    const found = await collect(one);
    const kept =
      keptBy === undefined || state.contract === undefined ? undefined : await deps.kept.find(keptBy, state.contract);
    const isKept = kept?.tree === found.tree;
    if (found.ignored.length === 0 && (isKept || found.files.length === 0)) return undefined;
    const stored = await storeLeft(deps.trash, {
      slot,
      name: state.contract ?? path.basename(slot.folder),
      what,
      files: isKept ? [] : found.files,
      ignored: found.ignored,
    });
    for (const note of stored.notes) options.onNote?.(note);
    if (stored.item !== undefined) options.onStored?.(stored.item);
    return stored.item?.id;
  }

  async function giveBack(slot: Slot, state: WorktreeState): Promise<void> {
    const at = await home();
    await unlinkName(state.contract, slot);
    if (state.index === undefined || (await pooled(at)).length >= maxPooled) await dispose(at, slot.folder);
    else {
      await writeState(files, slot, {
        v: 1,
        phase: "pooled",
        index: state.index,
        // A snapshot's commit is a person's HEAD or the same bytes whenever it is made: no ref is needed to compare it.
        ...(state.base === undefined ? {} : { base: state.base }),
        carried: [],
        leftBehind: [],
        links: [],
        linked: [],
      });
      await toPool(at, slot.folder);
    }
    await unpin(state);
  }

  async function unpin({ run, contract, parent }: WorktreeState): Promise<void> {
    if (run === undefined || contract === undefined || parent === undefined) return;
    await call.answer(["update-ref", "-d", `${pins}${run}/${contract}`]);
  }

  return { home, openOn, collect, linkByName, unlinkName, pin, unpin, storeIfNew, giveBack };
}
