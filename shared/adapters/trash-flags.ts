import type { IndexFlag } from "../model/trash.ts";
import type { GitCall } from "./git-call.ts";
import { isUnder, markedEntries, markedListing } from "./git-index.ts";
import { nulBytes } from "./git-names.ts";
import { byteKey } from "./trash-bytes.ts";

/**
 * What an index line says beside mode and content: a file that is only announced (`git add -N`), one that git is told
 * not to look at. Keys are the bytes of the path.
 */
export async function indexFlags(git: GitCall, paths: readonly Uint8Array[]): Promise<ReadonlyMap<string, IndexFlag>> {
  const flags = new Map<string, IndexFlag>();
  const note = (path: Uint8Array, flag: IndexFlag): void => {
    if (paths.some((folder) => isUnder(path, folder))) flags.set(byteKey(path), flag);
  };
  for (const { path, flag } of markedEntries(await git.bytes(markedListing))) if (flag !== undefined) note(path, flag);
  const announced = await git.bytes(["diff-files", "--name-only", "--diff-filter=A", "-z"], { startsPrograms: true });
  for (const path of nulBytes(announced)) note(path, "intent-to-add");
  return flags;
}

/** Lines of an announced file must be gone from the index; the others must be in it. */
export async function setIndexFlags(
  git: GitCall,
  flagged: readonly { readonly path: Uint8Array; readonly flag: IndexFlag }[],
): Promise<void> {
  for (const flag of ["intent-to-add", "assume-unchanged", "skip-worktree"] as const) {
    const paths = flagged.filter((entry) => entry.flag === flag).map(({ path }) => path);
    if (paths.length === 0) continue;
    const stdin = Buffer.concat(paths.flatMap((path) => [path, Buffer.from("\0")]));
    const verb =
      flag === "intent-to-add"
        ? ["add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"]
        : ["update-index", `--${flag}`, "-z", "--stdin"];
    await git.bytes(verb, { stdin, startsPrograms: true });
  }
}
