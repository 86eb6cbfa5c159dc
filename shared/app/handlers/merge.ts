import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import { findingPlace } from "../../model/finding.ts";
import { noRemoteText } from "../../model/no-remote.ts";
import { targetText } from "../../model/target.ts";
import type { Verdict } from "../../model/verdict.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { type FeatureSubject, featureSubject } from "../feature-branch.ts";
import { fetchRemotes, type MainLine, readMainLine, refuseDiverged } from "../main-line.ts";
import { buildMerge, byHand, commitStaged, refuseUnstaged, stagedMessage } from "../merge-build.ts";
import type { WaveContext } from "../contract-wave.ts";
import { withoutRun } from "../contract-rows.ts";
import { mergeContracts, namesContracts } from "../merge-contracts.ts";
import { foretellMerge } from "../merge-foretold.ts";
import { judgeOffTree } from "../judge-off-tree.ts";
import { editsByHand, isForDo } from "../mend-next.ts";
import { goOnMerging, mergeJournal } from "../merge-journal.ts";
import { type Cleared, deleteBranches, type Landing, moveMain, pushMain, refuseOverwriting } from "../merge-land.ts";
import { askNearMiss } from "../near-miss.ts";
import { requireFreeIndex, requireBranch, requireIdentity, requireNotElsewhere } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import type { MergeContext } from "../tree-judge.ts";
import { requireTrust, requireTrusted } from "../trust.ts";

/** `merge <ID...>` takes reviewed contracts, every other `merge` the feature branch. */
export const merge: Handler<MergeContext & WaveContext> = async (context, given, signal) => {
  const contracts = await namesContracts(context, given.words);
  if (contracts !== undefined) return await mergeContracts(context, contracts, given, signal);
  if (given.words.length > 1)
    throw new OrchError("usage.invalid", `merge takes one feature, or contracts: ${given.words.join(" ")}`, {
      data: { command: "merge" },
    });
  try {
    return await mergeFeature(context, given, signal);
  } catch (error) {
    // What is no feature may be a contract that has no result.
    const [id] = given.words;
    const contract =
      id !== undefined && isOrchError(error, "target.unknown") ? await withoutRun(context, id) : undefined;
    throw contract ?? error;
  }
};

/**
 * Merges the feature branch into the default branch. Everything is built and judged off-tree; until the push nothing
 * but the feature branch's own staged work has moved, and a refusal takes that back, too. After the push it runs to
 * its end.
 */
export const mergeFeature: Handler<MergeContext> = async (context, given, signal) => {
  const before = await goOnMerging(context, signal);
  if (before !== undefined) return before;
  await requireBranch(context.git);
  await requireIdentity(context.git);
  const look = (one: CommandArgs): Promise<FeatureSubject> => featureSubject(context, one, "merge");
  const { args, found } = await askNearMiss(context.editor, given, signal, look);
  const { feature } = found;
  const why = `merging ${targetText(feature.target)} runs its tests`;
  if (args.dryRun) {
    await requireTrusted(context, why, signal);
    return await foretellMerge(context, await checked(context, args), args);
  }
  await requireTrust(context, why, signal);
  return await withRepositoryLock(context, "merge", signal, () => mergeLocked(context, args, signal));
};

async function mergeLocked(context: MergeContext, args: CommandArgs, signal: AbortSignal): Promise<CommandResult> {
  const { git } = context;
  await requireFreeIndex(context.git);
  const push = args.push && context.config.features.push;
  const found = await checked(context, args);
  const offline = await fetchRemotes(git, found.branch.name, signal);
  if (offline !== undefined && push) {
    throw new OrchError("git.failed", offline, { data: { argv: "fetch" } });
  }
  const line = await readMainLine(git);
  if (!args.update) await refuseDiverged(git, line);

  const before = found.branch.commit;
  const journal = { v: 1, branch: found.branch.name, before, message: stagedMessage(found) } as const;
  await mergeJournal.write(context, journal);
  const staged = found.here ? await commitStaged(context, found) : undefined;
  let subject = withCommit(found, staged ?? before);
  let tip = before;
  try {
    const merged = staged === undefined ? await git.mergedHow(found.branch.name, line.tip) : undefined;
    if (merged !== undefined && line.relation !== "diverged") {
      subject = { ...subject, branch: { ...subject.branch, merged } };
      return await land(context, { subject, line, commit: line.tip, push }, signal, offline);
    }
    if (args.update) {
      subject = await updateFeature(context, subject, line, signal);
      tip = subject.branch.commit; // the person asked for it: it stays, whatever the gates say
    }
    const message = `Merge branch '${subject.branch.name}'`;
    const theirs = subject.branch.commit;
    const built = await buildMerge(context, { ours: line.tip, theirs, message, byHand: byHand(subject, line) });
    throwIfAborted(signal);
    const landing: Landing = { subject, line, commit: built.commit, push };
    await refuseOverwriting(context, landing);
    context.editor.progress("the gates judge the merged result");
    const { feature } = subject;
    const verdict = await judgeOffTree(context, { feature, tree: built.tree, base: line.tip }, signal);
    if (verdict.kind !== "pass") {
      await takeBack(context, subject, tip);
      return refusedByGates(subject, verdict, await git.isAncestor(line.tip, theirs));
    }
    if (verdict.warnings.length > 0) context.editor.showFindings(verdict.warnings);
    return await land(context, { ...landing, warnings: verdict.warnings }, signal, offline);
  } catch (error) {
    await takeBack(context, subject, tip);
    throw error;
  }
}

async function checked(context: MergeContext, args: CommandArgs): Promise<FeatureSubject> {
  const { git } = context;
  const subject = await featureSubject(context, args, "merge");
  await requireNotElsewhere(git, subject.defaultBranch);
  await requireNotElsewhere(git, subject.branch.name);
  if (subject.here) await refuseUnstaged(git, subject);
  return subject;
}

/** Merges main into the feature branch, `--update`; on it the checkout follows. */
async function updateFeature(
  context: MergeContext,
  subject: FeatureSubject,
  line: MainLine,
  signal: AbortSignal,
): Promise<FeatureSubject> {
  const { git } = context;
  // A diverged main takes part with both of its ends: the merge below brings in the local one.
  const from = line.relation === "diverged" && line.there !== undefined ? line.there : line.tip;
  const { branch } = subject;
  if (await git.isAncestor(from, branch.commit)) return subject;
  const message = `Merge branch '${line.branch}' into ${branch.name}`;
  const hand = byHand(subject, line);
  const built = await buildMerge(context, { ours: branch.commit, theirs: from, message, byHand: hand });
  throwIfAborted(signal);
  if (!(await git.fastForward(branch.name, built.commit))) {
    throw new OrchError("tree.changed", `${branch.name} moved meanwhile`, { data: { paths: [branch.name] } });
  }
  return withCommit(subject, built.commit);
}

async function land(
  context: MergeContext,
  landing: Landing,
  signal: AbortSignal,
  offline: string | undefined,
): Promise<CommandResult> {
  await refuseOverwriting(context, landing);
  throwIfAborted(signal);
  await noteLanding(context, landing);
  const pushed = await pushMain(context, landing);
  // From here on it runs to its end, stop or no stop: half of it would be harder to understand than all of it.
  await moveMain(context, landing, pushed);
  const cleared = await deleteBranches(context, landing, pushed);
  return landed(landing, pushed, cleared, offline);
}

async function noteLanding(context: MergeContext, { subject, line, commit, push }: Landing): Promise<void> {
  await mergeJournal.write(context, {
    v: 1,
    branch: subject.branch.name,
    before: subject.branch.commit,
    message: stagedMessage(subject),
    landing: {
      feature: targetText(subject.feature.target),
      into: line.branch,
      commit,
      tip: subject.branch.commit,
      push,
      ...(line.remote === undefined ? {} : { remote: line.remote }),
    },
  });
}

/** Puts the feature branch back to where it was: what was staged is staged again, for the index was not touched. */
async function takeBack(context: MergeContext, subject: FeatureSubject, to: string): Promise<void> {
  if (subject.branch.commit === to) return;
  await context.git.updateRef(`refs/heads/${subject.branch.name}`, to, subject.branch.commit);
}

function withCommit(subject: FeatureSubject, commit: string): FeatureSubject {
  return {
    ...subject,
    branch: { ...subject.branch, commit },
    head: subject.here ? { ...subject.head, commit } : subject.head,
  };
}

/** `isAhead`: the branch holds all of main, so what was judged is what stands on it. */
function refusedByGates(
  subject: FeatureSubject,
  verdict: Exclude<Verdict, { kind: "pass" }>,
  isAhead: boolean,
): CommandResult {
  const { feature } = subject;
  const target = targetText(feature.target);
  const fails = verdict.findings.filter((finding) => finding.severity === "FAIL");
  const data = { feature: target, branch: subject.branch.name, merged: false, findings: verdict.findings };
  const there = subject.here ? [] : [`git switch ${shellWord(subject.branch.name)}`];
  if (verdict.kind === "inconclusive") {
    const summary = `Not merged: ${verdict.why}. Both branches are as they were`;
    const { code, why, hint = "" } = verdict;
    // Room can be made, and then it goes on.
    if (code === "env.disk-full") throw new OrchError(code, summary);
    const error = code === undefined ? {} : { error: { code, message: why, hint } };
    const next = [...there, "orch merge"];
    return { ok: false, code: 4, summary, next, data: { ...data, broken: verdict.broken }, ...error };
  }
  // `do` sees what stands on the branch: what only the merged result has comes there first.
  const next = [
    ...there,
    ...(isAhead ? [] : ["orch merge --update"]),
    ...editsByHand(fails, feature),
    ...(fails.some((one) => isForDo(one, feature)) ? [`orch do ${target}`] : []),
    "orch merge",
  ];
  const [first] = fails;
  const shown = first === undefined ? "" : `: ${[findingPlace(first), first.message].filter(Boolean).join(" ")}`;
  const summary = `Not merged: the gates found ${count(fails.length, "failure")} in the result${shown}`;
  return { ok: false, code: 1, summary, next, data };
}

function landed(landing: Landing, pushed: boolean, cleared: Cleared, offline: string | undefined): CommandResult {
  const { subject, line, commit } = landing;
  const target = targetText(subject.feature.target);
  const already = subject.branch.merged !== undefined;
  const parts = [
    already ? `${subject.branch.name} was merged already` : `Merged ${subject.branch.name} into ${line.branch}`,
    pushText(landing, pushed),
    cleared.remote === "deleted" ? "branch deleted here and on the remote" : "branch deleted here",
  ];
  const { warnings = [] } = landing;
  const notes = [
    ...(warnings.length === 0 ? [] : [`${count(warnings.length, "warning")} of the gates`]),
    ...(cleared.note === undefined ? [] : [cleared.note]),
    ...(line.relation === "ahead" && pushed ? [`Commits of ${line.branch} that were only here went along`] : []),
    ...(offline === undefined ? [] : [offline]),
    ...(!subject.here && subject.head.branch !== line.branch ? [`Still on ${subject.head.branch}`] : []),
  ];
  const summary = [parts.join(", "), ...notes].join(". ");
  const push =
    line.remote !== undefined && !pushed ? [`git push ${shellWord(line.remote)} ${shellWord(line.branch)}`] : [];
  return {
    ok: true,
    code: 0,
    summary,
    next: [...push, "orch scan", 'orch new domain/Feature "what it does"'],
    data: {
      feature: target,
      branch: subject.branch.name,
      into: line.branch,
      commit,
      merged: true,
      already,
      pushed,
      branchDeleted: cleared.local,
      remoteBranch: cleared.remote,
      findings: warnings,
      notes,
    },
  };
}

function pushText(landing: Landing, pushed: boolean): string {
  const { line } = landing;
  if (line.remote === undefined) return `not pushed: ${noRemoteText(line.unchosen)}`;
  if (pushed) return `${line.branch} is on ${line.remote}`;
  return "not pushed";
}
