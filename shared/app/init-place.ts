import path from "node:path";
import { type AbsPath, absPath, baseName } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { isReservedName } from "../model/names.ts";
import type { Files } from "../ports/files.ts";

/**
 * The folder that `init` is about, as it will be named once it is there: links of folders that exist are followed.
 *
 * @throws OrchError `path.refused` for a file, a folder of git's own, a name no system can make
 */
export async function initFolder(files: Files, cwd: AbsPath, word: string): Promise<AbsPath> {
  const refuse = (why: string): never => {
    throw new OrchError("path.refused", `${JSON.stringify(word)}: ${why}`, { data: { path: word } });
  };
  if (word.trim() === "" || word.includes("\0")) refuse("it names no folder");
  const wanted = path.resolve(cwd, word);
  if (wanted.split(path.sep).some((part) => part.toLowerCase() === ".git")) refuse("it is in git's own folder");
  const { there, rest } = await existingPart(files, absPath(wanted));
  if ((await files.stat(there))?.kind !== "directory") refuse(`${there} is no folder`);
  const reserved = rest.find((part) => isReservedName(part.replace(/\..*$/, "")));
  if (reserved !== undefined) refuse(`Windows cannot make a folder ${reserved}`);
  return absPath(path.join(there, ...rest));
}

/** The part of the path that exists, links followed, and the names that do not. */
export async function existingPart(
  files: Pick<Files, "realPath">,
  folder: AbsPath,
): Promise<{ readonly there: AbsPath; readonly rest: readonly string[] }> {
  const rest: string[] = [];
  for (let at: string = folder; ; at = path.dirname(at)) {
    const real = await files.realPath(absPath(at));
    if (real !== undefined) return { there: real, rest };
    if (path.dirname(at) === at)
      throw new OrchError("path.refused", `${folder} is nowhere`, { data: { path: folder } });
    rest.unshift(baseName(at));
  }
}
