import assert from "node:assert/strict";
import { observedOf } from "../../../shared/engine/observed-run.ts";
import type { WorkerReport } from "../../../shared/model/attempt.ts";
import { unknownUsage } from "../../../shared/model/usage.ts";

const report: WorkerReport = {
  kind: "done",
  summary: "",
  claims: [],
  concerns: [],
  refused: [],
  problems: [],
  usage: unknownUsage,
  durationMs: 1,
};

describe("what was seen around and during an attempt", () => {
  it("nothing during it: as the workspace tells", () => {
    assert.equal(observedOf(undefined, report), undefined);
    assert.deepEqual(observedOf({ headMoved: true }, report), { headMoved: true });
  });

  it("stray files, leftovers and refused tools are added", () => {
    assert.deepEqual(
      observedOf(
        { headMoved: true, strayFiles: ["a"] },
        { ...report, stray: [".git/opencode"], leftovers: 2, denied: ["Bash"] },
      ),
      {
        headMoved: true,
        strayFiles: ["a", ".git/opencode"],
        supervision: ["2 of its processes outlived it and ended with it", "its client refused it Bash"],
      },
    );
  });
});
