import { isAbort, throwIfAborted } from "../base/abort.ts";
import { isInside, type RepoPath } from "../base/paths.ts";
import { tellingLine } from "../base/telling-line.ts";
import { shellWord } from "../base/shell-word.ts";
import type { Change } from "../model/change.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import { noRemoteText } from "../model/no-remote.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Finished, Finisher } from "../ports/finisher.ts";
import type { Git, Head, StatusEntry } from "../ports/git.ts";
import type { Workspace } from "../ports/workspace.ts";

/**
 * What acceptance of a feature means: exactly the slice and the registry become one commit `feat: <Name>` on the
 * branch, then the branch is pushed when there is a remote. Other changed files are named and left alone. What is
 * committed is what was judged: a difference since then is a person's edit and refuses. After the commit nothing
 * fails any more; a push that was refused is told.
 */
export interface CommitPushOptions {
  readonly slice: RepoPath;
  readonly registry: RepoPath;
  /** The branch that the change is for, where it is known. */
  readonly branch?: string;
  /** The feature's name: the commit is `feat: <name>`. */
  readonly name: string;
  /** False with --no-push or `features.push: false`. */
  readonly push: boolean;
  /** May hooks and signing run? */
  readonly trusted: () => Promise<boolean>;
}

export interface CommitPushDeps {
  readonly git: Pick<
    Git,
    | "head"
    | "status"
    | "snapshot"
    | "diff"
    | "commitPaths"
    | "followCommit"
    | "commitsOnly"
    | "isAncestor"
    | "subject"
    | "remote"
    | "remotes"
    | "push"
    | "filesAt"
  >;
  readonly sink: EventSink;
}

type Push =
  | { readonly kind: "pushed"; readonly remote: string }
  | { readonly kind: "off" }
  | { readonly kind: "no-remote"; readonly remotes: readonly string[] }
  | { readonly kind: "refused"; readonly remote: string; readonly output: string };

export function createCommitPushFinisher(deps: CommitPushDeps, options: CommitPushOptions): Finisher {
  return {
    async finish(_contract, workspace, change, signal) {
      throwIfAborted(signal);
      const head = await headOf(deps.git, options.branch);
      const made = await madeBefore(deps, options, workspace, head.commit);
      if (made === undefined) {
        await refuseUnjudged(deps, options, change);
        throwIfAborted(signal);
        await workspace.accept?.({ change, onto: head.commit });
      }
      const commit = made ?? (await commitSlice(deps, options, change, head.commit));
      return await afterCommit(deps, options, { workspace, change, branch: head.branch, commit }, signal);
    },
  };
}

/**
 * The branch that is checked out. A person may have gone to another one while the work was done, and nothing is committed
 * there.
 * @throws OrchError `tree.changed`, `tree.detached`
 */
export async function headOf(
  git: Pick<Git, "head">,
  branch: string | undefined,
  run?: string,
): Promise<Extract<Head, { readonly kind: "branch" }>> {
  const head = await git.head();
  if (head.kind === "branch" && (branch === undefined || head.branch === branch)) return head;
  if (branch === undefined) throw new OrchError("tree.detached", "no branch is checked out");
  const now = head.kind === "branch" ? `${head.branch} is` : "no branch is";
  throw new OrchError("tree.changed", `${branch} is not checked out any more, ${now}: nothing was committed`, {
    data: { branch, paths: [], ...(run === undefined ? {} : { run }) },
  });
}

/**
 * The commit that an earlier life of the run made before it was killed: the first one since the change was accepted. Its
 * lines may be missing in the person's index, which would then take the commit back with the person's next one.
 */
async function madeBefore(
  deps: CommitPushDeps,
  options: CommitPushOptions,
  { accepted }: Workspace,
  head: string,
): Promise<string | undefined> {
  const { git } = deps;
  if (accepted === undefined || !(await git.isAncestor(accepted.onto, head))) return undefined;
  const since = await git.commitsOnly(head, accepted.onto);
  const commit = since.at(-1);
  if (commit === undefined || (await git.subject(commit)) !== messageOf(options)) return undefined;
  if (since.length === 1) {
    const now = await git.snapshot([options.slice, options.registry]);
    const edited = new Set(
      now === accepted.change.tree ? [] : (await git.diff(accepted.change.tree, now)).files.map(({ path }) => path),
    );
    const paths = changedIn(await git.status(), options).filter((path) => !edited.has(path));
    await git.followCommit({ paths, before: accepted.onto, commit });
  }
  return commit;
}

const messageOf = ({ name }: CommitPushOptions): string => `feat: ${name}`;

/** @throws OrchError `tree.changed` when the slice is not what the gates saw. */
async function refuseUnjudged(deps: CommitPushDeps, options: CommitPushOptions, change: Change): Promise<void> {
  const now = await deps.git.snapshot([options.slice, options.registry]);
  if (now === change.tree) return;
  const paths = (await deps.git.diff(change.tree, now)).files.map((file) => file.path);
  throw new OrchError("tree.changed", `edited after the gates passed, so not committed: ${paths.join(", ")}`, {
    data: { paths },
  });
}

async function commitSlice(
  deps: CommitPushDeps,
  options: CommitPushOptions,
  change: Change,
  head: string,
): Promise<string> {
  const message = messageOf(options);
  const paths = changedIn(await deps.git.status(), options);
  const inSlice = change.files.filter((file) => file.status !== "deleted" && isInside(file.path, options.slice));
  const held = new Set<string>([...paths, ...(await deps.git.filesAt(head, options.slice))]);
  if (inSlice.length > 0 && !inSlice.some((file) => held.has(file.path))) {
    throw new OrchError("path.refused", `git ignores ${options.slice}, so it cannot be committed`, {
      data: { path: options.slice },
    });
  }
  // Nothing differs from HEAD: it is committed already, under another subject perhaps.
  if (paths.length === 0) return head;
  return await deps.git.commitPaths({ paths, message, trusted: await options.trusted() });
}

function changedIn(status: readonly StatusEntry[], options: CommitPushOptions): readonly RepoPath[] {
  const isOurs = (path: RepoPath): boolean => path === options.registry || isInside(path, options.slice);
  return [
    ...new Set(
      status
        .filter((entry) => entry.index !== "!")
        .flatMap((entry) => (entry.oldPath === undefined ? [entry.path] : [entry.path, entry.oldPath]))
        .filter(isOurs),
    ),
  ];
}

async function afterCommit(
  deps: CommitPushDeps,
  options: CommitPushOptions,
  made: {
    readonly workspace: Workspace;
    readonly change: Change;
    readonly branch: string;
    readonly commit: string;
  },
  signal: AbortSignal,
): Promise<Finished> {
  const { branch, commit } = made;
  // A note that could not be written is made good by the next life of the run; the commit stands either way.
  await made.workspace.settle?.().catch((error: unknown) => {
    if (!isOrchError(error)) throw error;
  });
  const pushed = await pushBranch(deps, options, branch, signal);
  const subject = await deps.git.subject(commit);
  deps.sink.append({ type: "commit.made", commit, branch, subject, pushed: pushed.kind === "pushed" });
  const left = (await deps.git.status()).filter((entry) => entry.index !== "!").map((entry) => entry.path);
  const committed = new Set<string>(await deps.git.filesAt(commit, options.slice));
  const ignored = made.change.files
    .filter((file) => file.status !== "deleted" && isInside(file.path, options.slice) && !committed.has(file.path))
    .map((file) => file.path);
  const summary = [
    `Committed ${subject} (${commit.slice(0, 9)}) on ${branch}; ${pushText(pushed, branch)}`,
    ...listed("Left alone", left),
    ...listed("Not committed, git ignores it", ignored),
  ].join(". ");
  const next =
    pushed.kind === "refused"
      ? [`git push ${shellWord(pushed.remote)} ${shellWord(branch)}`, "orch merge"]
      : ["orch merge"];
  return {
    state: "accepted",
    summary,
    commit,
    pushed: pushed.kind === "pushed",
    result: {
      ok: true,
      code: 0,
      summary,
      next,
      data: {
        commit,
        branch,
        push: pushed.kind,
        ...(pushed.kind === "refused" ? { pushOutput: pushed.output } : {}),
        leftAlone: left,
        ignored,
      },
    },
  };
}

async function pushBranch(
  deps: CommitPushDeps,
  options: CommitPushOptions,
  branch: string,
  signal: AbortSignal,
): Promise<Push> {
  if (!options.push) return { kind: "off" };
  const remote = await deps.git.remote(branch);
  if (remote === undefined) return { kind: "no-remote", remotes: await deps.git.remotes() };
  if (signal.aborted) return { kind: "refused", remote, output: "stopped before the push" };
  try {
    const trusted = await options.trusted();
    const result = await deps.git.push({ remote, from: branch, to: branch, setUpstream: true, trusted });
    return result.kind === "pushed" ? { kind: "pushed", remote } : { kind: "refused", remote, output: result.output };
  } catch (error) {
    // The commit stands: whatever stops the push is told beside it.
    if (isAbort(error)) return { kind: "refused", remote, output: "stopped during the push" };
    if (isOrchError(error)) return { kind: "refused", remote, output: `${error.message}. ${error.hint}` };
    throw error;
  }
}

function pushText(push: Push, branch: string): string {
  switch (push.kind) {
    case "pushed":
      return `pushed to ${push.remote}`;
    case "off":
      return "not pushed: push is off";
    case "no-remote":
      return `not pushed: ${noRemoteText(push.remotes)}`;
    case "refused":
      return [
        `not pushed, ${push.remote} did not take it: ${tellingLine(push.output)}`,
        `Push it later with: git push ${shellWord(push.remote)} ${shellWord(branch)}`,
      ].join(". ");
  }
}

function listed(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const some = paths.slice(0, 5).join(", ");
  return [`${what}: ${some}${paths.length > 5 ? ` and ${paths.length - 5} more` : ""}`];
}
