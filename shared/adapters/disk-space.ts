import { statfs } from "node:fs/promises";
import { type AbsPath, absPath, dirName } from "../base/paths.ts";

export interface DiskSpace {
  readonly freeBytes: number;
  /** The nearest folder that is there: what was asked about may not have been made yet. */
  readonly at: AbsPath;
}

/** What this user may still write where `path` is or would be; undefined when the system does not tell. */
export async function diskSpace(path: AbsPath): Promise<DiskSpace | undefined> {
  for (let at = path; ; at = absPath(dirName(at))) {
    try {
      const { bavail, bsize } = await statfs(at);
      return { freeBytes: bavail * bsize, at };
    } catch (error) {
      const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
      if (code !== "ENOENT" || dirName(at) === at) return undefined;
    }
  }
}
