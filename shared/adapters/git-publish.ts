import type { GitPublish, PushResult } from "../ports/git.ts";
import { type GitAnswer } from "./git-alone.ts";
import { clean, decode, type GitCall } from "./git-call.ts";
import { applyPatch } from "./git-apply.ts";
import { isLocal } from "./git-config.ts";
import { catchUp, commitPaths } from "./git-commit.ts";
import { checkedBranch, checkedRemote, checkedRevision } from "./git-names.ts";
import { toBytes } from "./git-walk.ts";
import type { TreeDisk } from "./tree-disk.ts";
import type { GitRead } from "../ports/git.ts";

export interface GitPublishDeps {
  readonly git: GitCall;
  readonly read: Pick<GitRead, "head" | "operation">;
  readonly requireIdentity: () => Promise<void>;
  readonly networkTimeoutMs: number;
  readonly disk: TreeDisk;
}

export function createGitPublish({ git, read, requireIdentity, networkTimeoutMs, disk }: GitPublishDeps): GitPublish {
  const network = { startsPrograms: true, stoppable: true, timeoutMs: networkTimeoutMs } as const;

  /** Git takes the first value of these keys, so only an option wins over the repository's. */
  async function packProgram(remote: string, side: "upload" | "receive"): Promise<readonly string[]> {
    const key = `remote.${remote}.${side}pack`;
    if (!(await git.defused()).unapproved.some((entry) => entry.key === key)) return [];
    const own = (await git.config()).find((entry) => entry.key === key && !isLocal(entry))?.value;
    return [`--${side}-pack=${own ?? `git-${side}-pack`}`];
  }

  async function push(remote: string, trusted: boolean, args: readonly string[]): Promise<PushResult> {
    const base = ["push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"];
    const guards = [...(await packProgram(remote, "receive")), ...(trusted ? [] : ["--no-verify", "--no-signed"])];
    const answer = await git.answer([...base, ...guards, ...args], {
      ...network,
      trusted,
      // A mirror would take Orch's own refs along, and refuses to push one branch.
      settings: [[`remote.${remote}.mirror`, "false"]],
    });
    return pushResult(answer);
  }

  async function noVcsProgram(remote: string): Promise<string | undefined> {
    const { unapproved } = await git.defused();
    const key = unapproved.find((entry) => entry.key === `remote.${remote}.vcs`)?.key;
    return key === undefined ? undefined : `${key} names a program that nobody approved: run orch trust`;
  }

  return {
    commitPaths: (order) => commitPaths(git, read, requireIdentity, order),
    followCommit: ({ paths, before, commit }) =>
      catchUp(git, paths.map(toBytes), checkedRevision(before), checkedRevision(commit)),
    async fetch(remote) {
      const refused = await noVcsProgram(checkedRemote(remote));
      if (refused !== undefined) return { kind: "failed", output: refused };
      const args = [
        "fetch",
        "--quiet",
        "--no-auto-maintenance",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        ...(await packProgram(remote, "upload")),
        remote,
      ];
      const answer = await git.answer(args, network);
      return answer.code === 0 ? { kind: "fetched" } : { kind: "failed", output: outputOf(answer) };
    },
    async push({ remote, from, to, setUpstream, trusted }) {
      const refused = await noVcsProgram(checkedRemote(remote));
      if (refused !== undefined) return { kind: "failed", output: refused };
      const branch = `refs/heads/${checkedBranch(to)}`;
      const local = `refs/heads/${from}`;
      const source =
        (await git.maybe(["show-ref", "--verify", "--hash", local])) === undefined ? checkedRevision(from) : local;
      return push(remote, trusted, [...(setUpstream ? ["--set-upstream"] : []), remote, `${source}:${branch}`]);
    },
    async deleteRemote(remote, branch, expected) {
      const refused = await noVcsProgram(checkedRemote(remote));
      if (refused !== undefined) return { kind: "failed", output: refused };
      const ref = `refs/heads/${checkedBranch(branch)}`;
      const lease = `--force-with-lease=${ref}:${checkedRevision(expected)}`;
      const result = await push(remote, false, [lease, remote, `:${ref}`]);
      if (result.kind !== "rejected") return result;
      // Somebody deleted it first: that is what was wanted.
      const there = await git.answer(
        ["ls-remote", "--quiet", ...(await packProgram(remote, "upload")), remote, ref],
        network,
      );
      return there.code === 0 && there.stdout.length === 0 ? { kind: "pushed" } : result;
    },
    applyPatch: (patch, options = {}) => applyPatch(git, disk, patch, options),
  };
}

/** `!` starts the line of a ref the remote (or a lease) refused; without one the push did not come that far. */
function pushResult(answer: GitAnswer): PushResult {
  if (answer.code === 0) return { kind: "pushed" };
  const output = outputOf(answer);
  const refused = decode(answer.stdout)
    .split("\n")
    .some((line) => /^!\t[^\t]*\t\[(?:remote )?rejected\]/.test(line));
  return { kind: refused ? "rejected" : "failed", output };
}

function outputOf(answer: GitAnswer): string {
  return clean(`${answer.stderr}${decode(answer.stdout)}`).trim();
}
