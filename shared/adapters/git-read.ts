import { access, lstat } from "node:fs/promises";
import path from "node:path";
import { absPath, type RepoPath } from "../base/paths.ts";
import type { BranchInfo, GitRead, Head } from "../ports/git.ts";
import { decode, type GitCall } from "./git-call.ts";
import { isLocal, localPrograms, valueOf } from "./git-config.ts";
import { isAncestor, mergedHow } from "./git-merged.ts";
import { checkedRevision, fromGit, nulFields } from "./git-names.ts";
import { chooseRemote } from "./git-remote.ts";
import { parseStatus, statusArgs } from "./git-status.ts";
import { checkedOutElsewhere } from "./git-worktrees.ts";

export function createGitRead(git: GitCall, env: Readonly<Record<string, string>>): GitRead {
  const { place } = git;
  const resolve = async (ref: string): Promise<string | undefined> =>
    git.maybe(["rev-parse", "--verify", "--quiet", "--end-of-options", checkedRevision(ref)]);

  async function head(): Promise<Head> {
    const [ref, commit] = await Promise.all([git.maybe(["symbolic-ref", "--quiet", "HEAD"]), resolve("HEAD^{commit}")]);
    const branch = ref?.startsWith("refs/heads/") === true ? ref.slice("refs/heads/".length) : undefined;
    if (branch !== undefined)
      return commit === undefined ? { kind: "unborn", branch } : { kind: "branch", branch, commit };
    if (commit === undefined) return { kind: "unborn", branch: ref ?? "HEAD" };
    return { kind: "detached", commit };
  }

  async function remotes(): Promise<readonly string[]> {
    return (await git.text(["remote"])).split("\n").filter((name) => name !== "");
  }

  async function remote(branch?: string): Promise<string | undefined> {
    const names = await remotes();
    if (names.length < 2 || names.includes("origin")) return chooseRemote({ ...nothingTold, names });
    const [now, config, main] = await Promise.all([head(), git.config(), localMain()]);
    const here = now.kind === "branch" ? now.branch : undefined;
    return chooseRemote({ names, branch: branch ?? here, main, config });
  }

  /** The default branch as far as the branches of this repository tell. */
  async function localMain(): Promise<string | undefined> {
    const configured = valueOf(await git.config(), "init.defaultbranch");
    const local = new Set((await branches(git)).map((branch) => branch.name));
    return [configured, "main", "master"].find((name) => name !== undefined && local.has(name));
  }

  async function listFiles(under?: RepoPath): Promise<readonly RepoPath[]> {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    const names = nulFields(await git.bytes([...args, ...(under === undefined ? [] : ["--", under])]));
    const stats = await Promise.all(names.map((name) => lstat(path.join(place.root, name)).catch(() => undefined)));
    // What is gone from the tree, submodules and nested repositories are no files of this working tree.
    return names.filter((_, at) => stats[at]?.isFile() === true || stats[at]?.isSymbolicLink() === true).map(fromGit);
  }

  return {
    place,
    head,
    resolve,
    remote,
    remotes,
    listFiles,
    async defaultBranch() {
      // Of main itself: a feature's branch may follow another remote, and main's name does not depend on where we stand.
      const name = (await remote((await localMain()) ?? "main")) ?? "origin";
      const prefix = `refs/remotes/${name}/`;
      const there = await git.maybe(["symbolic-ref", "--quiet", `${prefix}HEAD`]);
      if (there?.startsWith(prefix) === true) return there.slice(prefix.length);
      const local = await localMain();
      if (local !== undefined) return local;
      const now = await head();
      return now.kind === "unborn" && (await branches(git)).length === 0 ? now.branch : "main";
    },
    async operation() {
      for (const [file, name] of operations) {
        if (await exists(path.join(place.gitDir, file))) return name;
      }
      return undefined;
    },
    indexLock: () => git.heldLock(absPath(path.join(place.gitDir, "index.lock"))),
    async status(options = {}) {
      const entries = parseStatus(await git.bytes(statusArgs, { startsPrograms: true }));
      if (options.ignoredIn === undefined) return entries;
      const ignored = await git.bytes([
        "ls-files",
        "-z",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--",
        options.ignoredIn,
      ]);
      return [...entries, ...nulFields(ignored).map((name) => ({ path: fromGit(name), index: "!", worktree: "!" }))];
    },
    branches: () => branches(git),
    isAncestor: async (a, b) => isAncestor(git, a, b),
    mergedHow: (branch, into) => mergedHow(git, branch, into),
    async identity() {
      const config = await git.config();
      const name = env["GIT_AUTHOR_NAME"] ?? valueOf(config, "author.name") ?? valueOf(config, "user.name");
      const email =
        env["GIT_AUTHOR_EMAIL"] ?? valueOf(config, "author.email") ?? valueOf(config, "user.email") ?? env["EMAIL"];
      // Git would make an identity up from the machine's name; nobody asked for commits by root@localhost.
      return name === undefined || name.trim() === "" || email === undefined || email.trim() === ""
        ? undefined
        : { name, email };
    },
    async fileAt(treeish, file) {
      const name = `${checkedRevision(treeish)}:${file}\0`;
      const out = await git.bytes(["cat-file", "--batch", "-z"], { stdin: name });
      const end = out.indexOf(10);
      const header = /^[0-9a-f]+ blob (\d+)$/.exec(decode(out.subarray(0, end)));
      return header === null ? undefined : out.slice(end + 1, end + 1 + Number(header[1]));
    },
    checkedOut: (treeish, file) =>
      git.bytes(["cat-file", "--filters", `${checkedRevision(treeish)}:${file}`], { startsPrograms: true }),
    async wouldCommit(treeish, file) {
      const there = await git.maybe(["rev-parse", "--verify", "--quiet", `${checkedRevision(treeish)}:${file}`]);
      return (await git.text(["hash-object", "--", file], { startsPrograms: true })) === there;
    },
    async filesAt(treeish, under) {
      const args = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options", checkedRevision(treeish)];
      return nulFields(await git.bytes([...args, ...(under === undefined ? [] : ["--", under])])).map(fromGit);
    },
    async programKeys() {
      return localPrograms(await git.config()).map(({ key, value }) => ({ key, value }));
    },
    subject: (commit) => git.text(["log", "-1", "--format=%s", "--end-of-options", checkedRevision(commit)]),
    mergeBase: (a, b) => git.maybe(["merge-base", "--end-of-options", checkedRevision(a), checkedRevision(b)]),
    async commitsOnly(tip, without) {
      const out = await git.text([
        "rev-list",
        "--end-of-options",
        checkedRevision(tip),
        `^${checkedRevision(without)}`,
      ]);
      return out === "" ? [] : out.split("\n");
    },
    checkedOutElsewhere: (branch) => checkedOutElsewhere(git, branch),
  };
}

const nothingTold = { branch: undefined, main: undefined, config: [] };

const operations = [
  ["rebase-merge", "rebase"],
  ["rebase-apply/applying", "am"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
] as const;

async function branches(git: GitCall): Promise<readonly BranchInfo[]> {
  const format = "--format=%(refname:lstrip=2)%00%(objectname)%00%(upstream:lstrip=2)";
  const out = await git.text(["for-each-ref", format, "refs/heads/"]);
  const config = (await git.config()).filter(isLocal);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", commit = "", upstream = ""] = line.split("\0");
      const orch = valueOf(config, `branch.${name}.orch`);
      return { name, commit, ...(orch === undefined ? {} : { orch }), ...(upstream === "" ? {} : { upstream }) };
    });
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
