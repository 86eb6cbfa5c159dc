import picomatch from "picomatch";

/**
 * Path brands. `AbsPath` is absolute and native; `RepoPath` is relative to a repository's root, uses `/`, and never
 * holds `..`, a leading slash, a drive or a NUL. Only the constructors below make them.
 */
export type AbsPath = string & { readonly __brand: "AbsPath" };
export type RepoPath = string & { readonly __brand: "RepoPath" };

export function isAbsolutePath(text: string): boolean {
  return text.startsWith("/") || /^[A-Za-z]:[\\/]/.test(text) || text.startsWith("\\\\");
}

export function absPath(text: string): AbsPath {
  if (!isAbsolutePath(text)) throw new TypeError(`not an absolute path: ${text}`);
  return text as AbsPath;
}

/** A path as a person typed it, standing in `cwd`. `..` is left to the file system. */
export function typedPath(cwd: AbsPath, text: string): AbsPath {
  return isAbsolutePath(text) ? absPath(text) : inRoot(cwd, text);
}

/** The path as a RepoPath, or undefined when it could leave the root (absolute, drive, `..`, NUL, empty). */
export function repoPath(text: string): RepoPath | undefined {
  if (text === "" || text.includes("\0") || isAbsolutePath(text) || /^[A-Za-z]:/.test(text)) return undefined;
  const parts: string[] = [];
  for (const part of text.replaceAll("\\", "/").split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") return undefined;
    parts.push(part);
  }
  return parts.length === 0 ? undefined : (parts.join("/") as RepoPath);
}

/** `root` + a repository path. Works for POSIX and Windows roots: Node accepts `/` on both. */
export function inRoot(root: AbsPath, ...parts: readonly string[]): AbsPath {
  const tail = parts.filter((part) => part !== "").join("/");
  const base = root.endsWith("/") || root.endsWith("\\") ? root.slice(0, -1) : root;
  return (tail === "" ? root : `${base}/${tail}`) as AbsPath;
}

/** True when `path` is `folder` or lies in it; `/` is the separator, so `a/bc` is not in `a/b`. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** The path below `folder`, or undefined when it is not in it. */
export function below(path: string, folder: string): string | undefined {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

/** Where `relative` leads from `folder` (both with `/`), without `.` and `..`; undefined when it leaves the root. */
export function resolvedFrom(folder: string, relative: string): string | undefined {
  const parts = folder === "." || folder === "" ? [] : folder.split("/");
  for (const part of relative.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

export function dirName(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at <= 0 ? (at === 0 ? "/" : ".") : path.slice(0, at);
}

/** With the dot, lower case: `.py`; empty when there is none. */
export function extName(path: string): string {
  const name = baseName(path);
  const at = name.lastIndexOf(".");
  return at <= 0 ? "" : name.slice(at).toLowerCase();
}

/**
 * True for paths that one of the globs names. `*` stays inside a folder, `**` crosses folders, dot files count, case
 * counts. A glob without a wildcard is one path and nothing else; `!` has no meaning.
 */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const name = globs.join("\0");
  let matcher = known.get(name);
  if (matcher === undefined) {
    if (known.size > 500) known.clear();
    matcher = compiledGlobs(globs);
    known.set(name, matcher);
  }
  return matcher;
}

/** Rules share their lists of globs, and compiling one costs more than matching with it. */
const known = new Map<string, (path: string) => boolean>();

function compiledGlobs(globs: readonly string[]): (path: string) => boolean {
  const exact = new Set(globs);
  let matcher: RegExp | undefined;
  const answers = new Map<string, boolean>();
  return (path) => {
    if (exact.has(path)) return true;
    let answer = answers.get(path);
    if (answer === undefined) {
      // Rules share their lists, so the files of a change come by again and again.
      if (answers.size > 2000) answers.clear();
      // Most globs of all the rules are never asked, and one call of a command asks few.
      answer = path !== "" && (matcher ??= asOneExpression(globs.filter(hasWildcard))).test(path);
      answers.set(path, answer);
    }
    return answer;
  };
}

/** One expression for all: a call of the library for each glob and path is most of what matching costs. */
function asOneExpression(globs: readonly string[]): RegExp {
  const options = { dot: true, nonegate: true, strictSlashes: true };
  return globs.length === 0 ? /$^/ : new RegExp(globs.map((glob) => picomatch.makeRe(glob, options).source).join("|"));
}

export function hasWildcard(glob: string): boolean {
  return /[*?[\]{}()!+@]/.test(glob);
}
