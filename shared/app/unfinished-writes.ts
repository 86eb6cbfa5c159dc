import { count } from "../base/lines.ts";
import { nameSome } from "../features/branches.ts";
import type { RepoContext } from "./context.ts";
import { repositoryLockPath } from "./repository-lock.ts";

export type UnfinishedContext = Pick<RepoContext, "git" | "machine" | "locks">;

/**
 * Files that a killed command was writing: moved aside or half replaced. Whoever takes the repository's lock puts them
 * back; until then they are named. Nothing of a command that is still at it.
 */
export async function unfinishedHere({ git, machine, locks }: UnfinishedContext): Promise<readonly string[]> {
  if ((await git.unfinishedWrites()).length === 0) return [];
  if (!locks.isFree(repositoryLockPath(machine.stateDir, git.place.commonDir))) return [];
  return await git.unfinishedWrites();
}

export function unfinishedText(paths: readonly string[]): string {
  return `${count(paths.length, "file")} as a command left ${paths.length === 1 ? "it" : "them"} that was ended while it wrote: ${nameSome(paths)}`;
}

export const unfinishedNext = "orch doctor --fix";
