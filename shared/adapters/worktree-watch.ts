import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { absPath, type AbsPath, type RepoPath } from "../base/paths.ts";
import { isOrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import type { Observed } from "../model/observed.ts";
import type { StateChange } from "../model/state-change.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import type { Trust } from "../ports/trust.ts";
import type { WorkerReport } from "../model/attempt.ts";
import type { GitCall } from "./git-call.ts";
import { changedTargets, markTargets, type TargetMarks } from "./link-targets.ts";
import {
  brokenBy,
  putBack,
  type RepositorySeal,
  type SealBreak,
  sealOf,
  type TraceFacts,
  traceOf,
} from "./repository-seal.ts";
import type { Slot } from "./worktree-place.ts";
import { writeWorkersGit } from "./worktree-tree.ts";

export interface WatchOrder {
  readonly main: GitCall;
  readonly slot: Slot;
  readonly base: string;
  readonly contract: string;
  /** Patterns of the links, for the worker's own exclude file. */
  readonly links: readonly string[];
  /** Paths of the main tree that links lead to. */
  readonly linked: readonly RepoPath[];
  readonly trash: Pick<Trash, "store">;
  readonly confined: () => boolean;
  /** What keeps a hook that came during an attempt from running; absent in tests of the looks alone. */
  readonly hooks?: Pick<Trust, "watchHooks" | "hooksWatched">;
  /** For people: what changed and was left as it is. */
  readonly onNote?: (text: string) => void;
  readonly onStored?: (item: TrashItem) => void;
}

/** Two looks around each attempt at what no diff shows. */
export interface Watch {
  around(work: () => Promise<WorkerReport>, signal: AbortSignal): Promise<WorkerReport>;
  changes(): readonly StateChange[];
  observed(): Observed;
  /**
   * What changed in the repository's own places since an attempt that a killed runner began and never looked at again.
   * Nobody can say whose it is: for people, once.
   */
  sinceKilled(): Promise<readonly string[]>;
}

interface Look {
  readonly seal: RepositorySeal;
  readonly targets: TargetMarks;
  readonly config: Uint8Array;
  /** The file itself, should a person keep it elsewhere. */
  readonly configAt: string;
  readonly configMode: number;
}

const never = new AbortController().signal;

export function createWatch(order: WatchOrder): Watch {
  const { main, slot, linked } = order;
  const configFile = path.join(main.place.commonDir, "config");
  let found: readonly StateChange[] = [];

  async function look(signal: AbortSignal): Promise<Look> {
    const [seal, targets, config, configAt, { mode }] = await Promise.all([
      sealOf({ main, slot }),
      markTargets(main.place.root, linked, signal),
      readFile(configFile),
      realpath(configFile),
      stat(configFile),
    ]);
    return { seal, targets, config, configAt, configMode: mode & 0o777 };
  }

  /**
   * No git works while it cannot read the configuration, so that is settled first, by files alone. True when it stays
   * unreadable: then nothing else can be looked at, and every git call says why.
   */
  async function settleConfig(before: Look, transcript: string): Promise<boolean> {
    try {
      await main.config();
      return false;
    } catch (error) {
      if (!isOrchError(error, "git.failed")) throw error;
    }
    const bytes = await readFile(configFile).catch(() => Buffer.alloc(0));
    const file = { at: absPath(configFile), bytes, mode: 0o644 };
    const after = { kind: "config", place: "repository", value: "", file } as const;
    const traced = traceOf(
      { name: "config", place: "repository", kind: "config", before: undefined, after },
      factsOf(transcript),
    );
    found = [{ kind: "config", what: "config, which git cannot read", change: "changed", ...traced }];
    if (!traced.traced) return true;
    await writeFile(path.join(slot.own, "config"), bytes);
    // The worker may have put a link in its place: a rename replaces that, a write would go through it.
    const beside = `${before.configAt}.orch`;
    await rm(beside, { force: true });
    await writeFile(beside, before.config, { flag: "wx", mode: before.configMode });
    await rename(beside, before.configAt);
    await keep(slot.own, ["config"], "git's configuration, unreadable");
    return false;
  }

  const factsOf = (transcript: string): TraceFacts => ({
    confined: order.confined(),
    transcript,
    marks: [slot.folder],
  });

  /**
   * Runs to its end also after a stop: a planted hook must not outlive the attempt. False when git's configuration
   * cannot be read, so that nothing else could be looked at.
   */
  async function compare(before: Look, transcript: string): Promise<boolean> {
    if (await settleConfig(before, transcript)) return false;
    const settled = found;
    const after = await look(never);
    const facts = factsOf(transcript);
    const breaks = brokenBy(before.seal, after.seal);
    const judged = breaks.map((one) => ({ one, ...traceOf(one, facts) }));
    await takeBack(judged.filter(({ traced }) => traced).map(({ one }) => one));
    const targets = changedTargets(before.targets, after.targets).map((change): StateChange => {
      const named = !facts.confined && transcript.includes(change.path);
      const why = named
        ? `the worker's transcript names ${change.path}`
        : "a link leads there, and a person may have changed it too";
      return { kind: "linked", what: change.path, change: change.change, traced: named, why };
    });
    found = [
      ...settled,
      ...judged.map(({ one, traced, why }): StateChange => ({
        kind: one.kind,
        what: one.what,
        change: one.change,
        traced,
        why,
      })),
      ...targets,
    ];
    return true;
  }

  /** At once, for an attempt that is stopped has no gate to say so. */
  function tellLeft(): void {
    const left = found.filter(({ traced }) => !traced).map(({ what }) => what);
    if (left.length === 0) return;
    order.onNote?.(
      `${order.contract}: ${left.slice(0, 10).join(", ")}${left.length > 10 ? ` and ${left.length - 10} more` : ""} changed during the attempt, and nobody can say by whom: left as it is`,
    );
  }

  async function takeBack(breaks: readonly SealBreak[]): Promise<void> {
    const there = (place: SealBreak["place"]): readonly SealBreak[] => breaks.filter((one) => one.place === place);
    await store(there("worktree"), slot.git, "git dir of the worktree");
    await store(there("repository"), main.place.commonDir, "git's own files");
    for (const one of there("repository")) await putBack(main, one);
    if (there("worktree").length > 0) await writeWorkersGit(main, slot, order.base, order.links);
  }

  /** Before anything is taken back, the files that hold it. */
  async function store(breaks: readonly SealBreak[], folder: AbsPath, what: string): Promise<void> {
    if (breaks.length === 0) return;
    const names = new Set<string>();
    for (const { after, kind } of breaks) {
      const at = after?.file?.at;
      if (at?.startsWith(`${folder}/`) === true) names.add(at.slice(folder.length + 1));
      else if (at === undefined && kind === "config") names.add("config");
    }
    if (names.size > 0) await keep(folder, [...names], what);
  }

  async function keep(folder: AbsPath, names: readonly string[], what: string): Promise<void> {
    const item = await order.trash.store({
      by: "run",
      what: `${what}, changed during ${order.contract}`,
      paths: [],
      from: {
        folder: absPath(folder),
        under: `.orch/wt/${order.contract}.git-state` as RepoPath,
        names: names.map((name) => Buffer.from(name)),
      },
    });
    order.onStored?.(item);
  }

  const noted = path.join(slot.own, "watched.json");

  /** Names and values only, of the repository's places: what the worktree's hold is made anew in any case. */
  const values = (seal: RepositorySeal): Record<string, string> =>
    Object.fromEntries(
      [...seal].flatMap(([name, { place, value }]) => (place === "repository" ? [[name, value]] : [])),
    );

  return {
    async sinceKilled() {
      const text = await readFile(noted, "utf8").catch(() => undefined);
      if (text === undefined) return [];
      await rm(noted, { force: true });
      const then = readJson(text, z.record(z.string(), z.string()));
      if (then.kind !== "ok") return [];
      const now = values(await sealOf({ main, slot }));
      const names = new Set([...Object.keys(then.value), ...Object.keys(now)]);
      return [...names].filter((name) => then.value[name] !== now[name]).toSorted();
    },
    async around(work, signal) {
      found = [];
      const before = await look(signal);
      // Behind a sandbox's wall a change of the hooks is nobody's but a person's.
      const hooks = order.confined() ? undefined : order.hooks;
      await hooks?.watchHooks(slot.own);
      await writeFile(noted, JSON.stringify(values(before.seal)), { mode: 0o600 });
      let transcript = "";
      try {
        const report = await work();
        transcript = report.transcript ?? "";
        return report;
      } finally {
        const compared = await compare(before, transcript);
        tellLeft();
        await rm(noted, { force: true });
        if (compared) await hooks?.hooksWatched(slot.own);
      }
    },
    changes: () => found,
    observed() {
      const traced = found.filter((one) => one.traced);
      const named = (...kinds: readonly StateChange["kind"][]): string[] =>
        traced.filter(({ kind }) => kinds.includes(kind)).map(({ what }) => what);
      const config = named("config", "hooks");
      const flags = named("index-flag");
      const outside = named("linked");
      return {
        ...(config.length === 0 ? {} : { gitConfigChanged: config }),
        ...(flags.length === 0 ? {} : { skipWorktree: flags }),
        ...(outside.length === 0 ? {} : { writesOutside: outside }),
        ...(named("head").length === 0 ? {} : { headMoved: true }),
      };
    },
  };
}
