import assert from "node:assert/strict";
import { requireBranch, requireIdentity, requireNotElsewhere } from "../../../shared/app/preconditions.ts";
import { absPath } from "../../../shared/base/paths.ts";
import type { ErrorCode } from "../../../shared/model/error-table.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { Head } from "../../../shared/ports/git.ts";

const git = (head: Head, operation?: string) => ({
  head: async () => head,
  operation: async () => operation,
  defaultBranch: async () => "trunk",
});
const detached: Head = { kind: "detached", commit: "c1" };

describe("preconditions", () => {
  it("passes on a branch", async () => {
    assert.deepEqual(await requireBranch(git({ kind: "branch", branch: "b", commit: "c1" })), {
      branch: "b",
      commit: "c1",
    });
  });

  const cases: readonly [string, ReturnType<typeof git>, ErrorCode, string][] = [
    ["detached", git(detached), "tree.detached", "Go back to a branch: git switch trunk"],
    [
      "unborn",
      git({ kind: "unborn", branch: "main" }),
      "tree.unborn",
      'Make the first commit: git commit --allow-empty -m "first commit"',
    ],
    [
      "a rebase, which also detaches HEAD",
      git(detached, "rebase"),
      "tree.in-progress",
      "Finish it with: git rebase --continue, or end it with: git rebase --abort",
    ],
    ["a bisect", git(detached, "bisect"), "tree.in-progress", "End it with: git bisect reset"],
  ];
  for (const [title, fake, code, hint] of cases) {
    it(`refuses ${title}`, async () => {
      await assert.rejects(requireBranch(fake), (error) => {
        assert.ok(isOrchError(error, code));
        assert.deepEqual([error.exit, error.hint], [5, hint]);
        return true;
      });
    });
  }

  it("refuses without an identity", async () => {
    await assert.rejects(requireIdentity({ identity: async () => undefined }), (error) =>
      isOrchError(error, "git.no-identity"),
    );
    await requireIdentity({ identity: async () => ({ name: "a", email: "b" }) });
  });

  it("refuses a branch that another worktree has, naming the folder", async () => {
    await assert.rejects(
      requireNotElsewhere({ checkedOutElsewhere: async () => absPath("/tmp/other") }, "main"),
      (error) => {
        assert.ok(isOrchError(error, "branch.elsewhere"));
        assert.match(error.message, /main.*\/tmp\/other/);
        assert.match(error.hint, /git -C \/tmp\/other switch/);
        return true;
      },
    );
    await requireNotElsewhere({ checkedOutElsewhere: async () => undefined }, "main");
  });
});
