import { chmod, copyFile, lstat, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import type { AbsPath, RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Standing } from "../ports/tree-writes.ts";
import { blobsToFiles, objectFormat, withStaging } from "./git-blobs.ts";
import { clean, type GitCall } from "./git-call.ts";
import { editIndex, storedEntries, withTempIndex } from "./git-index.ts";
import { fromGit, nulBytes } from "./git-names.ts";
import { checkParents, inRootBytes, refusedPath, shown, walk, type WalkEntry } from "./git-walk.ts";
import { digestFile } from "./trash-bytes.ts";
import type { TreeDisk } from "./tree-disk.ts";
import { foldersAbove } from "./tree-journal.ts";
import { type TreeStep, writeTree } from "./tree-write.ts";

export type Applied =
  | { readonly kind: "applied"; readonly paths: readonly RepoPath[] }
  | { readonly kind: "refused"; readonly output: string };

/**
 * Applies to the raw bytes on the disk, by way of an index of ours that holds just the touched files, so neither filters
 * nor line-end settings come between. All results are made aside first; then they take the places of the files they were
 * made from, and on any trouble everything goes back (tree-write.ts).
 */
export async function applyPatch(
  git: GitCall,
  disk: TreeDisk,
  patch: Uint8Array,
  { checkOnly = false, by = "merge" }: { readonly checkOnly?: boolean; readonly by?: "merge" | "apply" },
): Promise<Applied> {
  if (patch.length === 0) return { kind: "applied", paths: [] };
  const names = await touchedBy(git, patch);
  if ("output" in names) return { kind: "refused", output: names.output };
  return withTempIndex(async (options) => {
    const found = await present(git, names.paths);
    if ("output" in found) return { kind: "refused", output: found.output };
    await editIndex(git, { remove: [], add: await storedEntries(git, found.entries) }, options);
    const from = await git.text(["write-tree"], options);
    const answer = await git.answer(["apply", "--cached", "--whitespace=nowarn", "-"], { ...options, stdin: patch });
    if (answer.code !== 0) return { kind: "refused", output: clean(answer.stderr).trim() };
    const to = await git.text(["write-tree"], options);
    const changes = parseRaw(
      await git.bytes(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to]),
    );
    const module = changes.find((change) => [change.oldMode, change.newMode].includes("160000"));
    if (module !== undefined) return { kind: "refused", output: `${shown(module.path)} is a submodule` };
    const held = heldBack(found.folders, changes);
    if (held !== undefined) return { kind: "refused", output: held };
    const paths = changes.map((change) => fromGit(shown(change.path)));
    if (!checkOnly) await putInPlace(git, disk, by, changes);
    return { kind: "applied", paths };
  });
}

async function touchedBy(
  git: GitCall,
  patch: Uint8Array,
): Promise<{ paths: readonly Uint8Array[] } | { output: string }> {
  const paths = new Map<string, Uint8Array>();
  // Forwards it says the new names, backwards the old ones.
  for (const way of [[], ["-R"]]) {
    const answer = await git.answer(["apply", "--numstat", "-z", ...way, "-"], { stdin: patch });
    if (answer.code !== 0) return { output: clean(answer.stderr).trim() };
    for (const record of nulBytes(answer.stdout)) {
      const name = record.slice(record.indexOf(9, record.indexOf(9) + 1) + 1);
      paths.set(keyOf(name), name);
    }
  }
  return { paths: [...paths.values()] };
}

interface Present {
  readonly entries: readonly WalkEntry[];
  /** Folders where the patch knows a file, each with all that it holds, itself first. */
  readonly folders: readonly (readonly WalkEntry[])[];
}

async function present(git: GitCall, paths: readonly Uint8Array[]): Promise<Present | { output: string }> {
  const entries: WalkEntry[] = [];
  const folders: (readonly WalkEntry[])[] = [];
  for (const file of paths) {
    try {
      const found = await walk(git.place.root, [file], () => false);
      const [first] = found;
      if (first?.kind === "other") return { output: `${shown(file)} is no file` };
      // It is none to the patch: it makes room when all that it holds goes.
      if (first?.kind === "directory") folders.push(found);
      else if (first !== undefined) entries.push(first);
    } catch (error) {
      if (error instanceof OrchError) return { output: error.message };
      throw error;
    }
  }
  return { entries, folders };
}

/** What of a folder would still stand where the patch puts a file. */
function heldBack(folders: Present["folders"], changes: readonly RawChange[]): string | undefined {
  const gone = changes.filter((change) => !isThere(change.newMode)).map((change) => change.path);
  const going = new Set(gone.map(keyOf));
  const emptied = new Set(gone.flatMap(foldersAbove).map(keyOf));
  for (const [folder, ...inside] of folders) {
    if (folder === undefined) continue;
    const stays = inside.find(({ kind, path: own }) =>
      kind === "directory" ? !emptied.has(keyOf(own)) : !going.has(keyOf(own)),
    );
    const why = stays === undefined ? undefined : `it holds ${shown(stays.path)}`;
    if (why !== undefined || inside.length === 0)
      return `${shown(folder.path)} is no file: ${why ?? "an empty folder"}`;
  }
  return undefined;
}

interface RawChange {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldOid: string;
  readonly oid: string;
  readonly path: Uint8Array;
}

function parseRaw(out: Uint8Array): readonly RawChange[] {
  const fields = nulBytes(out);
  const changes: RawChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = "", newMode = "", oldOid = "", oid = ""] = Buffer.from(fields[at] ?? [])
      .toString("latin1")
      .slice(1)
      .split(" ");
    changes.push({ oldMode, newMode, oldOid, oid, path: fields[at + 1] ?? new Uint8Array() });
  }
  return changes;
}

async function putInPlace(
  git: GitCall,
  disk: TreeDisk,
  by: "merge" | "apply",
  changes: readonly RawChange[],
): Promise<void> {
  const { place } = git;
  await withStaging(place, async (staging) => {
    const made = changes.filter((change) => isThere(change.newMode));
    await blobsToFiles(
      git,
      made.map((change) => change.oid),
      staging,
    );
    // What goes makes room first: a file may become a folder.
    const order = changes.toSorted((a, b) => Number(isThere(a.newMode)) - Number(isThere(b.newMode)));
    const format = await objectFormat(git);
    const steps: TreeStep[] = [];
    for (const change of order) steps.push(await stepOf(place.root, staging, format, change));
    const written = await writeTree({ place, disk }, { by, steps, prune: true });
    switch (written.kind) {
      case "written":
        return;
      case "changed":
        throw changedMeanwhile(written.path);
      case "elsewhere":
        throw refusedPath(written.path, "lies on another file system than the repository");
    }
  });
}

/** What the patch was applied to is what must still stand there. */
async function stepOf(
  root: AbsPath,
  staging: AbsPath,
  format: "sha1" | "sha256",
  change: RawChange,
): Promise<TreeStep> {
  await checkParents(root, change.path);
  const target = inRootBytes(root, change.path);
  const old = isThere(change.oldMode) ? await oldOf(target, format, change) : ({ kind: "absent" } as const);
  if (!isThere(change.newMode)) return { path: change.path, old, next: undefined };
  const data = path.join(staging, change.oid);
  if (change.newMode === "120000")
    return { path: change.path, old, next: { kind: "symlink", target: await readFile(data) } };
  const executable = change.newMode === "100755";
  return {
    path: change.path,
    old,
    next: {
      kind: "file",
      // Equal contents share one blob file; each place gets a file of its own.
      async fill(at) {
        await copyFile(data, at);
        const plain = (await lstat(at)).mode & 0o7777;
        await chmod(at, executable ? plain | 0o111 : plain & ~0o111);
      },
      mode: (was) =>
        was === undefined || executable === ((was & 0o100) !== 0) ? was : executable ? was | 0o111 : was & ~0o111,
    },
  };
}

async function oldOf(target: Buffer, format: "sha1" | "sha256", change: RawChange): Promise<Standing> {
  const found = await lstat(target).catch(() => undefined);
  if (found?.isSymbolicLink() === true && change.oldMode === "120000")
    return { kind: "symlink", target: await readlink(target) };
  const digest = found?.isFile() === true ? await digestFile(target, format) : undefined;
  if (digest === undefined || digest.oid !== change.oldOid) throw changedMeanwhile(change.path);
  return { kind: "file", sha256: digest.sha256 };
}

const isThere = (mode: string): boolean => !/^0+$/.test(mode);
const keyOf = (file: Uint8Array): string => Buffer.from(file).toString("latin1");

function changedMeanwhile(file: Uint8Array): OrchError {
  return new OrchError("tree.changed", `${shown(file)} changed while the patch was applied; nothing was applied`, {
    data: { paths: [shown(file)] },
  });
}
