import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import fc from "fast-check";
import { type FeatureRepo, makeFeatureRepo, projectFiles } from "../support/feature-repo.ts";
import { goodFiles, invoiceSpec, redReply } from "../support/invoice-replies.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { leanPath } from "../support/pytest.ts";
import { registryText } from "../support/sample-slice.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { countOf, seedOf } from "../support/seeded-random.ts";
import { growTree, type SeenTree, seenTree, type WildEntry, type WildTree, wildTree } from "../support/wild-tree.ts";

const branch = "Billing/Invoice";
const slice = "features/Billing/Invoice";

interface Case {
  readonly args: readonly string[];
  /** Makes of a random tree one that the command has something to do with. */
  readonly suits?: (tree: WildTree) => WildTree;
  readonly tests?: string;
  /** Another commit on main, there and here. */
  readonly mainGoesOn?: Readonly<Record<string, string>>;
  /** Exit codes that were seen in a run, for the count at the end. */
  check(work: FeatureRepo, done: CliDocument, before: SeenTree): Promise<void>;
}

async function isAsBefore({ repo }: FeatureRepo, before: SeenTree): Promise<void> {
  assert.deepEqual(await seenTree(repo), before);
}

/** What was removed comes back by the newest entry, and a refusal removed nothing. */
async function comesBack(work: FeatureRepo, done: CliDocument, before: SeenTree): Promise<void> {
  if (done.code === 0) {
    const others = (seen: SeenTree): readonly string[] => seen.files.filter((line) => line.startsWith("others/"));
    assert.deepEqual(others(await seenTree(work.repo)), others(before));
    const listed = await orchJson(work.place, "restore");
    const entries: readonly { readonly id: string; readonly at: number }[] = listed.data.entries;
    assert.deepEqual(
      entries.map(({ at }) => at),
      entries.map(({ at }) => at).toSorted((a, b) => b - a),
    );
    const restored = await orchJson(work.place, "restore", entries[0]?.id ?? "none");
    assert.equal(restored.code, 0, JSON.stringify(restored));
  }
  await isAsBefore(work, before);
}

const cases: Readonly<Record<string, Case>> = {
  undo: { args: ["undo", "--yes"], check: comesBack },
  delete: { args: ["delete", "--yes"], check: comesBack },
  "do that fails": {
    // With words of its own: a slice that is committed, green and as its spec says would have nothing to do.
    args: ["do", branch, "with thanks", "--max-attempts", "1"],
    async check(work, done, before) {
      assert.notEqual(done.code, 0, JSON.stringify(done));
      await isAsBefore(work, before);
    },
  },
  "merge with a conflict": {
    args: ["merge"],
    suits: (tree) => ({ ...tree, entries: tree.entries.map(staged) }),
    mainGoesOn: { "README.md": "# main says this\n" },
    async check(work, done, before) {
      assert.deepEqual([done.code, done.error?.code], [5, "git.conflict"], JSON.stringify(done));
      await isAsBefore(work, before);
    },
  },
  "move with red tests": {
    args: ["move", "Billing/Invoice", "Sales/Receipt"],
    tests: 'def test_place() -> None:\n    """Red elsewhere."""\n    assert "Invoice" in __file__\n',
    async check(work, done, before) {
      assert.notEqual(done.code, 0, JSON.stringify(done));
      await isAsBefore(work, before);
    },
  },
};

/** A merge refuses what is not staged, so there is nothing else in the slice. */
function staged(one: WildEntry, at: number): WildEntry {
  const kinds = ["committed", "staged", "staged-new", "link", "removed-staged"] as const;
  return one.inSlice ? { ...one, state: kinds[at % kinds.length] ?? "committed" } : one;
}

describe("faults: nothing a person has is lost @slow", function () {
  this.timeout(3_600_000);
  const seed = seedOf("ORCH_PROPERTY_SEED");
  const numRuns = countOf("ORCH_PROPERTY_RUNS", 3);
  let server: ScriptedModelServer;
  let work: FeatureRepo;
  let kept = "";

  before(async () => {
    const steps = [{ match: { system: "backend engineer" }, reply: { text: redReply } }];
    server = await startScriptedModelServer({ steps });
    const files = { ...projectFiles, ".gitignore": "__pycache__/\n*.log\n" };
    const made = await makeFeatureRepo(server.baseUrl, { files, folder: "Werk ü" });
    work = { ...made, place: { ...made.place, env: { ...made.place.env, PATH: leanPath(made.place.env["PATH"]) } } };
    await made.trust();
    kept = `${work.repo.base}.kept`;
    execFileSync("cp", ["-a", work.repo.base, kept]);
    console.log(`      ${numRuns} random trees for each, ORCH_PROPERTY_SEED=${seed}`);
  });

  after(async () => {
    fs.rmSync(kept, { recursive: true, force: true });
    await work?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  for (const [name, one] of Object.entries(cases)) {
    it(name, async () => {
      const codes = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(wildTree, async (tree) => {
          await grow(one, one.suits?.(tree) ?? tree);
          const before = await seenTree(work.repo);
          const done = await orchJson(work.place, ...one.args);
          const code = done.error?.code ?? "ok";
          codes.set(code, (codes.get(code) ?? 0) + 1);
          await one.check(work, done, before);
          assert.doesNotMatch(await work.repo.git("fsck", "--no-dangling"), /./);
        }),
        { numRuns, seed, endOnFailure: process.env["ORCH_SHRINK"] === undefined },
      );
      console.log(`        ${[...codes].map(([code, count]) => `${code}: ${count}`).join(", ")}`);
    });
  }

  /** The feature's branch as it was pushed, and on top of it whatever the tree says. */
  async function grow(one: Case, tree: WildTree): Promise<void> {
    const { repo } = work;
    fs.rmSync(repo.base, { recursive: true, force: true, maxRetries: 5 });
    execFileSync("cp", ["-a", kept, repo.base]);
    await growTree(repo, slice, tree, async () => {
      const shared = [".gitattributes", "others"].filter((path) => fs.existsSync(repo.path(path)));
      for (const path of shared) await repo.git("add", "-f", "--", path);
      if (shared.length > 0) await repo.git("commit", "-q", "-m", "shared", "--", ...shared);
      await repo.git("push", "-q", "origin", "main");
      await repo.git("switch", "-q", "-c", branch);
      await repo.git("config", `branch.${branch}.orch`, branch);
      const files = {
        ...goodFiles,
        "spec.md": invoiceSpec,
        ...(one.tests === undefined ? {} : { "Tests.py": one.tests }),
      };
      for (const [file, text] of Object.entries(files)) await repo.write(`${slice}/${file}`, text);
      await repo.write(".features.json", registryText({ Invoice: "Billing" }));
      await repo.write("README.md", "# the feature says that\n");
      await repo.git("add", slice, ".features.json", "README.md");
      await repo.git("commit", "-q", "-m", "feat: Invoice");
      await repo.git("push", "-q", "-u", "origin", branch);
      // Clean files outside the slice are git's: they have the line ends of a checkout, as git will give them again.
      for (const path of ["README.md", ".features.json"]) fs.rmSync(repo.path(path));
      await repo.git("checkout", "-q", "--", "README.md", ".features.json");
      if (one.mainGoesOn !== undefined) await mainGoesOn(one.mainGoesOn);
    });
  }

  async function mainGoesOn(files: Readonly<Record<string, string>>): Promise<void> {
    const { repo } = work;
    const clone = await repo.clone();
    for (const [file, text] of Object.entries(files)) fs.writeFileSync(`${clone}/${file}`, text);
    await repo.gitIn(clone, "commit", "-q", "-am", "main goes on");
    await repo.gitIn(clone, "push", "-q", "origin", "main");
    fs.rmSync(clone, { recursive: true, force: true });
  }
});
