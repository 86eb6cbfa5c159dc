import assert from "node:assert/strict";
import { foldRun } from "../../../shared/events/reduce.ts";
import { reportOf, reportPage, reportText } from "../../../shared/events/report.ts";
import type { RunState } from "../../../shared/events/run-state.ts";
import type { NewEvent } from "../../../shared/model/event.ts";

function runOf(run: string, command: string, ...events: readonly NewEvent[]): RunState {
  const started: NewEvent = { type: "run.started", command, title: command, host: "cli", version: "0", pid: 1 };
  return foldRun(
    run,
    [started, ...events].map((event, at) => ({ kind: "event", event: { v: 1, run, seq: at + 1, at, ...event } })),
  );
}

const of = { contract: "T1", attempt: 1 } as const;
const patch = { path: "p", bytes: 1, sha256: "h1" };
const wave = runOf(
  "r-1",
  "run",
  { type: "contract.queued", contract: "T1", title: "<b>Trim</b>", hash: "c", maxAttempts: 3 },
  { type: "attempt.started", ...of, worker: "cheap", base: "b" },
  {
    type: "gate.finished",
    ...of,
    gate: "scope",
    status: "ran",
    ms: 1,
    findings: [
      { rule: "out_of_scope", severity: "FAIL", message: "b.py is outside", path: "b.py", evidence: "", remedy: "" },
    ],
  },
  { type: "decision.made", ...of, decision: { kind: "escalate", to: "strong", why: "b.py is outside" } },
  { type: "attempt.finished", ...of, durationMs: 1000 },
  { type: "attempt.started", contract: "T1", attempt: 2, worker: "strong", base: "b" },
  {
    type: "change.collected",
    contract: "T1",
    attempt: 2,
    files: [{ path: "a.py", status: "modified" }],
    added: 1,
    removed: 0,
    patch,
  },
  { type: "decision.made", contract: "T1", attempt: 2, decision: { kind: "accept" } },
  { type: "attempt.finished", contract: "T1", attempt: 2, durationMs: 2000 },
  { type: "contract.finished", contract: "T1", state: "awaiting-review" },
  { type: "contract.queued", contract: "T2", title: "Wrong", hash: "c", maxAttempts: 3 },
  { type: "contract.finished", contract: "T2", state: "blocked", why: "no check" },
);
const back = runOf("r-2", "review", {
  type: "review.closed",
  contract: "T1",
  verb: "accept",
  reviewer: "Ann",
  diffHash: "h1",
  work: "r-1",
});
const merged = runOf("r-3", "merge", {
  type: "contract.merged",
  contract: "T1",
  title: "t",
  work: "r-1",
  diffHash: "h1",
  paths: ["a.py"],
});
const final = runOf("r-4", "final", {
  type: "final.checked",
  contracts: ["T1"],
  checks: [{ name: "all", ok: false, why: "2 failed" }],
});

describe("report", () => {
  it("before the review: nothing is done, what was escalated and why, what is left and the next keystroke", () => {
    assert.deepEqual(reportText(reportOf([wave])), [
      "Done",
      "  nothing",
      "Rejected or escalated",
      "  T1 attempt 1 by cheap: FAIL out_of_scope b.py: b.py is outside; then escalate to strong",
      "Gates",
      "  scope: 1 time, 1 with faults",
      "Final checks",
      "  not run: orch final",
      "Left",
      "  T1  PASS, awaiting review, 2 attempts by cheap, strong, +1 -0 in 1 file, 3.0 s; orch review T1",
      "  T2  BLOCKED: no check; orch review T2 --take-over, or run it again",
      "Used",
      "  2 attempts, 3.0 s, tokens and cost unknown",
    ]);
  });

  it("accepted, then merged, then judged as a whole", () => {
    assert.ok(reportText(reportOf([back, wave])).some((line) => line.endsWith("; orch merge T1")));
    const text = reportText(reportOf([final, merged, back, wave]));
    assert.match(text[1] ?? "", /^ {2}T1 {2}merged/);
    assert.deepEqual(text.slice(text.indexOf("Final checks") + 1, text.indexOf("Left")), [
      "  red over T1",
      "  all: 2 failed",
    ]);
  });

  it("no final checks are no green ones", () => {
    const none = runOf("r-4", "final", { type: "final.checked", contracts: ["T1"], checks: [] });
    const text = reportText(reportOf([none, merged, back, wave]));
    assert.equal(text[text.indexOf("Final checks") + 1], "  none were named for T1");
  });

  it("what a lead took over is neither done nor left, and says whether anything was written", () => {
    const took = (contract: string, diffHash: string): RunState =>
      runOf(`r-took-${contract}`, "review", {
        type: "review.closed",
        contract,
        verb: "take-over",
        reviewer: "Ann",
        diffHash,
        work: "r-1",
      });
    const made = reportOf([took("T2", ""), took("T1", "h1"), wave]);
    assert.deepEqual(
      [made.done, made.takenOver, made.left].map((rows) => rows.map(({ id }) => id)),
      [[], ["T1", "T2"], []],
    );
    assert.deepEqual(reportText(made).slice(2, 5), [
      "Taken over",
      "  T1  taken over, 2 attempts by cheap, strong, +1 -0 in 1 file, 3.0 s; by Ann, who sees to it: its last change was kept",
      "  T2  taken over: no check; by Ann, who sees to it: nothing was written here",
    ]);
  });

  it("the page runs nothing and what others wrote is text in it", () => {
    const page = reportPage(reportOf([wave]));
    assert.ok(page.includes("&lt;b&gt;Trim&lt;/b&gt;") && !page.includes("<b>Trim"));
    assert.doesNotMatch(page, /<script|onclick|https?:/);
    assert.match(page, /default-src 'none'/);
  });
});
