import assert from "node:assert/strict";
import { guardOpenBranches } from "../../shared/features/open-branches.ts";
import { type Bench, makeBench, refused } from "../support/bench.ts";

const user = { domain: "Accounts", name: "User" };
const options = { registered: [user], feature: { domain: "Billing", name: "Invoice" }, allowOpen: false };

/** `Accounts/User` is open here; a colleague has merged it, in their way, into the remote's main. */
async function mergedThere(...how: readonly string[]): Promise<Bench> {
  const bench = await makeBench({ remote: true });
  const { repo } = bench;
  await repo.git("switch", "-q", "-c", "Accounts/User");
  await repo.commit("feat: User", { "features/Accounts/User/Handler.py": "a = 1\n" });
  await repo.git("push", "-q", "origin", "Accounts/User");
  await repo.git("switch", "-q", "main");
  const clone = await repo.clone();
  for (const [key, value] of [
    ["user.name", "Colleague"],
    ["user.email", "c@example.com"],
  ] as const)
    await repo.gitIn(clone, "config", key, value);
  await repo.gitIn(clone, "merge", "-q", ...how, "origin/Accounts/User");
  if (how.includes("--squash")) await repo.gitIn(clone, "commit", "-q", "-m", "User");
  await repo.gitIn(clone, "push", "-q", "origin", "main");
  return bench;
}

describe("contract: guard_open_branches and the remote's main", () => {
  for (const how of [["--no-ff", "-m", "m"], ["--squash"]]) {
    it(`a branch merged there with ${how[0]} is not open, and main here is said to be behind`, async () => {
      await using bench = await mergedThere(...how);
      const { git } = bench.context;
      const unknown = await refused(guardOpenBranches(git, options));
      assert.equal(unknown.code, "branch.open", "what was not fetched is not known");
      assert.equal(unknown.message, "another feature branch is open and not merged: Accounts/User");
      await bench.repo.git("fetch", "-q");
      const [mention, ...more] = await guardOpenBranches(git, options);
      assert.deepEqual(more, []);
      assert.match(
        mention ?? "",
        /^Accounts\/User is merged into origin\/main; main here is [12] commits? behind it\. Take it in with: orch merge Accounts\/User$/,
      );
    });
  }

  it("a commit that is not there keeps it open", async () => {
    await using bench = await mergedThere("--no-ff", "-m", "m");
    await bench.repo.git("fetch", "-q");
    await bench.repo.git("switch", "-q", "Accounts/User");
    await bench.repo.commit("feat: more", { "features/Accounts/User/Handler.py": "a = 2\n" });
    await bench.repo.git("switch", "-q", "main");
    assert.equal((await refused(guardOpenBranches(bench.context.git, options))).code, "branch.open");
  });
});
