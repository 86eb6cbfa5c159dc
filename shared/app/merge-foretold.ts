import { count } from "../base/lines.ts";
import type { CommandResult } from "../model/command-result.ts";
import { targetText } from "../model/target.ts";
import { commandAgain } from "./again.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import type { FeatureSubject } from "./feature-branch.ts";
import { type MainLine, readMainLine, refuseDiverged } from "./main-line.ts";
import { byHand, mergedTree, stagedMessage, stagedPaths } from "./merge-build.ts";
import { refuseOverwriting } from "./merge-land.ts";

/**
 * `merge --dry-run`: every step in its order, from what is known here. It fetches nothing and runs nothing; what would refuse
 * the merge before the gates refuses it here.
 *
 * @throws OrchError `branch.diverged`, `git.conflict`, `git.shallow`, `tree.dirty`
 */
export async function foretellMerge(
  context: RepoContext,
  subject: FeatureSubject,
  args: CommandArgs,
): Promise<CommandResult> {
  const line = await readMainLine(context.git);
  if (!args.update) await refuseDiverged(context.git, line);
  const { branch, feature } = subject;
  const steps = await stepsOf(context, subject, line, args);
  const target = targetText(feature.target);
  return {
    ok: true,
    code: 0,
    summary: `Would ${steps.join(", then ")}; nothing was changed`,
    next: [commandAgain("merge", subject.here ? [] : [target], args)],
    data: { dryRun: true, feature: target, branch: branch.name, into: line.branch, steps },
  };
}

async function stepsOf(
  context: RepoContext,
  subject: FeatureSubject,
  line: MainLine,
  args: CommandArgs,
): Promise<readonly string[]> {
  const { branch } = subject;
  const push = args.push && context.config.features.push && line.remote !== undefined;
  const staged = subject.here ? await stagedPaths(context.git, subject) : [];
  return [
    ...(line.remote === undefined ? [] : [`fetch ${line.remote}`]),
    ...(staged.length === 0
      ? []
      : [`commit ${count(staged.length, "staged file")} on ${branch.name} as ${stagedMessage(subject)}`]),
    ...(await merging(context, subject, { line, update: args.update, staged })),
    ...(push ? [`push ${line.branch} to ${line.remote}`] : []),
    ...(subject.here ? [`switch to ${line.branch}`] : []),
    `delete ${branch.name} here${push ? ` and on ${line.remote}` : ""}`,
  ];
}

/** Nothing of it where main holds the branch already. */
async function merging(
  context: RepoContext,
  subject: FeatureSubject,
  plan: {
    readonly line: MainLine;
    readonly update: boolean;
    readonly staged: Awaited<ReturnType<typeof stagedPaths>>;
  },
): Promise<readonly string[]> {
  const { git } = context;
  const { branch } = subject;
  const { line, staged, update } = plan;
  const diverged = line.relation === "diverged";
  if (staged.length === 0 && !diverged && (await git.mergedHow(branch.name, line.tip)) !== undefined) return [];
  const ours = diverged && line.there !== undefined ? line.there : line.tip;
  const tree = await mergedTree(context, { ours, theirs: branch.commit, byHand: byHand(subject, line) });
  await refuseOverwriting(context, { subject, line, commit: tree }, staged);
  const commits = (await git.commitsOnly(branch.commit, line.tip)).length + (staged.length === 0 ? 0 : 1);
  return [
    ...(update && !(await git.isAncestor(ours, branch.commit)) ? [`merge ${line.branch} into ${branch.name}`] : []),
    "run the gates on the result",
    `merge ${count(commits, "commit")} of ${branch.name} into ${line.branch}`,
  ];
}
