import { inRoot, type RepoPath } from "../base/paths.ts";
import type { BranchPlan } from "../features/branch-check.ts";
import { modifyBranch } from "../features/branches.ts";
import { guardOpenBranches } from "../features/open-branches.ts";
import { type LoadedPack, mainPack, packOfSlice } from "../features/packs.ts";
import { requireInside } from "../features/registry-space.ts";
import { OrchError } from "../model/error.ts";
import { targetText } from "../model/target.ts";
import type { CommandArgs } from "./context.ts";
import { type HereContext, type KnownFeature, knownFeature } from "./known-feature.ts";
import type { LookedAt } from "./modify-target.ts";
import { planBranch } from "./plan-branch.ts";
import { refuseClash } from "./plan-new.ts";

/** What `modify` would amend, and that it may. Reads only. */
export interface ModifyPlan {
  readonly known: KnownFeature;
  readonly pack: LoadedPack;
  readonly branch: BranchPlan;
  /** Text of spec.md as it is where the amending happens; undefined when there is none. */
  readonly spec: string | undefined;
  /** The slice's folder is there. */
  readonly there: boolean;
  readonly controller: boolean;
  readonly mentions: readonly string[];
}

/**
 * @throws OrchError those of `knownFeature`, `guardOpenBranches` and `decideBranch`; `branch.taken`; `path.refused` for a
 * spec.md that is no file; `file.invalid` for one that is no text; `tree.dirty` while the editor holds an unsaved one
 */
export async function planModify(
  context: HereContext,
  args: Pick<CommandArgs, "words" | "app" | "allowOpen">,
  looked: LookedAt | undefined,
  signal: AbortSignal,
): Promise<ModifyPlan> {
  const { git, files, root } = context;
  const known = await knownFeature(context, args, "modify", signal);
  const { feature, registered } = known;
  await requireInside(files, root, feature.dir);
  await requireInside(files, root, feature.registry);
  const branch = await planBranch(context, known, modifyBranch(feature.target));
  if (branch.kind === "make") await refuseClash(context, branch.branch);
  const mentions = await guardOpenBranches(git, { registered, feature: feature.target, allowOpen: args.allowOpen });
  if (looked?.path === feature.spec && looked.unsaved !== undefined) {
    throw new OrchError("tree.dirty", `${feature.spec} has unsaved changes in the editor`, {
      data: { paths: [feature.spec], how: "Save it, or take the changes back, then run the command again" },
    });
  }
  const names = await namesOf(context, feature.dir, branch);
  const folder = known.space.featuresDir.split("/").slice(0, -1).join("/");
  const pack =
    packOfSlice(known.packs, names) ?? mainPack(known.packs, await git.listFiles(), folder) ?? known.packs[0];
  return {
    known,
    pack,
    branch,
    spec: await specOf(context, feature.spec, branch),
    there: names.length > 0,
    controller: pack.pack.roles.controller !== undefined && names.includes(pack.pack.roles.controller),
    mentions,
  };
}

/** File names of the slice where the amending happens: in the tree, or on the branch that is about to be entered. */
async function namesOf(
  { git, files, root }: HereContext,
  dir: RepoPath,
  branch: BranchPlan,
): Promise<readonly string[]> {
  const here = ((await files.list(inRoot(root, dir))) ?? []).map(({ name }) => name);
  if (branch.kind !== "enter") return here;
  return (await git.filesAt(branch.branch, dir)).map((path) => path.slice(dir.length + 1));
}

async function specOf(
  { git, files, root }: HereContext,
  path: RepoPath,
  branch: BranchPlan,
): Promise<string | undefined> {
  const place = inRoot(root, path);
  const stat = await files.stat(place);
  if (stat !== undefined && stat.kind !== "file") {
    throw new OrchError("path.refused", `${path} is no plain file`, { data: { path } });
  }
  const bytes = branch.kind === "enter" ? await git.fileAt(branch.branch, path) : await files.read(place);
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new OrchError("file.invalid", `${path} is not UTF-8 text`, { data: { path }, cause: error });
  }
}

export function modifyTarget(plan: ModifyPlan): string {
  return targetText(plan.known.feature.target);
}
