import assert from "node:assert/strict";
import type { RepoPath } from "../../../shared/base/paths.ts";
import { type BranchFacts, type BranchPlan, decideBranch, enterBranch } from "../../../shared/features/branch-check.ts";
import type { ErrorCode } from "../../../shared/model/error-table.ts";
import { OrchError } from "../../../shared/model/error.ts";
import type { Target } from "../../../shared/model/target.ts";

const invoice: Target = { domain: "Billing", name: "Invoice" };
const facts: BranchFacts = {
  head: { kind: "branch", branch: "main", commit: "c1" },
  defaultBranch: "main",
  branches: [{ name: "main", commit: "c1" }],
  registered: [invoice, { domain: "Accounts", name: "User" }],
  feature: invoice,
  wanted: "Billing/Invoice",
  dirty: [],
};
const own = { name: "Billing/Invoice", commit: "c2", orch: "Billing/Invoice" };
const dirty = ["README.md" as RepoPath, "notes.txt" as RepoPath];
const on = (branch: string): Partial<BranchFacts> => ({ head: { kind: "branch", branch, commit: "c2" } });

describe("check_branch", () => {
  const plans: readonly [string, Partial<BranchFacts>, BranchPlan][] = [
    ["makes the branch on a clean main", {}, { kind: "make", branch: "Billing/Invoice", from: "c1" }],
    ["makes a modify branch", { wanted: "modify/Invoice" }, { kind: "make", branch: "modify/Invoice", from: "c1" }],
    [
      "enters the branch that exists",
      { branches: [...facts.branches, own] },
      { kind: "enter", branch: "Billing/Invoice" },
    ],
    [
      "enters the feature's modify branch when that is the one there is",
      { branches: [...facts.branches, { name: "modify/Invoice", commit: "c3" }] },
      { kind: "enter", branch: "modify/Invoice" },
    ],
    [
      "stays on the own branch",
      { ...on("Billing/Invoice"), branches: [...facts.branches, own] },
      { kind: "stay", branch: "Billing/Invoice" },
    ],
    [
      "stays on it with a dirty tree",
      { ...on("Billing/Invoice"), branches: [...facts.branches, own], dirty },
      { kind: "stay", branch: "Billing/Invoice" },
    ],
    [
      "reads modify as the feature's own",
      { ...on("modify/Invoice"), branches: [...facts.branches, { name: "modify/Invoice", commit: "c3" }], dirty },
      { kind: "stay", branch: "modify/Invoice" },
    ],
    [
      "takes the default branch by name, not by its beginning",
      { defaultBranch: "trunk", head: { kind: "branch", branch: "trunk", commit: "c1" } },
      { kind: "make", branch: "Billing/Invoice", from: "c1" },
    ],
  ];
  for (const [title, change, expected] of plans) {
    it(title, () => assert.deepEqual(decideBranch({ ...facts, ...change }), expected));
  }

  const refusals: readonly [string, Partial<BranchFacts>, ErrorCode, RegExp][] = [
    ["a dirty main, naming the files", { dirty }, "tree.dirty", /README\.md, notes\.txt/],
    [
      "a dirty main also when the branch exists",
      { dirty, branches: [...facts.branches, own] },
      "tree.dirty",
      /2 uncommitted files/,
    ],
    [
      "another feature's branch",
      { ...on("Accounts/User") },
      "branch.wrong",
      /Accounts\/User is not a branch of Billing\/Invoice/,
    ],
    ["nobody's branch that starts with main", { ...on("main-2") }, "branch.wrong", /main-2/],
    ["a detached head", { head: { kind: "detached", commit: "c1" } }, "tree.detached", /detached/],
    ["an unborn branch", { head: { kind: "unborn", branch: "main" } }, "tree.unborn", /no commit/],
  ];
  for (const [title, change, code, text] of refusals) {
    it(`refuses ${title}`, () => {
      const error = decideBranch({ ...facts, ...change });
      assert.ok(error instanceof OrchError);
      assert.equal(error.code, code);
      assert.equal(error.exit, 5);
      assert.match(error.message, text);
    });
  }

  it("names the branch to go to", () => {
    const error = decideBranch({ ...facts, ...on("topic"), branches: [...facts.branches, own] });
    assert.ok(error instanceof OrchError);
    assert.equal(error.hint, "Go there first: git switch Billing/Invoice");
  });

  it("makes, enters or stays", async () => {
    const calls: string[] = [];
    const git = {
      create: async (name: string, at: string, target: string) => void calls.push(`create ${name} ${at} ${target}`),
      switch: async (name: string) => void calls.push(`switch ${name}`),
    };
    await enterBranch(git, { kind: "make", branch: "modify/Invoice", from: "c1" }, invoice);
    await enterBranch(git, { kind: "enter", branch: "Billing/Invoice" }, invoice);
    assert.equal(await enterBranch(git, { kind: "stay", branch: "x" }, invoice), "x");
    assert.deepEqual(calls, [
      "create modify/Invoice c1 Billing/Invoice",
      "switch modify/Invoice",
      "switch Billing/Invoice",
    ]);
  });
});
