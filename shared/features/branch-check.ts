import type { RepoPath } from "../base/paths.ts";
import { count } from "../base/lines.ts";
import { OrchError } from "../model/error.ts";
import { type Target, targetText } from "../model/target.ts";
import type { BranchInfo, Git, Head } from "../ports/git.ts";
import { dirtyPaths, featureOfBranch, nameSome, sameFeature } from "./branches.ts";

/**
 * check_branch: on which branch the work happens. On the default branch with a clean tree the feature's branch is made
 * (or entered when it exists); with a dirty tree the command refuses and says which files. On the feature's own branch
 * work starts from the tree as it is. On anybody else's branch it refuses.
 */
export interface BranchFacts {
  readonly head: Head;
  readonly defaultBranch: string;
  readonly branches: readonly BranchInfo[];
  readonly registered: readonly Target[];
  readonly feature: Target;
  /** The branch to make: `domain/Feature` or `modify/Feature`. */
  readonly wanted: string;
  readonly dirty: readonly RepoPath[];
}

export type BranchPlan =
  | { readonly kind: "stay"; readonly branch: string }
  | { readonly kind: "make"; readonly branch: string; readonly from: string }
  | { readonly kind: "enter"; readonly branch: string };

export function decideBranch(facts: BranchFacts): BranchPlan | OrchError {
  const { head, defaultBranch, feature, wanted, dirty, branches, registered } = facts;
  switch (head.kind) {
    case "unborn":
      return new OrchError("tree.unborn", `${head.branch} has no commit yet`);
    case "detached":
      return new OrchError("tree.detached", "HEAD is detached: no branch is checked out", {
        data: { branch: defaultBranch },
      });
    case "branch":
      break;
  }
  const own = branches.filter((branch) => {
    const target = branch.name === defaultBranch ? undefined : featureOfBranch(branch, registered);
    return branch.name === wanted || (target !== undefined && sameFeature(target, feature));
  });
  if (head.branch !== defaultBranch) {
    if (head.branch === wanted || own.some((branch) => branch.name === head.branch)) {
      return { kind: "stay", branch: head.branch };
    }
    const go = own.find((branch) => branch.name === wanted)?.name ?? own[0]?.name ?? defaultBranch;
    return new OrchError("branch.wrong", `${head.branch} is not a branch of ${targetText(feature)}`, {
      data: { branch: go },
    });
  }
  if (dirty.length > 0) {
    return new OrchError(
      "tree.dirty",
      `${defaultBranch} has ${count(dirty.length, "uncommitted file")}: ${nameSome(dirty)}`,
      {
        data: { paths: dirty },
      },
    );
  }
  const there = own.find((branch) => branch.name === wanted) ?? own[0];
  return there === undefined
    ? { kind: "make", branch: wanted, from: head.commit }
    : { kind: "enter", branch: there.name };
}

/**
 * Reads the facts and decides; changes nothing.
 *
 * @throws OrchError `tree.dirty`, `branch.wrong`, `tree.detached`, `tree.unborn`
 */
export async function checkBranch(
  git: Pick<Git, "head" | "defaultBranch" | "branches" | "status">,
  want: {
    readonly feature: Target;
    readonly wanted: string;
    readonly slice: RepoPath;
    readonly registered: readonly Target[];
  },
): Promise<BranchPlan> {
  const plan = decideBranch({
    head: await git.head(),
    defaultBranch: await git.defaultBranch(),
    branches: await git.branches(),
    registered: want.registered,
    feature: want.feature,
    wanted: want.wanted,
    dirty: dirtyPaths(await git.status(), want.slice),
  });
  if (plan instanceof OrchError) throw plan;
  return plan;
}

/** Makes or enters the branch of the plan. Ended in between, the branch exists and the next call enters it. */
export async function enterBranch(
  git: Pick<Git, "create" | "switch">,
  plan: BranchPlan,
  feature: Target,
): Promise<string> {
  if (plan.kind === "make") await git.create(plan.branch, plan.from, targetText(feature));
  if (plan.kind !== "stay") await git.switch(plan.branch);
  return plan.branch;
}
