import assert from "node:assert/strict";
import { mergeFeature } from "../../shared/app/handlers/merge.ts";
import { restore } from "../../shared/app/handlers/restore.ts";
import { undo } from "../../shared/app/handlers/undo.ts";
import type { RepoContext } from "../../shared/app/context.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Locks } from "../../shared/ports/lock.ts";
import { args, type Bench } from "../support/bench.ts";
import { branch, dir, feature, filesIn, judging, working } from "../support/feature-bench.ts";
import { KillSwitch } from "../support/kill-switch.ts";

const signal = new AbortController().signal;

/** A dead process holds no lock: its own is one that nobody else sees. */
const ownLocks: Locks = {
  try: (path) => ({ kind: "held", lock: { path, [Symbol.dispose]: () => undefined } }),
  isFree: () => true,
};

function dying(kill: KillSwitch, context: RepoContext): RepoContext {
  return {
    ...context,
    locks: ownLocks,
    git: kill.wrap(context.git, [
      "fetch",
      "commitPaths",
      "checkoutTo",
      "push",
      "updateRef",
      "fastForward",
      "switch",
      "discard",
      "create",
      "delete",
      "deleteRemote",
    ]),
    trash: kill.wrap(context.trash, ["store", "removeStored", "restore"]),
    files: kill.wrap(context.files, ["write", "remove", "removeEmptyDir"]),
  };
}

/** Once for every step: `work` is killed before it, then `check` looks. Ends when the work outlives the switch. */
async function atEveryStep(
  make: () => Promise<Bench>,
  work: (context: RepoContext) => Promise<unknown>,
  check: (bench: Bench, step: string) => Promise<void>,
  stride = 1,
): Promise<void> {
  for (let step = 1; ; step += stride) {
    await using bench = await make();
    const kill = new KillSwitch(step);
    const end = await kill.run(() => work(dying(kill, bench.context)));
    await check(bench, `killed before step ${step}`);
    if (end !== "stopped") {
      assert.ok(step > 5, `only ${step} steps`);
      return;
    }
  }
}

describe("killed between any two steps @slow", function () {
  this.timeout(600_000);

  it("merge: the next merge ends it, nothing of the person's is touched", async () => {
    await atEveryStep(
      async () => {
        const bench = await feature();
        await bench.repo.write(`${dir}/Schema.py`, "# staged\n");
        await bench.repo.git("add", "-A");
        await bench.repo.write("notes.txt", "mine\n");
        return bench;
      },
      (context) => mergeFeature({ ...context, ...judging() }, args(), signal),
      async ({ repo, context }, step) => {
        const again = await mergeFeature({ ...context, ...judging() }, args({ words: [branch] }), signal).catch(
          (error: unknown) => {
            if (isOrchError(error, "branch.not-feature")) return undefined;
            throw error;
          },
        );
        assert.notEqual(again?.ok, false, step);
        assert.equal(await repo.git("show", `main:${dir}/Schema.py`), "# staged", step);
        assert.equal(
          await repo.git("rev-parse", "main"),
          await repo.gitIn(String(repo.remote), "rev-parse", "main"),
          step,
        );
        assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main", step);
        assert.equal(await repo.git("status", "--porcelain", "-b"), "## main...origin/main\n?? notes.txt", step);
      },
    );
  });

  it("undo: what is gone can be restored, and the next undo ends it", async () => {
    let before: Record<string, string> = {};
    let state = { status: "", index: "" };
    await atEveryStep(
      async () => {
        const bench = await working({ remote: false });
        before = await filesIn(bench.repo.root, dir);
        state = await bench.state();
        return bench;
      },
      (context) => undo(context, args({ yes: true }), signal),
      async (bench, step) => {
        const [entry] = await bench.context.trash.list();
        if (entry !== undefined) await restore(bench.context, args({ words: [entry.id] }), signal);
        assert.deepEqual(await filesIn(bench.repo.root, dir), before, step);
        const now = await bench.state();
        assert.deepEqual([now.status, now.index], [state.status, state.index], step);
        assert.equal((await undo(bench.context, args({ yes: true }), signal)).ok, true, step);
        assert.equal(await bench.repo.git("status", "--porcelain", "-b", "--ignored"), "## main", step);
      },
    );
  });

  it("restore: the next restore ends it", async () => {
    let before: Record<string, string> = {};
    let id = "";
    await atEveryStep(
      async () => {
        const bench = await working({ remote: false });
        before = await filesIn(bench.repo.root, dir);
        const { data } = await undo(bench.context, args({ yes: true }), signal);
        id = (data as { trash: string }).trash;
        return bench;
      },
      (context) => restore(context, args({ words: [id] }), signal),
      async (bench, step) => {
        const again = await restore(bench.context, args({ words: [id] }), signal);
        assert.equal(again.ok, true, `${step}: ${again.summary}`);
        assert.deepEqual(await filesIn(bench.repo.root, dir), before, step);
        assert.equal(await bench.repo.git("symbolic-ref", "--short", "HEAD"), branch, step);
      },
      2, // most steps are one clean file after the other
    );
  });
});
