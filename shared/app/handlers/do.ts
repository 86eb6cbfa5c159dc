import { shellWord } from "../../base/shell-word.ts";
import { giveBackWorktree } from "../../adapters/workspace-beside.ts";
import { priorAttempts } from "../../engine/prior-attempts.ts";
import { type ContractOutcome, runContract } from "../../engine/run-contract.ts";
import { runWave } from "../../engine/wave.ts";
import { foldRun } from "../../events/reduce.ts";
import type { RunState } from "../../events/run-state.ts";
import { enterBranch } from "../../features/branch-check.ts";
import { contractOf } from "../../features/contract-of.ts";
import { specFacts } from "../../features/spec-rows.ts";
import type { CommandResult } from "../../model/command-result.ts";
import type { Contract } from "../../model/contract.ts";
import { noRemoteText } from "../../model/no-remote.ts";
import type { Limits } from "../../model/run.ts";
import { targetText } from "../../model/target.ts";
import type { AgentContext } from "../agent-parts.ts";
import { requireBegunBranch } from "../begun-branch.ts";
import type { CommandArgs, Handler } from "../context.ts";
import type { DoContext } from "../do-context.ts";
import { finishedAlready, refusedText } from "../do-finished.ts";
import { foretellDo } from "../do-foretold.ts";
import { type DoPlan, planDo } from "../do-plan.ts";
import { gatherMaterial, promptOf } from "../do-prompt.ts";
import { doResult } from "../do-result.ts";
import { chooseTests } from "../do-tests.ts";
import { openWay } from "../do-way.ts";
import { requireModelId } from "../model-id.ts";
import { askNearMiss } from "../near-miss.ts";
import { promptText } from "../prompt-text.ts";
import { requireFreeIndex } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { specOfTests } from "../spec-of-tests.ts";
import { requireTrust } from "../trust.ts";

/**
 * `do [Feature]`: compiles the feature into one contract and runs it through the engine as a wave of one, in place on the
 * feature's branch, or with an agent in a worktree beside it. Everything is checked before the first change; on failure
 * the tree is as it was.
 */
export const doFeature: Handler<AgentContext> = async (context, given, signal) => {
  requireModelId(given.model);
  const { args, found } = await askNearMiss(context.editor, given, signal, (one) => planBegun(context, one));
  if (args.dryRun) return await foretellDo(context, args, found, signal);
  const why = `implementing ${targetText(found.feature.target)} runs its tests`;
  await requireTrust(context, why, signal);
  return withRepositoryLock(context, "do", signal, () => doLocked(context, args, signal));
};

async function doLocked(context: AgentContext, args: CommandArgs, signal: AbortSignal): Promise<CommandResult> {
  await requireFreeIndex(context.git);
  const plan = await planBegun(context, args);
  const done = await finishedBefore(context, plan);
  if (done !== undefined) return done;
  for (const text of plan.mentions) context.editor.notify({ severity: "info", text });
  const request = await promptText(context.files, context.cwd, {
    words: plan.words,
    ...(args.prompt === undefined ? {} : { prompt: args.prompt }),
  });
  const entering = plan.branch.kind === "enter";
  // What an earlier life of this run has begun goes through the engine to its end, the push included.
  const asked = request === "" && before(context).contracts.length === 0;
  const here = asked && !entering ? await finishedAlready(context, plan, signal) : undefined;
  if (here?.kind === "finished") return here.result;
  const tests = await chooseTests(context, args, plan, signal);
  await using way = await openWay(context, args, plan, signal);
  const gates = await context.projectGates();
  await enterBranch(context.git, plan.branch, plan.feature.target);
  const standing = asked && entering ? await finishedAlready(context, plan, signal) : here;
  if (standing?.kind === "finished") return standing.result;
  const material = await gatherMaterial(context, plan, signal);
  const contract = contractOf({
    feature: plan.feature,
    pack: plan.pack.pack,
    spec: plan.spec,
    request,
    controller: plan.controller,
    tests,
    maxAttempts: args.maxAttempts ?? context.config.features.max_attempts,
    marked: material.marked,
    fewShots: material.fewShot.map(({ dir }) => dir),
    existingLines: material.existingLines,
    ...(context.config.limits.minutes === undefined ? {} : { maxMinutes: context.config.limits.minutes }),
    ...(context.config.limits.usd === undefined ? {} : { maxCostUsd: context.config.limits.usd }),
  });
  await context.linkContract(contract.id);
  const compose = await promptOf(context, { plan, gates, fewShot: material.fewShot, request, agent: way.agent });
  const slice = plan.feature.dir;
  const specBefore = await specOfTests(context.git, plan.feature, plan.pack.pack);
  const order = way.orderOf(contract, gates);
  const outcome = await runOne(context, order.contract, plan, signal, (one, stop) =>
    runContract(
      {
        ...order,
        slice: {
          target: plan.feature.target,
          dir: slice,
          pack: plan.pack.pack,
          controller: plan.controller,
          registry: plan.feature.registry,
          spec: specFacts(plan.spec, specBefore),
        },
        replyDir: slice,
        sink: context.sink,
        clock: context.clock,
        limits: limitsOf(context, one),
        compose,
        ...(standing === undefined ? {} : { feedback: refusedText(standing.findings) }),
        priorAttempts: priorAttempts(before(context).contracts.find(({ id }) => id === one.id)),
        run: context.run,
        runDir: context.runDir,
      },
      stop,
    ),
  );
  return doResult(context.run, plan, outcome, args.worker);
}

async function planBegun(context: AgentContext, args: CommandArgs): Promise<DoPlan> {
  try {
    return await planDo(context, args);
  } catch (refusal) {
    await requireBegunBranch(context, before(context), refusal);
    throw refusal;
  }
}

type RunOne = (contract: Contract, signal: AbortSignal) => Promise<ContractOutcome>;

async function runOne(
  context: DoContext,
  contract: Contract,
  plan: DoPlan,
  signal: AbortSignal,
  run: RunOne,
): Promise<ContractOutcome> {
  const features = new Map([[contract.id, { feature: targetText(plan.feature.target), branch: plan.branch.branch }]]);
  const wave = await runWave({ contracts: [contract], parallel: 1, sink: context.sink, features, run }, signal);
  const [outcome] = wave.outcomes;
  if (outcome === undefined) throw new TypeError("a wave of one has one outcome");
  return outcome;
}

function limitsOf(context: DoContext, contract: Contract): Limits {
  const { judge } = context.config;
  return {
    maxAttempts: contract.max_attempts,
    maxRevisions: 1,
    acceptRevise: judge.accept_revise,
    acceptWarn: judge.accept_warn,
    ...(contract.max_minutes === undefined ? {} : { maxMinutes: contract.max_minutes }),
    ...(contract.max_cost_usd === undefined ? {} : { maxCostUsd: contract.max_cost_usd }),
  };
}

/** A runner that died after its commit left nothing to do but to say so. */
async function finishedBefore(context: AgentContext, plan: DoPlan): Promise<CommandResult | undefined> {
  const commit = before(context).commits.at(-1);
  if (commit === undefined) return undefined;
  const { run, kept } = context;
  await giveBackWorktree({ worktrees: context.worktreesOf(run), kept }, run, plan.feature.id);
  const remote = await context.git.remote(commit.branch);
  const how =
    remote === undefined
      ? noRemoteText(await context.git.remotes())
      : `git push ${shellWord(remote)} ${shellWord(commit.branch)}`;
  const push = commit.pushed ? "pushed" : `not pushed: ${how}`;
  return {
    ok: true,
    code: 0,
    summary: `${targetText(plan.feature.target)}: committed before the run was interrupted, ${push}`,
    next: ["orch merge"],
    data: {
      feature: targetText(plan.feature.target),
      branch: commit.branch,
      run: context.run,
      commit: commit.commit,
      pushed: commit.pushed,
    },
  };
}

/** The run so far, as its log tells it. */
function before(context: DoContext): RunState {
  return foldRun(context.run, context.history);
}
