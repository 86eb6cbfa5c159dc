import assert from "node:assert/strict";
import { contractLedger, contractLine, type ContractRow } from "../../../shared/events/contract-ledger.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import type { RunState } from "../../../shared/events/run-state.ts";
import type { NewEvent } from "../../../shared/model/event.ts";

/** A run of these events, one second apart. */
function runOf(run: string, command: string, ...events: readonly NewEvent[]): RunState {
  const started: NewEvent = { type: "run.started", command, title: command, host: "cli", version: "0", pid: 1 };
  return foldRun(
    run,
    [started, ...events].map((event, at) => ({
      kind: "event",
      event: { v: 1, run, seq: at + 1, at: at * 1000, ...event },
    })),
  );
}

const patch = (sha256: string): { path: string; bytes: number; sha256: string } => ({ path: "p", bytes: 1, sha256 });
const queued = (contract: string): NewEvent => ({
  type: "contract.queued",
  contract,
  title: `title of ${contract}`,
  hash: "c0",
  maxAttempts: 3,
});
const worked = (
  contract: string,
  sha256: string,
  state: "awaiting-review" | "failed" = "awaiting-review",
): NewEvent[] => [
  queued(contract),
  { type: "attempt.started", contract, attempt: 1, worker: "sonnet", base: "b" },
  {
    type: "usage.recorded",
    contract,
    attempt: 1,
    model: "m",
    usage: { input: 10, output: 5, cacheRead: 0, costUsd: 0.02 },
  },
  {
    type: "change.collected",
    contract,
    attempt: 1,
    files: [{ path: "a.py", status: "modified" }],
    added: 3,
    removed: 1,
    patch: patch(sha256),
  },
  { type: "decision.made", contract, attempt: 1, decision: { kind: "accept" } },
  { type: "attempt.finished", contract, attempt: 1, durationMs: 61_000 },
  { type: "contract.finished", contract, state },
];
const reviewed = (
  verb: "accept" | "revise" | "take-over",
  run: string,
  diffHash: string,
  contract = "T1",
): NewEvent => ({
  type: "review.closed",
  contract,
  verb,
  reviewer: "Ann <ann@example.com>",
  diffHash,
  work: run,
});
const merged = (run: string, diffHash: string): NewEvent => ({
  type: "contract.merged",
  contract: "T1",
  title: "t",
  work: run,
  diffHash,
  paths: ["a.py"],
});
const one = (...runs: readonly RunState[]): ContractRow | undefined => contractLedger(runs)[0];

describe("contract ledger", () => {
  const wave = runOf("r-1", "run", ...worked("T1", "h1"));

  it("a line says how it stands, who did it, how much, how long and what it cost", () => {
    const row = one(wave);
    assert.equal(
      row === undefined ? "" : contractLine(row),
      "T1  PASS, awaiting review, 1 attempt by sonnet, +3 -1 in 1 file, 61 s, 15 tokens, $0.02",
    );
  });

  it("a review counts for exactly the change it saw", () => {
    assert.equal(one(runOf("r-2", "review", reviewed("accept", "r-1", "h1")), wave)?.review?.verb, "accept");
    assert.equal(one(runOf("r-2", "review", reviewed("accept", "r-1", "other")), wave)?.review, undefined);
    assert.equal(one(runOf("r-2", "review", reviewed("accept", "r-0", "h1")), wave)?.review, undefined);
    const back = runOf("r-3", "review", reviewed("revise", "r-1", "h1"));
    assert.equal(one(back, runOf("r-2", "review", reviewed("accept", "r-1", "h1")), wave)?.review?.verb, "revise");
  });

  it("newer work takes the place of older, and its review is gone with it", () => {
    const again = runOf("r-3", "dispatch", ...worked("T1", "h2"));
    const row = one(again, runOf("r-2", "review", reviewed("accept", "r-1", "h1")), wave);
    assert.deepEqual([row?.run, row?.diffHash, row?.review, row?.merged], ["r-3", "h2", undefined, false]);
  });

  it("revisions count over dispatches, and begin anew with a new run", () => {
    const first = runOf("r-2", "review", reviewed("revise", "r-1", "h1"));
    const again = runOf("r-3", "dispatch", ...worked("T1", "h2"));
    const second = runOf("r-4", "review", reviewed("revise", "r-3", "h2"));
    assert.equal(one(second, again, first, wave)?.revisions, 2);
    assert.equal(one(runOf("r-5", "run", ...worked("T1", "h3")), second, again, first, wave)?.revisions, 0);
  });

  it("merged is said of the change that was merged", () => {
    const row = one(runOf("r-2", "merge", merged("r-1", "h1")), wave);
    assert.deepEqual([row?.merged, row === undefined ? "" : contractLine(row).slice(0, 10)], [true, "T1  merged"]);
    assert.equal(one(runOf("r-2", "merge", merged("r-1", "h0")), wave)?.merged, false);
  });

  it("features, and contracts that never began, are no work", () => {
    const feature = runOf("r-2", "do", ...worked("T9", "h"));
    const early = runOf("r-3", "run", queued("T1"));
    assert.deepEqual(
      contractLedger([early, feature, wave]).map(({ id, run }) => [id, run]),
      [["T1", "r-1"]],
    );
  });

  it("each way to end has its word", () => {
    const ends = ["failed", "blocked", "needs-lead", "cancelled", "accepted"] as const;
    const lines = ends.map((state) => {
      const row = one(
        runOf("r-1", "run", queued("T1"), { type: "contract.finished", contract: "T1", state, why: "because" }),
      );
      return row === undefined ? "" : contractLine(row);
    });
    assert.deepEqual(lines, [
      "T1  FAIL: because",
      "T1  BLOCKED: because",
      "T1  NEEDS_LEAD: because",
      "T1  cancelled: because",
      "T1  PASS: because",
    ]);
    const over = one(runOf("r-2", "review", reviewed("take-over", "r-1", "h1")), wave);
    assert.match(over === undefined ? "" : contractLine(over), /^T1 {2}taken over/);
  });

  it("a prepared place is seen before anybody worked in it", () => {
    const row = one(
      runOf("r-1", "prepare", queued("T1"), {
        type: "contract.prepared",
        contract: "T1",
        attempt: 1,
        folder: "/w/T1",
        base: "b",
        prompt: patch("p"),
        slot: "s",
        until: 9,
      }),
    );
    assert.match(row === undefined ? "" : contractLine(row), /^T1 {2}prepared/);
  });
});
