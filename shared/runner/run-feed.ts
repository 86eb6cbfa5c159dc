import fs from "node:fs";
import path from "node:path";
import { isAbort } from "../base/abort.ts";
import { type Disposable, DisposableStore, toDisposable } from "../base/disposable.ts";
import { Emitter } from "../base/emitter.ts";
import { openRuns } from "../events/open-runs.ts";
import { emptyRun, type RunState } from "../events/run-state.ts";
import { isOver, type Standing, standingOf } from "../events/standing.ts";
import type { ParsedEvent } from "../model/event.ts";
import { runIdPattern } from "../model/names.ts";
import { followRun, runnerAlive, watchFolder } from "./tail.ts";

/** One run as this host sees it. Everything in it comes from the run's folder, so it is the same after a reload. */
export interface FollowedRun {
  readonly run: string;
  readonly dir: string;
  readonly state: RunState;
  readonly alive: boolean;
  readonly standing: Standing;
  /** Its first events were written while this host watched, so what happens in it is news. */
  readonly fresh: boolean;
  /** Started from this host. */
  readonly own: boolean;
}

export interface RunNews {
  readonly now: FollowedRun;
  readonly before: RunState;
  readonly events: readonly ParsedEvent[];
}

/** How many runs are read when a host opens; older ones when somebody looks at them. */
export const readAtOnce = 20;
const settleMs = 5000;

/**
 * Follows every run of one repository, whoever started it: CLI, Neovim, another window, an editor. `onNews` fires for each batch
 * as it is read, `onPaint` at the leading edge and then at most every 50 ms.
 */
export class RunFeed implements Disposable {
  readonly onNews: Emitter<RunNews>;
  readonly onPaint: Emitter<void>;
  readonly #runsDirs: readonly string[];
  readonly #store = new DisposableStore();
  readonly #stop = new AbortController();
  readonly #runs = new Map<string, FollowedRun>();
  readonly #own = new Set<string>();
  readonly #onError: (error: unknown) => void;
  #older: { run: string; dir: string }[] = [];
  #looked = false;
  #paint: NodeJS.Timeout | undefined;
  #paintAgain = false;
  #listed: { readonly runs: readonly FollowedRun[]; open?: readonly FollowedRun[] } | undefined;

  constructor(runsDirs: readonly string[], onError: (error: unknown) => void) {
    this.#runsDirs = runsDirs;
    this.#onError = onError;
    this.onNews = this.#store.add(new Emitter(onError));
    this.onPaint = this.#store.add(new Emitter(onError));
    this.#store.add(toDisposable(() => this.#stop.abort()));
    this.#store.add(toDisposable(() => clearTimeout(this.#paint)));
  }

  /** Newest first. */
  get runs(): readonly FollowedRun[] {
    return this.#list().runs;
  }

  /** Those that are not over and were not left behind, as `orch status` counts them. */
  get open(): readonly FollowedRun[] {
    const listed = this.#list();
    return (listed.open ??= openRuns(listed.runs.filter(({ state }) => state.seq > 0)).open);
  }

  get olderCount(): number {
    return this.#older.length;
  }

  get(run: string): FollowedRun | undefined {
    return this.#runs.get(run);
  }

  /** Resolves once the runs that were there have been read. */
  async start(): Promise<void> {
    for (const dir of this.#runsDirs) this.#watch(dir);
    await this.#look();
    this.#looked = true;
  }

  /** A run that this host started, known before its folder is noticed. */
  adopt(run: string, dir: string): FollowedRun {
    this.#own.add(run);
    this.#begin(run, dir, true);
    const followed = this.#runs.get(run);
    if (followed === undefined) throw new TypeError(`run ${run} was not taken up`);
    const own = { ...followed, own: true };
    this.#set(run, own);
    return own;
  }

  /** Reads the runs that were left out when the host opened. */
  readOlder(): void {
    const older = this.#older;
    this.#older = [];
    for (const { run, dir } of older) this.#begin(run, dir, false);
    this.#repaint();
  }

  dispose(): void {
    this.#store.dispose();
  }

  #list(): { readonly runs: readonly FollowedRun[]; open?: readonly FollowedRun[] } {
    return (this.#listed ??= { runs: [...this.#runs.values()].toSorted((a, b) => (a.run < b.run ? 1 : -1)) });
  }

  #set(run: string, followed: FollowedRun): void {
    this.#runs.set(run, followed);
    this.#listed = undefined;
  }

  // --- finding runs ------------------------------------------------------------------------------------------------

  #watch(dir: string): void {
    const { signal } = this.#stop;
    const keep = async (): Promise<void> => {
      while (!fs.existsSync(dir)) await this.#appears(dir, signal);
      using changes = watchFolder(dir);
      for (;;) {
        await this.#look();
        await changes.next(settleMs, signal);
      }
    };
    keep().catch((error: unknown) => this.#trouble(error));
  }

  /** Until the folder may be there: the nearest folder above it that exists is watched. */
  async #appears(dir: string, signal: AbortSignal): Promise<void> {
    let above = path.dirname(dir);
    while (!fs.existsSync(above) && path.dirname(above) !== above) above = path.dirname(above);
    using changes = watchFolder(above);
    if (!fs.existsSync(dir)) await changes.next(1000, signal);
  }

  async #look(): Promise<void> {
    const found: { run: string; dir: string }[] = [];
    for (const runs of this.#runsDirs) {
      for (const run of await this.#folders(runs)) found.push({ run, dir: path.join(runs, run) });
    }
    const names = new Set(found.map(({ run }) => run));
    const gone = [...this.#runs.keys()].filter((known) => !names.has(known) && !this.#own.has(known));
    for (const known of gone) this.#runs.delete(known);
    if (gone.length > 0) this.#listed = undefined;
    const left = new Set(this.#older.map(({ run }) => run));
    const fresh = found
      .filter(({ run }) => !this.#runs.has(run) && !left.has(run))
      .toSorted((a, b) => (a.run < b.run ? 1 : -1));
    for (const [index, { run, dir }] of fresh.entries()) {
      if (!this.#looked && index >= readAtOnce) this.#older.push({ run, dir });
      else {
        this.#begin(run, dir, this.#looked);
        // A long log is read in one go: let the host breathe between two.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    if (fresh.length + gone.length > 0) this.#repaint();
  }

  async #folders(dir: string): Promise<readonly string[]> {
    try {
      const entries = await fs.promises.readdir(dir, { withFileTypes: true });
      return entries.filter((one) => one.isDirectory() && runIdPattern.test(one.name)).map(({ name }) => name);
    } catch {
      return [];
    }
  }

  #size(at: string): number | undefined {
    return fs.statSync(at, { throwIfNoEntry: false })?.size;
  }

  // --- following one -----------------------------------------------------------------------------------------------

  #begin(run: string, dir: string, fresh: boolean): void {
    if (this.#runs.has(run)) return;
    const state = emptyRun(run);
    this.#set(run, { run, dir, state, alive: true, standing: "running", fresh, own: this.#own.has(run) });
    this.#follow(run, dir).catch((error: unknown) => this.#trouble(error));
  }

  async #follow(run: string, dir: string): Promise<void> {
    const { signal } = this.#stop;
    const onEvents = (events: readonly ParsedEvent[], state: RunState): void => this.#update(run, state, true, events);
    for (;;) {
      const end = await followRun({ run, dir, onEvents }, signal);
      this.#update(run, end.state, false, []);
      if (end.kind === "finished") return;
      await this.#wakes(dir, signal);
      if (!this.#runs.has(run)) return;
    }
  }

  /** A parked or interrupted run is quiet until somebody resumes it; its runner may still be starting. */
  async #wakes(dir: string, signal: AbortSignal): Promise<void> {
    const log = path.join(dir, "events.jsonl");
    const size = this.#size(log);
    using changes = watchFolder(dir);
    while (!runnerAlive(dir) && this.#size(log) === size) await changes.next(settleMs, signal);
  }

  #update(run: string, state: RunState, alive: boolean, events: readonly ParsedEvent[]): void {
    const known = this.#runs.get(run);
    if (known === undefined) return;
    // A resumed run is read from its first event again: what was told already is not told twice.
    const before = known.state;
    const unseen = events.filter((parsed) => parsed.kind === "bad" || parsed.event.seq > before.seq);
    // The first batch of a run that was there before this host is history, what follows it is news.
    const fresh = known.fresh || (before.seq > 0 && unseen.length > 0);
    const now: FollowedRun = { ...known, state, alive, standing: standingOf(state, alive), fresh };
    this.#set(run, now);
    this.onNews.fire({ now, before, events: unseen });
    this.#repaint();
  }

  #repaint(): void {
    if (this.#paint !== undefined) {
      this.#paintAgain = true;
      return;
    }
    this.onPaint.fire();
    this.#paint = setTimeout(() => {
      this.#paint = undefined;
      if (!this.#paintAgain) return;
      this.#paintAgain = false;
      this.#repaint();
    }, 50);
  }

  #trouble(error: unknown): void {
    if (!isAbort(error) && !this.#stop.signal.aborted) this.#onError(error);
  }
}

export function isActive(run: FollowedRun): boolean {
  return run.standing === "running" || run.standing === "waiting";
}

export function hasEnded(run: FollowedRun): boolean {
  return isOver(run.standing);
}
