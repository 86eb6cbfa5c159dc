import { throwIfAborted } from "../base/abort.ts";
import { count } from "../base/lines.ts";
import { tellingLine } from "../base/telling-line.ts";
import { OrchError } from "../model/error.ts";
import type { Git } from "../ports/git.ts";

/** The default branch here and on the remote, and what a feature is to be merged onto. */
export type Relation = "same" | "ahead" | "behind" | "diverged" | "only-here" | "only-there";

export interface MainLine {
  readonly branch: string;
  readonly local: string | undefined;
  /** As last fetched. */
  readonly there: string | undefined;
  readonly relation: Relation;
  /** The newest commit of the line; while it has diverged, the local one. */
  readonly tip: string;
  readonly remote: string | undefined;
  /** The repository's remotes while none of them is the one to use. */
  readonly unchosen: readonly string[];
}

type MainGit = Pick<Git, "defaultBranch" | "resolve" | "isAncestor" | "remote" | "remotes">;

/** @throws OrchError `tree.unborn` when the default branch is neither here nor on the remote. */
export async function readMainLine(git: MainGit): Promise<MainLine> {
  const branch = await git.defaultBranch();
  const remote = await git.remote(branch);
  const local = await git.resolve(`refs/heads/${branch}`);
  const there = remote === undefined ? undefined : await git.resolve(`refs/remotes/${remote}/${branch}`);
  const line = { branch, local, there, remote, unchosen: remote === undefined ? await git.remotes() : [] };
  if (local === undefined) {
    if (there === undefined) throw new OrchError("tree.unborn", `${branch} has no commit yet`);
    return { ...line, relation: "only-there", tip: there };
  }
  if (there === undefined) return { ...line, relation: "only-here", tip: local };
  if (local === there) return { ...line, relation: "same", tip: local };
  if (await git.isAncestor(local, there)) return { ...line, relation: "behind", tip: there };
  if (await git.isAncestor(there, local)) return { ...line, relation: "ahead", tip: local };
  return { ...line, relation: "diverged", tip: local };
}

/** Main can be moved to `there` without losing a commit of its own. */
export const canFastForward = (line: MainLine): boolean => line.relation === "behind" || line.relation === "only-there";

/**
 * Fetches main's remote, and that of `branch` where it is another. `undefined` when it worked or there is none, else why
 * it did not.
 *
 * @throws AbortError
 */
export async function fetchRemotes(
  git: Pick<Git, "defaultBranch" | "remote" | "fetch">,
  branch: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  throwIfAborted(signal);
  const named = [await git.remote(await git.defaultBranch()), await git.remote(branch)];
  for (const remote of new Set(named)) {
    if (remote === undefined) continue;
    const fetched = await git.fetch(remote);
    throwIfAborted(signal);
    if (fetched.kind !== "fetched") return `${remote} could not be reached: ${tellingLine(fetched.output)}`;
  }
  return undefined;
}

/** @throws OrchError `branch.diverged` */
export async function refuseDiverged(git: Pick<Git, "commitsOnly">, line: MainLine): Promise<void> {
  const { local, there } = line;
  if (line.relation !== "diverged" || local === undefined || there === undefined) return;
  const here = (await git.commitsOnly(local, there)).length;
  const away = (await git.commitsOnly(there, local)).length;
  throw new OrchError(
    "branch.diverged",
    `${line.branch} has diverged: ${count(here, "commit")} only here, ${count(away, "commit")} only on ${line.remote}`,
    { data: { branch: line.branch } },
  );
}
