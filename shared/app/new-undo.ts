import { removeTornWrites } from "../adapters/slice-files.ts";
import { inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { parseRegistry, readRegistry, updateRegistry, withFeature, withoutFeature } from "../features/registry.ts";
import { knownDomain } from "../features/resolve.ts";
import { NewJournal } from "../model/command-journal.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import type { RepoContext } from "./context.ts";
import { createJournal } from "./journal.ts";
import { withRepositoryLock } from "./repository-lock.ts";

/** `new.json`: see `createFeature`. */
export const newJournal = createJournal("new.json", (text) => readJson(text, NewJournal));

type NewContext = Pick<RepoContext, "git" | "files" | "root">;

/** Every file is there, registered, on its branch: nothing was left to do, whatever a person has edited since. */
export async function isMade(context: NewContext, journal: NewJournal): Promise<boolean> {
  const { files, root, git } = context;
  const head = await git.head();
  if (head.kind !== "branch" || head.branch !== journal.branch.name) return false;
  for (const { path } of journal.files) if ((await files.stat(inRoot(root, path))) === undefined) return false;
  const { file } = await readRegistry(files, root, pathOf(journal.registry));
  return knownDomain(file, journal.target.name) === journal.target.domain;
}

/**
 * Takes back what a killed runner had made: the entry, files that are as it wrote them, folders that are empty then, the
 * branch. It looks at what is there, so it can be run again. Returns files that were edited since; then the branch stays.
 */
export async function undoNew(context: NewContext, journal: NewJournal): Promise<readonly RepoPath[]> {
  const { files, root } = context;
  await undoEntry(context, journal);
  const edited: RepoPath[] = [];
  for (const { path: name, text } of journal.files) {
    const path = pathOf(name);
    await removeTornWrites(files, root, path);
    const now = await files.readText(inRoot(root, path));
    if (now === text) await files.remove(inRoot(root, path));
    else if (now !== undefined) edited.push(path);
  }
  await removeTornWrites(files, root, pathOf(journal.registry));
  for (const folder of journal.folders.toReversed()) await files.removeEmptyDir(inRoot(root, pathOf(folder)));
  if (edited.length === 0) await undoBranch(context, journal);
  return edited;
}

async function undoEntry({ files, root }: NewContext, journal: NewJournal): Promise<void> {
  const path = pathOf(journal.registry);
  const { name, domain } = journal.target;
  const before = journal.registryBefore === null ? undefined : Buffer.from(journal.registryBefore, "base64");
  const now = await files.read(inRoot(root, path));
  if (now === undefined || before?.equals(now) === true) return;
  if (Buffer.from(now).equals(Buffer.from(withFeature(before?.toString("utf8"), journal.target), "utf8"))) {
    if (before === undefined) await files.remove(inRoot(root, path));
    else await files.write(inRoot(root, path), before);
    return;
  }
  // Somebody else wrote it, too: only the entry goes.
  const text = Buffer.from(now).toString("utf8");
  const was = before === undefined ? undefined : knownDomain(parseRegistry(before.toString("utf8"), path), name);
  if (was !== undefined || knownDomain(parseRegistry(text, path), name) !== domain) return;
  await updateRegistry(files, root, path, (current) => withoutFeature(current ?? "{}", name));
}

async function undoBranch({ git }: NewContext, { branch, from }: NewJournal): Promise<void> {
  if (branch.kind === "stay") return;
  const head = await git.head();
  if (head.kind === "branch" && head.branch === branch.name) await git.switch(from);
  const tip = branch.kind === "make" ? await git.resolve(`refs/heads/${branch.name}`) : undefined;
  if (tip === branch.commit) await git.delete(branch.name, branch.commit);
}

/** Ends a `new` whose runner was killed and that is not to go on. */
export async function endNew(context: RepoContext): Promise<void> {
  const journal = await newJournal.read(context);
  if (journal === undefined) return;
  const never = new AbortController().signal;
  await withRepositoryLock(context, "cancel", never, async () => {
    if (await isMade(context, journal)) return;
    const edited = await undoNew(context, journal);
    if (edited.length > 0) {
      context.sink.append({ type: "progress.noted", text: `left as they are, edited meanwhile: ${edited.join(", ")}` });
    }
  });
}

function pathOf(text: string): RepoPath {
  const path = repoPath(text);
  if (path === undefined) throw new OrchError("file.invalid", `new.json: ${text} leaves the repository`);
  return path;
}
