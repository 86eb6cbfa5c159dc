import { count } from "../base/lines.ts";
import { shellWord } from "../base/shell-word.ts";
import { OrchError } from "../model/error.ts";
import { type Target, targetText } from "../model/target.ts";
import type { Git } from "../ports/git.ts";
import { type FeatureBranch, featureBranches, nameSome, sameFeature } from "./branches.ts";

/**
 * guard_open_branches: work does not start while another unmerged feature branch is open. Merged leftovers are only
 * mentioned; branches of the same feature never count.
 */
export type OpenBranches =
  | { readonly kind: "clear"; readonly leftovers: readonly string[] }
  | { readonly kind: "open"; readonly open: readonly FeatureBranch[]; readonly leftovers: readonly string[] };

export function decideOpenBranches(
  branches: readonly FeatureBranch[],
  feature: Target | undefined,
  allowOpen: boolean,
): OpenBranches {
  const others = branches.filter((branch) => feature === undefined || !sameFeature(branch.target, feature));
  const open = others.filter((branch) => branch.merged === undefined);
  const leftovers = others.filter((branch) => branch.merged !== undefined).map((branch) => branch.name);
  return open.length === 0 || allowOpen ? { kind: "clear", leftovers } : { kind: "open", open, leftovers };
}

type GuardGit = Pick<Git, "branches" | "mergedHow" | "defaultBranch" | "remote" | "resolve" | "commitsOnly">;

/**
 * Refuses (`branch.open`) naming the open branches and the way out. Returns what is worth a mention: merged leftovers,
 * also those that only the remote's main holds, as last fetched: somebody merged them there, and main here is behind.
 *
 * @throws OrchError `branch.open`
 */
export async function guardOpenBranches(
  git: GuardGit,
  options: {
    readonly registered: readonly Target[];
    readonly feature: Target | undefined;
    readonly allowOpen: boolean;
  },
): Promise<readonly string[]> {
  const main = await git.defaultBranch();
  const here = await featureBranches(git, main, options.registered);
  const there = here.some(({ merged }) => merged === undefined) ? await remoteMain(git, main) : undefined;
  const branches = there === undefined ? here : await withMergedThere(git, here, there);
  const decision = decideOpenBranches(branches, options.feature, options.allowOpen);
  if (decision.kind === "open") throw openError(decision.open);
  const openHere = new Map(here.flatMap((one) => (one.merged === undefined ? [[one.name, one]] : [])));
  return decision.leftovers.map((name) => {
    const one = openHere.get(name);
    if (one === undefined || there === undefined)
      return `${name} is merged already; delete it with: git branch -d ${shellWord(name)}`;
    const behind = `${main} here is ${count(there.ahead, "commit")} behind it`;
    return `${name} is merged into ${there.name}; ${behind}. Take it in with: orch merge ${targetText(one.target)}`;
  });
}

interface RemoteMain {
  readonly name: string;
  readonly ref: string;
  /** Commits of it that main here does not have. */
  readonly ahead: number;
}

/** Undefined where it holds nothing that main here does not hold. */
async function remoteMain(git: GuardGit, main: string): Promise<RemoteMain | undefined> {
  const remote = await git.remote(main);
  if (remote === undefined) return undefined;
  const ref = `refs/remotes/${remote}/${main}`;
  const [tip, local] = await Promise.all([git.resolve(ref), git.resolve(`refs/heads/${main}`)]);
  if (tip === undefined || local === undefined) return undefined;
  const ahead = (await git.commitsOnly(tip, local)).length;
  return ahead === 0 ? undefined : { name: `${remote}/${main}`, ref, ahead };
}

async function withMergedThere(
  git: GuardGit,
  branches: readonly FeatureBranch[],
  there: RemoteMain,
): Promise<readonly FeatureBranch[]> {
  return await Promise.all(
    branches.map(async (one) => ({ ...one, merged: one.merged ?? (await git.mergedHow(one.name, there.ref)) })),
  );
}

function openError(open: readonly FeatureBranch[]): OrchError {
  const names = open.map((branch) => branch.name);
  const first = open[0];
  // A branch is mostly called as its feature is.
  const what = first === undefined || first.name === targetText(first.target) ? "" : ` (${targetText(first.target)})`;
  const message =
    open.length === 1
      ? `another feature branch is open and not merged: ${names[0]}${what}`
      : `${open.length} other feature branches are open and not merged: ${nameSome(names)}`;
  return new OrchError("branch.open", message, { data: { branch: names[0] ?? "", branches: names } });
}
