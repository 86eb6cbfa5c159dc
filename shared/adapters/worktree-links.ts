import { lstat, mkdir, readdir, readlink, realpath, symlink } from "node:fs/promises";
import path from "node:path";
import { type AbsPath, globMatcher, hasWildcard, inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { hasErrno, isBehindLink, toBytes } from "./git-walk.ts";

/**
 * Untracked things of the main tree that a worktree gets as links (`node_modules`, `.venv`, built files). A folder whose
 * entries lead back into the main tree, as a workspace's node_modules does, is never linked whole: its own entries are
 * linked one by one, and those that lead back are made anew so that they lead into the worktree.
 *
 * A link is a way out: what a worker writes through it lands in the main tree. A sandbox refuses that; where there is
 * none, everything a link leads to is looked at before and after each attempt (link-targets.ts), and what changed is told.
 */
export interface WorktreeLink {
  /** Where the link is, in the worktree. */
  readonly path: RepoPath;
  readonly target: string;
}

export interface LinkPlan {
  readonly links: readonly WorktreeLink[];
  /** Folders of the worktree that hold links and are no links themselves. */
  readonly folders: readonly RepoPath[];
  /** What the patterns named in the main tree. */
  readonly linked: readonly RepoPath[];
  /** What could not be made safe, for people. */
  readonly notes: readonly string[];
}

export interface LinkOrder {
  readonly main: AbsPath;
  readonly tree: AbsPath;
  readonly patterns: readonly string[];
  /** Tracked in the snapshot, or a folder that holds something tracked: the worktree has it, so nothing is linked over it. */
  readonly isTracked: (path: RepoPath) => boolean;
}

/** Reads the main tree only. @throws OrchError `path.refused` for a pattern that leaves the repository */
export async function planLinks(order: LinkOrder): Promise<LinkPlan> {
  const out = {
    links: [] as WorktreeLink[],
    folders: [] as RepoPath[],
    linked: [] as RepoPath[],
    notes: [] as string[],
  };
  for (const pattern of order.patterns) {
    const safe = repoPath(pattern);
    if (safe === undefined || /^\.(?:git|orch)(?:\/|$)/i.test(safe)) {
      throw new OrchError("path.refused", `worktree_links: ${pattern} is no path inside the repository's tree`, {
        data: { path: pattern },
      });
    }
    for (const found of await expand(order.main, safe)) {
      if (out.linked.some((known) => isInside(found, known))) continue;
      if (order.isTracked(found)) {
        out.notes.push(`${found} is tracked, so the worktree has its own and no link`);
        continue;
      }
      out.linked.push(found);
      await planOne(order, found, out);
    }
  }
  return out;
}

type Out = { links: WorktreeLink[]; folders: RepoPath[]; linked: RepoPath[]; notes: string[] };

async function planOne(order: LinkOrder, found: RepoPath, out: Out): Promise<void> {
  const at = inRoot(order.main, found);
  const stat = await lstat(at);
  if (stat.isSymbolicLink()) {
    const target = await realpath(at).catch(() => undefined);
    if (target === undefined) out.notes.push(`${found} leads nowhere and was left out`);
    else if (leadsBack(order.main, target)) out.links.push(await rebuilt(order, found, target));
    else out.links.push({ path: found, target });
    return;
  }
  if (!stat.isDirectory() || !(await holdsWayBack(order.main, found))) {
    out.links.push({ path: found, target: at });
    return;
  }
  await planEntries(order, found, out);
}

/** One by one; a folder of scoped names, or of programs, is looked into in the same way. */
async function planEntries(order: LinkOrder, folder: RepoPath, out: Out): Promise<void> {
  out.folders.push(folder);
  for (const entry of await readdir(inRoot(order.main, folder), { withFileTypes: true })) {
    const own = `${folder}/${entry.name}` as RepoPath;
    const at = inRoot(order.main, own);
    if (entry.isSymbolicLink()) {
      const target = await realpath(at).catch(() => undefined);
      if (target === undefined) continue;
      if (leadsBack(order.main, target)) out.links.push(await rebuilt(order, own, target));
      else out.links.push({ path: own, target: at });
    } else if (entry.isDirectory() && (await holdsWayBack(order.main, own))) await planEntries(order, own, out);
    else out.links.push({ path: own, target: at });
  }
}

/** The same way, inside the worktree. */
async function rebuilt(order: LinkOrder, own: RepoPath, target: string): Promise<WorktreeLink> {
  const text = await readlink(inRoot(order.main, own));
  if (!path.isAbsolute(text)) return { path: own, target: text };
  return { path: own, target: path.join(order.tree, path.relative(order.main, target)) };
}

/** Into the main tree's own files: what lies below a node_modules of it is somebody else's package. */
function leadsBack(main: AbsPath, target: string): boolean {
  const inside = path.relative(main, target);
  if (inside.startsWith("..") || path.isAbsolute(inside)) return false;
  return !inside.split(path.sep).includes("node_modules");
}

const deepest = 4;

/** Does a link in it, some levels down as package managers keep them, lead back? */
async function holdsWayBack(main: AbsPath, folder: RepoPath, depth = 0): Promise<boolean> {
  let entries;
  try {
    entries = await readdir(inRoot(main, folder), { withFileTypes: true });
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return false;
    throw error;
  }
  for (const entry of entries) {
    const own = `${folder}/${entry.name}` as RepoPath;
    if (entry.isSymbolicLink()) {
      const target = await realpath(inRoot(main, own)).catch(() => undefined);
      if (target !== undefined && leadsBack(main, target)) return true;
    } else if (entry.isDirectory() && depth < deepest && isShelf(entry.name, depth)) {
      if (await holdsWayBack(main, own, depth + 1)) return true;
    }
  }
  return false;
}

/** Folders in which package managers keep links: scopes, programs, pnpm's store and the node_modules of its packages. */
function isShelf(name: string, depth: number): boolean {
  return name.startsWith("@") || name === ".bin" || name === ".pnpm" || name === "node_modules" || depth === 1;
}

/** Existing paths of the main tree that the pattern names. `*` stays in one folder; `**` is taken for any depth. */
async function expand(main: AbsPath, pattern: RepoPath): Promise<RepoPath[]> {
  if (!hasWildcard(pattern)) {
    const there = await lstat(inRoot(main, pattern)).catch(() => undefined);
    return there === undefined ? [] : [pattern];
  }
  const matches = globMatcher([pattern]);
  const deep = pattern.includes("**");
  const levels = pattern.split("/").length;
  const found: RepoPath[] = [];
  const visit = async (folder: string, level: number): Promise<void> => {
    for (const entry of await readdir(inRoot(main, folder), { withFileTypes: true })) {
      const own = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (own === ".git" || own === ".orch") continue;
      if (matches(own)) found.push(own as RepoPath);
      else if (entry.isDirectory() && entry.name !== "node_modules" && (deep || level < levels))
        await visit(own, level + 1);
    }
  };
  await visit("", 1);
  return found.toSorted();
}

/** Folders first. A path that is there already is left: the snapshot has its own. */
export async function makeLinks(tree: AbsPath, plan: LinkPlan): Promise<readonly WorktreeLink[]> {
  for (const folder of plan.folders) {
    if (!(await leadsAway(tree, folder))) await mkdir(inRoot(tree, folder), { recursive: true });
  }
  const made: WorktreeLink[] = [];
  for (const link of plan.links) {
    if (await isBehindLink(tree, toBytes(link.path))) continue;
    const at = inRoot(tree, link.path);
    await mkdir(path.dirname(at), { recursive: true });
    try {
      await symlink(link.target, at);
      made.push(link);
    } catch (error) {
      if (!hasErrno(error, "EEXIST")) throw error;
    }
  }
  return made;
}

/** The commit a worktree starts from may have a link where the main tree has a folder: nothing is made behind it. */
async function leadsAway(tree: AbsPath, folder: RepoPath): Promise<boolean> {
  return isBehindLink(tree, toBytes(`${folder}/`));
}

/** Links that are exactly as they were made: only those are left out of a change. */
export async function untouched(tree: AbsPath, links: readonly WorktreeLink[]): Promise<readonly WorktreeLink[]> {
  const kept: WorktreeLink[] = [];
  for (const link of links) {
    const target = await readlink(inRoot(tree, link.path)).catch(() => undefined);
    if (target === link.target) kept.push(link);
  }
  return kept;
}
