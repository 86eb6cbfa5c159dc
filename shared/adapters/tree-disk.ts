import { chmod, constants, copyFile, link, lstat, mkdir, rm, rmdir, symlink, unlink } from "node:fs/promises";
import path from "node:path";
import type { RepoPlace } from "../ports/git.ts";
import { renamed } from "./disk-names.ts";
import { hasErrno } from "./git-walk.ts";

type At = Buffer | string;

/** The calls that change what has a name in the person's tree, one by one: tests stop and interleave them. */
export interface TreeDisk {
  /** Never over something: the caller names a place that is free. */
  moveAside(from: At, to: At): Promise<void>;
  /** Fails with EEXIST where something stands. */
  link(from: At, to: At): Promise<void>;
  /** The same, for a file system that knows no second name for a file: not in one step, and never over something. */
  copyNew(from: At, to: At): Promise<void>;
  /** Fails with EEXIST where something stands. */
  symlink(target: At, at: At): Promise<void>;
  unlink(at: At): Promise<void>;
  mkdir(at: At, mode?: number): Promise<void>;
  rmdir(at: At): Promise<void>;
  /** Takes a folder of ours and all that it holds. */
  discard(folder: string): Promise<void>;
}

export const treeDisk: TreeDisk = {
  moveAside: renamed,
  link: (from, to) => link(from, to),
  async copyNew(from, to) {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await chmod(to, (await lstat(from)).mode & 0o7777);
  },
  symlink: (target, at) => symlink(target, at),
  unlink: (at) => unlink(at),
  mkdir: async (at, mode) => {
    await mkdir(at, mode === undefined ? {} : { mode });
  },
  rmdir: (at) => rmdir(at),
  async discard(folder) {
    // The journal goes last: without it nobody knows whose files the folder holds.
    for (const at of [...["new", "old", "taken"].map((name) => path.join(folder, name)), folder])
      await rm(at, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  },
};

/** Fails with EEXIST where something stands. */
export async function linkIn(disk: TreeDisk, from: At, to: At): Promise<void> {
  try {
    await disk.link(from, to);
  } catch (error) {
    if (!hasErrno(error, "EPERM", "ENOTSUP", "EMLINK", "ENOSYS")) throw error;
    await disk.copyNew(from, to);
  }
}

export interface TreeGround {
  readonly place: RepoPlace;
  readonly disk: TreeDisk;
}
