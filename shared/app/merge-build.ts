import { isInside, type RepoPath } from "../base/paths.ts";
import { shellWord } from "../base/shell-word.ts";
import { nameSome } from "../features/branches.ts";
import { OrchError } from "../model/error.ts";
import type { Git } from "../ports/git.ts";
import type { RepoContext } from "./context.ts";
import type { FeatureSubject } from "./feature-branch.ts";
import type { MainLine } from "./main-line.ts";

// The steps of a merge that build: what they make is on no branch, or on the feature branch alone.

/**
 * Files of the slice, and the registry, that are neither committed nor staged: what they hold would be missing on main.
 *
 * @throws OrchError `tree.dirty`
 */
export async function refuseUnstaged(git: Pick<Git, "status">, subject: FeatureSubject): Promise<void> {
  const { feature } = subject;
  const loose = (await git.status()).filter((entry) => entry.worktree !== "." && entry.index !== "!");
  const paths = loose
    .map((entry) => entry.path)
    .filter((path) => path === feature.registry || isInside(path, feature.dir));
  if (paths.length === 0) return;
  throw new OrchError("tree.dirty", `not in the branch yet: ${nameSome(paths)}`, {
    data: {
      paths,
      how: `Stage them with: git add ${shellWord(feature.dir)} ${shellWord(feature.registry)}, or finish the feature with: orch do`,
    },
  });
}

export const stagedMessage = ({ feature }: FeatureSubject): string => `feat: ${feature.target.name}`;

/** What the slice and the registry have staged. */
export async function stagedPaths(git: Pick<Git, "status">, { feature }: FeatureSubject): Promise<readonly RepoPath[]> {
  const paths = (await git.status())
    .filter((entry) => entry.index !== "." && entry.index !== "?" && entry.index !== "!")
    .flatMap((entry) => (entry.oldPath === undefined ? [entry.path] : [entry.path, entry.oldPath]))
    .filter((path: RepoPath) => path === feature.registry || isInside(path, feature.dir));
  return [...new Set(paths)];
}

/** Commits what the slice and the registry have staged; undefined when nothing is. */
export async function commitStaged(context: RepoContext, subject: FeatureSubject): Promise<string | undefined> {
  const { git } = context;
  const paths = await stagedPaths(git, subject);
  if (paths.length === 0) return undefined;
  const message = stagedMessage(subject);
  const commit = await git.commitPaths({
    paths,
    message,
    trusted: await context.trust.mayRunCode(),
  });
  context.sink.append({ type: "commit.made", commit, branch: subject.branch.name, subject: message, pushed: false });
  return commit;
}

export interface Merging {
  readonly ours: string;
  readonly theirs: string;
  readonly byHand: string;
}

/**
 * The merge commit of `theirs` into `ours`, on no branch.
 *
 * @throws OrchError those of `mergedTree`
 */
export async function buildMerge(
  context: RepoContext,
  merge: Merging & { readonly message: string },
): Promise<{ readonly commit: string; readonly tree: string }> {
  const tree = await mergedTree(context, merge);
  const trusted = await context.trust.mayRunCode();
  const commit = await context.git.commitTree(tree, [merge.ours, merge.theirs], merge.message, { trusted });
  return { commit, tree };
}

/** @throws OrchError `git.conflict` naming the files, `git.shallow` when the common history is not here */
export async function mergedTree({ git }: Pick<RepoContext, "git">, merge: Merging): Promise<string> {
  if ((await git.mergeBase(merge.ours, merge.theirs)) === undefined) {
    if (git.place.shallow) {
      throw new OrchError("git.shallow", "the history that both branches share is missing in this shallow clone");
    }
    throw new OrchError("git.conflict", "the two branches share no history", { data: { byHand: merge.byHand } });
  }
  const merged = await git.mergeTree(merge.ours, merge.theirs);
  if (merged.kind === "conflict") {
    throw new OrchError("git.conflict", `conflict in ${nameSome(merged.paths)}`, {
      data: { paths: merged.paths, byHand: merge.byHand },
    });
  }
  return merged.tree;
}

/** `git switch F && git merge main`, for a person who has to solve a conflict. */
export function byHand(subject: FeatureSubject, line: MainLine): string {
  const other = line.relation === "behind" || line.relation === "only-there" || line.relation === "diverged";
  const from = other && line.remote !== undefined ? `${line.remote}/${line.branch}` : line.branch;
  return `git switch ${shellWord(subject.branch.name)} && git merge ${shellWord(from)}, then: orch merge`;
}
