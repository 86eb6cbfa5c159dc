import { count } from "../base/lines.ts";
import { tellingLine } from "../base/telling-line.ts";
import type { RepoPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import type { Finding } from "../model/finding.ts";
import type { RepoContext } from "./context.ts";
import type { FeatureSubject } from "./feature-branch.ts";
import type { MainLine } from "./main-line.ts";
import { overwrittenBy } from "./overwritten.ts";
import { deleteRemoteBranch } from "./remote-branch.ts";

/**
 * The steps of a merge that land it. Order: push by object id, then main here, then the checkout, then the branches.
 * So a rejected push leaves everything as it was, and a merge that a kill cut short is found as merged by the next
 * one.
 */
export interface Landing {
  readonly subject: FeatureSubject;
  readonly line: MainLine;
  /** What main becomes. */
  readonly commit: string;
  /** Push main, and delete the remote branch. */
  readonly push: boolean;
  /** What the gates noted about the result and let pass; absent where nothing was judged. */
  readonly warnings?: readonly Finding[];
}

/**
 * Nothing of the person's stands in the way of the checkout. `commit` may be a tree; `taken` is what goes into it first.
 *
 * @throws OrchError `tree.dirty`
 */
export async function refuseOverwriting(
  context: RepoContext,
  { subject, line, commit }: Pick<Landing, "subject" | "line" | "commit">,
  taken: readonly RepoPath[] = [],
): Promise<void> {
  if (!subject.here && subject.head.branch !== line.branch) return;
  const from = subject.here ? subject.branch.commit : subject.head.commit;
  const paths = (await overwrittenBy(context, from, commit)).filter((path) => !taken.includes(path));
  if (paths.length === 0) return;
  throw new OrchError(
    "tree.dirty",
    `${line.branch} would overwrite ${count(paths.length, "file")}: ${nameSome(paths)}`,
    {
      data: { paths },
    },
  );
}

/** True when main is on the remote now, false when it is not to be pushed.
 *
 * @throws OrchError `git.push-rejected`; nothing was changed here or there */
export async function pushMain(context: RepoContext, landing: Landing): Promise<boolean> {
  const { line, commit } = landing;
  if (!landing.push || line.remote === undefined) return line.remote !== undefined && line.there === commit;
  if (line.there === commit) return true;
  const trusted = await context.trust.mayRunCode();
  const to = line.branch;
  const result = await context.git.push({ remote: line.remote, from: commit, to, setUpstream: false, trusted });
  if (result.kind === "pushed") return true;
  const untouched = `Nothing was merged; ${landing.subject.branch.name} is as it was, here and there`;
  throw new OrchError(
    "git.push-rejected",
    `${line.remote} did not take ${line.branch}: ${tellingLine(result.output)}. ${untouched}`,
    {
      data: {
        remote: line.remote,
        branch: line.branch,
        output: result.output,
        retry: `${retryAfter(result.output)}, or keep the merge on this machine: orch merge --no-push`,
      },
    },
  );
}

/** Another's push is taken in by an update; a remote that forbids the push stays as it is whatever is merged. */
function retryAfter(output: string): string {
  const moved = /\((?:fetch first|non-fast-forward|stale info)\)/.test(output);
  return moved ? "Try again with: orch merge --update" : "Let the remote allow it, then run: orch merge";
}

/** Main here, and the checkout when it was on the feature branch or on main. */
export async function moveMain(context: RepoContext, landing: Landing, pushed: boolean): Promise<void> {
  const { git } = context;
  const { subject, line, commit } = landing;
  try {
    if (subject.head.branch === line.branch) {
      if (line.local !== commit && !(await git.fastForward(line.branch, commit))) throw movedError(line);
      return;
    }
    if (line.local !== commit && !(await git.updateRef(`refs/heads/${line.branch}`, commit, line.local))) {
      throw movedError(line);
    }
    if (subject.here) await switchBack(context, landing, pushed);
  } catch (error) {
    if (!pushed || !isOrchError(error)) throw error;
    const remote = line.remote ?? "the remote";
    throw new OrchError(error.code, `${line.branch} is merged on ${remote}, but not here: ${error.message}`, {
      data: error.data,
      cause: error,
    });
  }
}

async function switchBack(context: RepoContext, landing: Landing, pushed: boolean): Promise<void> {
  const { line, commit } = landing;
  try {
    await context.git.switch(line.branch);
  } catch (error) {
    // Somebody saved a file since it was checked. Main here goes back, unless the remote has it already.
    if (!pushed && line.local !== undefined && line.local !== commit) {
      await context.git.updateRef(`refs/heads/${line.branch}`, line.local, commit);
    }
    throw error;
  }
}

function movedError(line: MainLine): OrchError {
  return new OrchError("tree.changed", `${line.branch} moved while it was merged`, { data: { paths: [line.branch] } });
}

/** What became of the branches, for the summary. */
export interface Cleared {
  readonly local: boolean;
  readonly remote: "deleted" | "none" | "kept" | "newer" | "refused";
  readonly note?: string;
}

/** The local branch, then the remote one: that only while main is on the remote and holds all of it. */
export async function deleteBranches(context: RepoContext, landing: Landing, pushed: boolean): Promise<Cleared> {
  const { git } = context;
  const { subject, commit } = landing;
  const { branch } = subject;
  if (branch.merged === "equivalent") {
    // Main has its content in other commits; its own commits would only live in the reflog.
    await context.trash.store({ by: "merge", what: branch.name, paths: [], branches: [branch.name] });
  }
  // Its own, asked before git forgets what the branch follows.
  const remote = await git.remote(branch.name);
  await git.delete(branch.name, branch.commit);
  if (remote === undefined) return { local: true, remote: "none" };
  const there = await git.resolve(`refs/remotes/${remote}/${branch.name}`);
  if (there === undefined) return { local: true, remote: "none" };
  if (!landing.push || !pushed) return { local: true, remote: "kept", note: `${remote}/${branch.name} was kept` };
  const held = there === branch.commit || (await git.isAncestor(there, commit));
  if (!held) {
    return {
      local: true,
      remote: "newer",
      note: `${remote}/${branch.name} has commits that the merge does not hold, so it was kept`,
    };
  }
  const kept = await deleteRemoteBranch(git, { remote, branch: branch.name, expected: there });
  if (kept === undefined) return { local: true, remote: "deleted" };
  return { local: true, remote: "refused", note: `${remote}/${branch.name} was kept, ${kept}` };
}
