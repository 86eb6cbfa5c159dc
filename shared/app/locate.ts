import { openGit } from "../adapters/git.ts";
import { createProcess } from "../adapters/process.ts";
import type { AbsPath } from "../base/paths.ts";

/** The repository's root for a folder in it. @throws OrchError `git.*` */
export async function locateRepository(
  folder: AbsPath,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<AbsPath> {
  const { git } = await openGit({ folder, env, signal, process: createProcess() });
  return git.place.root;
}
