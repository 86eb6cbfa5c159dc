import { dirName, inRoot, isInside, type RepoPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { updateRegistry, withoutFeature } from "../features/registry.ts";
import type { Confirmed } from "../model/confirmed.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import type { DeletePlan } from "./delete-plan.ts";
import type { HereContext } from "./known-feature.ts";
import { notRemoved } from "./not-removed.ts";
import type { BackStep } from "./put-back.ts";

/** The steps of `delete`, each with what undoes it. The order is that of the handler: clear, commit, branches. */
export interface Clearing {
  readonly id: string;
  readonly confirmed: Confirmed;
  readonly back: BackStep[];
}

/** The stored files go; then the checkout is on main, with what main holds of the slice still there. */
export async function clearSlice(
  context: HereContext,
  plan: DeletePlan,
  { id, confirmed, back }: Clearing,
): Promise<void> {
  const { git, files, root, trash } = context;
  const { feature, head, defaultBranch } = plan.known;
  if (plan.paths.length > 0) {
    back.push(async () => {
      if (plan.here) await removeCommitted(context, feature.dir, await git.filesAt(head.commit, feature.dir));
      const restored = await trash.restore(id);
      // Where somebody saved a newer file meanwhile, the copy beside it is in the trash all the same.
      for (const { wroteTo } of restored.beside) await files.remove(inRoot(root, wroteTo));
    });
    const { kept } = await trash.removeStored(id);
    if (kept.length > 0) throw await notRemoved(context, kept, "deleted");
  }
  const before = await files.read(inRoot(root, feature.registry));
  if (plan.here) await git.discard(plan.paths, head.commit, confirmed);
  else {
    // The commit takes what main holds of the slice out of the index; what was only staged goes here.
    const loose = plan.held.length === 0 ? plan.paths : plan.paths.filter((path) => path !== feature.dir);
    await git.discard(loose, plan.main, confirmed);
  }
  const { registry } = plan;
  if (registry.kind === "edit") {
    const { after } = await updateRegistry(files, root, feature.registry, () => registry.text);
    back.push(() => writeBack(context, feature.registry, after, before));
  } else if (plan.paths.includes(feature.registry)) {
    const after = await files.read(inRoot(root, feature.registry));
    // Out of the way, so that the stored one takes its place.
    back.push(() => writeBack(context, feature.registry, after, undefined));
  }
  if (!plan.here) return;
  await git.switch(defaultBranch);
  back.push(() => git.switch(head.branch));
}

/** One commit of the folder and the entry, as main had them; undefined when main had neither. */
export async function commitRemoval(
  context: HereContext,
  plan: DeletePlan,
  { confirmed, back }: Omit<Clearing, "id">,
): Promise<string | undefined> {
  const { git, files, root } = context;
  const { feature, defaultBranch } = plan.known;
  if (plan.held.length === 0 && !plan.heldEntry) return undefined;
  if (plan.here) {
    back.push(() => bringBack(context, plan, confirmed));
    await removeHeld(context, plan);
  }
  if (plan.heldEntry) {
    const { before, after } = await updateRegistry(files, root, feature.registry, (text) =>
      withoutFeature(text ?? "{}", feature.target.name),
    );
    back.push(() => writeBack(context, feature.registry, after, before));
  }
  const message = `delete: ${feature.target.name}`;
  const commit = await git.commitPaths({
    paths: [feature.dir, ...(plan.heldEntry ? [feature.registry] : [])],
    message,
    trusted: await context.trust.mayRunCode(),
  });
  context.sink.append({ type: "commit.made", commit, branch: defaultBranch, subject: message, pushed: false });
  return commit;
}

/** What main's checkout has just put there goes; an edit of it that came meanwhile stays, and with it everything. */
async function removeHeld(context: HereContext, plan: DeletePlan): Promise<void> {
  const edited = await removeCommitted(context, plan.known.feature.dir, plan.held);
  if (edited.length === 0) return;
  throw new OrchError("tree.changed", `edited meanwhile, so nothing was deleted: ${nameSome(edited)}`, {
    data: { paths: edited },
  });
}

/** Removes those of the files that are as they were committed, with the folders they leave empty; returns the others. */
async function removeCommitted(
  { git, files, root }: HereContext,
  dir: RepoPath,
  paths: readonly RepoPath[],
): Promise<readonly RepoPath[]> {
  const touched = new Set<string>((await git.status()).map((entry) => entry.path));
  const clean = paths.filter((path) => !touched.has(path));
  for (const path of clean) await files.remove(inRoot(root, path));
  const folders = new Set(clean.flatMap((path) => foldersUp(path, dir)));
  for (const folder of [...folders].toSorted((a, b) => b.length - a.length)) {
    await files.removeEmptyDir(inRoot(root, folder));
  }
  return paths.filter((path) => touched.has(path));
}

function foldersUp(path: RepoPath, top: RepoPath): readonly string[] {
  const found: string[] = [];
  for (let at = dirName(path); isInside(at, top); at = dirName(at)) found.push(at);
  return found;
}

/** Main's files of the slice, where nobody has made another since. */
async function bringBack(context: HereContext, plan: DeletePlan, confirmed: Confirmed): Promise<void> {
  const gone: RepoPath[] = [];
  for (const path of plan.held) {
    if ((await context.files.stat(inRoot(context.root, path))) === undefined) gone.push(path);
  }
  await context.git.discard(gone, plan.main, confirmed);
}

/** Only where the file still is what this command left there. */
async function writeBack(
  { files, root }: HereContext,
  path: RepoPath,
  ours: Uint8Array | undefined,
  before: Uint8Array | undefined,
): Promise<void> {
  const place = inRoot(root, path);
  const now = await files.read(place);
  if (now === undefined ? ours !== undefined : ours === undefined || !Buffer.from(now).equals(ours)) {
    throw new OrchError("tree.changed", `${path} was edited meanwhile and stays as it is`, { data: { paths: [path] } });
  }
  if (before === undefined) await files.remove(place);
  else await files.write(place, before);
}

/** Git knows no empty folders: those that held only this slice go with it. */
export async function removeEmptyParents({ files, root }: HereContext, dir: RepoPath): Promise<void> {
  for (let at = dirName(dir), level = 0; at !== "." && level < 2; at = dirName(at), level += 1) {
    if (!(await files.removeEmptyDir(inRoot(root, at)))) return;
  }
}

export interface Branches {
  readonly deleted: readonly string[];
  readonly notes: readonly string[];
}

/** The feature is gone by then: a branch that moved meanwhile is told of and stays. */
export async function deleteBranches({ git }: HereContext, { known }: DeletePlan): Promise<Branches> {
  const deleted: string[] = [];
  const notes: string[] = [];
  for (const { name, commit } of known.branches) {
    try {
      await git.delete(name, commit);
      deleted.push(name);
    } catch (error) {
      if (!isOrchError(error)) throw error;
      notes.push(`The branch ${name} was kept: ${error.message}`);
    }
  }
  return { deleted, notes };
}
