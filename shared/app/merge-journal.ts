import { type AbsPath, inRoot } from "../base/paths.ts";
import { MergeJournal } from "../model/command-journal.ts";
import type { CommandResult } from "../model/command-result.ts";
import { readJson } from "../model/json-text.ts";
import type { RepoContext } from "./context.ts";
import { createJournal } from "./journal.ts";
import { deleteRemoteBranch } from "./remote-branch.ts";
import { withRepositoryLock } from "./repository-lock.ts";

/** `merge.json`: how far a merge came whose runner was killed. */
export const mergeJournal = createJournal("merge.json", (text) => readJson(text, MergeJournal));

/** Where the result of a merge lies while it is judged. */
export function judgeFolder({ machine, run }: Pick<RepoContext, "machine" | "run">): AbsPath {
  return inRoot(machine.stateDir, "merge", run);
}

/**
 * For a merge that goes on: undefined when it is to be done from the start, which finds what is merged already. What had
 * been staged and is committed without being merged is staged again. A result when only the last words were missing.
 */
export async function goOnMerging(context: RepoContext, signal: AbortSignal): Promise<CommandResult | undefined> {
  const journal = await mergeJournal.read(context);
  if (journal === undefined) return undefined;
  return await withRepositoryLock(context, "merge", signal, () => goOn(context, journal));
}

async function goOn(context: RepoContext, journal: MergeJournal): Promise<CommandResult | undefined> {
  const { git } = context;
  const { landing } = journal;
  if (landing === undefined) {
    await stageAgain(context, journal);
    return undefined;
  }
  const main = await git.resolve(`refs/heads/${landing.into}`);
  const gone = (await git.resolve(`refs/heads/${journal.branch}`)) === undefined;
  if (!gone || main === undefined || !(await git.isAncestor(landing.commit, main))) return undefined;
  const kept = await clearRemote(context, journal.branch, landing);
  const summary = `Merged ${journal.branch} into ${landing.into} before the run was interrupted`;
  return {
    ok: true,
    code: 0,
    summary: kept === undefined ? summary : `${summary}. ${landing.remote}/${journal.branch} was kept, ${kept}`,
    next: ["orch scan", 'orch new domain/Feature "what it does"'],
    data: {
      feature: landing.feature,
      branch: journal.branch,
      into: landing.into,
      commit: landing.commit,
      merged: true,
      already: true,
      pushed: landing.remote !== undefined && landing.push,
      branchDeleted: true,
      remoteBranch: landing.remote === undefined ? "none" : kept === undefined && landing.push ? "deleted" : "kept",
    },
  };
}

type Landed = NonNullable<MergeJournal["landing"]>;

/** Undefined when the remote branch is gone, was never there, or was to stay. */
async function clearRemote({ git }: RepoContext, branch: string, landing: Landed): Promise<string | undefined> {
  if (landing.remote === undefined || !landing.push) return undefined;
  const there = await git.resolve(`refs/remotes/${landing.remote}/${branch}`);
  if (there === undefined) return undefined;
  if (there !== landing.tip && !(await git.isAncestor(there, landing.commit)))
    return "it has commits that the merge does not hold";
  return await deleteRemoteBranch(git, { remote: landing.remote, branch, expected: there });
}

/** The commit of what was staged goes, by one ref update: the index was not touched, so it is staged again. */
async function stageAgain({ git }: RepoContext, { branch, before, message }: MergeJournal): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const tip = await git.resolve(ref);
  if (tip === undefined || tip === before || !(await git.isAncestor(before, tip))) return;
  const [commit, ...more] = await git.commitsOnly(tip, before);
  if (commit !== tip || more.length > 0 || (await git.subject(tip)) !== message) return;
  await git.updateRef(ref, before, tip);
}

/** Ends a `merge` whose runner was killed and that is not to go on: what had not landed is as it was. */
export async function endMerge(context: RepoContext): Promise<void> {
  const journal = await mergeJournal.read(context);
  if (journal !== undefined && journal.landing === undefined) {
    const never = new AbortController().signal;
    await withRepositoryLock(context, "cancel", never, () => stageAgain(context, journal));
  }
  await context.files.remove(judgeFolder(context));
}
