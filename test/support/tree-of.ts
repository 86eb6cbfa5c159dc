import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { TempRepo } from "./temp-repo.ts";

/**
 * Everything a person has in a repository, as text: each file outside `.git` and `.orch/runs` with mode and hash (Orch's
 * own links of `.agents` aside), branches, HEAD and the index. Two equal answers mean that nothing of theirs changed.
 */
export async function treeOf(repo: TempRepo): Promise<readonly string[]> {
  const lines: string[] = [];
  const walk = (folder: string): void => {
    for (const name of fs.readdirSync(folder).toSorted()) {
      const at = path.join(folder, name);
      const shown = path.relative(repo.root, at);
      if (shown === ".git" || shown === path.join(".orch", "runs")) continue;
      const stat = fs.lstatSync(at);
      // Orch's own links, which any command restores.
      if (stat.isSymbolicLink() && /^\.agents(?:$|\/)/.test(shown)) continue;
      if (stat.isDirectory()) {
        // The folder of the runs may come into being.
        if (shown !== ".orch") lines.push(`${shown}/`);
        walk(at);
      } else if (stat.isSymbolicLink()) lines.push(`${shown} -> ${fs.readlinkSync(at)}`);
      else
        lines.push(
          `${shown} ${(stat.mode & 0o777).toString(8)} ${createHash("sha256").update(fs.readFileSync(at)).digest("hex")}`,
        );
    }
  };
  walk(repo.root);
  const refs = await repo.tryGit("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags");
  const head = fs.readFileSync(repo.path(".git", "HEAD"), "utf8");
  const index = await repo.tryGit("ls-files", "--stage");
  return [...lines, refs.stdout, head, index.stdout];
}
