import assert from "node:assert/strict";
import { findingsOf } from "../../../nvim-plugin/src/findings.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import type { NewEvent } from "../../../shared/model/event.ts";
import type { Finding } from "../../../shared/model/finding.ts";

const run = "r-20260131-101500-ab12";
const of = { contract: "Invoice", attempt: 1 };
const finding: Finding = {
  rule: "py.unused-import",
  severity: "FAIL",
  path: "Handler.py",
  line: 3,
  message: "Any",
  evidence: "",
  remedy: "",
};
const judged: readonly NewEvent[] = [
  { type: "contract.queued", contract: "Invoice", title: "Invoice", hash: "", maxAttempts: 3 },
  { type: "attempt.started", ...of, worker: "completion", base: "" },
  { type: "gate.finished", ...of, gate: "standards", status: "ran", ms: 1, findings: [finding] },
  { type: "verdict.reached", ...of, verdict: "fail", fails: 1, warns: 0 },
];

function shown(...more: readonly NewEvent[]): readonly string[] {
  const events = [...judged, ...more].map((event, n) => ({ v: 1 as const, run, seq: n + 1, at: n + 1, ...event }));
  const state = foldRun(
    run,
    events.map((event) => ({ kind: "event" as const, event })),
  );
  assert.deepEqual(state.faults, []);
  return findingsOf(state, "/repo", "/runs/r").map(({ filename, lnum, text }) => `${filename}:${lnum} ${text}`);
}

describe("findings of a run in Neovim", () => {
  const wrong = ["/repo/Handler.py:3 py.unused-import: Any"];
  const next = { contract: "Invoice", attempt: 2 };

  it("stand while the next attempt is at work, also when its start was read in the same moment", () => {
    assert.deepEqual(shown(), wrong);
    assert.deepEqual(shown({ type: "attempt.started", ...next, worker: "completion", base: "" }), wrong);
  });

  it("are gone when that attempt passes", () => {
    const started: NewEvent = { type: "attempt.started", ...next, worker: "completion", base: "" };
    const passed: NewEvent = { type: "verdict.reached", ...next, verdict: "pass", fails: 0, warns: 0 };
    assert.deepEqual(shown(started, passed), []);
  });
});
