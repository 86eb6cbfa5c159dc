import { headOf } from "../adapters/finish-commit-push.ts";
import type { RunState } from "../events/run-state.ts";
import { isOrchError } from "../model/error.ts";
import type { Git } from "../ports/git.ts";

/** What a person is told who stands on another branch: the right answer to none of them is to commit there. */
const fromElsewhere: ReadonlySet<string> = new Set([
  "tree.dirty",
  "tree.detached",
  "target.missing",
  "branch.wrong",
  "branch.open",
]);

/**
 * For a run that goes on and was refused where the person stands now: says that its own branch is not checked out, when
 * that is why. Returns when it is not.
 * @throws OrchError `tree.changed`
 */
export async function requireBegunBranch(
  { git }: { readonly git: Pick<Git, "head"> },
  { run, contracts }: Pick<RunState, "run" | "contracts">,
  refusal: unknown,
): Promise<void> {
  const branch = contracts.at(-1)?.branch;
  if (branch === undefined || !isOrchError(refusal) || !fromElsewhere.has(refusal.code)) return;
  await headOf(git, branch, run);
}
