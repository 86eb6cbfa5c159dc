// Which runs wait for a person, over all of a repository, and that every host counts the same ones.
import assert from "node:assert/strict";
import { statusOf as editorStatus } from "../../../extension/status.ts";
import { statusOf as nvimStatus } from "../../../nvim-plugin/src/status.ts";
import { openAsks, openRuns, waitsForPerson } from "../../../shared/events/open-runs.ts";
import { tree } from "../../../shared/events/project.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import { standingOf } from "../../../shared/events/standing.ts";
import type { NewEvent } from "../../../shared/model/event.ts";
import type { FollowedRun } from "../../../shared/runner/run-feed.ts";

function runOf(
  run: string,
  command: string,
  events: readonly NewEvent[],
  { alive = false }: { readonly alive?: boolean } = {},
): FollowedRun {
  const started: NewEvent = { type: "run.started", command, title: command, host: "cli", version: "0", pid: 1 };
  const state = foldRun(
    run,
    [started, ...events].map((event, at) => ({
      kind: "event",
      event: { v: 1, run, seq: at + 1, at: at * 1000, ...event },
    })),
  );
  return { run, dir: `/runs/${run}`, state, alive, standing: standingOf(state, alive), fresh: true, own: false };
}

const begun = (contract: string): NewEvent[] => [
  { type: "contract.queued", contract, title: contract, hash: "c", maxAttempts: 3 },
  { type: "attempt.started", contract, attempt: 1, worker: "w", base: "b" },
];
const patch = { path: "p", bytes: 1, sha256: "h1" };
const changed = (contract: string): NewEvent => ({
  type: "change.collected",
  contract,
  attempt: 1,
  files: [{ path: "a.py", status: "modified" }],
  added: 1,
  removed: 0,
  patch,
});
const finished = (contract: string, state: "awaiting-review" | "needs-lead" | "cancelled"): NewEvent => ({
  type: "contract.finished",
  contract,
  state,
});
const done: NewEvent = { type: "command.finished", ok: true, code: 0, summary: "done", next: [] };
const parked: NewEvent = { type: "run.parked", why: "T1 needs you", hint: "answer" };
const decision: NewEvent = { type: "decision.asked", id: "d-1", title: "Go on?", choices: [] };
const question: NewEvent = {
  type: "question.asked",
  id: "q-1",
  kind: "confirm",
  title: "Sure?",
  choices: [],
  timeoutMs: 1,
};

const early = runOf("r-1", "run", [...begun("T1"), finished("T1", "needs-lead"), decision, parked]);
const work = (state: "awaiting-review" | "needs-lead" | "cancelled", run = "r-2"): FollowedRun =>
  runOf(run, "run", [...begun("T1"), changed("T1"), finished("T1", state), done]);
const merge = runOf("r-3", "merge", [
  { type: "contract.merged", contract: "T1", title: "t", work: "r-1", diffHash: "h1", paths: ["a.py"] },
  done,
]);
const wide = runOf("r-1", "run", [...begun("T1"), ...begun("T2"), finished("T1", "needs-lead"), decision, parked]);
const own = runOf("r-1", "run", [...begun("T1"), changed("T1"), decision, parked]);

describe("runs that wait for a person", () => {
  const rows: readonly (readonly [title: string, runs: readonly FollowedRun[], waiting: number])[] = [
    ["a parked run with a decision", [early], 1],
    ["whose contract a later run brought to an end", [work("awaiting-review"), early], 0],
    ["whose contract a later run could not bring to an end either: that one waits", [work("needs-lead"), early], 0],
    ["whose later run was cancelled", [work("cancelled"), early], 1],
    ["whose contract an earlier run had worked on", [early, work("awaiting-review", "r-0")], 1],
    ["of two contracts, one of which went on", [work("awaiting-review"), wide], 1],
    ["whose own change was merged", [merge, own], 0],
    ["a question of a runner that is gone", [runOf("r-1", "do", [question, parked])], 0],
    ["a decision of an interrupted run: it is resumed first", [runOf("r-1", "do", [decision])], 0],
    ["a question of a runner that lives", [runOf("r-1", "do", [question], { alive: true })], 1],
  ];
  for (const [title, runs, waiting] of rows) {
    it(title, () => {
      const { open } = openRuns(runs);
      assert.equal(open.flatMap(openAsks).length, waiting);
      assert.equal(nvimStatus(runs, open).waiting, waiting);
      const decisions = open.flatMap(openAsks).filter(({ weight }) => weight === "decision").length;
      const { text } = editorStatus(runs, open, (words: unknown, ...values: unknown[]) =>
        String(words).replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)])),
      );
      assert.equal(/\d+ decisions?/.exec(text)?.[0], decisions === 0 ? undefined : "1 decision", text);
    });
  }

  it("one that is parked until something is mended waits, too, without anything to answer", () => {
    const disk = runOf("r-1", "do", [{ type: "run.parked", why: "the disk is full", hint: "free some" }]);
    assert.deepEqual([waitsForPerson(disk), openAsks(disk)], [true, []]);
  });

  it("a run that was left behind is told as that, and asks nothing", () => {
    const states = [work("awaiting-review"), early].map(({ state }) => state);
    const { detail, tone, children } = tree(early.state, false, states);
    assert.deepEqual(
      [detail, tone, children.map(({ kind }) => kind)],
      ["parked, its work went on without it", "idle", ["contract"]],
    );
    assert.deepEqual(
      [work("awaiting-review"), early].map((run) => openRuns([work("awaiting-review"), early]).left.includes(run)),
      [false, true],
    );
  });
});

describe("runs whose feature went on without them", () => {
  const about = (feature: string): NewEvent => ({ type: "target.named", feature });
  const stopped = (command: string): FollowedRun => runOf("r-1", command, [about("A/B"), parked]);
  const later = (command: string, feature = "A/B", ok = true): FollowedRun =>
    runOf("r-2", command, [about(feature), { ...done, ok }]);
  const rows: readonly (readonly [title: string, first: string, later: FollowedRun, left: boolean])[] = [
    ["a merge, and it was merged", "merge", later("merge"), true],
    ["a merge of another feature", "merge", later("merge", "A/C"), false],
    ["a merge that was refused later, too", "merge", later("merge", "A/B", false), false],
    ["a merge that was only foretold later", "merge", runOf("r-2", "merge", [done]), false],
    ["a merge, and the feature was amended further", "merge", later("do"), false],
    ["do, and it was done", "do", later("do"), true],
    ["do, and the branch was discarded", "do", later("undo"), true],
    ["do, and the feature was deleted", "do", later("delete"), true],
    ["do, and the spec was amended", "do", later("modify"), false],
    ["new, and it was done", "new", later("do"), true],
    ["modify, and it was merged", "modify", later("merge"), true],
    ["move, and it was moved", "move", later("move"), true],
    ["undo, and it was worked on", "undo", later("do"), true],
    ["do, and the later one still works", "do", runOf("r-2", "do", [about("A/B")], { alive: true }), false],
    ["do, which is the newer one", "do", { ...later("do"), state: { ...later("do").state, run: "r-0" } }, false],
  ];
  for (const [title, first, after, left] of rows) {
    it(`${title}: ${left ? "waits for nobody" : "waits"}`, () => {
      const run = stopped(first);
      assert.equal(openRuns([after, run]).left.includes(run), left);
      assert.equal(tree(run.state, false, [after.state]).tone, left ? "idle" : "attention");
    });
  }
});
