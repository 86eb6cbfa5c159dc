import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { absPath, type AbsPath, type RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { GitTrees } from "../ports/git.ts";
import { blobsToFiles, writeBlob, writeBlobs, zeroOid } from "./git-blobs.ts";
import { failed, type GitCall, type GitOptions } from "./git-call.ts";
import { isTrue, valueOf } from "./git-config.ts";
import { changedPaths, diffTrees } from "./git-diff.ts";
import { editIndex, type IndexEntry, indexEntries, treeEntries, withTempIndex } from "./git-index.ts";
import { checkedRef, checkedRevision, fromGit, nulFields } from "./git-names.ts";
import { inRootBytes, isGitName, parts, refusedPath, toBytes, walk } from "./git-walk.ts";

export interface GitTreesDeps {
  readonly git: GitCall;
  readonly requireIdentity: () => Promise<void>;
}

export function createGitTrees({ git, requireIdentity }: GitTreesDeps): GitTrees {
  return {
    snapshot: (paths) => withTempIndex((options) => snapshotInto(git, paths, options)),
    diff: (base, tree) => diffTrees(git, base, tree),
    changedPaths: (from, to) => changedPaths(git, from, to),
    async mergeTree(ours, theirs) {
      const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
      const sides = ["--end-of-options", checkedRevision(ours), checkedRevision(theirs)];
      const answer = await git.answer([...args, ...sides], { plainMerge: true, startsPrograms: true });
      if (answer.code > 1) throw failed(["merge-tree"], answer);
      const [tree = "", ...names] = nulFields(answer.stdout);
      if (answer.code === 0) return { kind: "merged", tree };
      return { kind: "conflict", paths: [...new Set(names.filter((name) => name !== ""))].map(fromGit) };
    },
    async commitTree(tree, parents, message, options = {}) {
      await requireIdentity();
      const trusted = options.trusted === true;
      const sign = trusted && isTrue(valueOf(await git.config(), "commit.gpgsign"));
      const args = ["commit-tree", checkedRevision(tree), ...parents.flatMap((id) => ["-p", checkedRevision(id)])];
      // Signing alone: an off-tree commit has no index for a hook to look at.
      const settings: GitOptions = {
        stdin: message,
        ...(sign ? { trusted, settings: [["core.hooksPath", "/dev/null"]] } : {}),
      };
      return git.text([...args, ...(sign ? ["-S"] : []), "-F", "-"], settings);
    },
    async updateRef(ref, to, old) {
      const zero = await zeroOid(git);
      const args = [
        "update-ref",
        "-m",
        "orch",
        checkedRef(ref),
        checkedRevision(to),
        old === undefined ? zero : checkedRevision(old),
      ];
      return refStep(git, args, ref, old);
    },
    async deleteRef(ref, expected) {
      if (!ref.startsWith("refs/orch/")) throw new OrchError("usage.invalid", `${ref} is no ref of Orch's own`);
      return refStep(git, ["update-ref", "-d", checkedRef(ref), checkedRevision(expected)], ref, expected);
    },
    checkoutTo: (tree, folder) => checkoutTo(git, tree, folder),
  };
}

/** False when the ref is not where it was expected; any other trouble is told. */
async function refStep(
  git: GitCall,
  args: readonly string[],
  ref: string,
  expected: string | undefined,
): Promise<boolean> {
  const answer = await git.answer(args);
  if (answer.code === 0) return true;
  const now = await git.maybe(["rev-parse", "--verify", "--quiet", ref]);
  if (now !== expected) return false;
  throw failed(args, answer);
}

/** HEAD's tree, with `paths` as their raw bytes lie on the disk now. */
async function snapshotInto(git: GitCall, paths: readonly RepoPath[], options: GitOptions): Promise<string> {
  const head = await git.maybe(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (head !== undefined) await git.bytes(["read-tree", head], options);
  const named = paths.map(toBytes);
  const entries = await walk(git.place.root, named, (file) => isGitName(parts(file).at(-1) ?? ""));
  const files = entries.filter((entry) => entry.kind === "file");
  const oids = await writeBlobs(
    git,
    files.map((entry) => entry.path),
    options,
  );
  const before = (await indexEntries(git, named, options)).filter((entry) => entry.mode !== "160000");
  const modes = new Map(before.map((entry) => [keyOf(entry.path), entry.mode]));
  const fileMode = valueOf(await git.config(), "core.filemode") !== "false";
  const add: IndexEntry[] = files.map((entry, at) => {
    const kept = fileMode ? undefined : modes.get(keyOf(entry.path));
    const mode = kept !== undefined && kept !== "120000" ? kept : entry.mode & 0o100 && fileMode ? "100755" : "100644";
    return { mode, oid: oids[at] ?? "", stage: 0, path: entry.path };
  });
  for (const entry of entries) {
    if (entry.link !== undefined)
      add.push({ mode: "120000", oid: await writeBlob(git, entry.link, options), stage: 0, path: entry.path });
  }
  await editIndex(git, { remove: before.map((entry) => entry.path), add }, options);
  return git.text(["write-tree"], options);
}

const keyOf = (file: Uint8Array): string => Buffer.from(file).toString("latin1");

/** Files first, links last: no entry of a hostile tree can be written through a link of that tree. */
async function checkoutTo(git: GitCall, tree: string, folder: AbsPath): Promise<void> {
  const entries = await treeEntries(git, checkedRevision(tree));
  for (const entry of entries) {
    if (parts(entry.path).some((part) => part === "" || part === "." || part === ".." || isGitName(part))) {
      throw refusedPath(entry.path, "is no path a tree may hold");
    }
  }
  await mkdir(folder, { recursive: true });
  const staging = absPath(await mkdtemp(path.join(folder, ".orch-")));
  try {
    const blobs = entries.filter((entry) => entry.mode !== "160000");
    await blobsToFiles(
      git,
      blobs.map((entry) => entry.oid),
      staging,
    );
    const uses = new Map<string, number>();
    for (const { oid } of blobs) uses.set(oid, (uses.get(oid) ?? 0) + 1);
    for (const entry of entries.toSorted((a, b) => Number(a.mode === "120000") - Number(b.mode === "120000"))) {
      const at = inRootBytes(folder, entry.path);
      const slash = at.lastIndexOf(47);
      await mkdir(at.subarray(0, slash), { recursive: true });
      const from = path.join(staging, entry.oid);
      const left = (uses.get(entry.oid) ?? 1) - 1;
      uses.set(entry.oid, left);
      if (entry.mode === "160000") await mkdir(at, { recursive: true });
      else if (entry.mode === "120000") await symlink(await readFile(from), at);
      else {
        await (left > 0 ? copyFile(from, at) : rename(from, at));
        if (entry.mode === "100755") await chmod(at, 0o755);
      }
    }
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
