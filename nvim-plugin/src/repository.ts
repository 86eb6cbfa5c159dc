import { absPath } from "../../shared/base/paths.ts";
import { type Disposable, DisposableStore, toDisposable } from "../../shared/base/disposable.ts";
import { notices } from "../../shared/events/notices.ts";
import { plain } from "../../shared/events/words.ts";
import type { PendingAsk } from "../../shared/events/run-state.ts";
import type { EventBody, ParsedEvent } from "../../shared/model/event.ts";
import { runsDir, stateRunsDir } from "../../shared/model/run-place.ts";
import { realPath, repositoryRoot } from "../../shared/runner/host-files.ts";
import { type FollowedRun, RunFeed, type RunNews } from "../../shared/runner/run-feed.ts";
import { shownDiff } from "./changes.ts";
import { findingsOf } from "./findings.ts";
import { tellEvent } from "./news.ts";
import { paced } from "./pace.ts";
import { statusOf, titleOf } from "./status.ts";
import { followLog, runRows } from "./views.ts";

/** Tells Neovim; see recv() of lua/orch/rpc.lua for what each event does there. */
export type Tell = (event: string, payload: object) => Promise<void>;

export interface RepositoryDeps {
  readonly stateDir: string;
  readonly tell: Tell;
  readonly onError: (error: unknown) => void;
}

/** One repository as this Neovim sees it: its runs, whoever started them, and the buffers that show them. */
export class Repository implements Disposable {
  /** Top of the working tree; undefined when there is none. */
  readonly root: string | undefined;
  /** The root, else the folder: what paths in runs are relative to. */
  readonly base: string;
  readonly runsDirs: readonly string[];
  readonly feed: RunFeed;
  readonly #deps: RepositoryDeps;
  readonly #store = new DisposableStore();
  readonly #open = new Set<string>();
  readonly #logs = new Map<string, Disposable>();
  #runsShown = false;
  #told = "";
  #telling = false;
  #findingsTold = "";
  #started: Promise<void> | undefined;

  constructor(folder: string, deps: RepositoryDeps) {
    this.#deps = deps;
    this.root = repositoryRoot(realPath(folder));
    this.base = this.root ?? realPath(folder);
    const place = absPath(this.base);
    const state = stateRunsDir(absPath(deps.stateDir), place);
    this.runsDirs = this.root === undefined ? [state] : [runsDir(place), state];
    this.feed = this.#store.add(new RunFeed(this.runsDirs, deps.onError));
    this.#store.add(this.feed.onNews.on((news) => this.#take(news)));
    const painting = this.#store.add(paced(() => this.#paint()));
    this.#store.add(this.feed.onPaint.on(() => painting.ask()));
    this.#store.add(toDisposable(() => this.#logs.forEach((log) => log.dispose())));
  }

  /** Resolves once the runs that were there have been read. */
  start(): Promise<void> {
    this.#started ??= this.feed.start().then(() => this.#paint());
    return this.#started;
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Turns the live lines of `:Orch runs` on or off. */
  showRuns(on: boolean): void {
    this.#runsShown = on;
    if (!on) return;
    const [newest] = this.feed.runs;
    if (newest !== undefined) this.#open.add(newest.run);
    this.#paintRuns();
  }

  fold(run: string): void {
    if (!this.#open.delete(run)) this.#open.add(run);
    this.#paintRuns();
  }

  /** The run whose log is shown from now on, or undefined when there is none. Told from its first line again. */
  showLog(named: string | undefined): string | undefined {
    const run = named === undefined ? this.feed.runs[0] : this.feed.get(named);
    if (run === undefined) return undefined;
    this.hideLog(run.run);
    const paint = (lines: object): void => void this.#deps.tell("log", { root: this.base, ...lines });
    this.#logs.set(run.run, followLog(run, this.feed, paint, this.#deps.onError));
    return run.run;
  }

  hideLog(run: string): void {
    this.#logs.get(run)?.dispose();
    this.#logs.delete(run);
  }

  // --- news --------------------------------------------------------------------------------------------------------

  #take({ now, before, events }: RunNews): void {
    this.#asks(now, before.pending, events);
    if (!now.fresh) return;
    for (const parsed of events) {
      if (parsed.kind !== "event") continue;
      tellEvent({ now, base: this.base, say: (event, payload) => this.#say(event, payload) }, parsed.event);
      if (parsed.event.type === "verdict.reached") this.#tellFindings(now);
      if (parsed.event.type === "diff.shown" && now.own) this.#show(now, parsed.event);
    }
    if (!now.own) return;
    const { result, ...quiet } = now.state;
    // Its questions and its end have ways of their own.
    const { result: _end, ...was } = { ...before, pending: quiet.pending };
    for (const { severity, text, hint } of notices(was, quiet))
      this.#say("notify", { level: severity, text: hint === undefined ? text : `${text}. ${hint}` });
    if (result !== undefined && before.result === undefined) this.#tellEnd(now);
  }

  #tellEnd(now: FollowedRun): void {
    const { result } = now.state;
    if (result === undefined) return;
    const { ok, code, summary, next, error } = result;
    this.#tellFindings(now);
    this.#say("ended", {
      run: now.run,
      title: titleOf(now),
      ok,
      code,
      cancelled: now.standing === "cancelled",
      summary: plain(summary),
      next,
      hint: error === undefined ? "" : plain(error.hint),
      at: error?.at ?? "",
      error: error?.code ?? "",
    });
  }

  #show(now: FollowedRun, shown: EventBody<"diff.shown">): void {
    shownDiff(now, shown, this.base).then(
      (diff) => this.#say("diff", { root: this.base, run: now.run, ...diff }),
      this.#deps.onError,
    );
  }

  /** The findings of the newest run that this Neovim started; an empty list takes those of the run before away. */
  #tellFindings(now: FollowedRun): void {
    if (!now.own || now.state.contracts.length === 0) return;
    const items = findingsOf(now.state, this.base, now.dir);
    const key = `${now.run}${JSON.stringify(items)}`;
    if (key === this.#findingsTold) return;
    this.#findingsTold = key;
    this.#say("findings", { root: this.base, run: now.run, title: titleOf(now), items });
  }

  /** What is asked anew, and what was answered elsewhere meanwhile. */
  #asks(now: FollowedRun, before: readonly PendingAsk[], events: readonly ParsedEvent[]): void {
    for (const ask of before)
      if (!now.state.pending.some(({ id }) => id === ask.id))
        this.#say("retract", { run: now.run, id: ask.id, how: goneHow(ask, events) });
    for (const ask of now.state.pending) {
      if (before.some(({ id }) => id === ask.id)) continue;
      const data = { run: now.run, command: now.state.command, id: ask.id, own: now.own, weight: ask.weight };
      if (now.own) this.#say("ask", askOf(now, ask, this.base));
      if (now.fresh) this.#say("user", { pattern: "OrchDecisionNeeded", data: { ...data, title: plain(ask.title) } });
    }
  }

  // --- painting ----------------------------------------------------------------------------------------------------

  /** Never more than one on its way: an editor in a prompt takes nothing, and only the newest state matters then. */
  #paint(): void {
    if (this.#telling) return;
    const status = statusOf(
      this.feed.runs.filter(({ state }) => state.seq > 0),
      this.feed.open,
    );
    const key = JSON.stringify(status);
    this.#paintRuns();
    if (key === this.#told) return;
    this.#told = key;
    this.#telling = true;
    void this.#deps.tell("status", { root: this.base, ...status }).finally(() => {
      this.#telling = false;
      this.#paint();
    });
  }

  #rowsTold = "";
  #paintRuns(): void {
    if (!this.#runsShown) return;
    const rows = runRows(this.feed.runs, this.#open);
    const key = JSON.stringify(rows);
    if (key === this.#rowsTold) return;
    this.#rowsTold = key;
    this.#say("runs", { root: this.base, rows });
  }

  repaint(): void {
    this.#rowsTold = "";
    this.#paintRuns();
  }

  #say(event: string, payload: object): void {
    void this.#deps.tell(event, payload); // it reports its own failure
  }
}

/** A question for vim.ui.select or vim.ui.input. */
export function askOf(run: FollowedRun, ask: PendingAsk, root: string): object {
  return {
    root,
    run: run.run,
    dir: run.dir,
    id: ask.id,
    kind: ask.kind,
    weight: ask.weight,
    command: run.state.command,
    title: plain(ask.title),
    detail: ask.detail ?? "",
    choices: ask.choices.map(({ id, label }) => ({ id, label: plain(label) })),
    otherwise: ask.otherwise ?? "",
  };
}

/** Why a question is gone, for the person whose picker still shows it. */
function goneHow(ask: PendingAsk, events: readonly ParsedEvent[]): string {
  for (const parsed of events) {
    if (parsed.kind !== "event") continue;
    const { event } = parsed;
    if ((event.type !== "question.answered" && event.type !== "decision.answered") || event.id !== ask.id) continue;
    const said = ask.choices.find(({ id }) => id === event.choice)?.label ?? event.choice ?? event.text;
    const how = event.by === "timeout" ? "its time is over" : "answered elsewhere";
    return said === undefined ? how : `${how}, ${plain(said)}`;
  }
  return "its run is over";
}
