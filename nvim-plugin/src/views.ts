import { type Disposable, DisposableStore, toDisposable } from "../../shared/base/disposable.ts";
import { nextCommands, type TreeNode, tree } from "../../shared/events/project.ts";
import { durationText, plain, usageText } from "../../shared/events/words.ts";
import { timeline } from "../../shared/events/timeline.ts";
import type { ParsedEvent } from "../../shared/model/event.ts";
import { type FollowedRun, isActive, type RunFeed } from "../../shared/runner/run-feed.ts";
import { followRun } from "../../shared/runner/tail.ts";
import { paced } from "./pace.ts";
import { nameOf } from "./status.ts";

/** A line of a buffer, with what the keys in it act on. */
export interface Row {
  readonly text: string;
  readonly tone: TreeNode["tone"] | "head";
  readonly run: string;
  /** `run/ID/attempt-N` and the like. */
  readonly node: string;
  readonly kind: TreeNode["kind"];
}

/** The lines of `:Orch runs`. `open` holds the runs that are unfolded; a run that works always is. */
export function runRows(runs: readonly FollowedRun[], open: ReadonlySet<string>): readonly Row[] {
  const states = runs.map(({ state }) => state);
  return runs.flatMap((run) => {
    const node = tree(run.state, run.alive, states);
    const unfolded = open.has(run.run) || isActive(run);
    const head = { ...node, detail: headDetail(run), children: unfolded ? node.children : [] };
    return rowsOf(run, head, 0);
  });
}

function headDetail(run: FollowedRun): string {
  const { state, standing } = run;
  const ms = (state.lastAt ?? 0) - (state.startedAt ?? state.lastAt ?? 0);
  const said = state.result?.summary ?? state.parked?.why ?? "";
  // What nobody counted says nothing and takes the room of what happened.
  const counted =
    state.usage === undefined
      ? []
      : usageText(state)
          .split(", ")
          .filter((one) => !one.endsWith("unknown"));
  const used = counted.map((one) => `, ${one}`).join("");
  return `${standing}, ${durationText(ms)}${used}${said === "" ? "" : `. ${plain(said)}`}`;
}

function rowsOf(run: FollowedRun, node: TreeNode, depth: number): readonly Row[] {
  const label = node.kind === "run" ? nameOf(run.state) : node.label;
  const words = node.detail === "" ? label : `${label}: ${node.detail}`;
  const own: Row = {
    text: `${"  ".repeat(depth)}${signs[node.tone]} ${words}`,
    tone: node.tone,
    run: run.run,
    node: node.id,
    kind: node.kind,
  };
  return [own, ...node.children.flatMap((child) => rowsOf(run, child, depth + 1))];
}

/** One ASCII character each: state is told by words, the sign only repeats it. */
const signs: Readonly<Record<TreeNode["tone"], string>> = { idle: "-", busy: "~", good: "+", bad: "x", attention: "!" };

export interface LogLines {
  readonly run: string;
  /** Lines before `from` are as they were. */
  readonly from: number;
  readonly lines: readonly string[];
}

const maxLogLines = 10_000;

/** Follows one run's log as lines. `paint` is called at the leading edge, then at most every 50 ms. */
export function followLog(
  { run, dir }: FollowedRun,
  feed: RunFeed,
  paint: (lines: LogLines) => void,
  onError: (error: unknown) => void,
): Disposable {
  const store = new DisposableStore();
  const stop = new AbortController();
  store.add(toDisposable(() => stop.abort()));
  let events: ParsedEvent[] = [];
  let told: readonly string[] = [];
  const tell = (): void => {
    const known = feed.get(run);
    const next = known === undefined ? [] : nextCommands(known.state, known.alive).map((line) => `Next: ${line}`);
    const all = timeline(events);
    const cut =
      all.length > maxLogLines ? [`${all.length - maxLogLines} earlier lines are in ${dir}/events.jsonl`] : [];
    const lines = [...cut, ...all.slice(-maxLogLines), "", ...next];
    let from = 0;
    while (from < told.length && from < lines.length && told[from] === lines[from]) from += 1;
    if (from === told.length && from === lines.length) return;
    told = lines;
    paint({ run, from, lines: lines.slice(from) });
  };
  const onEvents = (batch: readonly ParsedEvent[], _state: unknown, before: { readonly seq: number }): void => {
    events = before.seq === 0 ? [...batch] : [...events, ...batch];
    pace.ask();
  };
  const pace = store.add(paced(tell));
  store.add(feed.onPaint.on(() => pace.ask()));
  const follow = async (): Promise<void> => {
    for (;;) {
      const end = await followRun({ run, dir, onEvents }, stop.signal);
      pace.ask();
      if (end.kind === "finished") return;
      await new Promise<void>((resolve) => {
        const waking = feed.onPaint.on(() => feed.get(run)?.alive === true && resolve());
        stop.signal.addEventListener("abort", () => resolve(), { once: true });
        store.add(waking);
      });
      if (stop.signal.aborted) return;
    }
  };
  follow().catch((error: unknown) => stop.signal.aborted || onError(error));
  return store;
}
