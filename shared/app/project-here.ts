import { type AbsPath, below, repoPath } from "../base/paths.ts";
import { openProject, type Project } from "../features/registry-space.ts";
import type { RepoContext } from "./context.ts";

/** A repository, and the folder of it in which the command was given; its root when absent. */
export type Here = Pick<RepoContext, "files" | "root"> & { readonly cwd?: AbsPath };

/**
 * The project whose registry holds where the command was given: the nearest `.features.json` upwards, in the end the
 * root's.
 *
 * @throws OrchError `registry.invalid`
 */
export async function projectHere({ files, root, cwd }: Here): Promise<Project> {
  const [real, realRoot] = await Promise.all([files.realPath(cwd ?? root), files.realPath(root)]);
  const path = real === undefined || realRoot === undefined ? undefined : below(slashed(real), slashed(realRoot));
  const from = path === undefined ? undefined : repoPath(path);
  return from === undefined ? openProject(files, root) : openProject(files, root, from);
}

const slashed = (path: string): string => path.replaceAll("\\", "/");
