import { inRoot, repoPath } from "../base/paths.ts";
import { type BranchPlan, checkBranch } from "../features/branch-check.ts";
import { featureBranch, featureBranches, featureOfBranch } from "../features/branches.ts";
import { guardOpenBranches } from "../features/open-branches.ts";
import { type LoadedPack, mainPack, packOfSlice } from "../features/packs.ts";
import { registryFolder } from "../features/registry.ts";
import { featureIn, type Project, requireInside, resolveFacts, spaceFor } from "../features/registry-space.ts";
import { resolveTarget } from "../features/resolve.ts";
import { OrchError } from "../model/error.ts";
import type { Feature } from "../model/feature.ts";
import { type Target, targetText } from "../model/target.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { registeredIn } from "./feature-branch.ts";
import { requireBranch, requireIdentity } from "./preconditions.ts";
import { type Here, projectHere } from "./project-here.ts";
import { projectPacks } from "./project-packs.ts";
import { unknownFeature } from "./unknown-feature.ts";

/** What `do` would work on, and that it may. Reads only. */
export interface DoPlan {
  readonly feature: Feature;
  readonly pack: LoadedPack;
  readonly packs: readonly [LoadedPack, ...LoadedPack[]];
  readonly project: Project;
  readonly spec: string;
  readonly branch: BranchPlan;
  /** False when the slice has no controller and none was asked for. */
  readonly controller: boolean;
  readonly mentions: readonly string[];
  /** Words after the target. */
  readonly words: readonly string[];
}

/**
 * @throws OrchError `target.missing|unknown|invalid`, `spec.missing`, `branch.open|wrong|not-feature`,
 * `tree.dirty|detached|unborn|in-progress`, `git.no-identity`, `registry.invalid`, `rules.invalid`, `path.refused`
 */
export async function planDo(
  context: Pick<RepoContext, "git" | "machine" | "trash" | "trust"> & Here,
  args: Pick<CommandArgs, "words" | "app" | "allowOpen" | "controller">,
): Promise<DoPlan> {
  const { git, files, root } = context;
  const head = await requireBranch(git);
  await requireIdentity(git);
  const project = await projectHere(context);
  const registered = registeredIn(project);
  const { target, words } = await wanted(context, args, project, head.branch);
  const space = spaceFor(project, { ...(args.app === undefined ? {} : { app: args.app }), domain: target.domain });
  const feature = featureIn(space, target);
  await requireInside(files, root, feature.dir);
  await requireInside(files, root, feature.registry);
  const branch = await checkBranch(git, {
    feature: target,
    wanted: featureBranch(target),
    slice: feature.dir,
    registered,
  });
  const mentions = await guardOpenBranches(git, { registered, feature: target, allowOpen: args.allowOpen });
  const spec = await specOf(context, feature, branch);
  const packs = await projectPacks(context);
  const names = ((await files.list(inRoot(root, feature.dir))) ?? []).map(({ name }) => name);
  const pack =
    packOfSlice(packs, names) ?? mainPack(packs, await git.listFiles(), folderOf(space.featuresDir)) ?? packs[0];
  const has = pack.pack.roles.controller !== undefined && names.includes(pack.pack.roles.controller);
  return {
    feature,
    pack,
    packs,
    project,
    spec,
    branch,
    controller: args.controller && (has || names.every((name) => name === "spec.md")),
    mentions,
    words,
  };
}

function folderOf(featuresDir: string): string {
  const path = repoPath(`${featuresDir}/x`);
  return path === undefined ? "" : registryFolder(path).replace(/(?:^|\/)[^/]+$/, "");
}

/** A first word without white space is the feature; anything else is the person's wish. Without one, the branch decides. */
async function wanted(
  context: Pick<RepoContext, "git" | "trash">,
  args: Pick<CommandArgs, "words" | "app">,
  project: Project,
  current: string,
): Promise<{ readonly target: Target; readonly words: readonly string[] }> {
  const { git } = context;
  const registered = registeredIn(project);
  const branches = await featureBranches(git, await git.defaultBranch(), registered);
  const [word] = args.words;
  if (word !== undefined && !/\s/.test(word)) {
    const { target, by } = resolveTarget(word, resolveFacts(project, args.app));
    const byName =
      by === "given" || by === "registered" ? undefined : branches.find((one) => one.target.name === target.name);
    const found = byName?.target ?? target;
    const known = [...registered, ...branches.map((one) => one.target)];
    if (!known.some((one) => targetText(one) === targetText(found))) {
      throw await unknownFeature(context, { target: found, known, command: "do" });
    }
    return { target: found, words: args.words.slice(1) };
  }
  const here = (await git.branches()).find((branch) => branch.name === current);
  const target = here === undefined ? undefined : featureOfBranch(here, registered);
  if (target !== undefined && branches.some((branch) => branch.name === current)) return { target, words: args.words };
  throw new OrchError("target.missing", `${current} is not a feature branch, so the feature must be named`, {
    data: { command: "do" },
  });
}

/** The spec lies in the tree, or on the branch that is about to be entered. */
async function specOf(
  context: Pick<RepoContext, "git" | "files" | "root">,
  feature: Feature,
  branch: BranchPlan,
): Promise<string> {
  if (branch.kind === "enter") {
    const bytes = await context.git.fileAt(branch.branch, feature.spec);
    if (bytes !== undefined) return new TextDecoder().decode(bytes);
  }
  const stat = await context.files.stat(inRoot(context.root, feature.spec));
  const text = stat?.kind === "file" ? await context.files.readText(inRoot(context.root, feature.spec)) : undefined;
  if (text === undefined || text.trim() === "") {
    throw new OrchError("spec.missing", `${feature.spec} is ${text === undefined ? "missing" : "empty"}`, {
      data: { target: targetText(feature.target), path: feature.spec },
    });
  }
  return text;
}
