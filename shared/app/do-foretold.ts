import { inRoot, type RepoPath } from "../base/paths.ts";
import { decideReadiness } from "../engine/policy.ts";
import { checkSpec } from "../features/spec-check.ts";
import { registryFindings } from "../gates/registry-sync.ts";
import type { CommandResult } from "../model/command-result.ts";
import { OrchError } from "../model/error.ts";
import { exitCodes } from "../model/exit-code.ts";
import type { Finding } from "../model/finding.ts";
import { targetText } from "../model/target.ts";
import type { AgentContext } from "./agent-parts.ts";
import { commandAgain } from "./again.ts";
import type { CommandArgs } from "./context.ts";
import { nextWhenFinished, standsAsWritten } from "./do-finished.ts";
import type { DoPlan } from "./do-plan.ts";
import { openWay } from "./do-way.ts";
import { promptText } from "./prompt-text.ts";
import { editCommand } from "./spec-next.ts";
import { requireTrusted } from "./trust.ts";
import { chooseTests } from "./do-tests.ts";

/**
 * `do --dry-run`: the same refusals in the same order as the real one, a spec that is not ready included. It changes
 * nothing and asks nobody. The one program of the repository that it starts is the one its tests would run with, asked
 * whether it can (`.venv/bin/python -c "import pytest"`); no test runs, so it cannot say whether a finished feature's pass.
 *
 * @throws OrchError what `do` refuses with before it changes anything
 */
export async function foretellDo(
  context: AgentContext,
  args: CommandArgs,
  plan: DoPlan,
  signal: AbortSignal,
): Promise<CommandResult> {
  await requireTrusted(context, `implementing ${targetText(plan.feature.target)} runs its tests`, signal);
  for (const text of plan.mentions) context.editor.notify({ severity: "info", text });
  const request = await promptText(context.files, context.cwd, {
    words: plan.words,
    ...(args.prompt === undefined ? {} : { prompt: args.prompt }),
  });
  if (request === "" && (await standsAsWritten(context, plan))) return finished(context, plan);
  await chooseTests(context, args, plan, signal);
  // Opened to see that it can be, and given back unused.
  await using way = await openWay(context, args, plan, signal);
  const findings = await readiness(context, plan);
  if (findings.length > 0) context.editor.showFindings(findings);
  const decision = decideReadiness(findings);
  if (decision?.kind === "blocked") return blocked(plan, args, decision.why, findings);
  return foretold(context, args, plan, way.agent);
}

/** What the readiness gate would read: the tree, or the branch that is about to be entered. */
async function readiness({ git, files, root }: AgentContext, plan: DoPlan): Promise<readonly Finding[]> {
  const { feature, branch } = plan;
  const read = async (path: RepoPath): Promise<Uint8Array | undefined> =>
    branch.kind === "enter" ? git.fileAt(branch.branch, path) : files.read(inRoot(root, path));
  return [
    ...checkSpec(plan.spec, { path: feature.spec, feature: feature.target.name }),
    ...(await registryFindings({ read }, feature)),
  ];
}

async function finished({ git }: AgentContext, plan: DoPlan): Promise<CommandResult> {
  const { feature, branch } = plan;
  const target = targetText(feature.target);
  const where = branch.kind === "make" ? await git.defaultBranch() : branch.branch;
  const onMain = where === (await git.defaultBranch());
  const what = onMain ? "the tests" : "the tests and the gates";
  const summary = `Would run ${what} of ${target} and, when they pass, end there: ${where} holds it as spec.md says; nothing was changed`;
  const next = nextWhenFinished(target, onMain);
  return { ok: true, code: 0, summary, next, data: { ...dataOf(plan), state: "implemented" } };
}

function blocked(plan: DoPlan, args: CommandArgs, why: string, findings: readonly Finding[]): CommandResult {
  const { spec, target } = plan.feature;
  const { hint } = new OrchError("spec.not-ready", "", { data: { path: spec } });
  const about = findings.some(({ path }) => path === spec) ? [editCommand(spec)] : [];
  return {
    ok: false,
    code: exitCodes.blocked,
    summary: `${targetText(target)}: would be BLOCKED: ${why}; nothing was changed`,
    next: [...about, again(plan, args)],
    data: { ...dataOf(plan), state: "blocked", findings },
    error: { code: "spec.not-ready", message: why, hint },
  };
}

async function foretold(
  { git, config }: AgentContext,
  args: CommandArgs,
  plan: DoPlan,
  agent: boolean,
): Promise<CommandResult> {
  const { feature, branch } = plan;
  const remote = await git.remote(branch.branch);
  const push = args.push && config.features.push && remote !== undefined;
  const steps = [
    ...(branch.kind === "make" ? [`make the branch ${branch.branch}`] : []),
    ...(branch.kind === "enter" ? [`switch to ${branch.branch}`] : []),
    `implement ${feature.spec} in ${feature.dir}${agent ? ` with ${args.worker ?? ""} in a worktree` : ""}`,
    "run the gates and its tests",
    `commit feat: ${feature.target.name} on ${branch.branch}`,
    ...(push ? [`push ${branch.branch} to ${remote}`] : []),
  ];
  return {
    ok: true,
    code: 0,
    summary: `Would ${steps.join(", then ")}; nothing was changed`,
    next: [again(plan, args)],
    data: { ...dataOf(plan), steps },
  };
}

function dataOf({ feature, branch, controller }: DoPlan): Record<string, unknown> {
  return {
    feature: targetText(feature.target),
    dir: feature.dir,
    branch: branch.branch,
    makesBranch: branch.kind === "make",
    controller,
    dryRun: true,
  };
}

function again({ feature, words }: DoPlan, args: CommandArgs): string {
  return commandAgain("do", [targetText(feature.target), ...words], args);
}
