import path from "node:path";
import { OrchError } from "../model/error.ts";
import type { IndexFlag, TrashManifest } from "../model/trash.ts";
import type { Restored } from "../ports/trash.ts";
import { blobsToFiles, objectFormat, withStaging, zeroOid } from "./git-blobs.ts";
import type { GitCall } from "./git-call.ts";
import { isLocal } from "./git-config.ts";
import { editIndex, type IndexEntry, indexEntries, isUnder, treeEntries } from "./git-index.ts";
import { checkedRef } from "./git-names.ts";
import { shown } from "./git-walk.ts";
import { byteKey, digestFile, fromBase64 } from "./trash-bytes.ts";
import { keptRefs } from "./kept-results.ts";
import { setIndexFlags } from "./trash-flags.ts";
import { keptContracts } from "./trash-manifest.ts";
import { createPlacer } from "./trash-place.ts";

/** Branches, then files, then the index. Each step finds what an earlier, stopped one did and goes on. */
export async function restore(git: GitCall, manifest: TrashManifest): Promise<Restored> {
  return withStaging(git.place, async (staging) => {
    const blobs = manifest.entries.flatMap((entry) => (entry.blob === undefined ? [] : [entry.blob]));
    await blobsToFiles(git, blobs, staging);
    await checkBlobs(git, manifest, staging);
    const { made: madeBranches, ...branches } = await restoreBranches(git, manifest);
    const { made: madeKept, kept } = await restoreKept(git, manifest);
    const placer = createPlacer({
      root: git.place.root,
      staging,
      id: manifest.id,
      format: await objectFormat(git),
      entries: manifest.entries,
    });
    for (const entry of manifest.entries) await placer.place(entry);
    await placer.finish();
    const files = { besides: placer.besides, placed: new Set(placer.restored) };
    const madeIndex = await restoreIndex(git, manifest, files);
    return {
      id: manifest.id,
      restored: placer.restored,
      beside: placer.besides.map(({ path: from, wroteTo }) => ({ path: shown(from), wroteTo: shown(wroteTo) })),
      kept,
      ...branches,
      unchanged: !(placer.made || madeBranches || madeKept || madeIndex),
    };
  });
}

/** All of it is read back and compared before the first file is written. */
async function checkBlobs(git: GitCall, manifest: TrashManifest, staging: string): Promise<void> {
  const format = await objectFormat(git);
  const seen = new Map<string, string | undefined>();
  for (const { blob, sha256 } of manifest.entries) {
    if (blob === undefined) continue;
    if (!seen.has(blob)) seen.set(blob, (await digestFile(path.join(staging, blob), format))?.sha256);
    if (seen.get(blob) === sha256) continue;
    throw new OrchError("trash.damaged", `the entry ${manifest.id} does not hold what was stored`, {
      data: { id: manifest.id },
    });
  }
}

async function restoreBranches(
  git: GitCall,
  manifest: TrashManifest,
): Promise<Pick<Restored, "branches" | "branchesElsewhere"> & { readonly made: boolean }> {
  let anyMade = false;
  const branches: string[] = [];
  const branchesElsewhere: { name: string; stored: string }[] = [];
  for (const [name, stored] of Object.entries(manifest.branches)) {
    const ref = `refs/heads/${name}`;
    const now = await git.maybe(["rev-parse", "--verify", "--quiet", ref]);
    const made =
      now === undefined &&
      (await git.answer(["update-ref", "-m", "orch: restore", ref, stored, await zeroOid(git)])).code === 0;
    if (!made && now !== stored) {
      branchesElsewhere.push({ name, stored });
      continue;
    }
    anyMade ||= made;
    branches.push(name);
    const set = new Set((await git.config()).filter(isLocal).map((entry) => entry.key));
    for (const [key, value] of Object.entries(manifest.branchConfig[name] ?? {})) {
      if (set.has(`branch.${name}.${key}`)) continue;
      await git.bytes(["config", "--local", "--replace-all", `branch.${name}.${key}`, value]);
    }
  }
  return { branches, branchesElsewhere, made: anyMade };
}

/** A result that was kept anew meanwhile stands. */
async function restoreKept(
  git: GitCall,
  manifest: TrashManifest,
): Promise<Pick<Restored, "kept"> & { readonly made: boolean }> {
  let made = false;
  for (const [name, tree] of Object.entries(manifest.kept)) {
    const ref = checkedRef(`${keptRefs}${name}`);
    if ((await git.maybe(["rev-parse", "--verify", "--quiet", ref])) !== undefined) continue;
    await git.bytes(["update-ref", "-m", "orch: restore", ref, tree, await zeroOid(git)]);
    made = true;
  }
  return { kept: keptContracts(manifest), made };
}

/**
 * Only where HEAD is what it was and the index says nothing of its own about the path: what a person staged since stands.
 * Answers whether it changed what the index says.
 */
async function restoreIndex(
  git: GitCall,
  manifest: TrashManifest,
  files: { readonly besides: readonly { readonly path: Uint8Array }[]; readonly placed: ReadonlySet<string> },
): Promise<boolean> {
  const head = await git.maybe(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (head !== manifest.head.commit) return false;
  let made = false;
  const named = manifest.paths.map(fromBase64);
  const inHead = byPath(
    (head === undefined ? [] : await treeEntries(git, head)).filter((entry) =>
      named.some((folder) => isUnder(entry.path, folder)),
    ),
  );
  const now = byPath(await indexEntries(git, named));
  const then = byPath(
    manifest.index.map(({ mode, oid, stage, path: name }) => ({ mode, oid, stage, path: fromBase64(name) })),
  );
  const aside = new Set(files.besides.map((entry) => byteKey(entry.path)));
  const remove: Uint8Array[] = [];
  const add: IndexEntry[] = [];
  for (const key of new Set([...inHead.keys(), ...now.keys(), ...then.keys()])) {
    const [was, has] = [then.get(key) ?? [], now.get(key) ?? []];
    // A line that notes another size than the placed file's (line ends) counts as changed for git, whatever the file holds.
    if (same(was, has) && was[0]?.stage === 0 && files.placed.has(shown(was[0].path))) add.push(...was);
    if (aside.has(key) || same(was, has) || !(has.length === 0 || same(has, inHead.get(key) ?? []))) continue;
    made = true;
    remove.push(...has.slice(0, 1).map((entry) => entry.path));
    add.push(...was);
  }
  const flags = new Map(manifest.index.map(({ path: name, flag }) => [byteKey(fromBase64(name)), flag]));
  const flagOf = ({ path: name }: IndexEntry): IndexFlag | undefined => flags.get(byteKey(name));
  await editIndex(git, { remove, add: add.filter((entry) => flagOf(entry) !== "intent-to-add") }, {});
  if (add.length > 0) await git.answer(["update-index", "-q", "--refresh"], { startsPrograms: true });
  await setIndexFlags(
    git,
    add.flatMap((entry) => {
      const flag = flagOf(entry);
      return flag === undefined ? [] : [{ path: entry.path, flag }];
    }),
  );
  return made;
}

function byPath(entries: readonly IndexEntry[]): ReadonlyMap<string, readonly IndexEntry[]> {
  return Map.groupBy(entries, (entry) => byteKey(entry.path));
}

function same(a: readonly IndexEntry[], b: readonly IndexEntry[]): boolean {
  const text = (entries: readonly IndexEntry[]): string =>
    entries.map(({ mode, oid, stage }) => `${mode} ${oid} ${stage}`).join();
  return text(a) === text(b);
}
