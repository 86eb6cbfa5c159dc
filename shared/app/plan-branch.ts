import { type BranchPlan, decideBranch } from "../features/branch-check.ts";
import { dirtyPaths } from "../features/branches.ts";
import { OrchError } from "../model/error.ts";
import type { HereContext, KnownFeature } from "./known-feature.ts";

/**
 * The branch that a command which changes an existing feature works on. A branch of the feature that main holds already is
 * a leftover: the work goes on from main.
 *
 * @throws OrchError those of `decideBranch`
 */
export async function planBranch({ git }: HereContext, known: KnownFeature, wanted: string): Promise<BranchPlan> {
  const { feature, head, defaultBranch, registered, branches } = known;
  const leftovers = new Set(
    branches.filter(({ merged, name }) => merged !== undefined && name !== head.branch).map(({ name }) => name),
  );
  const plan = decideBranch({
    head: await git.head(),
    defaultBranch,
    branches: (await git.branches()).filter(({ name }) => !leftovers.has(name)),
    registered,
    feature: feature.target,
    wanted,
    dirty: dirtyPaths(await git.status(), feature.dir),
  });
  if (plan instanceof OrchError) throw plan;
  return plan;
}
