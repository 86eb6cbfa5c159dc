import type { RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { GitBranches } from "../ports/git.ts";
import { type GitAnswer } from "./git-alone.ts";
import { failed, type GitCall } from "./git-call.ts";
import { isLocal } from "./git-config.ts";
import { changedNames, refuseDeadFilters } from "./git-filters.ts";
import { indexEntries, isUnder, treeEntries } from "./git-index.ts";
import { checkedBranch, checkedRevision, toNul } from "./git-names.ts";
import { isAncestor } from "./git-merged.ts";
import { checkedOutElsewhere } from "./git-worktrees.ts";
import { toBytes } from "./git-walk.ts";

export function createGitBranches(git: GitCall): GitBranches {
  const commitOf = (ref: string): Promise<string> =>
    git.text(["rev-parse", "--verify", "--end-of-options", `${checkedRevision(ref)}^{commit}`]);
  const tipOf = (name: string): Promise<string | undefined> =>
    git.maybe(["rev-parse", "--verify", "--quiet", `refs/heads/${checkedBranch(name)}`]);
  const current = (): Promise<string | undefined> => git.maybe(["symbolic-ref", "--quiet", "HEAD"]);

  async function refuseElsewhere(name: string): Promise<void> {
    const folder = await checkedOutElsewhere(git, name);
    if (folder === undefined) return;
    throw new OrchError("branch.elsewhere", `${name} is checked out in ${folder}`, { data: { branch: name, folder } });
  }

  async function forget(name: string): Promise<void> {
    const recorded = (await git.config()).some((entry) => isLocal(entry) && entry.key.startsWith(`branch.${name}.`));
    if (recorded) await git.answer(["config", "--local", "--remove-section", `branch.${name}`]);
  }

  return {
    async create(name, at, target) {
      const ref = `refs/heads/${checkedBranch(name)}`;
      const commit = await commitOf(at);
      const answer = await git.answer([
        "update-ref",
        "-m",
        "branch: made by orch",
        ref,
        commit,
        "0".repeat(commit.length),
      ]);
      if (answer.code !== 0) {
        const inTheWay =
          /'refs\/heads\/([^']+)' exists/.exec(answer.stderr)?.[1] ??
          ((await tipOf(name)) === undefined ? undefined : name);
        if (inTheWay === undefined) throw failed(["branch"], answer);
        throw new OrchError("branch.taken", `the branch ${inTheWay} is there already`, { data: { branch: inTheWay } });
      }
      const recorded = await git.answer(["config", "--local", "--replace-all", `branch.${name}.orch`, target]);
      if (recorded.code === 0) return;
      await git.answer(["update-ref", "-d", ref, commit]);
      throw failed(["config"], recorded);
    },
    async switch(name) {
      const ref = `refs/heads/${checkedBranch(name)}`;
      const to = await commitOf(ref);
      const from = await git.maybe(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
      if (from !== undefined) await refuseDeadFilters(git, await changedNames(git, from, to), "checkout");
      await refuseElsewhere(name);
      const args = ["switch", "--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules", name];
      const answer = await git.answer(args, { startsPrograms: true });
      if (answer.code !== 0) throw refusedCheckout(answer, `git cannot switch to ${name}`, "switch");
    },
    async delete(name, expected) {
      const ref = `refs/heads/${checkedBranch(name)}`;
      if ((await current()) === ref) {
        throw new OrchError("git.failed", `${name} is checked out, so it cannot be deleted`, {
          data: { argv: "switch" },
        });
      }
      await refuseElsewhere(name);
      const answer = await git.answer(["update-ref", "-d", ref, checkedRevision(expected)]);
      if (answer.code !== 0) {
        const now = await tipOf(name);
        if (now === expected) throw failed(["branch"], answer);
        throw new OrchError(
          "git.failed",
          `${name} ${now === undefined ? "is gone" : "moved meanwhile"}, it was left alone`,
          {
            data: { argv: "branch" },
          },
        );
      }
      await forget(name);
    },
    async rename(from, to, target) {
      checkedBranch(from);
      if (from !== to && (await tipOf(to)) !== undefined) {
        throw new OrchError("branch.taken", `the branch ${to} is there already`, { data: { branch: to } });
      }
      await refuseElsewhere(from);
      const answer = await git.answer(["branch", "--move", "--", from, to]);
      if (answer.code === 0) {
        const key = `branch.${to}.orch`;
        if (target === "") await git.answer(["config", "--local", "--unset-all", key]);
        else if (target !== undefined) await git.text(["config", "--local", "--replace-all", key, target]);
        return;
      }
      const inTheWay = /'refs\/heads\/([^']+)' exists/.exec(answer.stderr)?.[1];
      if (inTheWay === undefined) throw failed(["branch"], answer);
      throw new OrchError("branch.taken", `the branch ${inTheWay} is in the way`, { data: { branch: inTheWay } });
    },
    async fastForward(name, to) {
      const ref = `refs/heads/${checkedBranch(name)}`;
      const [now, commit] = await Promise.all([commitOf(ref), commitOf(to)]);
      if (now === commit) return true;
      if (!(await isAncestor(git, now, commit))) return false;
      if ((await current()) !== ref) {
        await refuseElsewhere(name);
        const answer = await git.answer(["update-ref", "-m", "orch: fast-forward", ref, commit, now]);
        if (answer.code === 0) return true;
        if ((await tipOf(name)) !== now) return false;
        throw failed(["update-ref"], answer);
      }
      await refuseDeadFilters(git, await changedNames(git, now, commit), "checkout");
      const args = ["merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat", "--quiet", commit];
      // The branch's own options could turn this into another kind of merge.
      const answer = await git.answer(args, { startsPrograms: true, settings: [[`branch.${name}.mergeOptions`, ""]] });
      if (answer.code !== 0) throw refusedCheckout(answer, `git cannot fast-forward ${name}`, "merge");
      return true;
    },
    async discard(paths, commit) {
      const to = await commitOf(commit);
      const held = await knownPaths(git, paths, to);
      if (held.paths.length === 0) return;
      await refuseDeadFilters(git, held.files, "checkout");
      const args = [
        "restore",
        `--source=${to}`,
        "--staged",
        "--worktree",
        "--ignore-unmerged",
        "--no-recurse-submodules",
      ];
      const named = ["--pathspec-from-file=-", "--pathspec-file-nul"];
      const restored = await git.answer([...args.filter((arg) => arg !== "--ignore-unmerged"), "--quiet", ...named], {
        stdin: toNul(held.paths),
        startsPrograms: true,
      });
      if (restored.code !== 0)
        throw refusedCheckout(restored, `git cannot put back ${held.paths.join(", ")}`, "restore");
    },
  };
}

/** Those of the paths that index or commit know: git refuses the others as a whole. */
async function knownPaths(
  git: GitCall,
  paths: readonly RepoPath[],
  commit: string,
): Promise<{ readonly paths: readonly RepoPath[]; readonly files: readonly Uint8Array[] }> {
  const named = paths.map(toBytes);
  const inTree = (await treeEntries(git, commit)).filter((entry) => named.some((path) => isUnder(entry.path, path)));
  const files = [...(await indexEntries(git, named)), ...inTree].map((entry) => entry.path);
  return { paths: paths.filter((_, at) => files.some((file) => isUnder(file, named[at] ?? nothing))), files };
}

const nothing = new Uint8Array([0]);

/** Git lists the files in the way, each behind a tab; it has changed nothing then. */
function refusedCheckout(answer: GitAnswer, what: string, verb: string): OrchError {
  const files = answer.stderr
    .split("\n")
    .filter((line) => line.startsWith("\t"))
    .map((line) => line.slice(1));
  if (files.length > 0 || /would be overwritten|would be removed|not uptodate|local changes/i.test(answer.stderr)) {
    const some = files.length > 5 ? `${files.slice(0, 5).join(", ")} and ${files.length - 5} more` : files.join(", ");
    return new OrchError("tree.dirty", `${what}: it would overwrite ${some === "" ? "your changes" : some}`, {
      data: { paths: files },
    });
  }
  return failed([verb], answer);
}
