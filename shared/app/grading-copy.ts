import { throwIfAborted } from "../base/abort.ts";
import { absPath, type AbsPath, dirName, inRoot, isInside, repoPath, typedPath } from "../base/paths.ts";
import type { Grading } from "../gates/hidden.ts";
import type { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { RepoContext } from "./context.ts";

type GradingContext = Pick<RepoContext, "files" | "git" | "ids" | "machine" | "root" | "run">;

/** What a check needs of the worktree beside its files: `worktree_links`, so that node_modules and the like are there. */
export type LinkInto = (copy: { readonly folder: AbsPath; readonly tree: string }, contract: Contract) => Promise<void>;

/**
 * Grading copies lie in the user's own state, which no worker is given: a folder for each run, so that what a killed
 * runner left is found again.
 */
export function createGrading(context: GradingContext, link: LinkInto): Grading {
  const { files, git, ids, root } = context;
  return {
    async open(tree, contract, signal) {
      const folder = inRoot(gradingDir(context), context.run, ids.next("marker"));
      const copy = inRoot(folder, "tree");
      const reports = inRoot(folder, "reports");
      const dispose = (): Promise<void> => files.remove(folder);
      try {
        for (const dir of [copy, reports]) await files.makeDir(dir, { mode: 0o700 });
        await git.checkoutTo(tree, copy);
        throwIfAborted(signal);
        await link({ folder: copy, tree }, contract);
        for (const { from, to } of contract.hidden_files)
          await putHidden(context, hiddenSource(context, from), copy, to);
      } catch (error) {
        await dispose();
        throw error;
      }
      return { root: copy, reports, [Symbol.asyncDispose]: dispose };
    },
    async locate(from) {
      const real = await files.realPath(hiddenSource(context, from));
      if (real === undefined) return "missing";
      return isInside(real, (await files.realPath(root)) ?? root) ? "inside" : "outside";
    },
  };
}

/** Takes away what dead runners of this repository left: it holds hidden files. */
export async function sweepGrading(
  context: Pick<RepoContext, "files" | "machine" | "run">,
  runs: Pick<RunStore, "find" | "isAlive">,
): Promise<void> {
  const { files, run } = context;
  for (const { name } of (await files.list(gradingDir(context))) ?? []) {
    const folder = name === run ? undefined : await runs.find(name);
    if (name === run || (folder?.run === name && !runs.isAlive(folder.dir)))
      await files.remove(inRoot(gradingDir(context), name));
  }
}

function gradingDir({ machine }: Pick<RepoContext, "machine">): AbsPath {
  return inRoot(machine.stateDir, "grading");
}

/** Absolute, below the home with `~/`, or relative to the repository's root. */
export function hiddenSource({ root, machine }: Pick<RepoContext, "machine" | "root">, from: string): AbsPath {
  const home = machine.env["HOME"] ?? machine.env["USERPROFILE"];
  if (from.startsWith("~/") && home !== undefined) return inRoot(absPath(home), from.slice(2));
  return typedPath(root, from);
}

/** One file, or a folder with all its files. It takes the place of whatever the worker put there. */
async function putHidden(
  { files }: Pick<RepoContext, "files">,
  from: AbsPath,
  copy: AbsPath,
  to: string,
): Promise<void> {
  const target = repoPath(to);
  const real = await files.realPath(from);
  if (target === undefined || real === undefined)
    throw new OrchError("contract.invalid", `the hidden file ${from} cannot be used`, { data: { path: to } });
  const at = inRoot(copy, target);
  await refuseLinks(files, copy, target);
  await files.makeDir(absPath(dirName(at)), { mode: 0o700 });
  await files.remove(at);
  const entries = await files.list(real);
  if (entries === undefined) {
    await files.write(at, (await files.read(real)) ?? new Uint8Array(), { mode: 0o600 });
    return;
  }
  for (const { name } of entries) await putHidden({ files }, inRoot(real, name), copy, `${to}/${name}`);
}

/** A link of the worker's above the place must not lead the file out of the copy. */
async function refuseLinks(files: RepoContext["files"], copy: AbsPath, target: string): Promise<void> {
  const parts = target.split("/");
  for (let length = 1; length < parts.length; length += 1) {
    const kind = (await files.stat(inRoot(copy, ...parts.slice(0, length))))?.kind;
    if (kind === undefined || kind === "directory") continue;
    throw new OrchError("contract.invalid", `no folder for a hidden file: ${parts.slice(0, length).join("/")}`, {
      data: { path: target },
    });
  }
}
