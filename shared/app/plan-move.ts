import { dirName, extName, inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import type { BranchPlan } from "../features/branch-check.ts";
import { featureBranch, featureBranches, modifyBranch, sameFeature } from "../features/branches.ts";
import { guardOpenBranches } from "../features/open-branches.ts";
import { type LoadedPack, packOfSlice } from "../features/packs.ts";
import { registryFolder } from "../features/registry.ts";
import { featureIn, requireInside, resolveFacts, type Space, spaceFor } from "../features/registry-space.ts";
import { resolveTarget } from "../features/resolve.ts";
import { OrchError } from "../model/error.ts";
import type { Feature } from "../model/feature.ts";
import { type Target, targetText } from "../model/target.ts";
import type { CommandArgs } from "./context.ts";
import type { TestPlace } from "./feature-tests.ts";
import { type HereContext, type KnownFeature, knownFeature } from "./known-feature.ts";
import { planBranch } from "./plan-branch.ts";
import { refuseClash, refuseExisting } from "./plan-new.ts";
import { requireIdentity } from "./preconditions.ts";

/** What `move` would do, and that it may. Reads only. */
export interface MovePlan {
  readonly known: KnownFeature;
  readonly to: Feature;
  readonly pack: LoadedPack;
  readonly branch: BranchPlan;
  /** The branch that ends checked out. */
  readonly final: string;
  /** Uncommitted files of the slice, which the commit takes along. */
  readonly loose: readonly RepoPath[];
  /** Tracked files of the slice, which stay tracked also where they are ignored. */
  readonly tracked: readonly RepoPath[];
  /** The slice's tests where they will be, then the project's. */
  readonly tests: readonly TestPlace[];
  readonly mentions: readonly string[];
}

/**
 * @throws OrchError those of `knownFeature`, `guardOpenBranches` and `decideBranch`; `target.exists|case|invalid|missing`;
 * `branch.taken`; `path.refused`; `git.no-identity`
 */
export async function planMove(
  context: HereContext,
  args: Pick<CommandArgs, "words" | "app" | "allowOpen">,
  signal: AbortSignal,
): Promise<MovePlan> {
  const { git, files, root } = context;
  const [, word] = args.words;
  if (word === undefined) {
    throw new OrchError("target.missing", "move needs the feature and where it goes", {
      data: { command: "move domain/Feature" },
    });
  }
  await requireIdentity(git);
  const known = await knownFeature(context, args, "move", signal);
  const { feature, head, project, registered } = known;
  const to = newPlace(known, word, args.app);
  if (sameFeature(to.target, feature.target) && to.dir === feature.dir) {
    throw new OrchError("target.exists", `${targetText(to.target)} is there already`, {
      data: { target: targetText(to.target) },
    });
  }
  for (const path of [feature.dir, feature.registry, to.dir, to.registry]) await requireInside(files, root, path);
  const branches = await featureBranches(git, known.defaultBranch, registered);
  const space = project.spaces.find(({ registry }) => registry.path === to.registry) ?? known.space;
  await refuseExisting(context, { space, feature: to, branches, from: head.branch }, feature.target);
  const branch = await planBranch(context, known, featureBranch(feature.target));
  const mentions = await guardOpenBranches(git, { registered, feature: feature.target, allowOpen: args.allowOpen });
  const final = finalBranch(branch, feature.target, to.target);
  if (final !== branch.branch || branch.kind === "make") await refuseClash(context, final);
  const tracked = await trackedFiles(context, feature.dir, branch);
  if (tracked.length === 0 && (known.scanned === undefined || branch.kind === "enter")) {
    throw new OrchError("target.unknown", `${feature.dir} is not there, so there is nothing to move`, {
      data: { target: targetText(feature.target) },
    });
  }
  const pack =
    packOfSlice(
      known.packs,
      tracked.map((path) => path.slice(feature.dir.length + 1)),
    ) ?? known.scanned?.pack;
  return {
    known,
    to,
    pack: pack ?? known.packs[0],
    branch,
    final,
    loose: (await git.status()).map((entry) => entry.path).filter((path) => isInside(path, feature.dir)),
    tracked,
    tests: await testsOf(context, known.space, to, pack ?? known.packs[0]),
    mentions,
  };
}

/** Without a domain it stays in its own, unless a keyword names another; without an app that has the domain, in its own. */
function newPlace(known: KnownFeature, word: string, app: string | undefined): Feature {
  const { project, feature } = known;
  const { target: typed, by } = resolveTarget(word, resolveFacts(project, app));
  const target: Target = by === "default" ? { domain: feature.target.domain, name: typed.name } : typed;
  const own = app ?? project.spaces.find(({ domains }) => domains.includes(target.domain))?.app;
  const space: Space = own === undefined ? known.space : spaceFor(project, { app: own });
  return featureIn(space, target);
}

/** A branch of another name is a person's own: it keeps it. */
function finalBranch(plan: BranchPlan, from: Target, to: Target): string {
  if (plan.kind === "make" || plan.branch === featureBranch(from)) return featureBranch(to);
  return plan.branch === modifyBranch(from) ? modifyBranch(to) : plan.branch;
}

async function trackedFiles({ git }: HereContext, dir: RepoPath, branch: BranchPlan): Promise<readonly RepoPath[]> {
  return branch.kind === "enter" ? git.filesAt(branch.branch, dir) : git.listFiles(dir);
}

/** `tests/` beside the registry and at the root, where it holds files of the slice's language. */
async function testsOf(
  { git, files, root }: HereContext,
  space: Space,
  to: Feature,
  pack: LoadedPack,
): Promise<readonly TestPlace[]> {
  const own = repoPath(`${to.dir}/${pack.pack.roles.tests}`);
  const places: TestPlace[] =
    own === undefined ? [] : [{ target: targetText(to.target), tests: own, dir: to.dir, pack }];
  for (const folder of new Set(["", registryFolder(space.registry.path), appFolder(space)])) {
    const path = repoPath(folder === "" ? "tests" : `${folder}/tests`);
    if (path === undefined || (await files.stat(inRoot(root, path)))?.kind !== "directory") continue;
    const inside = await git.listFiles(path);
    if (inside.some((file) => pack.pack.extensions.includes(extName(file)))) {
      places.push({ target: path, tests: path, dir: path, pack });
    }
  }
  return places;
}

function appFolder({ app, featuresDir }: Space): string {
  const folder = app === undefined ? "." : dirName(featuresDir);
  return folder === "." ? "" : folder;
}
