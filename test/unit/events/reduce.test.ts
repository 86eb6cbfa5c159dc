import assert from "node:assert/strict";
import fc from "fast-check";
import { ledgerRow, summary } from "../../../shared/events/ledger.ts";
import { notices } from "../../../shared/events/notices.ts";
import { nextCommands, statusLine, tree } from "../../../shared/events/project.ts";
import { durationText, limitText, money, usageText } from "../../../shared/events/words.ts";
import { foldRun, reduceRun } from "../../../shared/events/reduce.ts";
import { type AttemptState, emptyRun, keptNotices, type RunState } from "../../../shared/events/run-state.ts";
import { isOver, isResumable, type Standing, standingOf } from "../../../shared/events/standing.ts";
import { timeline } from "../../../shared/events/timeline.ts";
import {
  eventBodies,
  type EventType,
  type NewEvent,
  type ParsedEvent,
  parseEvent,
  type RunEvent,
} from "../../../shared/model/event.ts";

const run = "r-20260131-101500-ab12";

function parsed(seq: number, event: NewEvent): ParsedEvent {
  return { kind: "event", event: { v: 1, run, seq, at: 1000 * seq, ...event } as RunEvent };
}

const fold = (...events: readonly NewEvent[]): RunState =>
  foldRun(
    run,
    events.map((event, index) => parsed(index + 1, event)),
  );

const started: NewEvent = { type: "run.started", command: "do", title: "do A/B", host: "cli", version: "0", pid: 1 };
const attempt: NewEvent = { type: "attempt.started", contract: "B", attempt: 1, worker: "completion", base: "0" };
const parkedEvent: NewEvent = { type: "run.parked", why: "w", hint: "h" };
const resumedEvent: NewEvent = { type: "run.resumed", host: "nvim", pid: 2 };
const cancelledEvent: NewEvent = { type: "run.cancelled", by: "cli" };
const finished = (ok: boolean): NewEvent => ({
  type: "command.finished",
  ok,
  code: ok ? 0 : 1,
  summary: "s",
  next: [],
});
const decision = (id: string): NewEvent => ({
  type: "decision.asked",
  id,
  title: `title of ${id}`,
  choices: [{ id: "yes", label: "Yes" }],
});

/** One event of each type with plausible fields, for orders that no program would write. */
const samples: { readonly [T in EventType]: Record<string, unknown> } = {
  "run.started": { command: "do", title: "t", host: "cli", version: "0", pid: 1 },
  "target.named": { feature: "A/B" },
  "run.finished": { outcome: "failed" },
  "run.parked": { why: "w", hint: "h" },
  "run.resumed": { host: "vscode", pid: 2 },
  "run.cancelled": { by: "x" },
  "wave.started": { contracts: [{ id: "B", title: "Bee", after: [] }] },
  "wave.finished": { passed: [], failed: ["B"], skipped: [] },
  "contract.queued": { contract: "B", title: "Bee", hash: "h", maxAttempts: 3 },
  "contract.skipped": { contract: "B", why: "w" },
  "contract.finished": { contract: "B", state: "failed" },
  "attempt.started": { contract: "B", attempt: 1, worker: "w", base: "b" },
  "attempt.finished": { contract: "B", attempt: 1, durationMs: 1 },
  "worker.reported": { contract: "B", attempt: 1, outcome: "done", summary: "s", durationMs: 1 },
  "model.asked": { contract: "B", attempt: 1, role: "implement", model: "m" },
  "model.answered": { role: "implement", model: "m", durationMs: 1, chars: 1 },
  "model.fell-through": { contract: "B", attempt: 1, role: "implement", model: "m", why: "w" },
  "model.chosen": { models: ["m"], why: "w" },
  "change.collected": { contract: "B", attempt: 1, files: [], added: 0, removed: 0 },
  "gate.started": { contract: "B", attempt: 1, gate: "g" },
  "gate.finished": { contract: "B", gate: "g", status: "broken", ms: 1, findings: [] },
  "verdict.reached": { contract: "B", attempt: 1, verdict: "fail", fails: 1, warns: 0 },
  "decision.made": { contract: "B", attempt: 1, decision: { kind: "accept" } },
  "question.asked": { id: "q", kind: "text", title: "t", choices: [], timeoutMs: 1 },
  "question.answered": { id: "q", by: "x" },
  "decision.asked": { id: "d", title: "t", choices: [] },
  "decision.answered": { id: "d", choice: "yes", by: "x" },
  "notice.shown": { severity: "info", text: "t" },
  "diff.shown": {
    title: "t",
    path: "p",
    left: { path: "l", bytes: 1, sha256: "" },
    right: { path: "r", bytes: 1, sha256: "" },
  },
  "location.opened": { path: "p" },
  "review.opened": { contract: "B", diffHash: "h" },
  "review.closed": { contract: "B", verb: "accept", reviewer: "x", diffHash: "h" },
  "contract.merged": { contract: "B", title: "Bee", work: run, diffHash: "h", paths: ["p"] },
  "contract.prepared": {
    contract: "B",
    attempt: 1,
    folder: "/f",
    base: "b",
    prompt: { path: "p", bytes: 1, sha256: "" },
    slot: "s",
    until: 1,
  },
  "final.checked": { contracts: ["B"], checks: [{ name: "all", ok: false, why: "w" }] },
  "wave.estimated": { contracts: [{ id: "B", worker: "w", tokens: 1, usd: "unknown" }], usd: "unknown" },
  "control.accepted": { id: "c", verb: "cancel", target: run },
  "control.refused": { id: "c", verb: "steer", why: "w" },
  "process.started": { pid: 9, startTime: "s", marker: "m", what: "pi" },
  "process.ended": { pid: 9, how: "exited 0" },
  "process.swept": { pids: [9], why: "w" },
  "completion.requested": { id: "c", model: "m", prompt: { path: "p", bytes: 1, sha256: "" }, deadline: 1 },
  "usage.recorded": { model: "m", usage: { input: 1, output: 1, cacheRead: 0, costUsd: "unknown" } },
  "budget.reached": { what: "usd", limit: 1, used: 2 },
  "trash.stored": { id: "t", what: "w", entries: 1, bytes: 1 },
  "commit.made": { commit: "0", branch: "b", subject: "s", pushed: false },
  "progress.noted": { text: "t" },
  "command.finished": { ok: false, code: 1, summary: "s", next: [] },
};

function sample(type: EventType, seq: number): ParsedEvent {
  return parseEvent(JSON.stringify({ v: 1, run, seq, at: seq, type, ...samples[type] }));
}

describe("reduceRun", () => {
  it("is total: any events in any order give a state that every projection can show", () => {
    const types = Object.keys(eventBodies) as EventType[];
    for (const type of types) assert.equal(sample(type, 1).kind, "event", type);
    const row = fc.oneof(
      { weight: 9, arbitrary: fc.record({ type: fc.constantFrom(...types), step: fc.integer({ min: -2, max: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ type: fc.constant("moon.phased"), step: fc.integer({ min: -2, max: 3 }) }) },
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), fc.boolean(), (rows, alive) => {
        let seq = 0;
        const events = rows.map(({ type, step }): ParsedEvent => {
          seq = Math.max(1, seq + step);
          return type in samples
            ? sample(type as EventType, seq)
            : parseEvent(JSON.stringify({ v: 1, run, seq, at: seq, type }));
        });
        const states = events.reduce<RunState[]>(
          (list, event) => [...list, reduceRun(list.at(-1) ?? emptyRun(run), event)],
          [],
        );
        const state = states.at(-1) ?? emptyRun(run);
        const lines = [
          ...summary(state, alive),
          ...timeline(events),
          statusLine(state, alive),
          ...nextCommands(state, alive),
        ];
        assert.ok(lines.every((line) => typeof line === "string"));
        assert.ok(tree(state, alive).label !== undefined && ledgerRow(state, alive).run === run);
        for (const [index, next] of states.entries()) notices(states[index - 1], next);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps what it was given: states are not changed by later events", () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    let state = freeze(emptyRun(run));
    let seq = 0;
    for (const type of Object.keys(samples) as EventType[]) state = freeze(reduceRun(state, sample(type, (seq += 1))));
    assert.equal(state.seq, seq);
  });

  it("an event that is read twice counts once, a gap is told", () => {
    const usage: NewEvent = {
      type: "usage.recorded",
      model: "m",
      usage: { input: 5, output: 1, cacheRead: 0, costUsd: 0.5 },
    };
    const events = [parsed(1, started), parsed(2, usage), parsed(2, usage), parsed(1, started), parsed(5, usage)];
    const state = foldRun(run, events);
    assert.deepEqual([state.usage?.input, state.seq, state.faults], [10, 5, ["event 5 follows event 2"]]);
  });

  it("what a lane did not tell stays unknown, with what is known beside it", () => {
    const usage = (costUsd: number | "unknown", input: number | "unknown"): NewEvent => ({
      type: "usage.recorded",
      contract: "B",
      attempt: 1,
      model: "m",
      usage: { input, output: 1, cacheRead: 0, costUsd },
    });
    const state = fold(started, attempt, usage(0.25, 10), usage("unknown", "unknown"), usage(0.5, 5));
    assert.deepEqual(
      [state.usage, state.knownCostUsd, state.contracts[0]?.attempts[0]?.usage],
      [{ input: "unknown", output: 3, cacheRead: 0, costUsd: "unknown" }, 0.75, state.usage],
    );
    assert.equal(usageText(state), "tokens in unknown, 3 tokens out, cost unknown, at least $0.75");
    assert.equal(fold(started).usage, undefined);
  });

  it("an attempt that nobody will decide is cut short, a decided one is not", () => {
    const decided: NewEvent = {
      type: "decision.made",
      contract: "B",
      attempt: 1,
      decision: { kind: "retry", sameSession: false, why: "w" },
    };
    const second: NewEvent = { type: "attempt.started", contract: "B", attempt: 2, worker: "completion", base: "0" };
    for (const stop of [parkedEvent, resumedEvent, cancelledEvent, finished(false)]) {
      const attempts: readonly AttemptState[] =
        fold(started, attempt, decided, second, stop).contracts[0]?.attempts ?? [];
      assert.deepEqual(
        attempts.map(({ cutShort }) => cutShort),
        [false, true],
        stop.type,
      );
    }
  });

  it("what kept a contract from going on is no reason of how it stands once it went on", () => {
    const stopped: NewEvent = { type: "contract.finished", contract: "B", state: "needs-lead", why: "pi is missing" };
    const passed: NewEvent = { type: "contract.finished", contract: "B", state: "awaiting-review" };
    const why = (...events: readonly NewEvent[]): string | undefined => fold(started, ...events).contracts[0]?.why;
    assert.deepEqual(
      [
        why(stopped, parkedEvent, resumedEvent),
        why(stopped, parkedEvent, resumedEvent, attempt),
        why(stopped, parkedEvent, resumedEvent, attempt, passed),
        why(stopped, parkedEvent, resumedEvent, passed),
      ],
      ["pi is missing", undefined, undefined, undefined],
    );
  });

  it("a tree that only gates looked at was judged: no attempt, nothing queued, nothing cut short", () => {
    const gate = { contract: "B", attempt: 1, gate: "standards" };
    const finding = { rule: "r.x", severity: "FAIL", message: "m", evidence: "", remedy: "" } as const;
    const merge = (...findings: readonly (typeof finding)[]): readonly NewEvent[] => [
      { ...started, command: "merge", title: "merge A/B" },
      { type: "gate.started", ...gate },
      { type: "gate.finished", ...gate, status: "ran", ms: 1, findings: [...findings] },
    ];
    const shown = (state: RunState, alive: boolean): unknown => {
      const [contract] = tree(state, alive).children;
      assert.ok(contract);
      return [contract.detail, contract.tone, contract.children.map(({ id, kind }) => [id, kind])];
    };
    const row = [[`${run}/B/attempt-1/standards`, "gate"]];
    const busy = fold(...merge().slice(0, 2));
    assert.deepEqual(shown(busy, true), ["running", "busy", row]);
    assert.equal(statusLine(busy, true), "orch: merge A/B, gate standards");
    assert.deepEqual(shown(busy, false), ["interrupted", "attention", row]);
    const green = fold(...merge(), finished(true));
    assert.deepEqual(shown(green, false), ["judged: nothing found", "good", row]);
    assert.deepEqual(
      [green.contracts[0]?.phase, ledgerRow(green, false).attempts, green.contracts[0]?.attempts[0]?.cutShort],
      ["judged", 0, false],
    );
    assert.doesNotMatch(summary(green, false).join("\n"), /queued|cut short|attempt 1/);
    const red = fold(...merge(finding), finished(false));
    assert.deepEqual(shown(red, false), ["judged: 1 failure", "bad", row]);
    assert.match(summary(red, false).join("\n"), /B {2}judged: 1 failure\n {6}standards: 1 failure/);
    assert.deepEqual(shown(fold(...merge().slice(0, 2), cancelledEvent), false), ["cancelled", "idle", row]);
  });

  it("asks are pending until answered; an end or a new runner clears them", () => {
    const answer: NewEvent = { type: "decision.answered", id: "d-1", choice: "yes", by: "kim" };
    const pending = (...events: readonly NewEvent[]): string[] =>
      fold(started, decision("d-1"), decision("d-2"), ...events).pending.map(({ id }) => id);
    assert.deepEqual(
      [
        pending(),
        pending(answer),
        pending(decision("d-1")),
        pending(parkedEvent),
        pending(resumedEvent),
        pending(cancelledEvent),
        pending(finished(true)),
      ],
      [["d-1", "d-2"], ["d-2"], ["d-2", "d-1"], ["d-1", "d-2"], [], [], []],
    );
  });

  it("processes that may still live are those started and not ended in this life of the run", () => {
    const process = (pid: number): NewEvent => ({
      type: "process.started",
      pid,
      startTime: `s${pid}`,
      marker: `m${pid}`,
      what: "pi",
    });
    const live = (...events: readonly NewEvent[]): number[] =>
      fold(started, process(1), process(2), ...events).processes.map(({ pid }) => pid);
    assert.deepEqual(
      [
        live(),
        live({ type: "process.ended", pid: 1, how: "exited 0" }),
        live({ type: "process.swept", pids: [2], why: "w" }),
        live(resumedEvent),
      ],
      [[1, 2], [2], [1], []],
    );
  });
});

describe("standing", () => {
  const rows: readonly {
    readonly name: string;
    readonly state: RunState;
    readonly alive: Standing;
    readonly dead: Standing;
  }[] = [
    { name: "nothing yet", state: fold(), alive: "running", dead: "interrupted" },
    { name: "started", state: fold(started), alive: "running", dead: "interrupted" },
    { name: "asking", state: fold(started, decision("d")), alive: "waiting", dead: "interrupted" },
    { name: "parked", state: fold(started, parkedEvent), alive: "parked", dead: "parked" },
    {
      name: "parked and resumed",
      state: fold(started, parkedEvent, resumedEvent),
      alive: "running",
      dead: "interrupted",
    },
    { name: "finished well", state: fold(started, finished(true)), alive: "ok", dead: "ok" },
    { name: "finished badly", state: fold(started, finished(false)), alive: "failed", dead: "failed" },
    {
      name: "an end without a result",
      state: fold(started, { type: "run.finished", outcome: "failed" }),
      alive: "running",
      dead: "interrupted",
    },
    { name: "cancelled", state: fold(started, cancelledEvent, finished(false)), alive: "cancelled", dead: "cancelled" },
  ];
  for (const { name, state, alive, dead } of rows) {
    it(name, () => {
      assert.deepEqual([standingOf(state, true), standingOf(state, false)], [alive, dead]);
      assert.equal(isOver(dead) && isResumable(dead), false);
    });
  }
});

describe("notices", () => {
  it("say what is new, once, and nothing to who attaches late", () => {
    const before = fold(started);
    const asked = reduceRun(before, parsed(2, decision("d-1")));
    assert.deepEqual(notices(undefined, asked), []);
    assert.deepEqual(notices(asked, asked), []);
    assert.deepEqual(notices(before, asked), [
      { severity: "warning", text: "title of d-1", hint: "orch reply d-1 --choice yes" },
    ]);
    const parked = reduceRun(asked, parsed(3, parkedEvent));
    assert.deepEqual(notices(asked, parked), []);
    assert.deepEqual(notices(before, fold(started, parkedEvent)), [
      { severity: "warning", text: "Parked: w", hint: "h" },
    ]);
    assert.deepEqual(notices(before, fold(started, finished(true))), [{ severity: "info", text: "s" }]);
    assert.deepEqual(notices(before, fold(started, cancelledEvent, finished(false))), []);
  });

  it("several at once are all told, of many the latest are kept", () => {
    const shown = (text: string): NewEvent => ({
      type: "notice.shown",
      severity: "warning",
      text,
      hint: "\u001B[31mred",
    });
    const before = fold(started, shown("old"));
    const after = fold(started, shown("old"), shown("a"), shown("b"));
    assert.deepEqual(notices(before, after), [
      { severity: "warning", text: "a", hint: "red" },
      { severity: "warning", text: "b", hint: "red" },
    ]);
    assert.equal(fold(...Array.from({ length: 50 }, (_, i) => shown(String(i)))).notices.length, keptNotices);
  });
});

describe("words", () => {
  it("how a limit was reached is told in round numbers", () => {
    assert.deepEqual(
      [
        limitText({ what: "minutes", limit: 0.1, used: 0.104_766_2 }),
        limitText({ what: "usd", limit: 0.5, used: 0.500_049_9 }),
        limitText({ what: "attempts", limit: 3, used: 3 }),
      ],
      ["limit reached: minutes, 0.1 of 0.1", "limit reached: usd, 0.5 of 0.5", "limit reached: attempts, 3 of 3"],
    );
  });

  it("durations and money", () => {
    assert.deepEqual([0, 940, 9_960, 61_000, 119_400, 125_000, 3_600_000, 7_320_000].map(durationText), [
      "0.0 s",
      "0.9 s",
      "10.0 s",
      "61 s",
      "119 s",
      "2 min 5 s",
      "60 min 0 s",
      "2 h 2 min",
    ]);
    assert.deepEqual([0, 0.00042, 0.01, 12.345].map(money), ["$0.00", "$0.00042", "$0.01", "$12.35"]);
  });

  it("the status line says what goes on and is empty when nothing does", () => {
    const asking: NewEvent = { type: "model.asked", contract: "B", attempt: 1, role: "implement", model: "m/x" };
    const gate: NewEvent = { type: "gate.started", contract: "B", attempt: 1, gate: "checks" };
    assert.deepEqual(
      [
        statusLine(fold(started), true),
        statusLine(fold(started, attempt, asking), true),
        statusLine(fold(started, attempt, asking, gate), true),
        statusLine(fold(started, attempt), false),
        statusLine(fold(started, finished(true)), true),
      ],
      [
        "orch: do A/B",
        "orch: do A/B, attempt 1, m/x works",
        "orch: do A/B, attempt 1, gate checks",
        "orch: do A/B, interrupted",
        "",
      ],
    );
  });
});
