import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { emptyRun, type RunState } from "../../../shared/events/run-state.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { FollowedRun } from "../../../shared/runner/run-feed.ts";
import { attemptDiff } from "../../../nvim-plugin/src/changes.ts";
import { TempDir } from "../../support/temp-dir.ts";

const patchOf = (name: string): string =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old\n+new\n`;

describe("the texts of a change", () => {
  let temp: TempDir;
  let base: string;
  let dir: string;
  beforeEach(() => {
    temp = new TempDir();
    base = temp.at("repo");
    dir = path.join(base, ".orch/runs/r-20260101-000000-aaaa");
    fs.mkdirSync(dir, { recursive: true });
  });
  afterEach(() => temp[Symbol.dispose]());

  const followed = (sidecar: string): FollowedRun => {
    const attempt = {
      attempt: 1,
      worker: "w",
      phase: "decided",
      cutShort: false,
      startedAt: 0,
      fellThrough: [],
      gates: [],
      change: { files: 1, added: 1, removed: 1, patch: { path: sidecar, bytes: 1, sha256: "" } },
    } as const;
    const state: RunState = {
      ...emptyRun("r-20260101-000000-aaaa"),
      contracts: [{ id: "C", title: "C", phase: "failed", attempts: [attempt], readiness: [] }],
    };
    return { run: state.run, dir, state, alive: false, standing: "failed", fresh: false, own: false };
  };
  const diffOf = (patch: string, sidecar = "a.patch") => {
    fs.writeFileSync(path.join(dir, "a.patch"), patch);
    return attemptDiff([followed(sidecar)], base, "");
  };

  for (const [how, now] of [
    ["kept aside", "old\n"],
    ["in the tree", "new\n"],
  ] as const) {
    it(`has both sides of a change that is ${how}`, async () => {
      fs.writeFileSync(path.join(base, "x.txt"), now);
      const diff = await diffOf(patchOf("x.txt"));
      assert.deepEqual(diff.files, [{ path: "x.txt", file: path.join(base, "x.txt"), old: "old\n", new: "new\n" }]);
      assert.deepEqual(diff.left, []);
    });
  }

  it("names a file that moved on since", async () => {
    fs.writeFileSync(path.join(base, "x.txt"), "else\n");
    const diff = await diffOf(patchOf("x.txt"));
    assert.deepEqual([diff.files, diff.left], [[], ["x.txt"]]);
  });

  it("a patch that leads out of the repository shows nothing of what is there", async () => {
    fs.writeFileSync(temp.at("secret.txt"), "old\n");
    const diff = await diffOf(patchOf("../secret.txt"));
    assert.deepEqual([diff.files, diff.left], [[], ["../secret.txt"]]);
  });

  it("a change that lies outside the run's folder is refused", async () => {
    await assert.rejects(diffOf(patchOf("x.txt"), "../../../../secret.patch"), (error) =>
      isOrchError(error, "path.refused"),
    );
  });

  it("says that nothing was changed yet", async () => {
    await assert.rejects(attemptDiff([], base, ""), (error) => isOrchError(error, "run.unknown"));
  });
});
