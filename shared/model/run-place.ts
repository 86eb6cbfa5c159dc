import { type AbsPath, baseName, dirName, inRoot } from "../base/paths.ts";

/** Where run folders are: in the repository, or in the user's own state when the repository cannot be written. */
export function runsDir(root: AbsPath): AbsPath {
  return inRoot(root, ".orch", "runs");
}

/** One folder for each repository; its name is for people, the hash of the whole path tells equal names apart. */
export function stateRunsDir(stateDir: AbsPath, root: AbsPath): AbsPath {
  const name = baseName(root)
    .replaceAll(/[^A-Za-z0-9_-]/g, "_")
    .slice(0, 40);
  return inRoot(stateDir, "repos", `${name}-${hash53(root)}`, "runs");
}

/** Marks of the runs that were started on this machine and are not over. */
export function ownRunsDir(stateDir: AbsPath): AbsPath {
  return inRoot(stateDir, "own-runs");
}

/** The git dir of a worktree lies beside it: what its `.git` file says is the worker's to write, and is not asked. */
export function gitDirBeside(tree: AbsPath): AbsPath {
  return inRoot(dirName(tree) as AbsPath, "git");
}

/** `r-YYYYMMDD-HHMMSS-xxxx`; contract ids never look like this. */
export const runIdPattern = /^r-[0-9]{8}-[0-9]{6}-[a-z0-9]{4}$/;

/** cyrb53: 53 bits, for names only. This room has no Node, and nothing is trusted by this hash. */
function hash53(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
