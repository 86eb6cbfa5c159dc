import assert from "node:assert/strict";
import {
  type AttemptOutcome,
  budgetReached,
  leftOf,
  decide,
  decideReadiness,
  overBudget,
  type PolicyFacts,
  policyTable,
  spentOnRung,
} from "../../../shared/engine/policy.ts";
import type { Decision } from "../../../shared/model/decision.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import type { Limits } from "../../../shared/model/run.ts";
import type { Verdict } from "../../../shared/model/verdict.ts";

const limits: Limits = { maxAttempts: 3, maxRevisions: 1, acceptRevise: 0.85, acceptWarn: 0.7 };
const facts: PolicyFacts = {
  canResume: false,
  feedbackAt: ".orch/runs/A/attempt-1/feedback.md",
  changeAt: "r-1/A/attempt-1",
};
const fault: Finding = {
  rule: "check_failed",
  severity: "FAIL",
  message: "a test failed",
  evidence: "",
  remedy: "mend it",
};
const doubt: Finding = { ...fault, rule: "acceptance_unmet", message: "criterion 1 is probably not met" };
const fail = (...findings: Finding[]): Verdict => ({
  kind: "fail",
  findings: findings.length === 0 ? [fault] : findings,
});
const pass: Verdict = { kind: "pass", warnings: [] };
const broken: Verdict = {
  kind: "inconclusive",
  broken: ["checks"],
  why: "pytest is missing",
  hint: "Install pytest",
  findings: [],
};

const outcome = (more: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  attempt: 1,
  worker: "w",
  report: { kind: "done", summary: "did it" },
  verdict: fail(),
  costUsd: 0,
  durationMs: 60_000,
  ...more,
});
const because = (cause: NonNullable<AttemptOutcome["report"]["cause"]>): AttemptOutcome =>
  outcome({
    report: { kind: "failed", cause, summary: "what happened", hint: "Do this" },
    verdict: { ...broken, broken: [] },
  });
const retried = outcome({ decision: { kind: "retry", sameSession: false, why: "" } });
const escalated = outcome({ decision: { kind: "escalate", to: "v", why: "" } });
const lost = outcome({ verdict: broken, decision: { kind: "needs-lead", reason: "gate-broken", why: "", hint: "" } });
const stopped = outcome({ report: { kind: "cancelled", summary: "" }, verdict: { ...broken, broken: [] } });

const lead = (reason: string, why: string, hint: string): unknown => ({ kind: "needs-lead", reason, why, hint });
const exhaustedHint =
  "Read .orch/runs/A/attempt-1/feedback.md and mend it by hand or with another model, or take the last change with: orch apply r-1/A/attempt-1";

interface Row {
  readonly row: (typeof policyTable)[number]["id"];
  readonly name: string;
  readonly history: readonly AttemptOutcome[];
  readonly limits?: Partial<Limits>;
  readonly facts?: Partial<PolicyFacts>;
  readonly wanted: unknown;
}

const rows: readonly Row[] = [
  {
    row: "person-edited",
    name: "a person's edit",
    history: [because("person-edited")],
    wanted: lead("person-edited", "what happened", "Do this"),
  },
  {
    row: "person-edited",
    name: "a person's edit without a hint of its own",
    history: [outcome({ report: { kind: "failed", cause: "person-edited", summary: "edited" } })],
    wanted: lead("person-edited", "edited", "Nothing of it was overwritten. Look at the files, then: orch resume"),
  },
  {
    row: "gate-decides",
    name: "a gate that decides stands over the worker's own failure",
    history: [outcome({ ...because("protocol"), verdict: { ...broken, decides: true } })],
    wanted: lead("gate-broken", "checks: pytest is missing", "Install pytest"),
  },
  {
    row: "gate-decides",
    name: "and over an attempt that was stopped",
    history: [outcome({ ...stopped, verdict: { ...broken, decides: true } })],
    wanted: lead("gate-broken", "checks: pytest is missing", "Install pytest"),
  },
  {
    row: "person-edited",
    name: "but a person's edit keeps the tree as it is",
    history: [outcome({ ...because("person-edited"), verdict: { ...broken, decides: true } })],
    wanted: lead("person-edited", "what happened", "Do this"),
  },
  {
    row: "stopped",
    name: "the worker was stopped",
    history: [stopped],
    wanted: lead("cancelled", "", "Go on with: orch resume"),
  },
  {
    row: "environment",
    name: "the environment, even on the last attempt",
    history: [retried, retried, because("environment")],
    wanted: lead("environment", "what happened", "Do this"),
  },
  {
    row: "models",
    name: "no model gave anything usable, also with a next rung",
    history: [because("models")],
    facts: { nextWorker: "v" },
    wanted: lead("models", "what happened", "Do this"),
  },
  {
    row: "protocol",
    name: "the worker broke its protocol",
    history: [because("protocol")],
    wanted: lead("worker-protocol", "what happened", "Do this"),
  },
  {
    row: "gate-broken",
    name: "a gate broke",
    history: [outcome({ verdict: broken })],
    wanted: lead("gate-broken", "checks: pytest is missing", "Install pytest"),
  },
  { row: "pass", name: "pass", history: [outcome({ verdict: pass })], wanted: { kind: "accept" } },
  {
    row: "pass",
    name: "pass wins over a budget",
    history: [outcome({ verdict: pass })],
    limits: { maxMinutes: 1 },
    wanted: { kind: "accept" },
  },
  {
    row: "judged-again",
    name: "a second doubt of the judge",
    history: [
      outcome({ verdict: fail(doubt), decision: { kind: "retry", sameSession: false, why: "" } }),
      outcome({ verdict: fail(doubt) }),
    ],
    wanted: lead(
      "judgement",
      "the judge still doubts it: criterion 1 is probably not met",
      "Look at the change, then take it with: orch apply r-1/A/attempt-1",
    ),
  },
  {
    row: "budget",
    name: "minutes used up",
    history: [retried, outcome()],
    limits: { maxMinutes: 2 },
    wanted: lead(
      "budget",
      "the limit of 2 minutes is reached",
      "Raise the limit, or take the last change with: orch apply r-1/A/attempt-1",
    ),
  },
  {
    row: "budget",
    name: "money used up",
    history: [outcome({ costUsd: 0.5 })],
    limits: { maxCostUsd: 0.5 },
    wanted: lead(
      "budget",
      "the limit of 0.5 USD is reached",
      "Raise the limit, or take the last change with: orch apply r-1/A/attempt-1",
    ),
  },
  {
    row: "gave-up-twice",
    name: "the last worker stopped: the contract is wrong",
    history: [outcome({ report: { kind: "gave-up", summary: "a.py has no slugify" } })],
    wanted: { kind: "blocked", why: "w says that it is blocked: a.py has no slugify" },
  },
  {
    row: "gave-up-twice",
    name: "two workers stopped, and a third is not asked",
    history: [
      outcome({ report: { kind: "gave-up", summary: "no" }, decision: { kind: "escalate", to: "v", why: "" } }),
      outcome({ worker: "v", report: { kind: "gave-up", summary: "a.py has no slugify" } }),
    ],
    facts: { nextWorker: "u" },
    wanted: { kind: "blocked", why: "v says that it is blocked: a.py has no slugify" },
  },
  {
    row: "gave-up",
    name: "gave up, with a next rung",
    history: [outcome({ report: { kind: "gave-up", summary: "" } })],
    facts: { nextWorker: "v" },
    wanted: { kind: "escalate", to: "v", why: "a test failed" },
  },
  {
    row: "retry",
    name: "a fault, attempts left",
    history: [outcome()],
    wanted: { kind: "retry", sameSession: false, why: "a test failed" },
  },
  {
    row: "retry",
    name: "two faults",
    history: [outcome({ verdict: fail(fault, doubt) })],
    wanted: { kind: "retry", sameSession: false, why: "a test failed (and 1 more)" },
  },
  {
    row: "retry",
    name: "in the same session when the worker can",
    history: [outcome({ report: { kind: "done", summary: "", session: "s1" } })],
    facts: { canResume: true },
    wanted: { kind: "retry", sameSession: true, why: "a test failed" },
  },
  {
    row: "retry",
    name: "no session to go on in",
    history: [outcome()],
    facts: { canResume: true },
    wanted: { kind: "retry", sameSession: false, why: "a test failed" },
  },
  {
    row: "retry",
    name: "the first doubt of the judge",
    history: [outcome({ verdict: fail(doubt) })],
    wanted: { kind: "retry", sameSession: false, why: "criterion 1 is probably not met" },
  },
  {
    row: "retry",
    name: "an unusable reply is an attempt like any other",
    history: [outcome({ report: { kind: "failed", cause: "unusable", summary: "" } })],
    wanted: { kind: "retry", sameSession: false, why: "a test failed" },
  },
  {
    row: "retry",
    name: "attempts the environment spoilt are not counted",
    history: [lost, lost, because("models"), stopped, outcome()],
    wanted: { kind: "retry", sameSession: false, why: "a test failed" },
  },
  {
    row: "retry",
    name: "a new rung has its own count",
    history: [retried, retried, escalated, outcome()],
    wanted: { kind: "retry", sameSession: false, why: "a test failed" },
  },
  {
    row: "escalate",
    name: "the last attempt, with a next rung",
    history: [retried, retried, outcome()],
    facts: { nextWorker: "v" },
    wanted: { kind: "escalate", to: "v", why: "a test failed" },
  },
  {
    row: "exhausted",
    name: "the last attempt on the last rung",
    history: [retried, retried, outcome()],
    wanted: lead("exhausted", "all 3 attempts failed: a test failed", exhaustedHint),
  },
  {
    row: "exhausted",
    name: "the only attempt",
    history: [outcome()],
    limits: { maxAttempts: 1 },
    wanted: lead("exhausted", "the only attempt failed: a test failed", exhaustedHint),
  },
];

describe("policy", () => {
  for (const { row, name, history, limits: some, facts: more, wanted } of rows) {
    it(`${row}: ${name}`, () =>
      assert.deepEqual(decide(history, { ...limits, ...some }, { ...facts, ...more }), wanted));
  }

  it("every row of the table has a case", () =>
    assert.deepEqual(
      policyTable.map(({ id }) => id),
      [...new Set(rows.map(({ row }) => row))],
    ));

  it("a budget of the whole run is worded like a contract's own", () => {
    const reached = { what: "usd", limit: 2, used: 2.1 } as const;
    assert.deepEqual(overBudget(reached, {}), lead("budget", "the limit of 2 USD is reached", "Raise the limit"));
    assert.deepEqual(
      overBudget({ ...reached, what: "minutes" }, facts),
      lead(
        "budget",
        "the limit of 2 minutes is reached",
        "Raise the limit, or take the last change with: orch apply r-1/A/attempt-1",
      ),
    );
  });

  it("offers no change to take when the attempt changed nothing", () => {
    const { changeAt: _none, ...unchanged } = facts;
    assert.deepEqual(
      decide([outcome()], { ...limits, maxAttempts: 1 }, unchanged),
      lead(
        "exhausted",
        "the only attempt failed: a test failed",
        "Read .orch/runs/A/attempt-1/feedback.md and mend it by hand or with another model",
      ),
    );
  });

  it("nothing to decide before the first attempt", () => assert.throws(() => decide([], limits, facts), TypeError));

  it("a cost nobody told is not held against the work", () =>
    assert.equal(budgetReached([outcome({ costUsd: "unknown" })], { ...limits, maxCostUsd: 0.01 }), undefined));

  it("what is left for the next attempt is what the others have not used", () => {
    const history = [
      outcome({ costUsd: 0.5, durationMs: 60_000 }),
      outcome({ costUsd: "unknown", durationMs: 30_000 }),
    ];
    assert.deepEqual(leftOf(history, { ...limits, maxCostUsd: 2, maxMinutes: 10 }), { minutes: 8.5, usd: 1.5 });
    assert.deepEqual(leftOf(history, limits), {});
  });

  it("counts what was spent on a rung", () =>
    assert.deepEqual(
      [spentOnRung([]), spentOnRung([retried, lost, stopped, outcome()]), spentOnRung([retried, escalated])],
      [0, 2, 0],
    ));
});

describe("policy: readiness", () => {
  const warn: Finding = { ...fault, severity: "WARN" };
  const table: readonly [string, readonly Finding[], Decision | undefined][] = [
    ["nothing found", [], undefined],
    ["warnings let it go", [warn], undefined],
    ["one fault blocks", [warn, fault], { kind: "blocked", why: "a test failed" }],
    [
      "it says where",
      [{ ...fault, path: "a/spec.md", line: 3 }],
      { kind: "blocked", why: "a/spec.md:3: a test failed" },
    ],
    ["several are counted", [fault, fault, fault], { kind: "blocked", why: "a test failed (and 2 more)" }],
  ];
  for (const [name, findings, wanted] of table) it(name, () => assert.deepEqual(decideReadiness(findings), wanted));
});
