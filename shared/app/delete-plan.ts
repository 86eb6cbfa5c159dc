import { count } from "../base/lines.ts";
import { inRoot, isInside, type RepoPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { parseRegistry } from "../features/registry.ts";
import { requireInside } from "../features/registry-space.ts";
import { knownDomain } from "../features/resolve.ts";
import { registryFate, type RegistryFate } from "../features/unregister.ts";
import { OrchError } from "../model/error.ts";
import { targetText } from "../model/target.ts";
import type { CommandArgs } from "./context.ts";
import { type HereContext, type KnownFeature, knownFeature } from "./known-feature.ts";
import { overwrittenBy } from "./overwritten.ts";
import { requireIdentity, requireNotElsewhere } from "./preconditions.ts";

/** What `delete` would do, in numbers. Made before the question and once more after it. */
export interface DeletePlan {
  readonly known: KnownFeature;
  /** Tip of the default branch, where the checkout ends. */
  readonly main: string;
  /** A branch of the feature is checked out. */
  readonly here: boolean;
  /** Files in the slice's folder, ignored ones included. */
  readonly files: number;
  /** Those of them that are not as they were committed. */
  readonly loose: readonly RepoPath[];
  /** What is stored and then removed. */
  readonly paths: readonly RepoPath[];
  /** Files of the slice that the default branch holds. */
  readonly held: readonly RepoPath[];
  /** The default branch's registry has the feature. */
  readonly heldEntry: boolean;
  /** What becomes of uncommitted changes of the registry. */
  readonly registry: RegistryFate;
  /** Commits that are only on the feature's branches. */
  readonly commits: number;
}

/**
 * Reads only.
 *
 * @throws OrchError those of `knownFeature`; `branch.wrong` on a branch that is neither main nor the feature's;
 * `branch.elsewhere`; `tree.dirty` when something of the person's outside the slice is in the way; `git.no-identity`
 */
export async function planDelete(
  context: HereContext,
  args: Pick<CommandArgs, "words" | "app">,
  signal: AbortSignal,
): Promise<DeletePlan> {
  const { git, files, root } = context;
  const known = await knownFeature(context, args, "delete", signal);
  const { feature, head, defaultBranch, branches } = known;
  await requireInside(files, root, feature.dir);
  await requireInside(files, root, feature.registry);
  const here = branches.some(({ name }) => name === head.branch);
  if (!here && head.branch !== defaultBranch) {
    const what = `${head.branch} is neither ${defaultBranch} nor a branch of ${targetText(feature.target)}`;
    throw new OrchError("branch.wrong", what, { data: { branch: defaultBranch } });
  }
  const main = await git.resolve(`refs/heads/${defaultBranch}`);
  if (main === undefined) {
    throw new OrchError("branch.wrong", `${defaultBranch} is not on this machine`, { data: { branch: defaultBranch } });
  }
  for (const { name } of branches) await requireNotElsewhere(git, name);
  if (here) await requireNotElsewhere(git, defaultBranch);
  const status = (await git.status({ ignoredIn: feature.dir })).filter((entry) => isInside(entry.path, feature.dir));
  const held = await git.filesAt(main, feature.dir);
  const texts = await registryTexts(context, feature.registry, head.commit, main);
  const heldEntry =
    texts.goal !== undefined &&
    knownDomain(parseRegistry(texts.goal, feature.registry), feature.target.name) === feature.target.domain;
  const registry = registryFate(texts, feature.target, feature.registry);
  const there = (await files.stat(inRoot(root, feature.dir))) !== undefined;
  const plan: DeletePlan = {
    known,
    main,
    here,
    files: (await git.listFiles(feature.dir)).length + status.filter((entry) => entry.index === "!").length,
    loose: status.map((entry) => entry.path),
    paths: [
      ...(there ? [feature.dir] : []),
      ...(registry.kind === "reset" || registry.kind === "remove" ? [feature.registry] : []),
    ],
    held,
    heldEntry,
    registry,
    commits: await commitsOnly(context, known, main),
  };
  if (held.length > 0 || heldEntry) await requireIdentity(git);
  await refuseOthers(context, plan);
  return plan;
}

/** The question, in numbers. */
export function deleteQuestion(plan: DeletePlan): { readonly title: string; readonly detail: string } {
  const { known, files, loose, commits } = plan;
  const names = known.branches.map(({ name }) => name);
  const uncommitted = loose.length === 0 ? "" : ` (${loose.length} uncommitted)`;
  const parts = [
    `${count(files, "file")}${uncommitted}`,
    ...(commits === 0 ? [] : [`${count(commits, "commit")} that ${known.defaultBranch} does not have`]),
    ...(names.length === 0 ? [] : [`the ${names.length === 1 ? "branch" : "branches"} ${names.join(", ")} here`]),
  ];
  const detail = [
    ...(loose.length === 0 ? [] : [`Uncommitted: ${nameSome(loose, 20)}`]),
    "All of it is stored first; orch restore brings it back. Nothing is pushed, the remote stays as it is",
  ].join("\n");
  return { title: `Delete ${targetText(known.feature.target)}: ${parts.join(", ")}?`, detail };
}

/** What is compared is what the question said. */
export function sameDeletePlan(a: DeletePlan, b: DeletePlan): boolean {
  const key = ({ known, ...plan }: DeletePlan): string =>
    JSON.stringify([known.feature, known.head, known.branches, { ...plan, registry: plan.registry.kind }]);
  return key(a) === key(b);
}

async function registryTexts(
  { git, files, root }: HereContext,
  path: RepoPath,
  head: string,
  goal: string,
): Promise<Parameters<typeof registryFate>[0]> {
  const at = async (commit: string): Promise<string | undefined> => {
    const bytes = await git.fileAt(commit, path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  const changed = (await git.status()).some((entry) => entry.path === path);
  const working = changed ? ((await files.readText(inRoot(root, path))) ?? "{}") : undefined;
  return { working, head: await at(head), goal: await at(goal) };
}

/** Merged branches hold nothing that the default branch does not have in commits of its own. */
async function commitsOnly({ git }: HereContext, { branches }: KnownFeature, main: string): Promise<number> {
  const only = new Set<string>();
  for (const branch of branches) {
    if (branch.merged === undefined) for (const one of await git.commitsOnly(branch.commit, main)) only.add(one);
  }
  return only.size;
}

async function refuseOthers(context: HereContext, plan: DeletePlan): Promise<void> {
  const { known, registry } = plan;
  const { feature, defaultBranch } = known;
  if (registry.kind === "edit" && plan.heldEntry) {
    throw new OrchError("tree.dirty", `${feature.registry} holds other changes, which the commit would take along`, {
      data: { paths: [feature.registry] },
    });
  }
  if (!plan.here) return;
  const isOurs = (path: RepoPath): boolean => isInside(path, feature.dir) || path === feature.registry;
  const paths = (await overwrittenBy(context, known.head.commit, plan.main)).filter((path) => !isOurs(path));
  const all = registry.kind === "blocked" ? [...paths, feature.registry] : paths;
  if (all.length === 0) return;
  throw new OrchError("tree.dirty", `going to ${defaultBranch} would overwrite ${nameSome(all)}`, {
    data: { paths: all },
  });
}
