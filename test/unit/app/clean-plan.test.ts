import { deepEqual, equal } from "node:assert/strict";
import { type CleanFacts, inNumbers, planClean, purgeText } from "../../../shared/app/clean-plan.ts";
import type { RunLook } from "../../../shared/app/run-look.ts";
import { type AbsPath, absPath, type RepoPath } from "../../../shared/base/paths.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import type { RunState } from "../../../shared/events/run-state.ts";
import type { Standing } from "../../../shared/events/standing.ts";
import type { WorktreeRow } from "../../../shared/ports/worktrees.ts";

type ContractState = RunState["contracts"][number];

function look(run: string, standing: Standing, contracts: readonly Partial<ContractState>[] = []): RunLook {
  const state = foldRun(run, []);
  const plain: ContractState = { id: "T1", title: "", phase: "accepted", attempts: [], readiness: [] };
  const full = contracts.map((one) => ({ ...plain, ...one }));
  return {
    run,
    dir: absPath(`/runs/${run}`),
    state: { ...state, contracts: full },
    alive: standing === "running",
    standing,
  };
}

function row(folder: string, use: WorktreeRow["use"], changed: readonly string[] = []): WorktreeRow {
  return { folder: absPath(`/wt/${folder}`), use, changed: changed as RepoPath[] };
}

function plan(facts: Partial<CleanFacts>): {
  readonly worktrees: readonly string[];
  readonly runs: readonly string[];
  readonly kept: readonly string[];
} {
  const done = planClean({
    runs: [],
    self: "me",
    rows: [],
    standing: new Map(),
    slots: [],
    stored: [],
    keepRuns: 1,
    now: 100,
    all: false,
    purge: false,
    ...facts,
  });
  return {
    worktrees: done.worktrees.map(({ folder }) => folder),
    runs: done.runs.map(({ run }) => run),
    kept: done.kept,
  };
}

describe("clean: plan", () => {
  const waiting = { phase: "awaiting-review" } as const;
  const leftover = (run: string): WorktreeRow => row("1", { kind: "leftover", run, contract: "T1" });

  const given = (until: number): Partial<ContractState> => ({
    prepared: { attempt: 1, folder: "", base: "", prompt: { path: "", bytes: 0, sha256: "" }, slot: "", until },
  });

  it("a worktree goes when nobody can need it any more", () => {
    const cases: readonly (readonly [string, Partial<CleanFacts>, boolean])[] = [
      ["of a run that is over", { runs: [look("a", "failed")] }, true],
      ["of a run that is gone", { runs: [] }, true],
      ["of a run that can go on", { runs: [look("a", "interrupted")] }, false],
      ["of a parked run", { runs: [look("a", "parked")] }, false],
      ["that awaits a review", { runs: [look("a", "ok", [waiting])] }, false],
      [
        "whose work was merged",
        { runs: [look("b", "ok", [{ merged: { work: "a", diffHash: "", paths: [] } }]), look("a", "ok", [waiting])] },
        true,
      ],
      [
        "whose work was taken over",
        {
          runs: [
            look("b", "ok", [{ reviews: [{ verb: "take-over", reviewer: "", diffHash: "", work: "a" }] }]),
            look("a", "ok", [waiting]),
          ],
        },
        true,
      ],
      [
        "that was prepared, and whose contract was judged, merged and so is over",
        {
          runs: [
            look("c", "ok", [{ merged: { work: "b", diffHash: "", paths: [] } }]),
            look("b", "ok", [waiting]),
            look("a", "ok", [given(101)]),
          ],
        },
        true,
      ],
      [
        "whose work was accepted and not merged",
        {
          runs: [
            look("b", "ok", [{ reviews: [{ verb: "accept", reviewer: "", diffHash: "", work: "a" }] }]),
            look("a", "ok", [waiting]),
          ],
        },
        false,
      ],
      [
        "that somebody was given",
        {
          runs: [look("a", "ok", [given(101)])],
        },
        false,
      ],
      [
        "whose worker's time is over: what it left is judged when that is asked for",
        { runs: [look("a", "ok", [given(1)])] },
        false,
      ],
      [
        "whose contract was prepared anew elsewhere, its time over",
        { runs: [look("b", "ok", [given(101)]), look("a", "ok", [given(1)])] },
        true,
      ],
      ["where a program works", { runs: [], standing: new Map<AbsPath, number[]>([[absPath("/wt/1"), [7]]]) }, false],
    ];
    for (const [name, facts, goes] of cases) {
      deepEqual(plan({ keepRuns: 9, ...facts, rows: [leftover("a")] }).worktrees, goes ? ["/wt/1"] : [], name);
    }
  });

  it("--all takes what can go on and what is pooled, and nothing that is alive", () => {
    const rows = [
      row("1", { kind: "leftover", run: "a", contract: "T1" }),
      row("2", { kind: "pooled" }),
      row("3", { kind: "used", run: "b", contract: "T1" }),
    ];
    const runs = [
      look("me", "running"),
      look("b", "running"),
      look("a", "interrupted"),
      look("c", "ok", [waiting]),
      look("d", "failed"),
    ];
    deepEqual(plan({ rows, runs, all: true }), {
      worktrees: ["/wt/1", "/wt/2"],
      runs: ["c", "d"],
      kept: ["worktree 3 of T1 is worked in", "run a is interrupted"],
    });
    deepEqual(plan({ rows, runs }).worktrees, []);
    deepEqual(plan({ rows, runs }).runs, ["d"]);
  });

  it("keeps the newest runs, counted without itself", () => {
    const runs = ["me", "d", "c", "b", "a"].map((run) => look(run, run === "me" ? "running" : "ok"));
    deepEqual(plan({ runs, keepRuns: 2 }).runs, ["b", "a"]);
  });

  describe("runs that say what became of work", () => {
    const accepts = (work: string): Partial<ContractState> => ({
      reviews: [{ verb: "accept", reviewer: "", diffHash: "", work }],
    });
    const merges = (work: string): Partial<ContractState> => ({ merged: { work, diffHash: "hash", paths: [] } });
    const change = { files: 1, added: 1, removed: 0, patch: { path: "p", bytes: 1, sha256: "hash" } };
    const attempts = [{ attempt: 1, worker: "w", gates: [], change }] as unknown as ContractState["attempts"];
    const work = (run: string, id = "T1"): RunLook => {
      const one = look(run, "ok", [{ ...waiting, id, attempts }]);
      return { ...one, state: { ...one.state, command: "run" } };
    };
    const final = (run: string, isGreen: boolean): RunLook => {
      const one = look(run, "ok");
      return { ...one, state: { ...one.state, final: { contracts: ["T1"], checks: [{ name: "all", ok: isGreen }] } } };
    };
    const [newer] = [look("z", "ok")];

    it("a review stays as long as the work that it is about", () => {
      const runs = [newer, look("b", "ok", [accepts("a")]), work("a")];
      deepEqual(plan({ runs }).runs, []);
      deepEqual(plan({ runs }).kept, ["run a awaits a review", "run b says what became of T1"]);
      deepEqual(plan({ runs, all: true }).runs, ["z", "b", "a"]);
      deepEqual(plan({ runs: [newer, look("b", "ok", [accepts("gone")])] }).runs, ["b"]);
    });

    it("what was merged stays until a final has seen it green, and so does all that tells of it", () => {
      const merged = [look("c", "ok", [merges("a")]), look("b", "ok", [accepts("a")]), work("a")];
      deepEqual(plan({ runs: [newer, ...merged] }).runs, []);
      deepEqual(plan({ runs: [newer, final("d", false), ...merged] }).runs, ["d"]);
      deepEqual(plan({ runs: [newer, final("d", true), ...merged] }).runs, ["d", "c", "b", "a"]);
      deepEqual(plan({ runs: [newer, ...merged], all: true }).runs, ["z", "c", "b", "a"]);
    });

    it("a green final stays as long as a merge before it: else it would be due again", () => {
      const second = work("e", "T2");
      const runs = [newer, look("g", "ok", [{ id: "T2", ...accepts("e") }]), final("f", true), second];
      deepEqual(plan({ runs }).runs, ["f"], "no merge before it");
      const both = [
        look("d", "ok", [
          { id: "T2", ...merges("c") },
          { id: "T1", ...accepts("a") },
        ]),
        work("c", "T2"),
        work("a"),
      ];
      deepEqual(
        plan({ runs: [newer, final("f", true), ...both] }).runs,
        ["c"],
        "T1 awaits its merge, and d tells of it",
      );
    });

    it("what went on without a parked run stays with it: else that would wait again", () => {
      const parked = look("a", "parked", [{ phase: "needs-lead" }]);
      const runs = [
        newer,
        look("c", "ok", [merges("b")]),
        work("b"),
        { ...parked, state: { ...parked.state, command: "run" } },
      ];
      deepEqual(plan({ runs: [final("y", true), ...runs] }).runs, ["z"]);
      deepEqual(plan({ runs, all: true }).runs, ["z"]);
    });

    it("what went on with the feature of a parked run stays with it, too", () => {
      const result = { ok: true, code: 0, summary: "", next: [] };
      const merging = (one: RunLook): RunLook => {
        const state = { ...one.state, command: "merge", feature: "A/B" };
        return { ...one, state: one.standing === "ok" ? { ...state, result } : state };
      };
      const runs = [newer, merging(look("c", "ok")), look("b", "ok"), merging(look("a", "parked"))];
      deepEqual(plan({ runs }).runs, ["b"]);
      deepEqual(plan({ runs, all: true }).runs, ["z", "b"]);
    });
  });

  it("says in numbers what goes", () => {
    const rows = [row("1", { kind: "leftover" }, ["x", "y"]), row("2", { kind: "leftover" })];
    const stored = [{ id: "t", by: "undo", what: "x", at: 0, files: 3, bytes: 1, branches: ["b"], kept: [] }];
    const facts = { rows, stored, purge: true, runs: [look("me", "running"), look("b", "ok"), look("a", "ok")] };
    const done = planClean({ self: "me", standing: new Map(), slots: [], keepRuns: 1, now: 0, all: false, ...facts });
    equal(inNumbers(done), "2 worktrees (2 changed files) and 1 run");
    equal(purgeText(done), "1 stored entry with 3 files and 1 branch");
  });

  it("the run of a prepared worktree stays as long as that does", () => {
    const runs = [look("b", "ok"), look("a", "ok", [given(1)])];
    deepEqual(plan({ runs, rows: [leftover("a")] }).runs, []);
    deepEqual(plan({ runs, rows: [] }).runs, ["a"]);
    deepEqual(plan({ runs, rows: [leftover("a")], all: true }).runs, ["b", "a"]);
  });

  it("a prepared worktree says what its contract waits for: its worker, or a review of what the guard passed", () => {
    const prepare = { ...look("a", "ok", [{ phase: "queued", ...given(50) }]) };
    const asPrepare = { ...prepare, state: { ...prepare.state, command: "prepare" } };
    const guard = look("b", "ok", [waiting]);
    const asGuard = { ...guard, state: { ...guard.state, command: "guard" } };
    const rows = [leftover("a")];
    const why = (runs: readonly RunLook[]): string | undefined => plan({ rows, runs, keepRuns: 9 }).kept[0];
    equal(why([asPrepare]), "worktree 1 of T1 is prepared for a worker: orch guard T1, or orch clean --all");
    equal(why([asGuard, asPrepare]), "worktree 1 of T1 awaits a review: orch review T1");
  });

  it("a place that is held for somebody's worker is given back, unless that worker is seen", () => {
    const prepared = {
      attempt: 1,
      folder: "/wt/1/w",
      base: "b",
      prompt: { path: "p", bytes: 1, sha256: "s" },
      slot: "token",
      until: 500,
    };
    const runs = [look("a", "ok", [{ prepared }])];
    const rows = [row("1", { kind: "leftover", run: "a", contract: "T1" })];
    const tenant = { run: "a", contract: "T1", worker: "prepared" };
    const held = { number: 2, kind: "taken", tenant, until: 500 } as const;
    const places = (facts: Partial<CleanFacts>): unknown =>
      planClean({
        ...{ runs, rows, self: "me", standing: new Map(), stored: [], keepRuns: 1, now: 100, all: false, purge: false },
        slots: [held],
        ...facts,
      }).places;
    const back = [{ contract: "T1", number: 2, token: "token" }];
    deepEqual(places({}), back);
    deepEqual(places({ all: true, rows: [] }), back);
    deepEqual(places({ standing: new Map([[absPath("/wt/1"), [7]]]) }), [], "it works there");
    deepEqual(places({ runs: [] }), [], "of another repository");
    deepEqual(places({ slots: [{ number: 1, kind: "taken", tenant }] }), [], "a worker that Orch started");
  });
});
