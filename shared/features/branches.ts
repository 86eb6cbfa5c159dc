import type { RepoPath } from "../base/paths.ts";
import { isInside } from "../base/paths.ts";
import { domainNamePattern, featureNamePattern } from "../model/names.ts";
import { type Target, targetText } from "../model/target.ts";
import type { BranchInfo, Git, StatusEntry } from "../ports/git.ts";

/**
 * Names of feature branches, and which local branches are some. A branch counts when Orch recorded it
 * (`branch.<name>.orch`) or when its name equals a registered target, `modify/` included; nobody else's branches count.
 */
export interface FeatureBranch {
  readonly name: string;
  readonly commit: string;
  readonly target: Target;
  /** How the default branch already holds it; undefined while it is open. */
  readonly merged: "ancestor" | "equivalent" | undefined;
}

const modifyPrefix = "modify/";

export const featureBranch = (target: Target): string => targetText(target);
export const modifyBranch = (target: Target): string => `${modifyPrefix}${target.name}`;
export const sameFeature = (a: Target, b: Target): boolean => a.domain === b.domain && a.name === b.name;

/**
 * The feature a branch belongs to: what Orch recorded, else a registered target of that name; `modify/<Feature>` is
 * that feature.
 */
export function featureOfBranch(
  branch: Pick<BranchInfo, "name" | "orch">,
  registered: readonly Target[],
): Target | undefined {
  if (branch.orch !== undefined) {
    const recorded = parseRecord(branch.orch);
    if (recorded !== undefined) return recorded;
  }
  if (branch.name.startsWith(modifyPrefix)) {
    const name = branch.name.slice(modifyPrefix.length);
    const candidates = registered.filter((target) => target.name === name);
    // Two apps may hold the same name; guessing between them could touch the wrong slice.
    return candidates.length === 1 ? candidates[0] : undefined;
  }
  return registered.find((target) => featureBranch(target) === branch.name);
}

function parseRecord(text: string): Target | undefined {
  const at = text.indexOf("/");
  const domain = text.slice(0, at);
  const name = text.slice(at + 1);
  return at > 0 && domainNamePattern.test(domain) && featureNamePattern.test(name) ? { domain, name } : undefined;
}

/** Every local feature branch but the default branch, with how it is merged. */
export async function featureBranches(
  git: Pick<Git, "branches" | "mergedHow">,
  defaultBranch: string,
  registered: readonly Target[],
): Promise<readonly FeatureBranch[]> {
  const found: FeatureBranch[] = [];
  for (const branch of await git.branches()) {
    const target = branch.name === defaultBranch ? undefined : featureOfBranch(branch, registered);
    if (target === undefined) continue;
    found.push({
      name: branch.name,
      commit: branch.commit,
      target,
      merged: await git.mergedHow(branch.name, defaultBranch),
    });
  }
  return found;
}

/** What keeps the tree from being clean: tracked changes, and untracked files outside the slice. */
export function dirtyPaths(status: readonly StatusEntry[], slice: RepoPath | undefined): readonly RepoPath[] {
  return status
    .filter((entry) => entry.index !== "!")
    .filter((entry) => entry.index !== "?" || slice === undefined || !isInside(entry.path, slice))
    .map((entry) => entry.path);
}

/** `a, b, c and 4 more`: a refusal names files, but a line must stay a line. */
export function nameSome(names: readonly string[], most = 5): string {
  if (names.length <= most) return names.join(", ");
  return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
