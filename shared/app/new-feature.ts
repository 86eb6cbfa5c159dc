import { throwIfAborted } from "../base/abort.ts";
import { absPath, dirName, inRoot, isInside, type RepoPath } from "../base/paths.ts";
import { type BranchPlan, enterBranch } from "../features/branch-check.ts";
import { type RegistryUpdate, revertRegistry, updateRegistry, withFeature } from "../features/registry.ts";
import { requireInside } from "../features/registry-space.ts";
import type { NewJournal } from "../model/command-journal.ts";
import type { Feature } from "../model/feature.ts";
import type { RepoContext } from "./context.ts";
import { newJournal } from "./new-undo.ts";
import { type BackStep, putBack } from "./put-back.ts";

/**
 * The writing half of `new`, all or nothing: branch, files, registration. When a step fails everything this call made
 * is put back: its files where nobody changed them since, its folders where they are empty, the registry, the branch.
 * When the process is killed, the journal lets the next one do so.
 */
export interface NewFeature {
  readonly feature: Feature;
  readonly plan: BranchPlan;
  /** Branch that is checked out now. */
  readonly from: string;
  readonly files: readonly { readonly path: RepoPath; readonly text: string }[];
}

type Machine = Pick<RepoContext, "git" | "files" | "root" | "editor" | "runDir">;

export interface Created {
  readonly branch: string;
  readonly written: readonly RepoPath[];
  /** Files that stood there before and were left as they are. */
  readonly kept: readonly RepoPath[];
}

export async function createFeature(context: Machine, wanted: NewFeature, signal: AbortSignal): Promise<Created> {
  const back: BackStep[] = [];
  try {
    throwIfAborted(signal);
    await newJournal.write(context, await journalOf(context, wanted));
    const branch = await makeBranch(context, wanted, back);
    await requireInside(context.files, context.root, wanted.feature.dir);
    const { written, kept } = await writeFiles(context, wanted, back, signal);
    await register(context, wanted.feature, back);
    return { branch, written, kept };
  } catch (error) {
    if (await putBack(context.editor, back)) await newJournal.remove(context);
    throw error;
  }
}

async function journalOf({ git, files, root }: Machine, wanted: NewFeature): Promise<NewJournal> {
  const { feature, plan, from } = wanted;
  const made = plan.kind === "make" ? plan.from : await git.resolve(`refs/heads/${plan.branch}`);
  const registry = await files.read(inRoot(root, feature.registry));
  const top = await firstMissing({ files, root }, feature.dir);
  const folders: string[] = [];
  for (let at: string = feature.dir; top !== undefined && isInside(at, top); at = dirName(at)) folders.unshift(at);
  return {
    v: 1,
    from,
    branch: { kind: plan.kind, name: plan.branch, commit: made ?? "" },
    target: { ...feature.target },
    dir: feature.dir,
    folders,
    files: wanted.files.map(({ path, text }) => ({ path, text })),
    registry: feature.registry,
    registryBefore: registry === undefined ? null : Buffer.from(registry).toString("base64"),
  };
}

/** Makes or enters the branch of the plan; `back` gets what undoes it. */
export async function makeBranch(
  { git }: Pick<Machine, "git">,
  { plan, feature, from }: Pick<NewFeature, "plan" | "feature" | "from">,
  back: BackStep[],
): Promise<string> {
  if (plan.kind === "make") {
    back.push(async () => {
      const made = (await git.branches()).find(({ name }) => name === plan.branch);
      if (made === undefined) return;
      const head = await git.head();
      if (head.kind === "branch" && head.branch === plan.branch) await git.switch(from);
      if (made.commit === plan.from) await git.delete(plan.branch, plan.from);
    });
  } else if (plan.kind === "enter") {
    back.push(() => git.switch(from));
  }
  return enterBranch(git, plan, feature.target);
}

async function writeFiles(
  { files, root }: Machine,
  wanted: NewFeature,
  back: BackStep[],
  signal: AbortSignal,
): Promise<Omit<Created, "branch">> {
  const written: RepoPath[] = [];
  const kept: RepoPath[] = [];
  const dir = inRoot(root, wanted.feature.dir);
  const top = await firstMissing({ files, root }, wanted.feature.dir);
  if (top !== undefined) {
    back.push(async () => {
      for (let at: string = dir; isInside(at, inRoot(root, top)); at = dirName(at))
        if (!(await files.removeEmptyDir(absPath(at)))) break;
    });
  }
  await files.makeDir(dir);
  for (const { path, text } of wanted.files) {
    throwIfAborted(signal);
    const place = inRoot(root, path);
    if (!(await files.createOnce(place, text))) {
      kept.push(path);
      continue;
    }
    written.push(path);
    back.push(async () => {
      if ((await files.readText(place)) === text) await files.remove(place);
    });
  }
  return { written, kept };
}

export async function register(
  { files, root }: Pick<Machine, "files" | "root">,
  feature: Feature,
  back: BackStep[],
): Promise<void> {
  const update: RegistryUpdate = await updateRegistry(files, root, feature.registry, (text) =>
    withFeature(text, feature.target),
  );
  back.push(() => revertRegistry(files, root, feature.registry, update, feature.target.name));
}

/** The uppermost folder of the way to `dir` that is not there yet. */
async function firstMissing(
  { files, root }: Pick<Machine, "files" | "root">,
  dir: RepoPath,
): Promise<string | undefined> {
  let missing: string | undefined;
  for (let at: string = dir; at !== "."; at = dirName(at))
    if ((await files.stat(inRoot(root, at))) === undefined) missing = at;
  return missing;
}
