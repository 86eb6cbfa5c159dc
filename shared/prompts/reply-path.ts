import { baseName, isInside, repoPath } from "../base/paths.ts";
import { isReservedName, maxNameBytes } from "../model/names.ts";

/** What a reply may name, and where a bare name belongs. */
export interface ReplyScope {
  /** Repository folder whose file names a reply may use bare; empty for the root. */
  readonly dir: string;
  /** Paths of the files that are there or that the pack names, so that a name in another case finds its file. */
  readonly known: readonly string[];
}

/** A path as a reply wrote it, as a repository path; `refused` says why it is none. */
export type ReplyPath =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "refused"; readonly why: string };

const utf8 = new TextEncoder();

/**
 * Names are relative to `dir`. A name may repeat `dir`, or its last folders (`Invoice/Schema.py`); a name with folders
 * that are not there is refused rather than guessed, and so is everything that could leave the repository.
 */
export function resolveReplyPath(written: string, scope: ReplyScope): ReplyPath {
  const text = written.trim();
  if (text.length > 400) return { kind: "refused", why: "the path is longer than 400 characters" };
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is refused here
  if (/[\u0000-\u001F\u007F]/.test(text)) return { kind: "refused", why: "the path holds control characters" };
  if (/[\\/]$/.test(text)) return { kind: "refused", why: "the path names a folder" };
  const path = repoPath(text);
  if (path === undefined) return { kind: "refused", why: "the path is absolute or leaves the folder" };
  const parts = path.split("/");
  const bad = parts.find(
    (part) =>
      part.startsWith("~") || /[:*?"<>|]/.test(part) || /[. ]$/.test(part) || isReservedName(part.split(".")[0] ?? ""),
  );
  if (bad !== undefined) return { kind: "refused", why: `no system-wide file name: ${bad}` };
  if (parts.some((part) => utf8.encode(part).length > maxNameBytes))
    return { kind: "refused", why: `a name in the path is longer than ${maxNameBytes} bytes, more than disks hold` };
  const inDir = intoDir(path, scope);
  if (inDir === undefined) return { kind: "refused", why: `the path is outside ${scope.dir}` };
  return { kind: "path", path: inKnownCase(inDir, scope.known) };
}

function intoDir(path: string, { dir, known }: ReplyScope): string | undefined {
  if (dir === "" || isInside(path, dir)) return path;
  const folders = dir.split("/");
  for (let from = 1; from < folders.length; from += 1) {
    const tail = folders.slice(from).join("/");
    if (path.startsWith(`${tail}/`)) return `${folders.slice(0, from).join("/")}/${path}`;
  }
  const inside = `${dir}/${path}`;
  return path.includes("/") && !known.includes(inside) ? undefined : inside;
}

/** Models write `schema.py` for `Schema.py`; a second file that differs by case only would be lost on many disks. */
function inKnownCase(path: string, known: readonly string[]): string {
  if (known.includes(path)) return path;
  const same = known.filter((one) => one.toLowerCase() === path.toLowerCase());
  return same.length === 1 && same[0] !== undefined ? same[0] : path;
}

const bareNames = new Set(["Makefile", "Dockerfile", "LICENSE", "Procfile", "Justfile"]);

/** True for a text that can only be a file's name or path: how headings and fence labels are told from prose. */
export function looksLikePath(text: string): boolean {
  if (text.length === 0 || text.length > 300 || /[\n`*"<>|]/.test(text) || /\s{2,}|^\s|\s$/.test(text)) return false;
  const name = baseName(text);
  if (bareNames.has(name) && !/\s/.test(text)) return true;
  if (!/^[^\s/\\][^/\\]*\.[A-Za-z][A-Za-z0-9]{0,9}$|^\.[A-Za-z][\w.-]*$/.test(name)) return false;
  // A sentence that ends in a file's name has spaces; a path with spaces has folders before them.
  return !/\s/.test(text) || /^[^\s]*[/\\]/.test(text);
}
