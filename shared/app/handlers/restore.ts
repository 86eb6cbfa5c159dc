import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { type AbsPath, baseName, dirName, inRoot, isInside, type RepoPath, repoPath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import { nameSome } from "../../features/branches.ts";
import { readRegistry, updateRegistry, withFeature } from "../../features/registry.ts";
import { knownDomain } from "../../features/resolve.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import type { TrashManifest } from "../../model/trash.ts";
import type { Restored, TrashItem } from "../../ports/trash.ts";
import type { Handler, RepoContext } from "../context.ts";
import { linkAgain } from "../contract-links.ts";
import { overwrittenBy } from "../overwritten.ts";
import { requireNoOperation } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import type { RunsContext } from "../run-look.ts";
import { unfinishedHere } from "../unfinished-writes.ts";

/**
 * Lists what was removed, or brings an entry back byte for byte. An entry of a discarded branch brings the branch back,
 * goes to it, and puts the uncommitted files there. A newer file is never overwritten: the stored one is written beside
 * it, and a person decides (exit 4).
 */
export const restore: Handler = async (context, args, signal) => {
  const [id] = args.words;
  if (id === undefined) {
    // What a killed command had moved aside is put back, or becomes an entry, before anybody is told what there is.
    if ((await unfinishedHere(context)).length > 0)
      await withRepositoryLock(context, "restore", signal, () => Promise.resolve());
    return listed(await context.trash.list());
  }
  const manifest = await context.trash.look(id);
  const road = await roadTo(context, manifest);
  if (args.dryRun) {
    await requireNoOperation(context.git);
    return foretold(manifest, road);
  }
  return await withRepositoryLock(context, "restore", signal, async () => {
    await requireNoOperation(context.git);
    throwIfAborted(signal);
    const restored = await bringBack(context, manifest);
    const notes = await branchNotes(context, manifest, road);
    return told(manifest, restored, { notes, next: await nextOf(context, manifest) });
  });
};

/** The caller holds the repository's lock. */
export async function bringBack(context: RepoContext, manifest: TrashManifest): Promise<Restored> {
  await go(context, await roadTo(context, manifest));
  await clearClean(context, manifest);
  const restored = await context.trash.restore(manifest.id);
  await register(context, manifest);
  return restored;
}

/** `restore` as it is typed: contracts whose runs come back are found by their ids again, too. */
export const restoreLinked: Handler<RepoContext & Pick<RunsContext, "runs">> = async (context, args, signal) => {
  const done = await restore(context, args, signal);
  const [id] = args.words;
  if (id !== undefined && !args.dryRun) await linkAgain(context, runsIn(await context.trash.look(id)));
  return done;
};

/** Runs that the entry holds the folders of. */
function runsIn({ paths }: TrashManifest): ReadonlySet<string> {
  const names = paths.flatMap((path) => pathOf(path) ?? []);
  return new Set(names.filter((path) => dirName(path) === ".orch/runs").map(baseName));
}

/** How the checkout gets to the branch that the files belong to. */
type Road =
  | { readonly kind: "stay" }
  | {
      readonly kind: "go";
      readonly branch: string;
      readonly commit: string;
      readonly make?: { readonly target: string };
    };

/**
 * Reads only.
 *
 * @throws OrchError `tree.dirty` when going there would overwrite a file of the person's
 */
async function roadTo(context: RepoContext, manifest: TrashManifest): Promise<Road> {
  const { git } = context;
  const names = Object.keys(manifest.branches);
  const stood = manifest.head.branch;
  const branch = stood !== undefined && names.includes(stood) ? stood : undefined;
  const commit = branch === undefined ? undefined : manifest.branches[branch];
  if (branch === undefined || commit === undefined) return { kind: "stay" };
  const head = await git.head();
  if (head.kind === "branch" && head.branch === branch) return { kind: "stay" };
  const there = await git.resolve(`refs/heads/${branch}`);
  // Another branch took the name meanwhile: the files come back where the checkout is.
  if (there !== undefined && there !== commit) return { kind: "stay" };
  if (head.kind === "unborn") throw new OrchError("tree.unborn", `${head.branch} has no commit yet`);
  const paths = await overwrittenBy(context, head.commit, commit);
  if (paths.length > 0) {
    throw new OrchError("tree.dirty", `going to ${branch} would overwrite ${nameSome(paths)}`, { data: { paths } });
  }
  const target = targetOf(manifest, branch);
  return { kind: "go", branch, commit, ...(there === undefined ? { make: { target } } : {}) };
}

function targetOf(manifest: TrashManifest, branch: string): string {
  const recorded = manifest.branchConfig[branch]?.["orch"] ?? manifest.branchConfig[branch]?.[`branch.${branch}.orch`];
  if (recorded !== undefined) return recorded;
  const { registry } = manifest;
  return registry === undefined ? branch : `${registry.domain}/${registry.feature}`;
}

async function go(context: RepoContext, road: Road): Promise<void> {
  if (road.kind === "stay") return;
  if (road.make !== undefined) await context.git.create(road.branch, road.commit, road.make.target);
  await context.git.switch(road.branch);
}

/**
 * A file that is exactly what the checked-out commit holds is no newer work: git keeps it, so the stored one may take
 * its place, and one that was gone when the entry was stored may go. Anything else stays, and the stored file goes
 * beside it.
 */
async function clearClean(context: RepoContext, manifest: TrashManifest): Promise<void> {
  const { git, files, root } = context;
  const head = await git.head();
  if (head.kind === "unborn" || head.commit !== manifest.head.commit) return;
  const touched = new Set<string>((await git.status()).map((entry) => entry.path));
  const folders = new Set<string>(
    manifest.entries.flatMap((entry) => (entry.kind === "directory" ? (pathOf(entry.path) ?? []) : [])),
  );
  for (const encoded of manifest.paths) {
    const named = pathOf(encoded);
    if (named === undefined) continue;
    for (const path of await git.filesAt(head.commit, named)) {
      const at = inRoot(root, path);
      if (touched.has(path)) continue;
      const committed = await git.fileAt(head.commit, path);
      const now = await leafAt(files, at);
      if (committed === undefined || now === undefined || !sameText(committed, now)) continue;
      await files.remove(at);
      // Git had made the folders for it: those that the entry does not know go with it.
      for (let dir = dirName(path); isInside(dir, named) && !folders.has(dir); dir = dirName(dir)) {
        if (!(await files.removeEmptyDir(inRoot(root, dir)))) break;
      }
    }
  }
}

/** A file's bytes, or a link's target as git stores it. */
async function leafAt(files: RepoContext["files"], at: AbsPath): Promise<Uint8Array | undefined> {
  switch ((await files.stat(at))?.kind) {
    case "file":
      return await files.read(at);
    case "symlink": {
      const target = await files.readLink(at);
      return target === undefined ? undefined : new TextEncoder().encode(target);
    }
    case "directory":
    case "other":
    case undefined:
      return undefined;
  }
}

/** A manifest's path: base64 of its bytes. Names that are not UTF-8 are left to the trash, which never overwrites. */
function pathOf(encoded: string): RepoPath | undefined {
  const bytes = Buffer.from(encoded, "base64");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? repoPath(text) : undefined;
}

/** Equal but for line ends, which git's own conversion may have changed on the way out. */
function sameText(a: Uint8Array, b: Uint8Array): boolean {
  const withoutCr = (bytes: Uint8Array): Buffer =>
    Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return Buffer.from(a).equals(Buffer.from(b)) || withoutCr(a).equals(withoutCr(b));
}

/** The feature's entry, when the slice is back and the registry does not have it. */
async function register(context: RepoContext, manifest: TrashManifest): Promise<void> {
  const { registry } = manifest;
  if (registry === undefined) return;
  const path = repoPath(registry.file);
  if (path === undefined) return;
  const { file } = await readRegistry(context.files, context.root, path);
  if (knownDomain(file, registry.feature) !== undefined) return;
  const target = { domain: registry.domain, name: registry.feature };
  await updateRegistry(context.files, context.root, path, (text) => withFeature(text, target));
}

/** On the default branch there is nothing for `do` to start from: the files are the person's to commit. */
async function nextOf({ git }: RepoContext, manifest: TrashManifest): Promise<readonly string[]> {
  const head = await git.head();
  if (head.kind !== "branch" || head.branch !== (await git.defaultBranch())) return ["orch do", "orch status"];
  const named = [...manifest.paths.flatMap((path) => pathOf(path) ?? []), manifest.registry?.file ?? []].flat();
  const changed = (await git.status()).map(({ path }) => path);
  const back = [...new Set(named)].filter((path) => changed.some((one) => isInside(one, path)));
  if (back.length === 0) return ["orch status"];
  return [`git add -- ${back.map(shellWord).join(" ")}`, `git commit -m ${shellWord(`restore: ${manifest.what}`)}`];
}

/** Where the checkout is now, and what the remote does not have: `undo` deleted the branch there as well. */
async function branchNotes({ git }: RepoContext, manifest: TrashManifest, road: Road): Promise<readonly string[]> {
  const only: { readonly name: string; readonly remote: string }[] = [];
  for (const name of Object.keys(manifest.branches)) {
    const remote = await git.remote(name);
    if (remote === undefined || (await git.resolve(`refs/heads/${name}`)) === undefined) continue;
    if ((await git.resolve(`refs/remotes/${remote}/${name}`)) === undefined) only.push({ name, remote });
  }
  return [
    ...(road.kind === "go" ? [`Now on ${road.branch}`] : []),
    ...only.map(
      ({ name, remote }) =>
        `${name} is back here only, not on ${remote}: git push --set-upstream ${shellWord(remote)} ${shellWord(name)}`,
    ),
  ];
}

function told(
  manifest: TrashManifest,
  restored: Restored,
  { notes, next }: { readonly notes: readonly string[]; readonly next: readonly string[] },
): CommandResult {
  const branches = restored.branches.map((name) => `, branch ${name}`).join("");
  const elsewhere = restored.branchesElsewhere.map(
    ({ name, stored }) => `${name} is somewhere else now; the stored commit is ${stored}`,
  );
  const data = { ...restored, what: manifest.what };
  const done = restored.unchanged
    ? `${manifest.what} is there as it was stored: nothing was changed`
    : `Restored ${manifest.what}: ${count(restored.restored.length, "file")}${branches}`;
  if (restored.beside.length === 0) {
    const summary = [done, ...elsewhere, ...notes].join(". ");
    return { ok: true, code: 0, summary, next: [...next], data };
  }
  const paths = restored.beside.map(({ path, wroteTo }) => `${path} (stored as ${wroteTo})`);
  const error = new OrchError("trash.newer", `newer files were kept: ${nameSome(paths)}`, {
    data: { paths: restored.beside.map(({ path, wroteTo }) => `${path} ${wroteTo}`) },
  });
  return {
    ok: false,
    code: error.exit,
    summary: [done, error.message, ...elsewhere, ...notes].join(". "),
    next: restored.beside
      .slice(0, 5)
      .map(({ path, wroteTo }) => `git diff --no-index ${shellWord(path)} ${shellWord(wroteTo)}`),
    data,
    error: { code: error.code, message: error.message, hint: error.hint },
  };
}

function listed(items: readonly TrashItem[]): CommandResult {
  const [newest] = items;
  const data = { entries: items, text: items.map(itemLine) };
  if (newest === undefined) return { ok: true, code: 0, summary: "Nothing to restore", next: ["orch scan"], data };
  const many = count(items.length, "entry", "entries");
  const summary = `${many} to restore, the newest is ${newest.id}: ${newest.by} of ${newest.what}`;
  return { ok: true, code: 0, summary, next: [`orch restore ${newest.id}`], data };
}

function itemLine({ id, at, by, what, files, branches, kept }: TrashItem): string {
  const when = new Date(at).toISOString().slice(0, 16).replace("T", " ");
  const holds = [
    count(files, "file"),
    ...branches.map((name) => `branch ${name}`),
    ...kept.map((name) => `the result of ${name}`),
  ].join(", ");
  return `${id}  ${when}Z  ${by}  ${what}  (${holds})`;
}

function foretold(manifest: TrashManifest, road: Road): CommandResult {
  const files = manifest.entries.filter((entry) => entry.kind !== "directory").length;
  const branch = road.kind === "go" ? `go to ${road.branch}, ` : "";
  return {
    ok: true,
    code: 0,
    summary: `Would ${branch}bring back ${count(files, "file")} of ${manifest.what}; nothing was changed`,
    next: [`orch restore ${manifest.id}`],
    data: {
      dryRun: true,
      id: manifest.id,
      what: manifest.what,
      branches: Object.keys(manifest.branches),
      files: manifest.entries
        .filter((entry) => entry.kind !== "directory")
        .map((entry) => pathOf(entry.path) ?? entry.path),
    },
  };
}
