import path from "node:path";
import { type AbsPath, absPath, type RepoPath } from "../base/paths.ts";
import type { SettledWrites } from "../ports/tree-writes.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import { inRootBytes, shown, walk } from "./git-walk.ts";
import { goBack, isOurs, liesAside, type LeftAside } from "./tree-back.ts";
import type { TreeGround } from "./tree-disk.ts";
import {
  asideAt,
  journalFolders,
  readJournal,
  sameStanding,
  stagingLeft,
  standingAt,
  type TreeJournal,
} from "./tree-journal.ts";
import { byteKey, fromBase64, toBase64 } from "./trash-bytes.ts";

/** Paths that a write which did not come to its end had begun with. */
export async function unfinishedWrites({ place }: TreeGround): Promise<readonly string[]> {
  const paths = new Set<string>();
  for (const folder of await journalFolders(place)) {
    const found = await readJournal(folder);
    if (found.kind === "done") continue;
    const journal = found.kind === "open" ? found.journal : await journalOf(folder);
    for (const [at, step] of journal.steps.entries()) {
      const own = fromBase64(step.path);
      const begun =
        (await liesAside(asideAt(folder, "old", own), step.old)) ||
        (await liesAside(asideAt(folder, "taken", own), step.next)) ||
        (await isOurs(folder, journal, at, inRootBytes(place.root, own)));
      if (begun) paths.add(shown(own));
    }
  }
  return [...paths].toSorted();
}

/**
 * Puts back what a command that is no more had moved aside, and stores for `restore` what has no place in the tree any
 * more. A folder goes when nothing of it is needed.
 */
export async function settleWrites(ground: TreeGround, trash: Pick<Trash, "store">): Promise<SettledWrites> {
  const putBack = new Set<string>();
  const stored: TrashItem[] = [];
  for (const folder of await journalFolders(ground.place)) {
    const found = await readJournal(folder);
    const journal = found.kind === "open" || found.kind === "done" ? found.journal : await journalOf(folder);
    const back =
      found.kind === "done"
        ? { putBack: [], left: await editedSince(folder, journal) }
        : await goBack(ground, folder, journal);
    for (const own of back.putBack) putBack.add(shown(own));
    for (const name of ["old", "taken"] as const) {
      const names = back.left.filter((one) => one.name === name).map((one) => one.path);
      if (names.length > 0) stored.push(await keep(trash, folder, name, journal.by, names));
    }
    await ground.disk.discard(folder);
  }
  for (const folder of await stagingLeft(ground.place)) await ground.disk.discard(folder);
  return { putBack: [...putBack].toSorted(), stored };
}

/** Moved aside and replaced for good; an editor that had it open may have written into it since. */
async function editedSince(folder: AbsPath, { steps }: TreeJournal): Promise<readonly LeftAside[]> {
  const left: LeftAside[] = [];
  for (const { path: own, old } of steps) {
    const at = asideAt(folder, "old", fromBase64(own));
    if (old.kind !== "absent" && (await liesAside(at, old)) && !sameStanding(await standingAt(at), old))
      left.push({ name: "old", path: fromBase64(own) });
  }
  return left;
}

/** For a folder whose journal cannot be read: what it holds goes back where nothing stands, and what stands is left. */
async function journalOf(folder: AbsPath): Promise<TreeJournal> {
  const steps = new Map<string, TreeJournal["steps"][number]>();
  for (const name of ["taken", "old"] as const) {
    const home = absPath(path.join(folder, name));
    for (const entry of await walk(home, [new Uint8Array()], () => false)) {
      if (entry.kind === "directory") continue;
      const at = asideAt(folder, name, entry.path);
      const old = (name === "old" ? await standingAt(at) : undefined) ?? { kind: "absent" };
      steps.set(byteKey(entry.path), { path: toBase64(entry.path), old, next: { kind: "absent" } });
    }
  }
  return { v: 1, by: "merge", links: true, steps: [...steps.values()], folders: [], made: [] };
}

/** It comes back under its own name, or beside what stands there. */
function keep(
  trash: Pick<Trash, "store">,
  folder: AbsPath,
  name: LeftAside["name"],
  by: TreeJournal["by"],
  names: readonly Uint8Array[],
): Promise<TrashItem> {
  const [first = new Uint8Array()] = names;
  const more = names.length === 1 ? "" : ` and ${names.length - 1} more`;
  const from = { folder: absPath(path.join(folder, name)), under: "" as RepoPath, names };
  const when = name === "old" ? "as it stood before it was written" : "saved while it was taken back";
  return trash.store({ by, what: `${shown(first)}${more}, ${when}`, paths: [], from });
}
