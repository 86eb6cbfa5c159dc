import assert from "node:assert/strict";
import type { RepoPath } from "../../../shared/base/paths.ts";
import {
  dirtyPaths,
  featureBranch,
  type FeatureBranch,
  featureBranches,
  featureOfBranch,
  modifyBranch,
  nameSome,
} from "../../../shared/features/branches.ts";
import { decideOpenBranches, guardOpenBranches } from "../../../shared/features/open-branches.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { Target } from "../../../shared/model/target.ts";
import type { BranchInfo, StatusEntry } from "../../../shared/ports/git.ts";

const invoice: Target = { domain: "Billing", name: "Invoice" };
const user: Target = { domain: "Accounts", name: "User" };
const registered = [invoice, user];

const entry = (path: string, letters: string): StatusEntry => ({
  path: path as RepoPath,
  index: letters[0] ?? ".",
  worktree: letters[1] ?? ".",
});

describe("branches", () => {
  it("are named after the target", () => {
    assert.deepEqual([featureBranch(invoice), modifyBranch(invoice)], ["Billing/Invoice", "modify/Invoice"]);
  });

  const cases: readonly [string, Pick<BranchInfo, "name" | "orch">, Target | undefined][] = [
    ["a registered target", { name: "Billing/Invoice" }, invoice],
    ["modify of a registered feature", { name: "modify/Invoice" }, invoice],
    [
      "a branch that Orch recorded, not registered",
      { name: "Shop/Cart", orch: "Shop/Cart" },
      { domain: "Shop", name: "Cart" },
    ],
    ["a recorded branch that was renamed", { name: "my-work", orch: "Billing/Invoice" }, invoice],
    ["a record that is no target", { name: "my-work", orch: "nonsense" }, undefined],
    ["somebody else's branch with a slash", { name: "fix/typo" }, undefined],
    ["a target in another case", { name: "billing/invoice" }, undefined],
    ["modify of what is not registered", { name: "modify/Nothing" }, undefined],
    ["a branch that only starts with a target", { name: "Billing/Invoice2" }, undefined],
    ["a branch that starts with main", { name: "maintenance" }, undefined],
  ];
  for (const [title, branch, expected] of cases) {
    it(`feature of ${title}`, () => assert.deepEqual(featureOfBranch(branch, registered), expected));
  }

  it("does not guess between two apps that hold the same name", () => {
    const both = [...registered, { domain: "Shop", name: "Invoice" }];
    assert.equal(featureOfBranch({ name: "modify/Invoice" }, both), undefined);
    assert.deepEqual(featureOfBranch({ name: "modify/Invoice", orch: "Shop/Invoice" }, both), {
      domain: "Shop",
      name: "Invoice",
    });
  });

  it("leaves out the default branch and nobody else's work", async () => {
    const git = {
      branches: async () => [
        { name: "main", commit: "1" },
        { name: "topic", commit: "2" },
        { name: "Billing/Invoice", commit: "3" },
        { name: "modify/User", commit: "4" },
      ],
      mergedHow: async (branch: string, into: string) => {
        assert.equal(into, "main");
        return branch === "modify/User" ? ("equivalent" as const) : undefined;
      },
    };
    assert.deepEqual(await featureBranches(git, "main", registered), [
      { name: "Billing/Invoice", commit: "3", target: invoice, merged: undefined },
      { name: "modify/User", commit: "4", target: user, merged: "equivalent" },
    ]);
  });

  it("is dirty by tracked changes anywhere and untracked files outside the slice", () => {
    const status = [
      entry("features/Billing/Invoice/spec.md", "??"),
      entry("features/Billing/Invoice/Handler.py", ".M"),
      entry("features/Billing/InvoiceTwo/x.py", "??"),
      entry("notes.txt", "??"),
      entry("README.md", "M."),
      entry("features/Billing/Invoice/x.pyc", "!!"),
    ];
    assert.deepEqual(dirtyPaths(status, "features/Billing/Invoice" as RepoPath), [
      "features/Billing/Invoice/Handler.py",
      "features/Billing/InvoiceTwo/x.py",
      "notes.txt",
      "README.md",
    ]);
    assert.equal(dirtyPaths(status, undefined).length, 5);
  });

  it("names some and counts the rest", () => {
    assert.equal(nameSome(["a", "b"]), "a, b");
    assert.equal(nameSome(["a", "b", "c", "d"], 2), "a, b and 2 more");
  });
});

describe("guard_open_branches", () => {
  const branch = (name: string, target: Target, merged?: FeatureBranch["merged"]): FeatureBranch => ({
    name,
    commit: name,
    target,
    merged,
  });
  const open = branch("Accounts/User", user);

  const cases: readonly [
    string,
    readonly FeatureBranch[],
    Target | undefined,
    boolean,
    readonly string[],
    readonly string[],
  ][] = [
    ["nothing", [], invoice, false, [], []],
    ["another open branch", [open], invoice, false, ["Accounts/User"], []],
    ["another open branch, allowed", [open], invoice, true, [], []],
    [
      "the same feature",
      [branch("Billing/Invoice", invoice), branch("modify/Invoice", invoice)],
      invoice,
      false,
      [],
      [],
    ],
    ["a merged leftover", [branch("Accounts/User", user, "ancestor")], invoice, false, [], ["Accounts/User"]],
    [
      "a squash-merged leftover beside an open one",
      [branch("modify/User", user, "equivalent"), open],
      invoice,
      false,
      ["Accounts/User"],
      ["modify/User"],
    ],
    ["no feature in mind", [open], undefined, false, ["Accounts/User"], []],
  ];
  for (const [title, branches, feature, allowed, expectedOpen, leftovers] of cases) {
    it(title, () => {
      const decision = decideOpenBranches(branches, feature, allowed);
      const names = decision.kind === "open" ? decision.open.map(({ name }) => name) : [];
      assert.deepEqual([names, decision.leftovers], [expectedOpen, leftovers]);
    });
  }

  const alone = { remote: async () => undefined, resolve: async () => undefined, commitsOnly: async () => [] };

  it("refuses with the names and the way out", async () => {
    const git = {
      ...alone,
      branches: async () => [{ name: "Accounts/User", commit: "1" }],
      mergedHow: async () => undefined,
      defaultBranch: async () => "main",
    };
    const options = { registered, feature: invoice, allowOpen: false };
    await assert.rejects(guardOpenBranches(git, options), (error) => {
      assert.ok(isOrchError(error, "branch.open"));
      assert.equal(error.exit, 5);
      assert.match(error.message, /Accounts\/User/);
      assert.match(error.hint, /orch merge.*orch undo.*Accounts\/User.*--allow-open/);
      return true;
    });
    assert.deepEqual(await guardOpenBranches(git, { ...options, allowOpen: true }), []);
  });

  it("mentions merged leftovers with the command that removes them", async () => {
    const git = {
      ...alone,
      branches: async () => [{ name: "Accounts/User", commit: "1" }],
      mergedHow: async () => "ancestor" as const,
      defaultBranch: async () => "main",
    };
    assert.deepEqual(await guardOpenBranches(git, { registered, feature: invoice, allowOpen: false }), [
      "Accounts/User is merged already; delete it with: git branch -d Accounts/User",
    ]);
  });
});
