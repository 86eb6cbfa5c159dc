import type { RepoPath } from "../base/paths.ts";
import { count } from "../base/lines.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import { isBehindLink, shown, walk } from "./git-walk.ts";
import type { Slot } from "./worktree-place.ts";

/** Ignored files are machine-made nearly always: more than this of them (an installed node_modules) is not kept. */
const maxIgnoredBytes = 64 * 1024 * 1024;
const maxIgnoredFiles = 5_000;

/**
 * Stores what a worktree holds beside its base. It comes back as plain files below `.orch/wt/<ID>`, never into the
 * person's own tree.
 */
export async function storeLeft(
  trash: Pick<Trash, "store">,
  left: {
    readonly slot: Slot;
    readonly name: string;
    readonly what: string;
    readonly files: readonly Uint8Array[];
    readonly ignored: readonly Uint8Array[];
  },
): Promise<{ readonly item?: TrashItem; readonly notes: readonly string[] }> {
  const { slot, name, what } = left;
  const notes: string[] = [];
  const names: Uint8Array[] = [];
  // Behind a link lies nothing of the worktree's: the link itself is stored, and what it replaced is in the base.
  for (const one of left.files) if (!(await isBehindLink(slot.tree, one))) names.push(one);
  let [bytes, files] = [0, 0];
  for (const one of left.ignored) {
    const top = one.at(-1) === slash ? one.subarray(0, -1) : one;
    const found = await walk(slot.tree, [top], () => false);
    bytes += found.reduce((sum, { kind, sizeBytes }) => sum + (kind === "file" ? sizeBytes : 0), 0);
    files += found.length;
    if (bytes > maxIgnoredBytes || files > maxIgnoredFiles) {
      notes.push(`${shown(one)} is ignored by git and too big to be stored: ${count(found.length, "file")}`);
      break;
    }
    names.push(top);
  }
  if (names.length === 0) return { notes };
  const under = `.orch/wt/${name}` as RepoPath;
  const item = await trash.store({ by: "run", what, paths: [], from: { folder: slot.tree, under, names } });
  return { item, notes };
}

const slash = 47;
