import { type AbsPath, absPath, inRoot, isAbsolutePath } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import { isBehindLink } from "./link-parents.ts";

/** Files that a client itself leaves in the tree or in git's folder. What was there before the run stays. */
export interface StrayWatch {
  /** Removes what came since; names as the recipe writes them. */
  clear(): Promise<readonly string[]>;
}

export async function watchStray(files: Files, root: AbsPath, names: readonly string[]): Promise<StrayWatch> {
  const places = await Promise.all(names.map(async (name) => ({ name, places: await placesOf(files, root, name) })));
  const before = new Map<string, ReadonlySet<string>>();
  for (const { places: each } of places) for (const at of each) before.set(at, await insideOf(files, at));
  return {
    async clear() {
      const removed: string[] = [];
      for (const { name, places: each } of places) {
        for (const at of each) {
          if (await isBehindLink(files, root, at)) continue;
          const known = before.get(at) ?? new Set<string>();
          const now = await insideOf(files, at);
          const fresh = [...now].filter((path) => !known.has(path));
          if (fresh.length === 0) continue;
          // All of it came: gone in one go. Else only what came, deepest first.
          if (known.size === 0) await files.remove(at);
          else for (const path of fresh.toSorted((a, b) => b.length - a.length)) await files.remove(absPath(path));
          removed.push(...(known.size === 0 ? [name] : fresh.map((path) => path.slice(at.length - name.length))));
        }
      }
      return [...new Set(removed)];
    },
  };
}

/** `.git` of a linked worktree is a file: what is written "into" it lands in the worktree's and the common folder. */
async function placesOf(files: Files, root: AbsPath, name: string): Promise<readonly AbsPath[]> {
  if (!name.startsWith(".git/")) return [inRoot(root, name)];
  const dotGit = inRoot(root, ".git");
  if ((await files.stat(dotGit))?.kind !== "file") return [inRoot(root, name)];
  const line = /^gitdir: (.+)$/m.exec((await files.readText(dotGit)) ?? "")?.[1]?.trim();
  if (line === undefined || !isAbsolutePath(line)) return [];
  const own = absPath(line);
  const common = (await files.readText(inRoot(own, "commondir")))?.trim();
  const rest = name.slice(".git/".length);
  if (common === undefined) return [inRoot(own, rest)];
  const shared = isAbsolutePath(common) ? absPath(common) : await files.realPath(absPath(`${own}/${common}`));
  return shared === undefined ? [inRoot(own, rest)] : [inRoot(own, rest), inRoot(shared, rest)];
}

const maxDepth = 4;

async function insideOf(files: Files, at: AbsPath, depth = 0): Promise<Set<string>> {
  const stat = await files.stat(at);
  if (stat === undefined) return new Set();
  const found = new Set<string>([at]);
  if (stat.kind !== "directory" || depth >= maxDepth) return found;
  for (const { name } of (await files.list(at)) ?? [])
    for (const path of await insideOf(files, inRoot(at, name), depth + 1)) found.add(path);
  return found;
}
