import { type AbsPath, absPath, below, dirName, inRoot } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";

/**
 * Folders on the way from a root to a path that are links. Whoever could write below the root may have put them there, so
 * what lies behind one is somebody else's: nothing is removed or written through it.
 */
export async function isBehindLink(files: Files, root: AbsPath, path: AbsPath): Promise<boolean> {
  const names = (below(dirName(path), root) ?? "").split("/");
  for (let count = 1; count <= names.length; count += 1) {
    const folder = inRoot(root, ...names.slice(0, count));
    if (folder !== root && (await files.stat(folder))?.kind === "symlink") return true;
  }
  return false;
}

/** Like `isBehindLink` for a checkout, in which a person may have links that stay inside. */
export async function leadsOut(files: Files, root: AbsPath, path: AbsPath): Promise<boolean> {
  if (!(await isBehindLink(files, root, path))) return false;
  const [real, own] = await Promise.all([files.realPath(absPath(dirName(path))), files.realPath(root)]);
  return real === undefined || own === undefined || (real !== own && below(real, own) === undefined);
}
