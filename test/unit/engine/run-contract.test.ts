import assert from "node:assert/strict";
import { isAbort, stopReason, type StopVerb } from "../../../shared/base/abort.ts";
import { absPath, type RepoPath } from "../../../shared/base/paths.ts";
import type { ComposeAsk } from "../../../shared/engine/attempt.ts";
import type { AttemptOutcome } from "../../../shared/engine/policy.ts";
import { priorAttempts } from "../../../shared/engine/prior-attempts.ts";
import { type ContractOrder, runContract } from "../../../shared/engine/run-contract.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import { Contract } from "../../../shared/model/contract.ts";
import { OrchError } from "../../../shared/model/error.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import { GuardReport } from "../../../shared/model/gate-report.ts";
import type { GateResult } from "../../../shared/model/gate-result.ts";
import type { Finisher } from "../../../shared/ports/finisher.ts";
import type { Gate, GateInput } from "../../../shared/ports/gate.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryWorkspace } from "../../support/memory-workspace.ts";
import { RecordingSink } from "../../support/recording-sink.ts";
import { ScriptedWorker, type Turn } from "../../support/scripted-worker.ts";

const fault: Finding = {
  rule: "wrong",
  severity: "FAIL",
  message: "the answer is wrong",
  path: "a.py",
  line: 1,
  evidence: "x = 1",
  remedy: "write x = 2",
};
/** Red until a.py says what it should. */
const rightAnswer = (phase: Gate["phase"] = "change"): Gate => ({
  id: "answer",
  phase,
  run: async (input): Promise<GateResult> => {
    const bytes = await input.read("a.py" as never);
    return {
      kind: "ran",
      findings: bytes !== undefined && new TextDecoder().decode(bytes) === "x = 2\n" ? [] : [fault],
    };
  },
});
const gate = (id: string, result: GateResult, phase: Gate["phase"] = "change", seen: GateInput[] = []): Gate => ({
  id,
  phase,
  run: (input) => {
    seen.push(input);
    return Promise.resolve(result);
  },
});
const nothing: GateResult = { kind: "ran", findings: [] };

class Finish implements Finisher {
  readonly finished: string[] = [];
  error: Error | undefined;
  finish(contract: Contract): ReturnType<Finisher["finish"]> {
    if (this.error) return Promise.reject(this.error);
    this.finished.push(contract.id);
    return Promise.resolve({ state: "accepted", summary: "Committed", commit: "c1", pushed: false });
  }
}

interface Bench {
  readonly order: ContractOrder;
  readonly sink: RecordingSink;
  readonly workspace: MemoryWorkspace;
  readonly finish: Finish;
  readonly asks: ComposeAsk[];
  readonly workers: readonly ScriptedWorker[];
}

function bench(
  turns: readonly Turn[],
  more: Partial<ContractOrder> & { readonly contract?: Contract } = {},
  second?: readonly Turn[],
): Bench {
  const sink = new RecordingSink();
  const workspace = new MemoryWorkspace({ "a.py": "x = 0\n" });
  const finish = new Finish();
  const asks: ComposeAsk[] = [];
  const workers = [
    new ScriptedWorker(turns, { id: "first" }),
    ...(second === undefined ? [] : [new ScriptedWorker(second, { id: "second" })]),
  ];
  const order: ContractOrder = {
    contract: Contract.parse({ id: "A", title: "a", goal: "make x right", allowed: ["a.py"] }),
    replyDir: "",
    workspaces: workspace,
    ladder: workers,
    gates: [rightAnswer()],
    finisher: finish,
    sink,
    clock: new FakeClock(),
    limits: { maxAttempts: 3, maxRevisions: 1, acceptRevise: 0.85, acceptWarn: 0.7 },
    compose: (ask) => {
      asks.push(ask);
      return Promise.resolve({ messages: [{ role: "user", content: ask.feedback ?? "first" }] });
    },
    priorAttempts: [],
    run: "r-1",
    runDir: absPath("/runs/r-1"),
    ...more,
  };
  return { order, sink, workspace, finish, asks, workers };
}

/** Each look at the wall's clock finds it a day further back, as after a bad battery or a time server. */
class JumpingClock extends FakeClock {
  asked = 0;

  override now(): number {
    this.asked += 1;
    return super.now() - this.asked * 86_400_000;
  }
}

const never = new AbortController().signal;
const wrong: Turn = { files: { "a.py": "x = 1\n" } };
const right: Turn = { files: { "a.py": "x = 2\n" } };

describe("run-contract", () => {
  it("takes a new file that was refused for being there away before the next attempt, and no other", async () => {
    const misplaced: Finding = { ...fault, rule: "out_of_scope", path: "x/new.py" };
    const noNew: Gate = {
      id: "scope",
      phase: "change",
      run: async (input): Promise<GateResult> => ({
        kind: "ran",
        findings: (await input.read("x/new.py" as never)) === undefined ? [] : [misplaced],
      }),
    };
    const turn: Turn = { files: { "x/new.py": "junk\n", "x/kept.py": "fine\n" } };
    const { order, workspace, sink } = bench([turn, right], {
      gates: [noNew, rightAnswer()],
      refused: (findings, files) =>
        files.flatMap(({ path, status }) =>
          status === "added" && findings.some((one) => one.path === path) ? path : [],
        ),
    });
    const outcome = await runContract(order, never);
    assert.equal(outcome.state, "accepted");
    assert.deepEqual([...workspace.files.keys()].toSorted(), ["a.py", "x/kept.py"]);
    assert.match(sink.of("progress.noted")[0]?.text ?? "", /before the next attempt: x\/new\.py$/);
  });

  it("a fault goes back as feedback, the second attempt passes and is finished", async () => {
    const { order, sink, workspace, finish, asks } = bench([wrong, right]);
    const outcome = await runContract(order, never);
    assert.deepEqual(
      [outcome.state, outcome.decision, outcome.finished?.commit],
      ["accepted", { kind: "accept" }, "c1"],
    );
    assert.deepEqual(finish.finished, ["A"]);
    assert.deepEqual([workspace.rolledBack, workspace.disposed, workspace.files.get("a.py")], [0, 1, "x = 2\n"]);
    assert.equal(asks[0]?.feedback, undefined);
    assert.ok(asks[1]?.feedback?.includes("the answer is wrong") && asks[1].feedback.includes("write x = 2"));
    assert.deepEqual(sink.types(), [
      ...[
        "attempt.started",
        "worker.reported",
        "change.collected",
        "gate.started",
        "gate.finished",
        "verdict.reached",
        "decision.made",
        "attempt.finished",
      ],
      ...[
        "attempt.started",
        "worker.reported",
        "change.collected",
        "gate.started",
        "gate.finished",
        "verdict.reached",
        "decision.made",
        "attempt.finished",
      ],
      "contract.finished",
    ]);
    assert.deepEqual([...sink.sidecars.keys()].toSorted(), [
      ...["diff.patch", "feedback.md", "guard.json", "prompt.md", "report.json"].map((name) => `A/attempt-1/${name}`),
      ...["diff.patch", "guard.json", "prompt.md", "report.json"].map((name) => `A/attempt-2/${name}`),
    ]);
    const guard = GuardReport.parse(JSON.parse(sink.sidecars.get("A/attempt-1/guard.json") ?? ""));
    assert.deepEqual(
      [guard.verdict, guard.findings, guard.stats],
      ["fail", [fault], { files: 1, added: 1, removed: 1, testAdded: 0, testRemoved: 0 }],
    );
  });

  it("attempts used up: failed, tree as it was, the last change and the feedback are kept", async () => {
    const { order, sink, workspace, finish } = bench([wrong]);
    const outcome = await runContract(order, never);
    assert.equal(outcome.state, "failed");
    assert.deepEqual(outcome.decision, {
      kind: "needs-lead",
      reason: "exhausted",
      why: "all 3 attempts failed: the answer is wrong",
      hint: "Read .orch/runs/A/attempt-3/feedback.md and mend it by hand or with another model, or take the last change with: orch apply r-1/A/attempt-3",
    });
    assert.deepEqual(
      [finish.finished, workspace.files.get("a.py"), outcome.tree],
      [[], "x = 0\n", { kind: "rolled-back", trash: "trash-1" }],
    );
    assert.equal(outcome.feedback?.path, "A/attempt-3/feedback.md");
    assert.equal(outcome.change?.files.length, 1);
    assert.deepEqual(sink.of("contract.finished"), [
      { type: "contract.finished", contract: "A", state: "failed", why: "all 3 attempts failed: the answer is wrong" },
    ]);
  });

  it("escalates to the next rung, which gets the feedback and its own count", async () => {
    const { order, workers, sink, asks } = bench(
      [wrong],
      { limits: { maxAttempts: 2, maxRevisions: 1, acceptRevise: 0.85, acceptWarn: 0.7 } },
      [wrong, right],
    );
    const outcome = await runContract(order, never);
    assert.equal(outcome.state, "accepted");
    assert.deepEqual(
      workers.map(({ orders }) => orders.map(({ attempt }) => attempt)),
      [
        [1, 2],
        [3, 4],
      ],
    );
    assert.deepEqual(
      sink.of("decision.made").map(({ decision }) => decision.kind),
      ["retry", "escalate", "retry", "accept"],
    );
    assert.ok(asks[2]?.feedback?.includes("Attempt 2 did not pass"));
  });

  it("goes on in the worker's own session when it can", async () => {
    const { order, asks } = bench([]);
    const worker = new ScriptedWorker([{ ...wrong, report: { session: "s1" } }, right], { resume: true });
    assert.equal((await runContract({ ...order, ladder: [worker] }, never)).state, "accepted");
    assert.deepEqual(
      [worker.orders.map(({ session }) => session), asks.map(({ sameSession }) => sameSession)],
      [
        [undefined, "s1"],
        [false, true],
      ],
    );
  });

  it("each attempt is told what is left of the contract's limits", async () => {
    const usage = { input: 1, output: 1, cacheRead: 0, costUsd: 0.5 };
    const { order } = bench([], {
      limits: { maxAttempts: 3, maxRevisions: 0, acceptRevise: 1, acceptWarn: 1, maxCostUsd: 2 },
    });
    const worker = new ScriptedWorker([{ ...wrong, report: { usage } }, right]);
    assert.equal((await runContract({ ...order, ladder: [worker] }, never)).state, "accepted");
    assert.deepEqual(
      worker.orders.map(({ left }) => left),
      [{ usd: 2 }, { usd: 1.5 }],
    );
  });

  it("readiness blocks before anything is dispatched", async () => {
    const { order, workers, sink } = bench([right], {
      gates: [gate("ready", { kind: "ran", findings: [fault] }, "readiness"), rightAnswer()],
    });
    const outcome = await runContract(order, never);
    assert.deepEqual(
      [outcome.state, outcome.decision, outcome.findings],
      ["blocked", { kind: "blocked", why: "a.py:1: the answer is wrong" }, [fault]],
    );
    assert.equal(workers[0]?.orders.length, 0);
    assert.deepEqual(sink.types(), ["gate.started", "gate.finished", "contract.finished"]);
    assert.equal(sink.of("gate.finished")[0]?.attempt, undefined);
  });

  it("a broken gate needs a lead at once, whatever attempts are left", async () => {
    const error = new OrchError("env.missing-tool", "pytest is missing", { data: { tool: "pytest" } });
    const { order, workspace, workers } = bench([right], { gates: [gate("checks", { kind: "broken", error })] });
    const outcome = await runContract(order, never);
    assert.deepEqual(
      [outcome.state, outcome.decision],
      [
        "needs-lead",
        { kind: "needs-lead", reason: "gate-broken", why: "checks: pytest is missing", hint: "Install pytest" },
      ],
    );
    assert.deepEqual([workers[0]?.orders.length, workspace.files.get("a.py")], [1, "x = 0\n"]);
  });

  it("a gate that refuses is broken, a gate with a bug is a bug; both put the tree back", async () => {
    const throwing = (error: Error): Gate => ({ id: "g", phase: "change", run: () => Promise.reject(error) });
    const refused = bench([right], { gates: [throwing(new OrchError("env.disk-full", "no space"))] });
    assert.equal((await runContract(refused.order, never)).state, "needs-lead");
    const buggy = bench([right], { gates: [throwing(new RangeError("bug"))] });
    await assert.rejects(runContract(buggy.order, never), RangeError);
    assert.deepEqual(
      [refused.workspace.files.get("a.py"), buggy.workspace.files.get("a.py"), buggy.workspace.disposed],
      ["x = 0\n", "x = 0\n", 1],
    );
  });

  it("all change gates run and see what was found before; judgement is asked only after a pass", async () => {
    const seen: GateInput[] = [];
    const judged: GateInput[] = [];
    const gates = [
      gate("one", { kind: "ran", findings: [fault] }),
      gate("two", nothing, "change", seen),
      gate("judge", nothing, "judgement", judged),
    ];
    await runContract(
      bench([wrong], { gates, limits: { maxAttempts: 1, maxRevisions: 0, acceptRevise: 1, acceptWarn: 1 } }).order,
      never,
    );
    assert.deepEqual([seen[0]?.soFar, judged.length], [[fault], 0]);
    assert.deepEqual(
      [seen[0]?.attemptDir, seen[0]?.report?.kind],
      [{ relative: "A/attempt-1", absolute: "/runs/r-1/A/attempt-1" }, "done"],
    );
    await runContract(
      bench([right], { gates: [gate("two", nothing), gate("judge", nothing, "judgement", judged)] }).order,
      never,
    );
    assert.equal(judged.length, 1);
  });

  const causes = [
    ["models", "models"],
    ["environment", "environment"],
    ["protocol", "worker-protocol"],
  ] as const;
  for (const [cause, reason] of causes) {
    it(`${cause}: no gate is asked, no attempt is spent, the tree is put back`, async () => {
      const { order, sink, workspace } = bench([
        { ...wrong, report: { kind: "failed", cause, summary: "all six models failed", code: "model.exhausted" } },
      ]);
      const outcome = await runContract(order, never);
      assert.deepEqual([outcome.state, outcome.code], ["needs-lead", "model.exhausted"]);
      assert.ok(
        outcome.decision.kind === "needs-lead" &&
          outcome.decision.reason === reason &&
          outcome.decision.why === "all six models failed",
      );
      assert.deepEqual([sink.of("gate.started").length, workspace.files.get("a.py")], [0, "x = 0\n"]);
      assert.equal(sink.of("verdict.reached")[0]?.verdict, "inconclusive");
    });
  }

  it("a person's edit parks with the tree as it is", async () => {
    const { order, workspace } = bench([
      { report: { kind: "failed", cause: "person-edited", summary: "edited by you", code: "tree.changed" } },
    ]);
    workspace.files.set("a.py", "mine\n");
    const outcome = await runContract(order, never);
    assert.deepEqual(
      [outcome.state, outcome.code, outcome.tree],
      ["needs-lead", "tree.changed", { kind: "left", paths: [] }],
    );
    assert.deepEqual([workspace.rolledBack, workspace.files.get("a.py")], [0, "mine\n"]);
  });

  it("a rollback that meets a person's edit leaves it and says so", async () => {
    const { order, workspace, sink } = bench([{ ...wrong, before: () => void workspace.edited.add("b.py") }]);
    const outcome = await runContract(order, never);
    assert.deepEqual([outcome.state, outcome.tree], ["failed", { kind: "left", paths: ["b.py"] }]);
    assert.deepEqual(sink.of("progress.noted"), [
      { type: "progress.noted", text: "left as they are, changed meanwhile: b.py" },
    ]);
  });

  it("an OrchError on the way is the environment's fault", async () => {
    const { order, workspace } = bench([right], {
      compose: () => Promise.reject(new OrchError("env.disk-full", "no space left")),
    });
    const outcome = await runContract(order, never);
    assert.deepEqual([outcome.state, outcome.code], ["needs-lead", "env.disk-full"]);
    assert.equal(workspace.files.get("a.py"), "x = 0\n");
  });

  it("a commit that is refused puts the tree back; an edit after the gates is left", async () => {
    const hook = bench([right]);
    hook.finish.error = new OrchError("git.hook-failed", "the hook says no");
    const refused = await runContract(hook.order, never);
    assert.deepEqual(
      [refused.state, refused.code, refused.error?.message, hook.workspace.files.get("a.py")],
      ["needs-lead", "git.hook-failed", "the hook says no", "x = 0\n"],
    );
    const late = bench([right]);
    late.finish.error = new OrchError("tree.changed", "edited after the gates");
    const edited = await runContract(late.order, never);
    assert.deepEqual([edited.code, late.workspace.rolledBack], ["tree.changed", 0]);
    assert.ok(edited.decision.kind === "needs-lead" && edited.decision.reason === "person-edited");
  });

  it("a budget is looked at before the next call", async () => {
    const { order, sink } = bench(
      [{ ...wrong, report: { usage: { input: 1, output: 1, cacheRead: 0, costUsd: 0.3 } } }],
      {
        limits: { maxAttempts: 9, maxCostUsd: 0.5, maxRevisions: 1, acceptRevise: 0.85, acceptWarn: 0.7 },
      },
    );
    const outcome = await runContract(order, never);
    assert.deepEqual([outcome.attempts.length, outcome.state], [2, "needs-lead"]);
    assert.deepEqual(sink.of("budget.reached"), [
      { type: "budget.reached", contract: "A", attempt: 2, what: "usd", limit: 0.5, used: 0.6 },
    ]);
  });

  it("what the whole run spent stops a contract before its first call", async () => {
    const reached = { what: "usd", limit: 1, used: 1.2 } as const;
    const { order, sink, workers, workspace } = bench([right], { runBudget: () => reached });
    const outcome = await runContract(order, never);
    assert.deepEqual([outcome.state, outcome.attempts, workers[0]?.orders], ["needs-lead", [], []]);
    assert.ok(outcome.decision.kind === "needs-lead" && outcome.decision.reason === "budget");
    assert.deepEqual(sink.of("budget.reached"), [{ type: "budget.reached", contract: "A", ...reached }]);
    assert.equal(workspace.rolledBack, 1);
  });

  it("a limit that earlier attempts used up stops a resumed run before its next call", async () => {
    const spent: AttemptOutcome = {
      attempt: 1,
      worker: "first",
      report: { kind: "cancelled", summary: "" },
      verdict: { kind: "inconclusive", broken: [], why: "", findings: [] },
      costUsd: 0,
      durationMs: 120_000,
    };
    const limits = { maxAttempts: 3, maxMinutes: 2, maxRevisions: 1, acceptRevise: 0.85, acceptWarn: 0.7 };
    const { order, workers } = bench([right], { priorAttempts: [spent], limits });
    assert.deepEqual([(await runContract(order, never)).state, workers[0]?.orders], ["needs-lead", []]);
  });

  it("a lead's feedback goes to the first attempt", async () => {
    const { order, asks } = bench([right], { feedback: "1. a.py:1: wrong" });
    await runContract(order, never);
    assert.deepEqual(
      asks.map(({ feedback }) => feedback),
      ["1. a.py:1: wrong"],
    );
  });

  it("a worktree whose attempt was accepted before a kill is finished; one that differs is tried again", async () => {
    for (const same of [true, false]) {
      const { order, workspace, finish, workers } = bench([right]);
      workspace.files.set("a.py", same ? "x = 2\n" : "x = 3\n");
      const judged = await new MemoryWorkspace({ "a.py": "x = 0\n" }).open();
      await judged.write([{ path: "a.py" as RepoPath, data: new TextEncoder().encode("x = 2\n") }], never);
      const { diffHash } = await judged.collect(never);
      Object.defineProperty(workspace, "kind", { value: "worktree" });
      const prior: AttemptOutcome = {
        attempt: 1,
        worker: "first",
        report: { kind: "done", summary: "" },
        verdict: { kind: "pass", warnings: [] },
        decision: { kind: "accept" },
        diffHash,
        costUsd: 0,
        durationMs: 1,
      };
      const outcome = await runContract({ ...order, priorAttempts: [prior] }, never);
      assert.deepEqual([outcome.state, finish.finished], ["accepted", ["A"]]);
      assert.deepEqual(
        workers[0]?.orders.map(({ attempt }) => attempt),
        same ? [] : [2],
      );
    }
  });

  for (const verb of ["interrupt", "cancel"] as const satisfies readonly StopVerb[]) {
    it(`${verb} in the middle of an attempt: the tree is put back, then it rejects`, async () => {
      const stop = new AbortController();
      const { order, sink, workspace, finish } = bench([
        {
          ...wrong,
          before: ({ workspace: at }) =>
            at
              .write([{ path: "a.py" as never, data: new Uint8Array([65]) }], never)
              .then(() => stop.abort(stopReason(verb))),
        },
      ]);
      await assert.rejects(runContract(order, stop.signal), isAbort);
      assert.deepEqual(
        [workspace.files.get("a.py"), workspace.rolledBack, workspace.disposed, finish.finished],
        ["x = 0\n", 1, 1, []],
      );
      assert.deepEqual(
        sink.of("contract.finished").map(({ state }) => state),
        verb === "cancel" ? ["cancelled"] : [],
      );
    });
  }

  it("an abort at every arrow leaves the tree as it was", async () => {
    const points = [
      "attempt.started",
      "worker.reported",
      "change.collected",
      "gate.started",
      "gate.finished",
      "verdict.reached",
      "decision.made",
      "attempt.finished",
    ];
    for (const point of points) {
      const stop = new AbortController();
      const { order, sink, workspace } = bench([wrong]);
      const append = sink.append.bind(sink);
      sink.append = (event) => {
        append(event);
        if (event.type === point) stop.abort(stopReason("interrupt"));
      };
      await assert.rejects(runContract(order, stop.signal), isAbort, point);
      assert.deepEqual([workspace.files.get("a.py"), workspace.disposed], ["x = 0\n", 1], point);
    }
  });

  it("aborted before it begins: nothing is opened", async () => {
    const { order, workspace, sink } = bench([right]);
    await assert.rejects(runContract(order, AbortSignal.abort()), isAbort);
    assert.deepEqual([workspace.opened, sink.events], [0, []]);
  });

  it("what an earlier life accepted is finished, and nobody is asked again", async () => {
    const seen: GateInput[] = [];
    const { order, sink, workspace, finish, asks } = bench([], { gates: [gate("ready", nothing, "readiness", seen)] });
    workspace.files.set("a.py", "x = 2\n");
    const change = await workspace.collect();
    workspace.accepted = { change, onto: "c0" };
    const outcome = await runContract(order, never);
    assert.deepEqual([outcome.state, outcome.change, outcome.finished?.commit], ["accepted", change, "c1"]);
    assert.deepEqual([finish.finished, asks, seen], [["A"], [], []]);
    assert.deepEqual(
      sink.events.map(({ type }) => type),
      ["contract.finished"],
    );
  });

  it("what an earlier life accepted and cannot be kept is put back", async () => {
    const { order, workspace, finish } = bench([]);
    workspace.accepted = { change: await workspace.collect(), onto: "c0" };
    finish.error = new OrchError("git.hook-failed", "the hook says no");
    const outcome = await runContract(order, never);
    assert.deepEqual([outcome.state, outcome.code, workspace.rolledBack], ["needs-lead", "git.hook-failed", 1]);
  });

  it("a resumed run goes on with the next number, the last feedback, and what is left of the attempts", async () => {
    const first = bench([wrong], { limits: { maxAttempts: 2, maxRevisions: 1, acceptRevise: 0.85, acceptWarn: 0.7 } });
    const stop = new AbortController();
    const append = first.sink.append.bind(first.sink);
    first.sink.append = (event) => {
      append(event);
      if (event.type === "attempt.started" && event.attempt === 2) stop.abort(stopReason("interrupt"));
    };
    await assert.rejects(runContract(first.order, stop.signal), isAbort);
    const state = foldRun(
      "r-1",
      first.sink.events.map((event, at) => ({
        kind: "event",
        event: { v: 1, run: "r-1", seq: at + 1, at: at * 10, ...event },
      })),
    );
    const prior = priorAttempts(state.contracts[0]);
    assert.deepEqual(
      prior.map(({ attempt, verdict, report, decision }) => [attempt, verdict.kind, report.kind, decision?.kind]),
      [
        [1, "fail", "done", "retry"],
        [2, "inconclusive", "cancelled", undefined],
      ],
    );
    const second = bench([wrong], { priorAttempts: prior, limits: first.order.limits });
    const outcome = await runContract(second.order, never);
    assert.deepEqual([second.workers[0]?.orders.map(({ attempt }) => attempt), outcome.state], [[3], "failed"]);
    assert.ok(
      second.asks[0]?.feedback?.includes("Attempt 1 did not pass") && second.asks[0].feedback.includes("write x = 2"),
    );
  });

  it("a resumed run stands on the rung it had reached", async () => {
    const prior: AttemptOutcome[] = [
      {
        attempt: 1,
        worker: "first",
        report: { kind: "done", summary: "" },
        verdict: { kind: "fail", findings: [fault] },
        decision: { kind: "escalate", to: "second", why: "" },
        costUsd: 0,
        durationMs: 1,
      },
    ];
    const { order, workers } = bench([wrong], { priorAttempts: prior }, [right]);
    assert.equal((await runContract(order, never)).state, "accepted");
    assert.deepEqual(
      workers.map(({ orders }) => orders.length),
      [0, 1],
    );
  });

  it("durations come from the monotonic clock, whatever the clock on the wall does meanwhile", async () => {
    const clock = new JumpingClock();
    const { order, sink } = bench([{ ...right, before: () => clock.advance(1500) }], { clock });
    const outcome = await runContract(order, never);
    assert.equal(outcome.state, "accepted");
    const durations = sink.events.flatMap((event) => (event.type === "attempt.finished" ? [event.durationMs] : []));
    assert.deepEqual([durations, outcome.attempts.map(({ durationMs }) => durationMs)], [[1500], [1500]]);
  });
});
