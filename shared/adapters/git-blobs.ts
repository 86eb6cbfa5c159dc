import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { absPath, type AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { RepoPlace } from "../ports/git.ts";
import { decode, type GitCall, type GitOptions } from "./git-call.ts";
import { valueOf } from "./git-config.ts";
import { checkParents, shown } from "./git-walk.ts";

/** Raw blobs in and out of the object store: no filter, no line end, no attribute has a say. */

/** Writes the files of the working tree as blobs, streamed by git; their ids in the same order. */
export async function writeBlobs(
  git: GitCall,
  paths: readonly Uint8Array[],
  options: GitOptions = {},
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  for (const file of paths) await checkParents(git.place.root, file);
  const names = `${paths.map(cQuoted).join("\n")}\n`;
  const answer = await git.answer(["hash-object", "-w", "--no-filters", "--stdin-paths"], { ...options, stdin: names });
  if (answer.code !== 0) {
    if (/could not open|Unable to hash|No such file/.test(answer.stderr)) {
      throw new OrchError("tree.changed", `a file changed while it was read: ${answer.stderr.trim()}`, {
        data: { paths: namedIn(answer.stderr, paths).map(shown) },
      });
    }
    throw new OrchError("git.failed", `git could not store files: ${answer.stderr.trim()}`, {
      data: { argv: "hash-object" },
    });
  }
  return decode(answer.stdout).trimEnd().split("\n");
}

/** The one that git names, as far as its words tell; else the first ones. */
function namedIn(message: string, paths: readonly Uint8Array[]): readonly Uint8Array[] {
  const said = /could not open '(.*)' for reading/.exec(message)?.[1];
  const found = paths.filter((one) => decode(one) === said);
  return found.length > 0 ? found : paths.slice(0, 5);
}

export async function writeBlob(git: GitCall, data: Uint8Array | string, options: GitOptions = {}): Promise<string> {
  return git.text(["hash-object", "-w", "--no-filters", "--stdin"], { ...options, stdin: data });
}

/**
 * Writes blobs as files `<folder>/<oid>`. Git does the writing, so that a big one is never held in memory; it does so in a
 * repository of its own that shares only the objects, where no attribute can name a filter or a line end.
 */
export async function blobsToFiles(git: GitCall, oids: readonly string[], folder: AbsPath): Promise<void> {
  const wanted = [...new Set(oids)];
  if (wanted.length === 0) return;
  const format = await objectFormat(git);
  if (valueOf(await git.config(), "extensions.partialclone") !== undefined) {
    // Only the real repository knows where a partial clone's missing blobs come from.
    await git.bytes(["cat-file", "--batch-check"], { stdin: `${wanted.join("\n")}\n`, startsPrograms: true });
  }
  await withTempDir(async (temp) => {
    const own = path.join(temp, "git");
    for (const name of ["objects", "refs"]) await mkdir(path.join(own, name), { recursive: true });
    await writeFile(path.join(own, "HEAD"), "ref: refs/heads/none\n");
    const version = format === "sha1" ? "0\n" : `1\n[extensions]\n\tobjectFormat = ${format}\n`;
    await writeFile(path.join(own, "config"), `[core]\n\trepositoryFormatVersion = ${version}`);
    const options: GitOptions = {
      indexFile: path.join(temp, "index"),
      cwd: folder,
      settings: [
        ["core.autocrlf", "false"],
        ["core.symlinks", "false"],
        ["core.attributesFile", "/dev/null"],
        ["core.splitIndex", "false"],
      ],
      extra: {
        GIT_DIR: own,
        GIT_WORK_TREE: folder,
        GIT_OBJECT_DIRECTORY: path.join(git.place.commonDir, "objects"),
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_ATTR_NOSYSTEM: "1",
      },
    };
    const lines = wanted.map((oid) => `100644 ${oid}\t${oid}\0`).join("");
    await git.bytes(["update-index", "-z", "--index-info"], { ...options, stdin: lines });
    await git.bytes(["checkout-index", "--all", "--force", "--quiet"], options);
  });
}

export async function objectFormat(git: GitCall): Promise<"sha1" | "sha256"> {
  return valueOf(await git.config(), "extensions.objectformat") === "sha256" ? "sha256" : "sha1";
}

export async function zeroOid(git: GitCall): Promise<string> {
  return "0".repeat((await objectFormat(git)) === "sha256" ? 64 : 40);
}

/** A private folder outside the repository; gone afterwards. */
export async function withTempDir<T>(work: (folder: AbsPath) => Promise<T>): Promise<T> {
  const folder = absPath(await mkdtemp(path.join(tmpdir(), "orch-git-")));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
}

export const stagingPrefix = ".orch-staging-";

/**
 * On the file system of the working tree, so that a file can be moved there in one step: in git's own folder, where
 * nobody lists it, or in the root when that lies on another disk.
 */
export async function makePrivateFolder({ root, gitDir }: RepoPlace, prefix: string): Promise<AbsPath> {
  const [here, there] = await Promise.all([stat(root), stat(gitDir)]);
  return absPath(await mkdtemp(path.join(here.dev === there.dev ? gitDir : root, prefix)));
}

/** A private folder that is gone afterwards; what a kill leaves holds nothing but copies. */
export async function withStaging<T>(place: RepoPlace, work: (folder: AbsPath) => Promise<T>): Promise<T> {
  const folder = await makePrivateFolder(place, stagingPrefix);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As git quotes names: any byte fits, a line break included. */
function cQuoted(name: Uint8Array): string {
  let out = '"';
  for (const byte of name) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    out += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `${out}"`;
}
