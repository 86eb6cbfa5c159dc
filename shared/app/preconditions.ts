import { OrchError } from "../model/error.ts";
import type { Git } from "../ports/git.ts";

/** Checks that handlers share. They read only, and run before anything is changed. */
export interface OnBranch {
  readonly branch: string;
  readonly commit: string;
}

/** No merge, rebase, cherry-pick, revert or bisect is unfinished.
 *
 * @throws OrchError `tree.in-progress` */
export async function requireNoOperation(git: Pick<Git, "operation">): Promise<void> {
  const operation = await git.operation();
  if (operation === undefined) return;
  throw new OrchError("tree.in-progress", `a ${operation} is in progress in this checkout`, { data: { operation } });
}

/**
 * Nobody holds the index. For commands that ask a model or run tests before they commit: what would end them then is said
 * before that is paid for.
 *
 * @throws OrchError `git.locked`
 */
export async function requireFreeIndex(git: Pick<Git, "indexLock">): Promise<void> {
  const path = await git.indexLock();
  if (path === undefined) return;
  throw new OrchError("git.locked", `another git holds ${path}`, { data: { path } });
}

/**
 * The checkout is on a branch with at least one commit, with no operation unfinished.
 *
 * @throws OrchError `tree.in-progress`, `tree.detached`, `tree.unborn`
 */
export async function requireBranch(git: Pick<Git, "operation" | "head" | "defaultBranch">): Promise<OnBranch> {
  // A rebase detaches HEAD, so it must be named before HEAD is looked at.
  await requireNoOperation(git);
  const head = await git.head();
  switch (head.kind) {
    case "branch":
      return { branch: head.branch, commit: head.commit };
    case "unborn":
      throw new OrchError("tree.unborn", `${head.branch} has no commit yet`);
    case "detached":
      throw new OrchError("tree.detached", "HEAD is detached: no branch is checked out", {
        data: { branch: await git.defaultBranch() },
      });
  }
}

/** @throws OrchError `git.no-identity` */
export async function requireIdentity(git: Pick<Git, "identity">): Promise<void> {
  if ((await git.identity()) === undefined) {
    throw new OrchError("git.no-identity", "git does not know who commits: user.name or user.email is not set");
  }
}

/**
 * A branch that a command moves or deletes must not be checked out in another worktree.
 *
 * @throws OrchError `branch.elsewhere`
 */
export async function requireNotElsewhere(git: Pick<Git, "checkedOutElsewhere">, branch: string): Promise<void> {
  const folder = await git.checkedOutElsewhere(branch);
  if (folder === undefined) return;
  throw new OrchError("branch.elsewhere", `${branch} is checked out in another worktree: ${folder}`, {
    data: { branch, folder },
  });
}
