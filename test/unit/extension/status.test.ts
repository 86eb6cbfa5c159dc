import assert from "node:assert/strict";
import { openRuns } from "../../../shared/events/open-runs.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import { standingOf } from "../../../shared/events/standing.ts";
import type { NewEvent, ParsedEvent, RunEvent } from "../../../shared/model/event.ts";
import type { FollowedRun } from "../../../shared/runner/run-feed.ts";
import { statusOf } from "../../../extension/status.ts";

function translate(words: unknown, ...values: unknown[]): string {
  return String(words).replaceAll(/\{(\d)\}/g, (_, index) => String(values[Number(index)]));
}

function followed(run: string, events: readonly NewEvent[], alive = true, fresh = true): FollowedRun {
  const parsed = events.map((event, index): ParsedEvent => ({
    kind: "event",
    event: { v: 1, run, seq: index + 1, at: 1000 * index, ...event } as RunEvent,
  }));
  const state = foldRun(run, parsed);
  return { run, dir: `/runs/${run}`, state, alive, standing: standingOf(state, alive), fresh, own: false };
}

const started: NewEvent = { type: "run.started", command: "do", title: "Invoice", host: "cli", version: "1", pid: 1 };
const queued: NewEvent = {
  type: "contract.queued",
  contract: "Invoice",
  title: "Invoice",
  hash: "",
  maxAttempts: 3,
  feature: "Billing/Invoice",
};
const attempt: NewEvent = {
  type: "attempt.started",
  contract: "Invoice",
  attempt: 1,
  worker: "w|[x](command:evil)",
  base: "b",
};
const asked: NewEvent = { type: "decision.asked", id: "q-1", title: "Spend?", choices: [] };
const failed: NewEvent = { type: "command.finished", ok: false, code: 1, summary: "failed", next: [] };
const usage = (costUsd: number | "unknown"): NewEvent => ({
  type: "usage.recorded",
  model: "m",
  usage: { input: 1, output: 1, cacheRead: 0, costUsd },
});

describe("the status bar item", () => {
  const t = translate as never;
  const rows: readonly (readonly [string, readonly FollowedRun[], string, string])[] = [
    ["nothing", [], "$(checklist) Orch", "plain"],
    [
      "running",
      [followed("r-1", [started, queued, attempt])],
      "$(sync~spin) Orch: do Billing/Invoice running · 0/1 (1)",
      "plain",
    ],
    [
      "a cost",
      [followed("r-1", [started, queued, usage(0.04)])],
      "$(sync~spin) Orch: do Billing/Invoice running · 0/1 · $0.04",
      "plain",
    ],
    [
      "an unknown cost is not 0",
      [followed("r-1", [started, usage("unknown")])],
      "$(sync~spin) Orch: do running · $?",
      "plain",
    ],
    [
      "a part of the cost",
      [followed("r-1", [started, usage("unknown"), usage(0.5)])],
      "$(sync~spin) Orch: do running · >$0.50",
      "plain",
    ],
    [
      "a decision",
      [followed("r-1", [started, queued, asked])],
      "$(bell-dot) Orch: do Billing/Invoice waiting · 0/1 · 1 decision",
      "warning",
    ],
    ["interrupted", [followed("r-1", [started], false)], "$(warning) Orch: do interrupted", "plain"],
    ["failed while watching", [followed("r-1", [started, failed])], "$(error) Orch: do failed", "error"],
    [
      "failed before the window opened",
      [followed("r-1", [started, failed], false, false)],
      "$(error) Orch: do failed",
      "plain",
    ],
    [
      "a running one before a newer one that ended",
      [followed("r-1", [started]), followed("r-2", [started, failed])],
      "$(sync~spin) Orch: do running",
      "plain",
    ],
    [
      "two at work",
      [followed("r-1", [started]), followed("r-2", [started])],
      "$(sync~spin) Orch: do running +1",
      "plain",
    ],
  ];
  for (const [title, runs, text, tone] of rows) {
    it(title, () => {
      const view = statusOf(runs, openRuns(runs).open, t);
      assert.deepEqual([view.text, view.tone], [text, tone]);
    });
  }

  it("holds words of models as text: no link and no table cell of theirs", () => {
    const runs = [followed("r-1", [started, queued, attempt])];
    const { tooltip } = statusOf(runs, runs, t);
    assert.doesNotMatch(tooltip, /\]\(command:evil/);
    assert.match(tooltip, /w\\\|\\\[x\\\]/);
  });
});
