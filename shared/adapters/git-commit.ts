import { access, constants, lstat } from "node:fs/promises";
import path from "node:path";
import type { RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { GitRead } from "../ports/git.ts";
import { type GitAnswer } from "./git-alone.ts";
import { clean, decode, failed, type GitCall, type GitOptions } from "./git-call.ts";
import { isLocal, isTrue, valueOf } from "./git-config.ts";
import { refuseDeadFilters } from "./git-filters.ts";
import {
  copyIndex,
  editIndex,
  type IndexEntry,
  indexEntries,
  isUnder,
  treeEntries,
  withTempIndex,
} from "./git-index.ts";
import { nulBytes } from "./git-names.ts";
import { hasErrno, inRootBytes, toBytes } from "./git-walk.ts";

export interface CommitOrder {
  readonly paths: readonly RepoPath[];
  readonly message: string;
  readonly trusted: boolean;
}

/**
 * The commit is made by `git commit` itself (hooks, signing, reflog) on an index of ours; HEAD moves once, at the end, and
 * until then nothing of the person's is touched. Then the person's index learns of the committed paths, and of nothing else.
 */
export async function commitPaths(
  git: GitCall,
  read: Pick<GitRead, "head" | "operation">,
  requireIdentity: () => Promise<void>,
  order: CommitOrder,
): Promise<string> {
  const head = await read.head();
  if (head.kind === "detached")
    throw new OrchError("tree.detached", "HEAD is on no branch, so a commit would belong to none");
  const operation = await read.operation();
  if (operation !== undefined)
    throw new OrchError("tree.in-progress", `a ${operation} is in progress`, { data: { operation } });
  await requireIdentity();
  const named = order.paths.map(toBytes);
  const before = head.kind === "branch" ? head.commit : undefined;
  return withTempIndex(async (options) => {
    await startIndex(git, options, before);
    const files = await filesOf(git, named, options);
    await refuseDeadFilters(git, files, "commit");
    await git.bytes(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], {
      ...options,
      stdin: joinNul(files),
      startsPrograms: true,
    });
    const tree = await git.text(["write-tree"], options);
    if (before !== undefined && tree === (await git.text(["rev-parse", `${before}^{tree}`]))) {
      // Committed already: by a process, perhaps, that was killed before the index learned of it.
      await catchUp(git, named, before, before);
      return before;
    }
    const now = (): Promise<string | undefined> => git.maybe(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    try {
      await runCommit(git, order, options);
    } catch (error) {
      // Stopped in a hook that follows the commit: the commit stands, and so must what belongs to it.
      if ((await now()) === before) throw error;
    }
    const commit = (await now()) ?? "";
    try {
      await catchUp(git, named, before, commit);
    } catch (error) {
      // An index that does not know the commit would take it back with the person's next one.
      const back = before === undefined ? ["-d", "HEAD", commit] : ["HEAD", before, commit];
      await git.answer(["update-ref", "-m", "orch: commit taken back", ...back]);
      throw error;
    }
    return commit;
  });
}

/** A copy of the person's index set to HEAD: their file times spare git reading every file again. */
async function startIndex(
  git: GitCall,
  options: GitOptions & { readonly indexFile: string },
  head: string | undefined,
): Promise<void> {
  if (head === undefined) return;
  const index = path.join(git.place.gitDir, "index");
  try {
    await copyIndex(index, options.indexFile);
  } catch (error) {
    if (!hasErrno(error, "ENOENT")) throw error;
  }
  await git.bytes(["read-tree", "--reset", head], options);
}

/** Every file the paths mean: named files as they are, also ignored ones; of folders what git tracks or would add. */
async function filesOf(
  git: GitCall,
  named: readonly Uint8Array[],
  options: GitOptions,
): Promise<readonly Uint8Array[]> {
  const out = new Map<string, Uint8Array>();
  const add = (file: Uint8Array): unknown => out.set(Buffer.from(file).toString("latin1"), file);
  const folders: Uint8Array[] = [];
  for (const file of named) {
    const found = await lstat(inRootBytes(git.place.root, file)).catch(() => undefined);
    if (found?.isDirectory() === true) folders.push(file);
    else if (found !== undefined) add(file);
  }
  for (const entry of await indexEntries(git, named, options)) add(entry.path);
  if (folders.length === 0) return [...out.values()];
  const listed = nulBytes(await git.bytes(["ls-files", "-z", "--others", "--exclude-standard"], options));
  for (const file of listed) {
    // A folder in this list is a repository of its own.
    if (file.at(-1) !== slash && folders.some((folder) => isUnder(file, folder))) add(file);
  }
  return [...out.values()];
}

const slash = 47;

async function runCommit(git: GitCall, order: CommitOrder, options: GitOptions): Promise<void> {
  const quiet = ["commit", "--quiet", "--cleanup=whitespace", "--no-edit", "-F", "-"];
  const args = order.trusted ? quiet : [...quiet, "--no-verify", "--no-gpg-sign"];
  const answer = await git.answer(args, {
    ...options,
    stdin: order.message,
    trusted: order.trusted,
    startsPrograms: true,
    stoppable: true,
    waitForLock: false,
    settings: [...(options.settings ?? []), ["commit.status", "false"], ["commit.verbose", "false"]],
  });
  if (answer.code === 0) return;
  if (!order.trusted || !(await mayBeHook(git))) throw failed(["commit"], answer);
  const output = said(answer);
  throw new OrchError("git.hook-failed", `the commit was refused by its hooks or its signing:\n${output}`, {
    data: { output },
  });
}

async function mayBeHook(git: GitCall): Promise<boolean> {
  const config = await git.config();
  if (isTrue(valueOf(config, "commit.gpgsign"))) return true;
  const { unapproved } = await git.defused();
  const own = unapproved.some(({ key }) => key === "core.hookspath")
    ? config.filter((entry) => !isLocal(entry))
    : config;
  const configured = valueOf(own, "core.hookspath");
  const folder =
    configured === undefined ? path.join(git.place.commonDir, "hooks") : path.resolve(git.place.root, configured);
  for (const name of ["pre-commit", "prepare-commit-msg", "commit-msg", "reference-transaction"]) {
    const there = await access(path.join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there) return true;
  }
  return configured?.startsWith("~") === true || config.some(({ key }) => /^hook\..+\.command$/.test(key));
}

function said(answer: GitAnswer): string {
  return clean(`${decode(answer.stdout)}${answer.stderr}`).trim();
}

/**
 * The person's index: committed paths get the commit's lines. What a hook put into the commit beside them is taken over
 * only where the person had staged nothing of their own.
 */
export async function catchUp(
  git: GitCall,
  named: readonly Uint8Array[],
  before: string | undefined,
  commit: string,
): Promise<void> {
  const then = before === undefined ? [] : await treeEntries(git, before);
  const now = await treeEntries(git, commit);
  const staged = await indexEntries(git, [new Uint8Array()]);
  const [thenBy, nowBy, stagedBy] = [byPath(then), byPath(now), byPath(staged)];
  const remove: Uint8Array[] = [];
  const add: IndexEntry[] = [];
  for (const [key, file] of new Map([...then, ...now, ...staged].map((entry) => [keyOf(entry.path), entry.path]))) {
    const [was, is, has] = [thenBy.get(key), nowBy.get(key), stagedBy.get(key)];
    if (same(is, has)) continue;
    const ours = named.some((folder) => isUnder(file, folder));
    if (!ours && (same(was, is) || !same(was, has))) continue;
    if (is === undefined) remove.push(file);
    else add.push(is);
  }
  await editIndex(git, { remove, add }, {});
  // Lines without file times would be read again by every git until one writes them down.
  if (add.length > 0) await git.answer(["update-index", "-q", "--refresh"], { startsPrograms: true });
}

const keyOf = (file: Uint8Array): string => Buffer.from(file).toString("latin1");

function byPath(entries: readonly IndexEntry[]): ReadonlyMap<string, IndexEntry> {
  return new Map(entries.map((entry) => [keyOf(entry.path), entry]));
}

function same(a: IndexEntry | undefined, b: IndexEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode && a?.stage === b?.stage;
}

function joinNul(paths: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(paths.flatMap((file) => [file, Buffer.from("\0")]));
}
