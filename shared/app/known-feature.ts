import { type FeatureBranch, featureBranches, featureOfBranch, nameSome, sameFeature } from "../features/branches.ts";
import type { LoadedPack } from "../features/packs.ts";
import { featureIn, type Project, resolveFacts, type Space, spaceFor } from "../features/registry-space.ts";
import { knownDomain, resolveTarget } from "../features/resolve.ts";
import { type ScannedFeature, scanSlices } from "../features/scan.ts";
import { OrchError } from "../model/error.ts";
import type { Feature } from "../model/feature.ts";
import type { Target } from "../model/target.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { registeredIn } from "./feature-branch.ts";
import { type OnBranch, requireBranch } from "./preconditions.ts";
import { type Here, projectHere } from "./project-here.ts";
import { projectPacks } from "./project-packs.ts";
import { unknownFeature } from "./unknown-feature.ts";

export type HereContext = RepoContext & Here;

/** A feature that exists, registered, as a slice or as a branch, with what commands that change it ask about. */
export interface KnownFeature {
  readonly feature: Feature;
  readonly space: Space;
  readonly project: Project;
  readonly packs: readonly [LoadedPack, ...LoadedPack[]];
  readonly head: OnBranch;
  readonly defaultBranch: string;
  /** Its local branches, `modify/` included. */
  readonly branches: readonly FeatureBranch[];
  /** Every registered feature of every app. */
  readonly registered: readonly Target[];
  /** In the registry that is its own, as it is in the working tree. */
  readonly isRegistered: boolean;
  /** Its slice in the working tree; absent when there is none, or nothing that is a slice by structure. */
  readonly scanned: ScannedFeature | undefined;
}

/**
 * The feature that the first word names; without a word, the one whose branch is checked out. Reads only.
 *
 * @throws OrchError `target.unknown` with near misses, `target.invalid`, `branch.not-feature`, and those of `requireBranch`
 */
export async function knownFeature(
  context: HereContext,
  args: Pick<CommandArgs, "words" | "app">,
  command: string,
  signal: AbortSignal,
): Promise<KnownFeature> {
  const { git, files } = context;
  const head = await requireBranch(git);
  const defaultBranch = await git.defaultBranch();
  const project = await projectHere(context);
  const packs = await projectPacks(context);
  const registered = registeredIn(project);
  const branches = await featureBranches(git, defaultBranch, registered);
  const scan = await scanSlices({ files, project, packs, paths: [] }, signal);
  const slices = scan.features.filter(({ names }) => names.length > 0);
  const known = [
    ...registered,
    ...branches.map((branch) => branch.target),
    ...slices.map(({ feature }) => feature.target),
  ];
  const [word] = args.words;
  const target =
    word === undefined
      ? await ofBranch(context, head.branch, { branches, registered, command })
      : await named(context, word, { facts: resolveFacts(project, args.app), known, command });
  const space = spaceFor(project, { ...(args.app === undefined ? {} : { app: args.app }), domain: target.domain });
  const feature = featureIn(space, target);
  return {
    feature,
    space,
    project,
    packs,
    head,
    defaultBranch,
    branches: branches.filter((branch) => sameFeature(branch.target, target)),
    registered,
    isRegistered: knownDomain(space.registry.file, target.name) === target.domain,
    scanned: slices.find((slice) => slice.feature.dir === feature.dir),
  };
}

async function named(
  context: HereContext,
  word: string,
  {
    facts,
    known,
    command,
  }: {
    readonly facts: Parameters<typeof resolveTarget>[1];
    readonly known: readonly Target[];
    readonly command: string;
  },
): Promise<Target> {
  const { target, by } = resolveTarget(word, facts);
  // Only a branch or a folder may know the domain of a name that is not registered here.
  const byName = by === "given" || by === "registered" ? undefined : known.find((one) => one.name === target.name);
  const found = byName ?? target;
  if (known.some((one) => sameFeature(one, found))) return found;
  // The others need more than the feature.
  throw await unknownFeature(context, { target: found, known, ...(command === "delete" ? { command } : {}) });
}

async function ofBranch(
  { git }: Pick<RepoContext, "git">,
  current: string,
  known: {
    readonly branches: readonly FeatureBranch[];
    readonly registered: readonly Target[];
    readonly command: string;
  },
): Promise<Target> {
  const here = (await git.branches()).find(({ name }) => name === current);
  const target = here === undefined ? undefined : featureOfBranch(here, known.registered);
  if (target !== undefined && known.branches.some(({ name }) => name === current)) return target;
  const open = known.branches.map(({ name }) => name);
  const listed = open.length === 0 ? "there is no feature branch" : `feature branches: ${nameSome(open)}`;
  throw new OrchError("branch.not-feature", `${current} is not a feature branch; ${listed}`, {
    data: { branch: current, named: known.command },
  });
}
