import type { Feature } from "../model/feature.ts";
import type { Pack } from "../model/pack.ts";
import type { GitRead } from "../ports/git.ts";
import { repoPath } from "../base/paths.ts";

type Git = Pick<GitRead, "head" | "defaultBranch" | "resolve" | "mergeBase" | "commitsOnly" | "fileAt">;

/** A branch that is longer than this is read from its end only. */
const maxCommits = 200;

/**
 * The spec that the feature's Tests file was written for: the one of the commit that last changed it. An amendment that was
 * committed by hand before `do` is an amendment still. Undefined when no commit holds both.
 */
export async function specOfTests(git: Git, feature: Feature, pack: Pack): Promise<string | undefined> {
  const tests = repoPath(`${feature.dir}/${pack.roles.tests}`);
  const head = await git.head();
  if (tests === undefined || head.kind === "unborn") return undefined;
  const now = await git.fileAt(head.commit, tests);
  if (now === undefined) return undefined;
  let written = head.commit;
  for (const commit of await commitsBefore(git, head.commit)) {
    const then = await git.fileAt(commit, tests);
    if (then === undefined || !sameBytes(then, now)) break;
    written = commit;
  }
  const spec = await git.fileAt(written, feature.spec);
  return spec === undefined ? undefined : new TextDecoder().decode(spec);
}

/** The branch's own commits behind HEAD, newest first, and what it was made from. */
async function commitsBefore(git: Git, head: string): Promise<readonly string[]> {
  const main = await git.resolve(`refs/heads/${await git.defaultBranch()}`);
  const from = main === undefined ? undefined : await git.mergeBase(head, main);
  if (from === undefined || from === head) return [];
  const own = (await git.commitsOnly(head, from)).filter((commit) => commit !== head);
  return [...own, from].slice(0, maxCommits);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
