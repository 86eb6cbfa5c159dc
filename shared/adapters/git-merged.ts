import { decode, type GitCall } from "./git-call.ts";
import { checkedRevision } from "./git-names.ts";

/** Newer commits of `into` that are compared; a squash merge older than that is told by its tree or not at all. */
const maxCandidates = 1000;
const plainDiff = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"] as const;

/**
 * Whether `into` holds the work of `branch`: by ancestry; or each of its commits by patch id (rebase, cherry-pick); or all
 * of it as one commit of `into` with the same tree or patch id (squash). Merging main into the branch before changes
 * nothing of that: what counts then is the whole branch against the last common commit.
 */
export async function mergedHow(
  git: GitCall,
  branch: string,
  into: string,
): Promise<"ancestor" | "equivalent" | undefined> {
  const [tip, main] = await Promise.all([commitOf(git, branch), commitOf(git, into)]);
  if (tip === undefined || main === undefined) return undefined;
  if (await isAncestor(git, tip, main)) return "ancestor";
  const base = await git.maybe(["merge-base", tip, main]);
  if (base === undefined) return undefined;
  if (await everyCommitThere(git, tip, main)) return "equivalent";
  return (await squashThere(git, tip, main, base)) ? "equivalent" : undefined;
}

export async function isAncestor(git: GitCall, a: string, b: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", "--end-of-options", checkedRevision(a), checkedRevision(b)];
  return (await git.answer(args)).code === 0;
}

const commitOf = (git: GitCall, ref: string): Promise<string | undefined> =>
  git.maybe(["rev-parse", "--verify", "--quiet", "--end-of-options", `${checkedRevision(ref)}^{commit}`]);

/** `git cherry` passes over merges, which may hold changes of their own: a branch with one is judged as a whole. */
async function everyCommitThere(git: GitCall, tip: string, main: string): Promise<boolean> {
  const merges = await git.text(["rev-list", "--merges", "--max-count=1", tip, `^${main}`]);
  if (merges !== "") return false;
  const lines = (await git.text(["cherry", main, tip])).split("\n").filter((line) => line !== "");
  return lines.length > 0 && lines.every((line) => line.startsWith("- "));
}

async function squashThere(git: GitCall, tip: string, main: string, base: string): Promise<boolean> {
  const tree = await git.text(["rev-parse", `${tip}^{tree}`]);
  const log = await git.text(["log", "--format=%H %T", `--max-count=${maxCandidates}`, main, `^${base}`]);
  const commits = log.split("\n").map((line) => line.split(" "));
  if (commits.some(([, its]) => its === tree)) return true;
  const whole = await git.bytes(["diff-tree", "-p", "-r", ...plainDiff, base, tip]);
  if (whole.length === 0) return false;
  const [wanted] = await patchIds(git, whole);
  if (wanted === undefined) return false;
  const list = commits.map(([id]) => `${id}\n`).join("");
  const patches = await git.bytes(["diff-tree", "--stdin", "-p", "-r", ...plainDiff], { stdin: list });
  return (await patchIds(git, patches)).includes(wanted);
}

async function patchIds(git: GitCall, patches: Uint8Array): Promise<readonly string[]> {
  const out = decode(await git.bytes(["patch-id", "--stable"], { stdin: patches }));
  return out.split("\n").flatMap((line) => (line === "" ? [] : [line.split(" ")[0] ?? ""]));
}
