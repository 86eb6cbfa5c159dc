import assert from "node:assert/strict";
import { estimateText, estimateWave } from "../../../shared/app/wave-estimate.ts";
import { emptyRun, type RunState } from "../../../shared/events/run-state.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import type { Amount } from "../../../shared/model/usage.ts";

const asked = (worker: string, more: Partial<ContractInput> = {}): Parameters<typeof estimateWave>[0][number] => ({
  worker,
  contract: Contract.parse({ id: worker, title: "t", goal: "g", allowed: ["a.py"], ...more }),
});
/** A run in which the worker's attempts cost this. */
const past = (worker: string, ...costs: readonly Amount[]): RunState => ({
  ...emptyRun("r-1"),
  contracts: [
    {
      id: "T",
      title: "t",
      phase: "accepted",
      readiness: [],
      attempts: costs.map((costUsd, at) => ({
        attempt: at + 1,
        worker,
        phase: "decided",
        cutShort: false,
        startedAt: 0,
        fellThrough: [],
        gates: [],
        usage: { input: 1, output: 1, cacheRead: 0, costUsd },
      })),
    },
  ],
});

describe("estimate of a wave", () => {
  it("money by what the same worker's attempts cost before; one that nobody measured makes the sum unknown", () => {
    const history = [past("sonnet", 0.1, "unknown", 0.3), past("haiku", 0.01)];
    const known = estimateWave([asked("sonnet"), asked("haiku")], history);
    assert.deepEqual(
      known.contracts.map(({ id, usd }) => [id, usd]),
      [
        ["sonnet", 0.2],
        ["haiku", 0.01],
      ],
    );
    assert.equal(known.usd, 0.21000000000000002);
    assert.equal(estimateWave([asked("sonnet"), asked("opus")], history).usd, "unknown");
  });

  it("one line says it, also when it is more than the budget", () => {
    const history = [past("sonnet", 0.2)];
    const line = (budget?: number): string => estimateText(estimateWave([asked("sonnet")], history), budget);
    assert.match(line(), /^estimate for 1 contract, one attempt each: about \d+k tokens, about \$0\.20$/);
    assert.match(line(0.1), /, more than the budget of \$0\.1$/);
    assert.match(estimateText(estimateWave([asked("opus")], history), 0.1), /cost unknown/);
  });

  it("tokens by the size of the task", () => {
    const [small, large, reading] = estimateWave(
      [
        asked("a", { estimate_lines: 10 }),
        asked("b", { estimate_lines: 500 }),
        asked("c", { mode: "read_only", estimate_lines: 500 }),
      ],
      [],
    ).contracts;
    assert.ok((small?.tokens ?? 0) < (large?.tokens ?? 0) && (reading?.tokens ?? 0) < (small?.tokens ?? 0));
    assert.equal((large?.tokens ?? 0) - (small?.tokens ?? 0) > 490 * 20, true);
  });
});
