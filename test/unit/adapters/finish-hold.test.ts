import assert from "node:assert/strict";
import { createHoldFinisher } from "../../../shared/adapters/finish-hold.ts";
import { Contract } from "../../../shared/model/contract.ts";
import type { KeptResult } from "../../../shared/ports/worktrees.ts";
import { changeOf, MemoryWorkspace } from "../../support/memory-workspace.ts";
import { RecordingSink } from "../../support/recording-sink.ts";

const contract = Contract.parse({ id: "T1", title: "Trim", goal: "g", allowed: ["a.py"] });
const workspace = new MemoryWorkspace();
const change = changeOf("b0", new Map(), new Map([["a.py", "x = 1\n"]]));
const never = new AbortController().signal;

describe("held for review", () => {
  it("what passed is kept with its base, told once, and awaits review", async () => {
    const sink = new RecordingSink();
    const kept: Omit<KeptResult, "commit">[] = [];
    const commits: string[] = [];
    const finisher = createHoldFinisher({
      kept: { keep: (result) => Promise.resolve({ ...result, commit: `c${kept.push(result)}` }) },
      sink,
      run: "r-1",
      isOpen: () => kept.length > 1,
      onKept: (id, commit) => commits.push(`${id} ${commit}`),
    });
    assert.equal((await finisher.finish(contract, workspace, change, never)).state, "awaiting-review");
    assert.equal((await finisher.finish(contract, workspace, change, never)).state, "awaiting-review");
    assert.deepEqual(kept[0], { run: "r-1", contract: "T1", title: "Trim", base: "b0", tree: change.tree });
    assert.deepEqual(commits, ["T1 c1", "T1 c2"]);
    assert.deepEqual(sink.events, [{ type: "review.opened", contract: "T1", diffHash: change.diffHash }]);
  });

  it("an answer without a change needs no review", async () => {
    const sink = new RecordingSink();
    const keep = (): never => assert.fail("nothing to keep");
    const finisher = createHoldFinisher({ kept: { keep }, sink, run: "r-1" });
    const nothing = changeOf("b0", new Map(), new Map());
    assert.equal((await finisher.finish(contract, workspace, nothing, never)).state, "accepted");
    assert.deepEqual(sink.events, []);
  });
});
