import { readFile } from "node:fs/promises";
import path from "node:path";
import { absPath, type AbsPath } from "../base/paths.ts";
import type { GitCall } from "./git-call.ts";
import { checkedBranch, nulFields } from "./git-names.ts";

/** Another worktree that holds the branch, read from `git worktree list` and, for a rebase under way, from its git dir. */
export async function checkedOutElsewhere(git: GitCall, branch: string): Promise<AbsPath | undefined> {
  const ref = `refs/heads/${checkedBranch(branch)}`;
  const fields = nulFields(await git.bytes(["worktree", "list", "--porcelain", "-z"]));
  let folder = "";
  for (const field of fields) {
    if (field.startsWith("worktree ")) folder = field.slice("worktree ".length);
    else if (path.resolve(folder) === path.resolve(git.place.root)) continue;
    else if (field === `branch ${ref}`) return absPath(folder);
    else if (field === "detached" && (await rebasing(folder)) === ref) return absPath(folder);
  }
  return undefined;
}

async function rebasing(folder: string): Promise<string | undefined> {
  const link = await readFile(path.join(folder, ".git"), "utf8").catch(() => undefined);
  const gitDir =
    link === undefined ? path.join(folder, ".git") : path.resolve(folder, link.replace(/^gitdir: /, "").trimEnd());
  for (const file of ["rebase-merge/head-name", "rebase-apply/head-name"]) {
    const name = await readFile(path.join(gitDir, file), "utf8").catch(() => undefined);
    if (name !== undefined) return name.trim();
  }
  return undefined;
}
