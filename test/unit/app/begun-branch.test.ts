import assert from "node:assert/strict";
import { requireBegunBranch } from "../../../shared/app/begun-branch.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import { isOrchError, OrchError } from "../../../shared/model/error.ts";
import type { Head } from "../../../shared/ports/git.ts";

const run = "r-20260131-101500-ab12";
const queued = { type: "contract.queued", contract: "Invoice", title: "t", hash: "h", maxAttempts: 3 } as const;
const begun = foldRun(run, [
  {
    kind: "event",
    event: { v: 1, run, seq: 1, at: 1, ...queued, feature: "Billing/Invoice", branch: "modify/Invoice" },
  },
]);
const on = (head: Head) => ({ git: { head: () => Promise.resolve(head) } });
const dirty = new OrchError("tree.dirty", "main has 1 uncommitted file");

describe("a run that goes on elsewhere", () => {
  it("names the branch it began on, also one of a modification", async () => {
    for (const [head, now] of [
      [{ kind: "branch", branch: "Billing/Invoice", commit: "c" }, "Billing/Invoice is"],
      [{ kind: "detached", commit: "c" }, "no branch is"],
    ] as const) {
      await assert.rejects(requireBegunBranch(on(head), begun, dirty), (error) => {
        assert.ok(isOrchError(error, "tree.changed"));
        assert.equal(error.message, `modify/Invoice is not checked out any more, ${now}: nothing was committed`);
        assert.match(error.hint, /git switch modify\/Invoice, then: orch resume r-/);
        return true;
      });
    }
  });

  it("lets the refusal stand on that branch, for a run that has not begun, and for any other reason", async () => {
    const here = on({ kind: "branch", branch: "modify/Invoice", commit: "c" });
    const away = on({ kind: "branch", branch: "main", commit: "c" });
    await requireBegunBranch(here, begun, dirty);
    await requireBegunBranch(away, foldRun(run, []), dirty);
    await requireBegunBranch(away, begun, new OrchError("git.no-identity", "nobody"));
  });
});
