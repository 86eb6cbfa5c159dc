import assert from "node:assert/strict";
import { exitOf, otherRung, tellWaiting, waveResult, waysOn } from "../../../shared/app/wave-result.ts";
import type { ContractOutcome } from "../../../shared/engine/run-contract.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import type { RunState } from "../../../shared/events/run-state.ts";
import { Contract } from "../../../shared/model/contract.ts";
import type { Decision } from "../../../shared/model/decision.ts";
import type { NewEvent } from "../../../shared/model/event.ts";
import { parkingCodes } from "../../../shared/model/run.ts";
import type { Worker } from "../../../shared/ports/worker.ts";

type Reason = Extract<Decision, { readonly kind: "needs-lead" }>["reason"];
const outcome = (state: ContractOutcome["state"], reason: Reason = "environment"): ContractOutcome => ({
  contract: "T1",
  state,
  decision:
    state === "needs-lead"
      ? { kind: "needs-lead", reason, why: "pi is missing", hint: "Install pi, then run the command again" }
      : state === "blocked"
        ? { kind: "blocked", why: "no" }
        : { kind: "accept" },
  attempts: [],
  findings: [],
});
const wave = (
  outcomes: readonly ContractOutcome[],
  failed: readonly string[] = [],
  skipped: readonly string[] = [],
): Parameters<typeof waveResult>[1] => ({ outcomes, passed: [], failed, skipped });

function stateOf(...events: readonly NewEvent[]): RunState {
  const started: NewEvent = { type: "run.started", command: "run", title: "Tools", host: "cli", version: "0", pid: 1 };
  return foldRun(
    "r-1",
    [started, ...events].map((event, at) => ({
      kind: "event",
      event: { v: 1, run: "r-1", seq: at + 1, at, ...event },
    })),
  );
}
const finished = (
  contract: string,
  state: "blocked" | "awaiting-review" | "needs-lead",
  why = "because",
): NewEvent[] => [
  { type: "contract.queued", contract, title: `title of ${contract}`, hash: "h", maxAttempts: 3 },
  { type: "contract.finished", contract, state, why },
];

describe("the end of a wave", () => {
  const table: readonly [string, Parameters<typeof exitOf>[0], number][] = [
    ["all passed", wave([outcome("awaiting-review"), outcome("accepted")]), 0],
    ["one failed", wave([outcome("failed")], ["T1"]), 1],
    ["only skipped", wave([], [], ["T2"]), 1],
    ["one is blocked", wave([outcome("failed"), outcome("blocked")], ["T1", "T2"]), 3],
    ["one needs a lead", wave([outcome("blocked"), outcome("needs-lead")], ["T1", "T2"]), 4],
    ["only the budget", wave([outcome("needs-lead", "budget")], ["T1"]), 6],
    ["the budget and more", wave([outcome("needs-lead", "budget"), outcome("needs-lead")], ["T1", "T2"]), 4],
  ];
  for (const [name, given, code] of table) it(`${name}: exit ${code}`, () => assert.equal(exitOf(given), code));

  it("three ways on after BLOCKED, NEEDS_LEAD and a ladder that was used up; none after a pass", () => {
    const ways = (phase: Parameters<typeof waysOn>[0]["phase"]): readonly string[] =>
      waysOn({ id: "T1", title: "Trim", phase }, "T1.json");
    for (const phase of ["blocked", "needs-lead", "failed"] as const)
      assert.deepEqual(ways(phase), [
        "fix the contract and re-run: orch run --title Trim T1.json",
        "hand it to another worker (orch doctor lists them): orch dispatch T1.json --worker ID",
        "take over: orch review T1 --take-over",
      ]);
    for (const phase of ["awaiting-review", "accepted", "skipped"] as const) assert.deepEqual(ways(phase), []);
  });

  it("a title is the repository's: pasted into a shell it stays a title", () => {
    const row = { id: "T1", title: "Trim $(touch x) `id`, it's", phase: "failed" } as const;
    assert.equal(
      waysOn(row, ".orch/contracts/$(id).json")[0],
      `fix the contract and re-run: orch run --title 'Trim $(touch x) \`id\`, it'\\''s' '.orch/contracts/$(id).json'`,
    );
  });

  it("a compact line a contract, in order, then what was used; next are the reviews", () => {
    const state = stateOf(...finished("T1", "awaiting-review"), ...finished("T2", "blocked"));
    const result = waveResult(
      state,
      wave([outcome("awaiting-review"), outcome("blocked")], ["T2"]),
      (id) => `${id}.json`,
    );
    assert.equal(result.summary, "Tools: 2 contracts, 1 passed, 1 blocked");
    assert.deepEqual((result.data as { text: string[] }).text, [
      "T1  PASS, awaiting review: because",
      "T2  BLOCKED: because",
      "    fix the contract and re-run: orch run --title 'title of T2' T2.json",
      "    hand it to another worker (orch doctor lists them): orch dispatch T2.json --worker ID",
      "    take over: orch review T2 --take-over",
      "no model was asked",
    ]);
    assert.deepEqual(result.next, ["orch review T1", "orch check T2.json", "orch status r-1"]);
    assert.equal(result.error, undefined);
  });

  it("next names a worker of the ladder that was not asked yet, and nobody where there is none", () => {
    const row = [
      { type: "contract.queued", contract: "T1", title: "t", hash: "h", maxAttempts: 1 },
      { type: "attempt.started", contract: "T1", attempt: 1, worker: "haiku", base: "b" },
      { type: "contract.finished", contract: "T1", state: "failed", why: "red" },
    ] as const;
    const contract = Contract.parse({ id: "T1", title: "t", goal: "g", allowed: ["a"] });
    const nextFor = (...ladder: readonly string[]): readonly string[] => {
      const parts = { ladderOf: () => ({ ladder: ladder.map((id) => ({ id }) as Worker), skipped: [] }) };
      const other = otherRung(parts, [contract]);
      return waveResult(stateOf(...row), wave([outcome("failed")], ["T1"]), (id) => id, other).next;
    };
    assert.deepEqual(nextFor("haiku", "sonnet"), ["orch dispatch T1 --worker sonnet", "orch status r-1"]);
    assert.deepEqual(nextFor("haiku"), ["orch review T1", "orch status r-1"]);
  });

  it("what a person mends outside the contract parks the run, and its lines are said before", () => {
    const state = stateOf(...finished("T1", "needs-lead"));
    const result = waveResult(state, wave([outcome("needs-lead")], ["T1"]), (id) => id);
    assert.ok(parkingCodes.has(result.error?.code ?? ""));
    assert.equal(result.error?.hint, "Install pi. Then go on with: orch resume r-1");
    const said: string[] = [];
    tellWaiting({ notify: ({ text }) => said.push(text) }, result);
    assert.equal(said[0], "T1  NEEDS_LEAD: because");
    for (const reason of ["budget", "exhausted", "judgement"] as const)
      assert.equal(waveResult(state, wave([outcome("needs-lead", reason)]), (id) => id).error, undefined, reason);
  });
});
