import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AbsPath } from "../base/paths.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import { objectFormat } from "./git-blobs.ts";
import { type GitCall, type GitOptions } from "./git-call.ts";
import { isLocal, valueOf } from "./git-config.ts";
import { copyIndex } from "./git-index.ts";
import { hasErrno, inRootBytes } from "./git-walk.ts";
import { setRights, youngFiles } from "./index-times.ts";
import type { Slot } from "./worktree-place.ts";

/**
 * The files of a worktree. Git works on the person's repository with the worktree as its named working tree and an index
 * of Orch's, so nothing in the worktree or in the worker's own git dir is ever asked what the repository is.
 */
const manyFiles = 10_000;

/** What a hostile or odd configuration may not make git overlook. */
export const exactStat: readonly (readonly [string, string])[] = [
  ["core.trustctime", "true"],
  ["core.checkStat", "default"],
  ["core.sparseCheckout", "false"],
  ["core.untrackedCache", "false"],
  ["core.splitIndex", "false"],
  ["index.version", "2"],
  ["feature.manyFiles", "false"],
];

function inTree(slot: Slot): GitOptions & { readonly indexFile: string } {
  return { indexFile: slot.index, settings: exactStat };
}

/** Checks the commit out into an empty folder. */
export async function fillTree(main: GitCall, slot: Slot, commit: string): Promise<void> {
  await mkdir(slot.tree, { recursive: true, mode: 0o755 });
  await checkOut(main.at(slot.tree), slot, commit);
}

async function checkOut(git: GitCall, slot: Slot, commit: string): Promise<void> {
  const workers = (await entriesIn(git.place.gitDir)) >= manyFiles ? "2" : "1";
  await git.bytes(["read-tree", "--reset", "-u", commit], {
    ...inTree(slot),
    settings: [...exactStat, ["checkout.workers", workers]],
    startsPrograms: true,
  });
}

/** How many files the person's index names: what a new worktree will be about as big as. */
async function entriesIn(gitDir: AbsPath): Promise<number> {
  const file = await open(path.join(gitDir, "index"), "r").catch(() => undefined);
  if (file === undefined) return 0;
  try {
    const head = Buffer.alloc(12);
    await file.read(head, 0, 12, 0);
    return head.toString("latin1", 0, 4) === "DIRC" ? head.readUInt32BE(8) : 0;
  } finally {
    await file.close();
  }
}

/**
 * Makes a used tree what a fresh one of `commit` would be: tracked files as they are there, nothing else, ignored files
 * included. False on any doubt; the caller makes a new one then.
 *
 * `left`: the hash of the index, and the commit it was written for where the tree is thought to be as it was made.
 */
export async function resetTree(
  main: GitCall,
  slot: Slot,
  commit: string,
  left: { readonly index: string | undefined; readonly commit?: string | undefined },
): Promise<boolean> {
  try {
    const found = await lstat(slot.tree).catch(() => undefined);
    if (found?.isDirectory() !== true || (await realpath(slot.tree)) !== slot.tree) return false;
    if (left.index === undefined || (await fileHash(slot.index)) !== left.index) return false;
    if (await lstat(`${slot.index}.lock`).catch(() => undefined)) return false;
    const git = main.at(slot.tree);
    await rm(path.join(slot.tree, ".git"), { recursive: true, force: true });
    const young = await youngFiles(slot.index, await objectFormat(main));
    if (young === undefined) return false;
    const asMade = left.commit === commit ? await listingAsMade(git, slot) : undefined;
    if (asMade !== undefined) {
      await setRights(slot.tree, young);
      await setFolders(slot, asMade);
      return true;
    }
    await checkOut(git, slot, commit);
    await git.bytes(["clean", "-ffdxq"], inTree(slot));
    // Not earlier: where a worker put a link in a folder's place, these paths would lead out of the tree.
    await setRights(slot.tree, young);
    // One listing for both: what the index names, and what it does not name or is not as it says.
    const listing = ["ls-files", "-t", "-z", "--stage", "--others", "--modified", "--deleted"];
    const lines = await git.bytes(listing, inTree(slot));
    if (!isAllCached(lines) || !hasItsFolders(slot, lines)) return false;
    await setFolders(slot, lines);
    return true;
  } catch (error) {
    // A tree that cannot be mended is no refusal: the caller makes a new one.
    if (isOrchError(error, "git.failed") || hasErrno(error, "EACCES", "EPERM", "EBUSY", "ENOENT")) return false;
    throw error;
  }
}

/**
 * What the index names, when nothing else lies in the tree and no file was touched since it was written. `diff-files`
 * names a file whose stat alone is another, so rights are seen too; `ls-files` names folders that hold nothing. The two
 * looks cost half of what mending costs, which looks three times.
 */
async function listingAsMade(git: GitCall, slot: Slot): Promise<Uint8Array | undefined> {
  // A submodule is emptied whatever lies there; no git is to look into it.
  const touched = git.bytes(["diff-files", "--raw", "-z", "--ignore-submodules=all"], inTree(slot));
  const listed = git.bytes(["ls-files", "-t", "-z", "--stage", "--others", "--directory"], inTree(slot));
  const [changes, listing] = await Promise.all([touched, listed]);
  return changes.length === 0 && isAllCached(listing) && hasItsFolders(slot, listing) ? listing : undefined;
}

/**
 * A link in the place of a folder or of a submodule leads out of the tree, and neither look of git's need say so: what is
 * set or emptied beneath it would be somebody's files. Every folder on the way is among these.
 */
function hasItsFolders(slot: Slot, listing: Uint8Array): boolean {
  const { folders, submodules } = foldersOf(listing);
  return [...folders, ...submodules].every(
    (folder) => lstatSync(inRootBytes(slot.tree, folder), { throwIfNoEntry: false })?.isDirectory() === true,
  );
}

/** After `hasItsFolders`. What git does not look at: the rights of folders, git dirs in them, and what lies where a submodule would be. */
async function setFolders(slot: Slot, listing: Uint8Array): Promise<void> {
  const usual = 0o777 & ~process.umask();
  const { folders, submodules } = foldersOf(listing);
  for (const folder of submodules) await emptyFolder(inRootBytes(slot.tree, folder));
  for (const folder of folders) {
    const at = inRootBytes(slot.tree, folder);
    if ((lstatSync(at).mode & 0o7777) !== usual) await chmod(at, usual);
    const nested = Buffer.concat([at, dotGit]);
    if (lstatSync(nested, { throwIfNoEntry: false }) !== undefined) await rm(nested, { recursive: true, force: true });
  }
}

/** Every line begins with `H`: named by the index, and nothing else to be said. */
function isAllCached(listing: Uint8Array): boolean {
  for (let at = 0; at < listing.length;) {
    if (listing[at] !== cached) return false;
    const end = listing.indexOf(0, at);
    if (end === -1) return false;
    at = end + 1;
  }
  return true;
}

const cached = 72;

export const dotGit = Buffer.from("/.git");

/** Folders that an index names files in, the root first, and those of submodules; from `ls-files --stage -z`. */
export function foldersOf(listing: Uint8Array): {
  readonly folders: readonly Uint8Array[];
  readonly submodules: readonly Uint8Array[];
} {
  const seen = new Set<string>();
  const submodules: Uint8Array[] = [];
  let last = "";
  for (const line of Buffer.from(listing).toString("latin1").split("\0")) {
    const start = line.indexOf("\t") + 1;
    // With -t, one letter and a blank stand before the mode.
    if (line.startsWith("160000 ", line[1] === " " ? 2 : 0)) submodules.push(Buffer.from(line.slice(start), "latin1"));
    // A listing is sorted: most files lie where the one before them does.
    const end = line.lastIndexOf("/") - start;
    if (end < 0 || (end === last.length && line.startsWith(last, start))) continue;
    const file = line.slice(start);
    last = file.slice(0, end);
    for (let at = end; at !== -1 && !seen.has(file.slice(0, at)); at = file.lastIndexOf("/", at - 1)) {
      seen.add(file.slice(0, at));
    }
  }
  return { folders: [new Uint8Array(), ...[...seen].map((name) => Buffer.from(name, "latin1"))], submodules };
}

/** Like git's own empty folder of a submodule that is not checked out. */
async function emptyFolder(at: Buffer): Promise<void> {
  const names = await readdir(at, { encoding: "buffer" });
  for (const name of names) await rm(Buffer.concat([at, Buffer.from("/"), name]).toString(), { recursive: true });
}

/**
 * The worker's own git dir: it knows the commit, its history and nothing else of the repository. What a worker does to
 * configuration, hooks, HEAD or index stays in it.
 */
export async function writeWorkersGit(
  main: GitCall,
  slot: Slot,
  commit: string,
  excludes: readonly string[],
): Promise<void> {
  const { commonDir } = main.place;
  // What a worker put there may lead anywhere: nothing is written through it, nor removed beneath it.
  if (lstatSync(slot.tree, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OrchError("path.refused", `${slot.tree} is no worktree any more: a link, or nothing, is in its place`, {
      data: { path: slot.tree },
    });
  }
  await rm(path.join(slot.tree, ".git"), { recursive: true, force: true });
  await rm(slot.git, { recursive: true, force: true });
  for (const folder of ["objects/info", "refs/heads", "info"]) {
    await mkdir(path.join(slot.git, folder), { recursive: true, mode: 0o700 });
  }
  const exclude = await readText(path.join(commonDir, "info", "exclude"));
  const shallow = await readText(path.join(commonDir, "shallow"));
  const files: Record<string, string> = {
    HEAD: `${commit}\n`,
    config: await workersConfig(main),
    "objects/info/alternates": `${path.join(commonDir, "objects")}\n`,
    "info/exclude": `${exclude}${excludes.map((line) => `${line}\n`).join("")}`,
    ...(shallow === "" ? {} : { shallow }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(slot.git, name), text);
  await copyIndex(slot.index, path.join(slot.git, "index"));
  await writeFile(path.join(slot.tree, ".git"), gitFile(slot), { flag: "wx" });
}

const gitFile = (slot: Slot): string => `gitdir: ${slot.git}\n`;

/** Of the repository's configuration only what files look like; nothing that names a program, a remote or a person. */
const carriedKeys = [
  "core.autocrlf",
  "core.eol",
  "core.safecrlf",
  "core.filemode",
  "core.symlinks",
  "core.ignorecase",
  "core.precomposeunicode",
] as const;

async function workersConfig(main: GitCall): Promise<string> {
  const local = (await main.config()).filter(isLocal);
  const sha256 = valueOf(local, "extensions.objectformat") === "sha256";
  const lines = [
    "[core]",
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    "\tbare = false",
    ...carriedKeys.flatMap((key) => {
      const value = valueOf(local, key);
      return value === undefined || !/^[\w-]+$/.test(value) ? [] : [`\t${key.slice("core.".length)} = ${value}`];
    }),
    ...(sha256 ? ["[extensions]", "\tobjectformat = sha256"] : []),
    "[user]",
    "\tname = Orch worker",
    "\temail = worker@localhost",
    "[gc]",
    "\tauto = 0",
  ];
  return `${lines.join("\n")}\n`;
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

export async function fileHash(file: string): Promise<string | undefined> {
  try {
    const hash = createHash("sha256");
    for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array);
    return hash.digest("hex");
  } catch (error) {
    if (hasErrno(error, "ENOENT", "EACCES", "EISDIR")) return undefined;
    throw error;
  }
}
