import assert from "node:assert/strict";
import { ladderOf, type LadderParts } from "../../../shared/app/wave-workers.ts";
import { Config } from "../../../shared/model/config.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import type { SlotTenant } from "../../../shared/ports/slots.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryWorkspace } from "../../support/memory-workspace.ts";
import { RecordingSink } from "../../support/recording-sink.ts";
import { ScriptedModel } from "../../support/scripted-model.ts";
import { ScriptedWorker } from "../../support/scripted-worker.ts";

const contract = (more: Partial<ContractInput>): Contract =>
  Contract.parse({ id: "T1", title: "t", goal: "g", allowed: ["a.py"], ...more });

interface Room {
  readonly parts: LadderParts;
  readonly asked: Contract[];
  readonly taken: SlotTenant[];
  freed: number;
}

function room(): Room {
  const asked: Contract[] = [];
  const taken: SlotTenant[] = [];
  const made: Room = {
    asked,
    taken,
    freed: 0,
    parts: {
      table: {
        ladderOf: (one) => {
          asked.push(one);
          const ids = one.worker === "auto" ? ["sonnet", "opus"] : [one.worker, ...one.ladder];
          const known = ids.filter((id) => id !== "gone").map((id) => new ScriptedWorker([], { id }));
          return { ladder: known, skipped: ids.filter((id) => id === "gone").map((id) => ({ id, why: "missing" })) };
        },
      },
      modelNamed: (id) => new ScriptedModel(id, '{"files": {"a.py": "x = 2\\n"}}'),
      slots: {
        count: 3,
        take: (tenant) => {
          taken.push(tenant);
          return Promise.resolve({
            number: 1,
            occupy: () => Promise.resolve(),
            [Symbol.dispose]: () => void (made.freed += 1),
          });
        },
        prepare: () => Promise.resolve(undefined),
        release: () => Promise.resolve(),
        list: () => Promise.resolve([]),
      },
    },
  };
  return made;
}

const context = { clock: new FakeClock(), config: Config.parse({}), run: "r-1", sink: new RecordingSink() };
const idsOf = (given: Contract, { parts }: Room): readonly string[] =>
  ladderOf(context, parts, given).ladder.map(({ id }) => id);

describe("the ladder of a contract", () => {
  it("agents come from the table, whole", () => {
    const { parts, asked, ...rest } = room();
    assert.deepEqual(idsOf(contract({}), { parts, asked, ...rest }), ["sonnet", "opus"]);
    assert.equal(asked.length, 1);
  });

  it("an id with a slash is a completion; both kinds stand in one ladder, in the order that was written", () => {
    const made = room();
    const mixed = contract({ worker: "direct/cheap", ladder: ["gone", "sonnet", "direct/strong"] });
    assert.deepEqual(idsOf(mixed, made), ["direct/cheap", "sonnet", "direct/strong"]);
    assert.deepEqual(ladderOf(context, made.parts, mixed).skipped, [{ id: "gone", why: "missing" }]);
  });

  it("a completion holds one of the machine's places while it works, and gives it back", async () => {
    const made = room();
    const [worker] = ladderOf(context, made.parts, contract({ worker: "direct/cheap" })).ladder;
    const workspace = new MemoryWorkspace({ "a.py": "x = 1\n" });
    const order = { contract: contract({}), attempt: 1, messages: [], workspace, replyDir: "" };
    const report = await worker?.run(order, new AbortController().signal);
    assert.equal(report?.kind, "done", report?.summary);
    assert.deepEqual(made.taken, [{ run: "r-1", contract: "T1", worker: "direct/cheap" }]);
    assert.equal(made.freed, 1);
  });

  it("critical work keeps only who may do it, and says why of the others", () => {
    const made = room();
    const critical = contract({ kind: "critical" });
    assert.deepEqual(idsOf(critical, made), ["opus"]);
    assert.deepEqual(
      ladderOf(context, made.parts, critical).skipped.map(({ id }) => id),
      ["sonnet"],
    );
  });
});
