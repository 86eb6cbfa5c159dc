import { OrchError } from "../model/error.ts";
import type { IndexFlag, TrashEntry, TrashManifest } from "../model/trash.ts";
import type { TrashItem, TrashOrder } from "../ports/trash.ts";
import { objectFormat, writeBlob, writeBlobs } from "./git-blobs.ts";
import { decode, failed, type GitCall, type GitOptions } from "./git-call.ts";
import { isLocal } from "./git-config.ts";
import { indexEntries, isUnder } from "./git-index.ts";
import { checkedBranch, checkedRef } from "./git-names.ts";
import {
  hasErrno,
  inRootBytes,
  joinBytes,
  parts,
  refusedPath,
  shown,
  toBytes,
  walk,
  type WalkEntry,
} from "./git-walk.ts";
import { byteKey, type Digest, digestFile, fromBase64, toBase64 } from "./trash-bytes.ts";
import { keptRefs } from "./kept-results.ts";
import { indexFlags } from "./trash-flags.ts";
import { itemOf, tipRefs, trashRefs } from "./trash-manifest.ts";

/** The files are about to be removed: what stands in for them must be on the disk, not in its cache. */
const durable: GitOptions = { settings: [["core.fsync", "all"]] };
/** Thousands of files, each waited for, take half a minute; here a lost cache loses nothing that was not lost anyway. */
const quick: GitOptions = { settings: [["core.fsync", "none"]] };
const maxTries = 3;

export async function store(git: GitCall, order: TrashOrder, id: string, at: number): Promise<TrashItem> {
  const named = [...order.paths.map(toBytes), ...(order.from?.names ?? [])];
  const { from } = order;
  const there = from === undefined ? git : git.at(from.folder);
  const found = await walk(there.place.root, named, from === undefined ? isOurs : isLock);
  const files = found.filter((entry) => entry.kind === "file");
  const digests = await storeFiles(there, files, order.quick === true ? quick : durable);
  const under = from === undefined ? new Uint8Array() : toBytes(from.under);
  // What comes back at a place of the tree may have a line in the index there, which is to stay. Of a worktree's files,
  // which can be many, none has.
  const own = from?.under.startsWith(".orch/") === true ? [] : named.map((path) => joinBytes(under, path));
  const index = own.length === 0 ? [] : await indexEntries(git, own);
  const flags = own.length === 0 ? new Map<string, IndexFlag>() : await indexFlags(git, own);
  const branches = await tipsOf(git, order.branches ?? []);
  const config = (await git.config()).filter(isLocal);
  const branch = await git.maybe(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const commit = await git.maybe(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const manifest: TrashManifest = {
    v: 1,
    id,
    by: order.by,
    what: order.what,
    at,
    paths: named.map((path) => toBase64(joinBytes(under, path))),
    head: { ...(branch === undefined ? {} : { branch }), ...(commit === undefined ? {} : { commit }) },
    branches,
    kept: order.keptOf === undefined ? {} : await keptOf(git, order.keptOf),
    branchConfig: Object.fromEntries(
      Object.keys(branches).map((name) => {
        const prefix = `branch.${name}.`;
        const own = config.filter(({ key }) => key.startsWith(prefix) && !key.slice(prefix.length).includes("."));
        return [name, Object.fromEntries(own.map(({ key, value }) => [key.slice(prefix.length), value]))];
      }),
    ),
    index: index.map(({ mode, oid, stage, path }) => {
      const flag = flags.get(byteKey(path));
      return { mode, oid, stage, path: toBase64(path), ...(flag === undefined ? {} : { flag }) };
    }),
    ...(order.registry === undefined ? {} : { registry: { ...order.registry } }),
    entries: found.flatMap((entry) => entryOf(entry, digests, under)),
  };
  await keepEntry(git, manifest);
  return itemOf(manifest);
}

export async function keepOnly(git: GitCall, manifest: TrashManifest, paths: readonly string[]): Promise<TrashItem> {
  const wanted = paths.map(toBytes);
  const isWanted = ({ path }: { readonly path: string }): boolean =>
    wanted.some((folder) => isUnder(fromBase64(path), folder));
  const less: TrashManifest = {
    ...manifest,
    paths: wanted.map(toBase64),
    index: manifest.index.filter(isWanted),
    entries: manifest.entries.filter(isWanted),
  };
  await keepEntry(git, less, "update");
  return itemOf(less);
}

/** The locks of running runs: opening and closing one would free it, and it is nobody's work. */
function isOurs(path: Uint8Array): boolean {
  const names = parts(path);
  return names[0] === ".git" || (names[0] === ".orch" && names.at(-1)?.startsWith("lock.db") === true);
}

function isLock(path: Uint8Array): boolean {
  return parts(path).at(-1)?.startsWith("lock.db") === true;
}

type Digests = ReadonlyMap<WalkEntry, Digest>;

/** Read once by us and once by git: only when both saw the same bytes is a file stored. */
async function storeFiles(git: GitCall, files: readonly WalkEntry[], options: GitOptions): Promise<Digests> {
  const format = await objectFormat(git);
  const stored = new Map<WalkEntry, Digest>();
  let left = files;
  for (let tries = 0; left.length > 0; tries += 1) {
    if (tries === maxTries) throw changing(left);
    const read: [WalkEntry, Digest][] = [];
    for (const entry of left) {
      const digest = await digestOf(git, entry, format);
      if (digest !== undefined) read.push([entry, digest]);
    }
    const oids = await writeBlobs(
      git,
      read.map(([entry]) => entry.path),
      options,
    );
    read.forEach(([entry, digest], n) => {
      if (oids[n] === digest.oid) stored.set(entry, digest);
    });
    left = left.filter((entry) => !stored.has(entry));
  }
  await confirmStored(git, [...stored.values()]);
  return stored;
}

async function digestOf(git: GitCall, entry: WalkEntry, format: "sha1" | "sha256"): Promise<Digest | undefined> {
  try {
    return await digestFile(inRootBytes(git.place.root, entry.path), format);
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR", "EISDIR")) throw changing([entry]);
    if (hasErrno(error, "EACCES", "EPERM")) throw refusedPath(entry.path, "cannot be read, so it cannot be stored");
    throw error;
  }
}

/** The store itself is asked before anybody removes a file on its word. */
async function confirmStored(git: GitCall, digests: readonly Digest[]): Promise<void> {
  if (digests.length === 0) return;
  const stdin = digests.map(({ oid }) => `${oid}\n`).join("");
  const lines = decode(await git.bytes(["cat-file", "--batch-check"], { stdin })).split("\n");
  digests.forEach(({ oid, bytes }, at) => {
    if (lines[at] !== `${oid} blob ${bytes}`)
      throw new OrchError("git.failed", `git did not keep ${oid}`, { data: { argv: "fsck" } });
  });
}

function entryOf(entry: WalkEntry, digests: Digests, under: Uint8Array): TrashEntry[] {
  const path = toBase64(joinBytes(under, entry.path));
  const base = { path, mode: entry.mode.toString(8).padStart(4, "0"), mtimeMs: entry.mtimeMs };
  switch (entry.kind) {
    case "file": {
      const digest = digests.get(entry);
      return digest === undefined
        ? []
        : [{ ...base, kind: "file", blob: digest.oid, sha256: digest.sha256, bytes: digest.bytes }];
    }
    case "symlink":
      return [{ ...base, kind: "symlink", link: toBase64(entry.link ?? new Uint8Array()) }];
    case "directory":
      return [{ ...base, kind: "directory" }];
    case "other":
      return []; // a pipe or a socket holds nothing; it is not removed either
  }
}

async function tipsOf(git: GitCall, names: readonly string[]): Promise<Record<string, string>> {
  const tips: Record<string, string> = {};
  for (const name of names) {
    const tip = await git.maybe(["rev-parse", "--verify", "--quiet", `refs/heads/${checkedBranch(name)}^{commit}`]);
    if (tip !== undefined) tips[name] = tip;
  }
  return tips;
}

async function keptOf(git: GitCall, run: string): Promise<Record<string, string>> {
  const under = checkedRef(`${keptRefs}${run}`);
  const lines = (await git.text(["for-each-ref", "--format=%(objectname) %(refname)", `${under}/`])).split("\n");
  const named = lines.flatMap((line) => {
    const [tree, ref] = line.split(" ");
    return tree === undefined || ref === undefined ? [] : [[ref.slice(keptRefs.length), tree] as const];
  });
  return Object.fromEntries(named);
}

async function keepEntry(git: GitCall, manifest: TrashManifest, verb: "create" | "update" = "create"): Promise<void> {
  // Staged text may stand nowhere but in the index: its blobs are kept, too.
  const staged = manifest.index.filter(({ mode }) => mode !== "160000").map(({ oid }) => oid);
  const oids = [...new Set([...manifest.entries.flatMap(({ blob }) => blob ?? []), ...staged])].toSorted();
  const tree = async (lines: readonly string[]): Promise<string> =>
    git.text(["mktree", "-z", "--missing"], { ...durable, stdin: lines.map((line) => `${line}\0`).join("") });
  const text = await writeBlob(git, `${JSON.stringify(manifest, null, 1)}\n`, durable);
  const blobs =
    oids.length === 0 ? [] : [`040000 tree ${await tree(oids.map((oid) => `100644 blob ${oid}\t${oid}`))}\tblobs`];
  // What was kept stays whole as long as the entry does.
  const trees = [...new Set(Object.values(manifest.kept))];
  const kept =
    trees.length === 0 ? [] : [`040000 tree ${await tree(trees.map((oid) => `040000 tree ${oid}\t${oid}`))}\tkept`];
  const root = await tree([...blobs, ...kept, `100644 blob ${text}\tmanifest.json`]);
  // The entry is a tree, which no log shows; the commits of branches that go stay by refs of their own.
  const refs = [
    `${trashRefs}${manifest.id} ${root}`,
    ...(verb === "update"
      ? []
      : [...new Set(Object.values(manifest.branches))].map((tip, at) => `${tipRefs}${manifest.id}/${at} ${tip}`)),
  ];
  const args = ["update-ref", "-m", `orch: ${manifest.by}`, "--stdin"];
  const answer = await git.answer(args, { ...durable, stdin: refs.map((ref) => `${verb} ${ref}\n`).join("") });
  if (answer.code !== 0) throw failed(args, answer);
}

function changing(entries: readonly WalkEntry[]): OrchError {
  const paths = entries.slice(0, 5).map((entry) => shown(entry.path));
  return new OrchError("tree.changed", `${paths.join(", ")} changed while it was stored; nothing was removed`, {
    data: { paths },
  });
}
