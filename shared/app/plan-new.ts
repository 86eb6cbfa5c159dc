import { dirName, inRoot } from "../base/paths.ts";
import { type BranchPlan, checkBranch } from "../features/branch-check.ts";
import { type FeatureBranch, featureBranch, featureBranches, sameFeature } from "../features/branches.ts";
import { guardOpenBranches } from "../features/open-branches.ts";
import { type LoadedPack, mainPack } from "../features/packs.ts";
import { registryFolder } from "../features/registry.ts";
import { featureIn, requireInside, resolveFacts, type Space, spaceFor } from "../features/registry-space.ts";
import { caseTwin, knownDomain, nearTargets, type Resolved, resolveTarget } from "../features/resolve.ts";
import { OrchError } from "../model/error.ts";
import type { Feature } from "../model/feature.ts";
import { type Target, targetText } from "../model/target.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { registeredIn } from "./feature-branch.ts";
import { requireBranch } from "./preconditions.ts";
import { type Here, projectHere } from "./project-here.ts";
import { projectPacks } from "./project-packs.ts";

/** What `new` would do, and that it may. Reads only. */
export interface NewPlan {
  readonly feature: Feature;
  readonly pack: LoadedPack;
  readonly resolved: Resolved;
  readonly branch: BranchPlan;
  /** Branch that is checked out now. */
  readonly from: string;
  /** At most three existing features that look like this one. */
  readonly near: readonly string[];
  /** Features of the same domain. */
  readonly neighbours: readonly string[];
  /** Merged leftovers and the like. */
  readonly mentions: readonly string[];
}

type PlanContext = Pick<RepoContext, "git" | "machine" | "trust"> & Here;
type PlanArgs = Pick<CommandArgs, "words" | "app" | "allowOpen">;

/**
 * @throws OrchError `target.missing|invalid|exists|case`, `branch.open|taken|wrong`, `tree.dirty|detached|unborn|in-progress`,
 * `registry.invalid`, `rules.invalid`, `path.refused`, `usage.invalid`
 */
export async function planNew(context: PlanContext, args: PlanArgs): Promise<NewPlan> {
  const [word] = args.words;
  if (word === undefined || word.trim() === "")
    throw new OrchError("target.missing", "new needs a feature to make", { data: { command: "new" } });
  const { git, files, root } = context;
  const project = await projectHere(context);
  const resolved = resolveTarget(word, resolveFacts(project, args.app));
  const { target } = resolved;
  const space = spaceFor(project, { ...(args.app === undefined ? {} : { app: args.app }), domain: target.domain });
  const feature = featureIn(space, target);
  const { branch: from } = await requireBranch(git);
  await requireInside(files, root, feature.dir);
  await requireInside(files, root, feature.registry);
  const registered = registeredIn(project);
  const branches = await featureBranches(git, await git.defaultBranch(), registered);
  await refuseExisting(context, { space, feature, branches, from });
  const mentions = await guardOpenBranches(git, { registered, feature: target, allowOpen: args.allowOpen });
  const branch = await checkBranch(git, {
    feature: target,
    wanted: featureBranch(target),
    slice: feature.dir,
    registered,
  });
  await refuseTakenBranch(context, branch);
  const packs = await projectPacks(context);
  return {
    feature,
    pack: mainPack(packs, await git.listFiles(), folderOf(space)) ?? packs[0],
    resolved,
    branch,
    from,
    near: nearTargets(target, registered),
    neighbours: registered.filter(({ domain }) => domain === target.domain).map(targetText),
    mentions,
  };
}

/** Where the manifest of a space is looked for first: beside its features folder. */
function folderOf({ app, featuresDir, registry }: Space): string {
  const folder = app === undefined ? registryFolder(registry.path) : dirName(featuresDir);
  return folder === "." ? "" : folder;
}

interface Wanted {
  readonly space: Space;
  readonly feature: Feature;
  readonly branches: readonly FeatureBranch[];
  readonly from: string;
}

/**
 * A feature's name is unique in its app; names that differ by case only are one folder on many machines. `without` is a
 * feature that is about to get this name and does not count.
 *
 * @throws OrchError `target.exists`, `target.case`, `branch.taken`
 */
export async function refuseExisting(context: PlanContext, wanted: Wanted, without?: Target): Promise<void> {
  const { space, feature, from } = wanted;
  const { target } = feature;
  const isOther = (one: Target): boolean => without === undefined || !sameFeature(one, without);
  const branches = wanted.branches.filter((branch) => isOther(branch.target));
  const known = Object.entries(space.registry.file.known_features)
    .map(([name, domain]): Target => ({ domain, name }))
    .filter(isOther);
  const domain = knownDomain(space.registry.file, target.name);
  if (domain !== undefined && isOther({ domain, name: target.name })) {
    const existing = targetText({ domain, name: target.name });
    throw new OrchError("target.exists", `${existing} is registered already in ${feature.registry}`, {
      data: { target: existing },
    });
  }
  const twin = caseTwin(target, [
    ...known,
    ...(await onDisk(context, space, target)).filter(isOther),
    ...branches.map((branch) => branch.target),
  ]);
  if (twin !== undefined) {
    const own =
      twin.name.toLowerCase() === target.name.toLowerCase() ? targetText(twin) : `${twin.domain}/${target.name}`;
    throw new OrchError("target.case", `${targetText(target)} and ${targetText(twin)} differ by case only`, {
      data: { existing: own },
    });
  }
  const names =
    (await context.files.list(inRoot(context.root, feature.dir)))?.filter(({ name }) => name !== "__pycache__") ?? [];
  if (names.length > 0 || (await context.files.stat(inRoot(context.root, feature.dir)))?.kind === "file") {
    throw new OrchError("target.exists", `${feature.dir} is there already and not empty`, {
      data: { target: targetText(target) },
    });
  }
  const branch = branches.find((one) => one.target.name === target.name && one.name !== from);
  if (branch !== undefined)
    throw taken(branch.name, `${targetText(branch.target)} has a branch already: ${branch.name}`);
}

/** Domains, and the domain's features, as their folders are written. */
async function onDisk({ files, root }: PlanContext, space: Space, target: Target): Promise<readonly Target[]> {
  const folders = async (path: string): Promise<readonly string[]> =>
    ((await files.list(inRoot(root, path))) ?? []).filter(({ kind }) => kind !== "file").map(({ name }) => name);
  const domains = await folders(space.featuresDir);
  const names = domains.includes(target.domain) ? await folders(`${space.featuresDir}/${target.domain}`) : [];
  return [
    ...domains.map((domain) => ({ domain, name: target.name })),
    ...names.map((name) => ({ domain: target.domain, name })),
  ];
}

async function refuseTakenBranch(context: PlanContext, plan: BranchPlan): Promise<void> {
  if (plan.kind === "stay") return;
  if (plan.kind === "enter") throw taken(plan.branch, `the branch ${plan.branch} is there already`);
  await refuseClash(context, plan.branch);
}

/**
 * A branch that is not Orch's may have the name, or hold the folder that the name needs in refs/heads.
 *
 * @throws OrchError `branch.taken`
 */
export async function refuseClash({ git }: Pick<PlanContext, "git">, branch: string): Promise<void> {
  const wanted = branch.toLowerCase();
  const clash = (await git.branches()).find(({ name }) => {
    const other = name.toLowerCase();
    return other === wanted || wanted.startsWith(`${other}/`) || other.startsWith(`${wanted}/`);
  });
  if (clash !== undefined) throw taken(clash.name, `the branch ${clash.name} is in the way of ${branch}`);
}

function taken(branch: string, message: string): OrchError {
  return new OrchError("branch.taken", message, { data: { branch } });
}
