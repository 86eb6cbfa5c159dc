import assert from "node:assert/strict";
import { isAbort } from "../../../shared/base/abort.ts";
import type { ContractOutcome } from "../../../shared/engine/run-contract.ts";
import { dependencies, runWave } from "../../../shared/engine/wave.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { settle } from "../../support/fake-clock.ts";
import { RecordingSink } from "../../support/recording-sink.ts";

const contract = (id: string, more: Partial<ContractInput> = {}): Contract =>
  Contract.parse({ id, title: id, goal: "g", allowed: [`${id}.py`], ...more });
const outcome = (id: string, state: ContractOutcome["state"] = "accepted"): ContractOutcome => ({
  contract: id,
  state,
  decision: state === "accepted" ? { kind: "accept" } : { kind: "blocked", why: "no" },
  attempts: [],
  findings: [],
});
const never = new AbortController().signal;

/** Runs that end when the test says so. */
class Runs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, (state: ContractOutcome["state"]) => void>();
  most = 0;

  readonly run = (one: Contract, signal: AbortSignal): Promise<ContractOutcome> =>
    new Promise((resolve, reject) => {
      this.begun.push(one.id);
      this.#ends.set(one.id, (state) => {
        this.#ends.delete(one.id);
        resolve(outcome(one.id, state));
      });
      this.most = Math.max(this.most, this.#ends.size);
      signal.addEventListener("abort", () => {
        this.#ends.delete(one.id);
        reject(signal.reason as Error);
      });
    });

  get open(): string[] {
    return [...this.#ends.keys()];
  }

  async end(id: string, state: ContractOutcome["state"] = "accepted"): Promise<void> {
    this.#ends.get(id)?.(state);
    await settle();
  }
}

describe("wave", () => {
  it("one contract: queued, run, finished", async () => {
    const sink = new RecordingSink();
    const wave = await runWave(
      {
        contracts: [contract("A")],
        parallel: 3,
        sink,
        features: new Map([["A", { feature: "Billing/A", branch: "modify/A" }]]),
        run: (one) => Promise.resolve(outcome(one.id)),
      },
      never,
    );
    assert.deepEqual([wave.passed, wave.failed, wave.skipped, wave.outcomes.length], [["A"], [], [], 1]);
    assert.deepEqual(sink.types(), ["wave.started", "contract.queued", "wave.finished"]);
    const queued = sink.of("contract.queued")[0];
    assert.deepEqual(
      [queued?.feature, queued?.branch, queued?.maxAttempts, queued?.hash.length, [...sink.sidecars.keys()]],
      ["Billing/A", "modify/A", 3, 64, ["A/contract.json"]],
    );
  });

  it("after, inputs and build_on wait; no more than allowed run at once", async () => {
    const runs = new Runs();
    const contracts = [
      contract("D", { build_on: "C" }),
      contract("C", { after: ["A"], inputs: [{ from: "B", what: "diff" }] }),
      contract("A"),
      contract("B"),
      contract("E"),
    ];
    const done = runWave({ contracts, parallel: 2, sink: new RecordingSink(), run: runs.run }, never);
    await settle();
    const first = runs.open.toSorted();
    assert.equal(first.length, 2);
    for (let left = 20; left > 0 && runs.begun.length < 5; left -= 1) {
      const [next] = runs.open;
      if (next !== undefined) await runs.end(next);
      else await settle();
    }
    for (const id of runs.open) await runs.end(id);
    const wave = await done;
    assert.deepEqual([wave.passed.toSorted(), runs.most], [["A", "B", "C", "D", "E"], 2]);
    const at = (id: string): number => runs.begun.indexOf(id);
    assert.ok(at("C") > at("A") && at("C") > at("B") && at("D") > at("C"));
  });

  it("what depends on one that failed is skipped, along the whole line; the rest goes on", async () => {
    const sink = new RecordingSink();
    const contracts = [contract("A"), contract("B", { after: ["A"] }), contract("C", { after: ["B"] }), contract("D")];
    const wave = await runWave(
      {
        contracts,
        parallel: 1,
        sink,
        run: (one) => Promise.resolve(outcome(one.id, one.id === "A" ? "failed" : "accepted")),
      },
      never,
    );
    assert.deepEqual([wave.passed, wave.failed, wave.skipped], [["D"], ["A"], ["B", "C"]]);
    assert.deepEqual(
      sink.of("contract.skipped").map(({ contract: id, why }) => [id, why]),
      [
        ["B", "A did not pass"],
        ["C", "B did not pass"],
      ],
    );
    assert.deepEqual(sink.of("wave.finished"), [
      { type: "wave.finished", passed: ["D"], failed: ["A"], skipped: ["B", "C"] },
    ]);
  });

  it("awaiting review passes", async () => {
    const wave = await runWave(
      {
        contracts: [contract("A"), contract("B", { after: ["A"] })],
        parallel: 1,
        sink: new RecordingSink(),
        run: (one) => Promise.resolve(outcome(one.id, "awaiting-review")),
      },
      never,
    );
    assert.deepEqual(wave.passed, ["A", "B"]);
  });

  it("what an earlier runner ended is not run again", async () => {
    const ran: string[] = [];
    const contracts = [contract("A"), contract("B", { after: ["A"] }), contract("X"), contract("Y", { after: ["X"] })];
    const ended = new Map([
      ["A", "passed"],
      ["X", "failed"],
    ] as const);
    const wave = await runWave(
      {
        contracts,
        parallel: 2,
        sink: new RecordingSink(),
        ended,
        run: (one) => (ran.push(one.id), Promise.resolve(outcome(one.id))),
      },
      never,
    );
    assert.deepEqual([ran, wave.passed, wave.failed, wave.skipped], [["B"], ["A", "B"], ["X"], ["Y"]]);
  });

  it("an abort stops all of them and rejects; nothing more begins", async () => {
    const stop = new AbortController();
    const runs = new Runs();
    const sink = new RecordingSink();
    const done = runWave(
      { contracts: [contract("A"), contract("B"), contract("C")], parallel: 2, sink, run: runs.run },
      stop.signal,
    );
    await settle();
    stop.abort();
    await assert.rejects(done, isAbort);
    assert.deepEqual([runs.begun, runs.open, sink.of("wave.finished")], [["A", "B"], [], []]);
  });

  it("a bug in one stops the others and is what is told", async () => {
    const runs = new Runs();
    const run = (one: Contract, signal: AbortSignal): Promise<ContractOutcome> =>
      one.id === "A" ? Promise.reject(new RangeError("bug")) : runs.run(one, signal);
    await assert.rejects(
      runWave({ contracts: [contract("B"), contract("A")], parallel: 2, sink: new RecordingSink(), run }, never),
      RangeError,
    );
    assert.deepEqual(runs.open, []);
  });

  const bad: readonly [string, readonly Contract[], string][] = [
    ["an unknown name", [contract("A", { after: ["Z"] })], "A waits for Z"],
    ["an id twice", [contract("A"), contract("A")], "A is the id of two of these contracts"],
    [
      "a circle",
      [contract("A", { after: ["B"] }), contract("B", { build_on: "A" }), contract("C")],
      "A and B wait for each other",
    ],
    ["itself", [contract("A", { after: ["A"] })], "A waits for itself"],
  ];
  for (const [name, contracts, wanted] of bad) {
    it(`refuses ${name}`, () =>
      assert.throws(
        () => dependencies(contracts),
        (error) => isOrchError(error, "contract.invalid") && error.message.includes(wanted),
      ));
  }
});
