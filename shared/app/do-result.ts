import { count } from "../base/lines.ts";
import { shellWord } from "../base/shell-word.ts";
import type { AttemptOutcome } from "../engine/policy.ts";
import type { ContractOutcome } from "../engine/run-contract.ts";
import { restoresOf } from "../gates/touched-files.ts";
import type { CommandResult } from "../model/command-result.ts";
import { errorTable } from "../model/error-table.ts";
import { OrchError } from "../model/error.ts";
import { type ExitCode, exitCodes } from "../model/exit-code.ts";
import { findingPlace } from "../model/finding.ts";
import { targetText } from "../model/target.ts";
import type { DoPlan } from "./do-plan.ts";
import { editCommand } from "./spec-next.ts";

/** The outcome of the contract as a command's result: what happened, and what to type next. */
export function doResult(
  run: string,
  plan: DoPlan,
  outcome: ContractOutcome,
  worker: string | undefined,
): CommandResult {
  const target = targetText(plan.feature.target);
  const data = {
    feature: target,
    branch: plan.branch.branch,
    run,
    contract: outcome.contract,
    state: outcome.state,
    attempts: outcome.attempts.map(attemptRow),
    findings: outcome.findings,
    commit: outcome.finished?.commit,
    pushed: outcome.finished?.pushed,
    feedback: outcome.feedback?.path,
    change: outcome.attempts.length === 0 ? undefined : lastAttempt(run, outcome),
  };
  if (outcome.state === "accepted" || outcome.state === "awaiting-review") {
    const tries = count(outcome.attempts.length, "attempt");
    const summary = `${target} after ${tries}: ${outcome.finished?.summary ?? "accepted"}`;
    return { ok: true, code: 0, summary, next: outcome.finished?.result?.next ?? ["orch merge"], data };
  }
  const { decision } = outcome;
  const why = "why" in decision ? decision.why : decision.kind;
  const code = exitOf(outcome);
  const left =
    outcome.tree?.kind === "left"
      ? ". The tree was left as it is, because files in it changed meanwhile"
      : ". The tree is as it was before";
  return {
    ok: false,
    code,
    summary: `${target}: ${heading(outcome)}${why}${left}`,
    next: [...restoresOf(outcome.findings), ...nextOf(run, plan, outcome, worker)],
    data,
    error: {
      code: outcome.code ?? (outcome.state === "blocked" ? "spec.not-ready" : `do.${outcome.state}`),
      message: why,
      hint: "hint" in decision ? decision.hint : hintOf(plan, outcome),
      ...(outcome.findings[0] === undefined ? {} : { at: findingPlace(outcome.findings[0]) }),
    },
  };
}

function heading(outcome: ContractOutcome): string {
  switch (outcome.state) {
    case "blocked":
      return "BLOCKED: ";
    case "needs-lead":
      return "NEEDS_LEAD: ";
    case "failed":
    case "accepted":
    case "awaiting-review":
      return "";
  }
}

function exitOf(outcome: ContractOutcome): ExitCode {
  if (outcome.state === "failed") return exitCodes.failed;
  if (outcome.state === "blocked") return exitCodes.blocked;
  const { decision } = outcome;
  if (decision.kind === "needs-lead" && decision.reason === "budget") return exitCodes.budget;
  return outcome.code === undefined ? exitCodes.decide : exitCodes[errorTable[outcome.code].exit];
}

function hintOf(plan: DoPlan, outcome: ContractOutcome): string {
  if (outcome.state !== "blocked") return "";
  return new OrchError("spec.not-ready", "", { data: { path: plan.feature.spec } }).hint;
}

function nextOf(run: string, plan: DoPlan, outcome: ContractOutcome, worker: string | undefined): readonly string[] {
  const again = worker === undefined ? "orch do" : `orch do --worker ${shellWord(worker)}`;
  if (outcome.state === "blocked" && outcome.findings.some(({ path }) => path === plan.feature.spec))
    return [editCommand(plan.feature.spec), again];
  if (outcome.state === "blocked" || outcome.attempts.length === 0) return [again];
  // The template worker names the line of the spec that it cannot go by.
  if (
    outcome.code === "template.refused" &&
    "hint" in outcome.decision &&
    outcome.decision.hint.includes(plan.feature.spec)
  )
    return [editCommand(plan.feature.spec), again, `orch status ${run}`];
  const kept = outcome.change !== undefined && outcome.change.files.length > 0;
  return [
    ...(kept ? [`orch apply ${lastAttempt(run, outcome)}`] : []),
    worker === undefined ? "orch do --model ID" : "orch do --worker ID",
    `orch status ${run}`,
  ];
}

function lastAttempt(run: string, outcome: ContractOutcome): string {
  return `${run}/${outcome.contract}/attempt-${outcome.attempts.at(-1)?.attempt ?? 1}`;
}

function attemptRow(one: AttemptOutcome): Record<string, unknown> {
  return {
    attempt: one.attempt,
    worker: one.worker,
    verdict: one.verdict.kind,
    decision: one.decision?.kind,
    costUsd: one.costUsd,
    durationMs: one.durationMs,
  };
}
