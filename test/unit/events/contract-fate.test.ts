import { deepEqual } from "node:assert/strict";
import { fateOf } from "../../../shared/events/contract-fate.ts";
import { tree } from "../../../shared/events/project.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import type { RunState } from "../../../shared/events/run-state.ts";
import type { NewEvent } from "../../../shared/model/event.ts";

function runOf(run: string, command: string, ...events: readonly NewEvent[]): RunState {
  const started: NewEvent = { type: "run.started", command, title: command, host: "cli", version: "0", pid: 1 };
  return foldRun(
    run,
    [started, ...events].map((event, at) => ({ kind: "event", event: { v: 1, run, seq: at + 1, at, ...event } })),
  );
}

const began: readonly NewEvent[] = [
  { type: "contract.queued", contract: "T1", title: "Task one", hash: "c", maxAttempts: 3 },
  { type: "attempt.started", contract: "T1", attempt: 1, worker: "sonnet", base: "b" },
];
const work = runOf(
  "r-1",
  "run",
  ...began,
  {
    type: "change.collected",
    contract: "T1",
    attempt: 1,
    files: [{ path: "a.py", status: "modified" }],
    added: 1,
    removed: 0,
    patch: { path: "p", bytes: 1, sha256: "h1" },
  },
  { type: "contract.finished", contract: "T1", state: "awaiting-review" },
);
const review = (run: string, verb: "accept" | "revise" | "take-over", diffHash: string, of = "r-1"): RunState =>
  runOf(run, "review", { type: "review.closed", contract: "T1", verb, reviewer: "Ann", diffHash, work: of });
const merge = (run: string, diffHash: string, of = "r-1"): RunState =>
  runOf(run, "merge", { type: "contract.merged", contract: "T1", title: "t", work: of, diffHash, paths: ["a.py"] });

/** What the contract's row says, and its rows of review and merge. Newest run first. */
function shown(state: RunState, ...later: readonly RunState[]): readonly string[] {
  const [contract] = tree(state, true, [...later, state]).children;
  const rows = contract?.children.filter(({ kind }) => kind === "review" || kind === "merge") ?? [];
  return [`${contract?.detail}`, ...rows.map(({ label, detail }) => `${label}: ${detail}`)];
}

describe("what became of a contract's work", () => {
  const table: readonly (readonly [what: string, later: readonly RunState[], rows: readonly string[]])[] = [
    ["nothing yet", [], ["awaiting-review"]],
    ["accepted", [review("r-2", "accept", "h1")], ["accepted", "review: accept by Ann in r-2"]],
    ["taken over", [review("r-2", "take-over", "h1")], ["taken over", "review: take-over by Ann in r-2"]],
    [
      "the last review holds",
      [review("r-3", "accept", "h1"), review("r-2", "revise", "h1")],
      ["accepted", "review: revise by Ann in r-2", "review: accept by Ann in r-3"],
    ],
    [
      "a review of an earlier change is told and decides nothing",
      [review("r-2", "accept", "h0")],
      ["awaiting-review", "review: accept by Ann in r-2, of an earlier change"],
    ],
    ["a review of another run's work is none of it", [review("r-2", "accept", "h1", "r-0")], ["awaiting-review"]],
    [
      "merged",
      [merge("r-3", "h1"), review("r-2", "accept", "h1")],
      ["merged", "review: accept by Ann in r-2", "merged: in the working tree, 1 file, by r-3"],
    ],
    ["a merge of another change is none of it", [merge("r-3", "h0"), merge("r-2", "h1", "r-0")], ["awaiting-review"]],
  ];
  for (const [what, later, rows] of table) it(what, () => deepEqual(shown(work, ...later), rows));

  it("work that goes on is running, whatever was said to what it began with", () => {
    const running = runOf("r-1", "run", ...began);
    deepEqual(shown(running, review("r-2", "revise", "")), ["running", "review: revise by Ann in r-2"]);
  });

  it("a merge knows its place and the commits of its run", () => {
    const both = runOf(
      "r-3",
      "merge",
      { type: "contract.merged", contract: "T0", title: "t", work: "r-0", diffHash: "h", paths: [] },
      { type: "contract.merged", contract: "T1", title: "t", work: "r-1", diffHash: "h1", paths: ["a.py"] },
      { type: "commit.made", commit: "c".repeat(40), branch: "main", subject: "s", pushed: false },
    );
    const [contract] = work.contracts;
    const found = contract === undefined ? undefined : fateOf("r-1", contract, [both, work]).merge;
    deepEqual([found?.order, found?.of, found?.commits], [2, 2, ["c".repeat(40)]]);
    deepEqual(shown(work, both), ["merged", `merged: commit ${"c".repeat(10)}, 2 of 2, 1 file, by r-3`]);
  });
});
