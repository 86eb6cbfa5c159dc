import { type AbsPath, absPath, below, dirName, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import path from "node:path";
import { openProject } from "../features/registry-space.ts";
import { targetOfPath } from "../features/resolve.ts";
import { OrchError } from "../model/error.ts";
import type { ActiveBuffer } from "../model/run-files.ts";
import { targetText } from "../model/target.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { existingPart } from "./init-place.ts";

/**
 * Which feature `modify` is about: the first word, else the file that the person looks at. A single argument with white
 * space is a prompt, never a target.
 */
export function modifyWords(words: readonly string[]): {
  readonly target: string | undefined;
  readonly rest: readonly string[];
} {
  const [first, ...rest] = words;
  return first === undefined || /\s/.test(first) ? { target: undefined, rest: words } : { target: first, rest };
}

/** A file of the repository that the person looks at. */
export interface LookedAt {
  readonly path: RepoPath;
  /** The editor's, when it differs from the file. */
  readonly unsaved: string | undefined;
  readonly selection: ActiveBuffer["selection"];
}

/**
 * `--file`, else the active buffer of the host; undefined when there is neither, or a buffer that is not of this
 * repository. A buffer's own text counts also for the file that `--file` names.
 *
 * @throws OrchError `path.refused` for a `--file` outside the repository
 */
export async function lookedAt(
  context: Pick<RepoContext, "files" | "root" | "editor"> & { readonly cwd: AbsPath },
  args: Pick<CommandArgs, "file">,
): Promise<LookedAt | undefined> {
  const buffer = await context.editor.activeFile();
  const own = buffer === undefined ? undefined : await inRepository(context, buffer.path);
  const active = own === undefined ? undefined : { path: own, unsaved: buffer?.text, selection: buffer?.selection };
  if (args.file === undefined) return active;
  const named = await inRepository(context, args.file);
  if (named === undefined) {
    throw new OrchError("path.refused", `${args.file} is not in this repository`, { data: { path: args.file } });
  }
  return active?.path === named ? active : { path: named, unsaved: undefined, selection: undefined };
}

/** What stands for a file: the words that `knownFeature` takes, and the folder whose registry holds. */
export interface FileTarget {
  readonly words: readonly [string];
  readonly app: string | undefined;
  readonly cwd: AbsPath;
}

/** @throws OrchError `target.missing` when no file is looked at, or one that is in no slice; `registry.invalid` */
export async function targetOfFile(
  { files, root }: Pick<RepoContext, "files" | "root">,
  looked: LookedAt | undefined,
): Promise<FileTarget> {
  if (looked === undefined) {
    const how = "name the feature, or one of its files with --file";
    throw new OrchError("target.missing", `modify was given no feature and no file is looked at: ${how}`, {
      data: { command: "modify" },
    });
  }
  const folder = repoPath(dirName(looked.path));
  const project = await (folder === undefined ? openProject(files, root) : openProject(files, root, folder));
  for (const { app, featuresDir } of project.spaces.toSorted((a, b) => b.featuresDir.length - a.featuresDir.length)) {
    const target = targetOfPath(looked.path, [featuresDir]);
    if (target !== undefined) {
      return { words: [targetText(target)], app, cwd: folder === undefined ? root : inRoot(root, folder) };
    }
  }
  throw new OrchError("target.missing", `${looked.path} is in no feature's folder, so the feature must be named`, {
    data: { command: "modify" },
  });
}

/** Also for a file that is not there yet: the folders on the way to it decide. */
async function inRepository(
  { files, root, cwd }: Pick<RepoContext, "files" | "root"> & { readonly cwd: AbsPath },
  name: string,
): Promise<RepoPath | undefined> {
  if (name.includes("\0")) return undefined;
  const { there, rest } = await existingPart(files, absPath(path.resolve(cwd, name)));
  const realRoot = await files.realPath(root);
  if (realRoot === undefined) return undefined;
  const inside = below(slashed([there, ...rest].join("/")), slashed(realRoot));
  return inside === undefined ? undefined : repoPath(inside);
}

const slashed = (name: string): string => name.replaceAll("\\", "/");
