import { createClock } from "../../shared/adapters/clock.ts";
import { createGit, type GitDeps, openGit } from "../../shared/adapters/git.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTrash } from "../../shared/adapters/trash.ts";
import type { RepoPath } from "../../shared/base/paths.ts";
import type { Confirmed } from "../../shared/model/confirmed.ts";
import type { Git } from "../../shared/ports/git.ts";
import type { Trash } from "../../shared/ports/trash.ts";
import { makeTempRepo, type TempRepo, type TempRepoOptions } from "./temp-repo.ts";

/** A temporary repository with the real adapters on it. */
export interface GitRepo extends TempRepo {
  readonly port: Git;
  readonly trash: Trash;
}

export async function makeGitRepo(options: TempRepoOptions = {}, deps: Partial<GitDeps> = {}): Promise<GitRepo> {
  const repo = await makeTempRepo(options);
  const { git, call } = await openGit({ folder: repo.root, process: createProcess(), env: repo.env, ...deps });
  const clock = createClock();
  return { ...repo, port: git, trash: createTrash({ call, clock, ids: createIds(clock) }) };
}

export function gitIn(repo: TempRepo, folder: string, deps: Partial<GitDeps> = {}): Promise<Git> {
  return createGit({ folder: folder as GitDeps["folder"], process: createProcess(), env: repo.env, ...deps });
}

/** Paths as the port takes them. */
export function paths(...names: string[]): RepoPath[] {
  return names as RepoPath[];
}

export const confirmed: Confirmed = { __brand: "Confirmed", what: "a test", by: "--yes" };
