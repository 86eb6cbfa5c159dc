import type { BranchInfo } from "../ports/git.ts";
import { type FeatureBranch, featureBranches, featureOfBranch, nameSome, sameFeature } from "../features/branches.ts";
import { featureIn, type Project, resolveFacts, spaceFor } from "../features/registry-space.ts";
import { knownTargets, resolveTarget } from "../features/resolve.ts";
import { OrchError } from "../model/error.ts";
import type { Feature } from "../model/feature.ts";
import { type Target, targetText } from "../model/target.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { type OnBranch, requireBranch } from "./preconditions.ts";
import { type Here, projectHere } from "./project-here.ts";
import { unknownFeature } from "./unknown-feature.ts";

/** The feature branch that `merge` and `undo` are about, and where the checkout stands. */
export interface FeatureSubject {
  readonly feature: Feature;
  readonly branch: FeatureBranch;
  readonly head: OnBranch;
  /** The checkout is on that branch. */
  readonly here: boolean;
  readonly defaultBranch: string;
}

type Words = Pick<CommandArgs, "words" | "app">;

/**
 * From the named feature, else from the branch that is checked out; `modify/<Feature>` is that feature. Of several
 * branches of the feature, the one checked out, else the only open one.
 *
 * @throws OrchError `branch.not-feature`, `branch.wrong`, `target.unknown`, `target.invalid`, and those of `requireBranch`
 */
export async function featureSubject(
  context: Pick<RepoContext, "git" | "trash"> & Here,
  args: Words,
  command: string,
): Promise<FeatureSubject> {
  const { git } = context;
  const head = await requireBranch(git);
  const defaultBranch = await git.defaultBranch();
  const project = await projectHere(context);
  const registered = registeredIn(project);
  const branches = await featureBranches(git, defaultBranch, registered);
  const target = wantedTarget({ args, project, head, branches, all: await git.branches(), registered, command });
  const branch =
    branchOf(target, branches, head.branch) ?? (await noBranch(context, { target, branches, registered, command }));
  const space = spaceFor(project, { ...(args.app === undefined ? {} : { app: args.app }), domain: target.domain });
  return { feature: featureIn(space, target), branch, head, here: head.branch === branch.name, defaultBranch };
}

/** Every registered feature of every app, once. */
export function registeredIn(project: Project): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const { registry } of project.spaces) {
    for (const target of knownTargets(registry.file)) targets.set(targetText(target), target);
  }
  return [...targets.values()];
}

interface Asked {
  readonly args: Words;
  readonly project: Project;
  readonly head: OnBranch;
  readonly branches: readonly FeatureBranch[];
  readonly all: readonly BranchInfo[];
  readonly registered: readonly Target[];
  readonly command: string;
}

function wantedTarget(asked: Asked): Target {
  const [word] = asked.args.words;
  if (word !== undefined) {
    const { target, by } = resolveTarget(word, resolveFacts(asked.project, asked.args.app));
    if (by === "given" || by === "registered") return target;
    // On main the registry does not know a feature that only its branch has registered.
    const byName = asked.branches.filter((branch) => branch.target.name === target.name);
    return byName[0]?.target ?? target;
  }
  const current = asked.all.find((branch) => branch.name === asked.head.branch);
  const target = current === undefined ? undefined : featureOfBranch(current, asked.registered);
  if (target !== undefined && asked.branches.some((branch) => branch.name === asked.head.branch)) return target;
  const open = asked.branches.map((branch) => branch.name);
  const known = open.length === 0 ? "there is no feature branch" : `feature branches: ${nameSome(open)}`;
  throw new OrchError("branch.not-feature", `${asked.head.branch} is not a feature branch; ${known}`, {
    data: { branch: asked.head.branch, command: asked.command },
  });
}

function branchOf(target: Target, branches: readonly FeatureBranch[], current: string): FeatureBranch | undefined {
  const own = branches.filter((branch) => sameFeature(branch.target, target));
  const open = own.filter((branch) => branch.merged === undefined);
  const here = own.find((branch) => branch.name === current);
  if (here !== undefined) return here;
  if (open.length > 1) {
    const names = open.map((branch) => branch.name);
    throw new OrchError("branch.wrong", `${targetText(target)} has ${open.length} open branches: ${names.join(", ")}`, {
      data: { branch: names[0] ?? "" },
    });
  }
  return open[0] ?? own[0];
}

/** A feature that main holds can be worked on; any other is not there. */
async function noBranch(
  context: Pick<RepoContext, "trash">,
  {
    target,
    branches,
    registered,
    command,
  }: Pick<Asked, "branches" | "registered" | "command"> & { readonly target: Target },
): Promise<never> {
  const message = `there is no branch of ${targetText(target)}`;
  if (registered.some((one) => sameFeature(one, target)))
    throw new OrchError("branch.not-feature", message, { data: { target: targetText(target) } });
  const known = [...branches.map((branch) => branch.target), ...registered];
  throw await unknownFeature(context, { target, known, command, message });
}
