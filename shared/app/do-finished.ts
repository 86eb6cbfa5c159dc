import { count } from "../base/lines.ts";
import { inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import { isMarkedProtected } from "../features/contract-of.ts";
import type { CommandResult } from "../model/command-result.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import { targetText } from "../model/target.ts";
import { feedbackText } from "../prompts/feedback.ts";
import type { AgentContext } from "./agent-parts.ts";
import type { DoContext } from "./do-context.ts";
import type { DoPlan } from "./do-plan.ts";
import { besideOthers, runTests } from "./feature-tests.ts";
import { judgeOffTree } from "./judge-off-tree.ts";
import { editsByHand, isForDo } from "./mend-next.ts";
import { specOfTests } from "./spec-of-tests.ts";

/** `refused`: the tests are green, and `merge` would still say no to what stands there. */
export type Standing =
  | { readonly kind: "finished"; readonly result: CommandResult }
  | { readonly kind: "refused"; readonly findings: readonly Finding[] };

/**
 * Nothing is left to do: the slice is committed as it is, its tests are green and were written for this very spec, and the
 * gates let it be merged. A model that is asked all the same can only send it back. What the gates find is work again, or a
 * person's, where it stands in what `do` may not write. Runs the slice's tests, so the caller asked Trust first.
 */
export async function finishedAlready(
  context: AgentContext,
  plan: DoPlan,
  signal: AbortSignal,
): Promise<Standing | undefined> {
  const { git, testRunner } = context;
  const { feature, pack } = plan;
  const tests = testsOf(plan);
  if (tests === undefined || !(await standsAsWritten(context, { ...plan, branch: { ...plan.branch, kind: "stay" } })))
    return undefined;
  const target = targetText(feature.target);
  const { result, touched } = await besideOthers(
    context,
    { by: "do", what: `tests of ${target}` },
    (keep) => runTests(context, testRunner, { target, tests, dir: feature.dir, pack, keep }, signal),
    signal,
  );
  // Nothing is judged here; the gates are asked when the work goes on.
  context.editor.showFindings(touched);
  const { outcome, counts } = result;
  if (outcome !== "passed") return undefined;
  const head = await git.head();
  const branch = head.kind === "detached" ? "" : head.branch;
  const onMain = branch === (await git.defaultBranch());
  const findings = onMain ? [] : await faultsOf(context, plan, signal);
  const marked = await markedAmong(context, findings);
  if (findings.some((one) => isForDo(one, feature, marked))) return { kind: "refused", findings };
  if (findings.length > 0) {
    const edits = editsByHand(findings, feature, marked);
    const [first] = findings;
    const place = first === undefined ? "" : [findingPlace(first), first.message].filter(Boolean).join(" ");
    const summary = `${target} is implemented and its tests pass, but merge will refuse what orch do may not write: ${place}`;
    const data = { feature: target, branch, state: "refused", tests: counts, findings };
    return { kind: "finished", result: { ok: false, code: 1, summary, next: [...edits, "orch merge"], data } };
  }
  return {
    kind: "finished",
    result: {
      ok: true,
      code: 0,
      summary: `${target} is implemented already: ${branch} holds it as spec.md says, and its tests pass`,
      next: nextWhenFinished(target, onMain),
      data: { feature: target, branch, state: "implemented", tests: counts },
    },
  };
}

/** What the gates of `merge` would fail; nothing where they could not say. */
async function faultsOf(context: AgentContext, { feature }: DoPlan, signal: AbortSignal): Promise<readonly Finding[]> {
  const { git, editor } = context;
  const [tree, main] = [await git.resolve("HEAD"), await git.resolve(`refs/heads/${await git.defaultBranch()}`)];
  const base = tree === undefined || main === undefined ? undefined : await git.mergeBase(main, tree);
  if (tree === undefined || base === undefined || base === tree) return [];
  editor.progress("the gates judge what is committed");
  const verdict = await judgeOffTree(context, { feature, tree, base }, signal);
  return verdict.kind === "fail" ? verdict.findings.filter(({ severity }) => severity === "FAIL") : [];
}

async function markedAmong(
  { files, root }: Pick<DoContext, "files" | "root">,
  findings: readonly Finding[],
): Promise<readonly string[]> {
  const marked: string[] = [];
  for (const path of new Set(findings.map((one) => one.path ?? ""))) {
    const at = repoPath(path);
    const text = at === undefined ? undefined : await files.readText(inRoot(root, at));
    if (text !== undefined && isMarkedProtected(text)) marked.push(path);
  }
  return marked;
}

/** What a worker is told of a feature that only the gates of `merge` refuse. */
export function refusedText(findings: readonly Finding[]): string {
  const head = `The feature is committed and its tests pass, but it may not be merged: ${count(findings.length, "fault")} to mend.`;
  return feedbackText({ head, findings, hiddenFeedback: "names" });
}

/**
 * The slice is committed as it is, with tests that were written for this very spec: on the branch that is checked out, or on
 * the one that the plan enters. Reads only.
 */
export async function standsAsWritten(
  { git }: Pick<DoContext, "git">,
  { feature, pack, spec, branch }: Pick<DoPlan, "feature" | "pack" | "spec" | "branch">,
): Promise<boolean> {
  if (branch.kind !== "enter" && (await git.status()).some(({ path }) => isInside(path, feature.dir))) return false;
  const commit = branch.kind === "enter" ? await git.resolve(`refs/heads/${branch.branch}`) : undefined;
  const at =
    commit === undefined ? {} : { head: async () => ({ kind: "branch", branch: branch.branch, commit }) as const };
  const written = await specOfTests({ ...git, ...at }, feature, pack.pack);
  return written !== undefined && plain(written) === plain(spec);
}

export function nextWhenFinished(target: string, onMain: boolean): readonly string[] {
  const change = `orch modify ${target} "what changes"`;
  return onMain ? [change] : ["orch merge", change];
}

function testsOf({ feature, pack }: Pick<DoPlan, "feature" | "pack">): RepoPath | undefined {
  return repoPath(`${feature.dir}/${pack.pack.roles.tests}`);
}

const plain = (text: string): string => text.replaceAll("\r\n", "\n");
