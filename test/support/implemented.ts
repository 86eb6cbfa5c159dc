import assert from "node:assert/strict";
import { type BusyRepo, busySlice, loose } from "./busy-repo.ts";
import { goodFiles } from "./invoice-replies.ts";

/** The feature is in one commit on its branch, nothing of it is left over, and `outside` of it all is as it was. */
export async function assertCommitted({ repo }: BusyRepo, outside: readonly string[]): Promise<void> {
  assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "feat: Invoice");
  assert.deepEqual(await loose(repo), outside);
  assert.equal(await repo.git("status", "--porcelain", "--", busySlice, ".features.json"), "");
}

/** Committed, on the remote, and what was asked for. */
export async function assertImplemented(work: BusyRepo, outside: readonly string[]): Promise<void> {
  const { repo } = work;
  await assertCommitted(work, outside);
  assert.equal(
    await repo.gitIn(repo.remote ?? "", "rev-parse", "Billing/Invoice"),
    await repo.git("rev-parse", "HEAD"),
  );
  for (const [name, text] of Object.entries(goodFiles)) assert.equal(await repo.read(`${busySlice}/${name}`), text);
}
