import { type AbsPath, inRoot, type RepoPath } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import type { WriteResult } from "../ports/workspace.ts";
import { absent, type FileMark, markAt, readMark, sameMark, sha256 } from "./workspace-state.ts";

export interface FileWrite {
  readonly path: RepoPath;
  /** undefined deletes. */
  readonly data: Uint8Array | undefined;
}

export interface WriteGround {
  readonly files: Files;
  readonly root: AbsPath;
  readonly seen: Readonly<Record<string, FileMark>>;
}

/**
 * All or none: what was written is put back when a person's edit, or an error, is met on the way. Each file is compared
 * with the mark last seen once more, right before it is replaced. For worktrees, where nobody else writes; in the person's
 * own checkout Git's `replaceFiles` does it, to which a save in between is not lost either.
 */
export async function writeAll(ground: WriteGround, writes: readonly FileWrite[]): Promise<WriteResult> {
  const done: { readonly write: FileWrite; readonly old: Uint8Array | undefined }[] = [];
  const putBack = async (): Promise<void> => {
    for (const { write, old } of done.toReversed()) {
      const now = await readMark(ground.files, inRoot(ground.root, write.path));
      if (now !== undefined && sameMark(now, intended(write.data, now))) await put(ground, write.path, old);
    }
  };
  try {
    for (const write of writes) {
      const at = inRoot(ground.root, write.path);
      const now = await readMark(ground.files, at);
      if (now === undefined || !sameMark(now, markAt(ground.seen, write.path))) {
        await putBack();
        return { kind: "person-edited", paths: [write.path] };
      }
      done.push({ write, old: await ground.files.read(at) });
      await put(ground, write.path, write.data);
    }
    return { kind: "written" };
  } catch (error) {
    await putBack().catch(() => undefined); // the first error is the one to tell; the state file knows both contents
    throw error;
  }
}

async function put(ground: WriteGround, path: RepoPath, data: Uint8Array | undefined): Promise<void> {
  const at = inRoot(ground.root, path);
  if (data === undefined) return await ground.files.remove(at);
  await ground.files.makeDir(inRoot(ground.root, path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ""));
  await ground.files.write(at, data);
}

export function intended(data: Uint8Array | undefined, old: FileMark): FileMark {
  if (data === undefined) return absent;
  return { kind: "file", sha256: sha256(data), mode: old.kind === "file" ? old.mode : 0o644 };
}
