import type { WorkerReport } from "../model/attempt.ts";
import type { Decision } from "../model/decision.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import type { Limits } from "../model/run.ts";
import type { Amount } from "../model/usage.ts";
import type { Verdict } from "../model/verdict.ts";
import type { LeftBudget } from "../ports/worker.ts";

/**
 * What to do after a verdict: one pure table, first matching row wins, a test per row. Thresholds are fields of Limits.
 * `maxAttempts` counts on one rung: an escalation starts a new count. An attempt that the environment spoilt is not
 * counted, and neither is one that was stopped.
 */
export interface AttemptOutcome {
  readonly attempt: number;
  readonly worker: string;
  readonly report: Pick<WorkerReport, "kind" | "cause" | "summary" | "hint" | "session">;
  readonly verdict: Verdict;
  /** Of an attempt that is over; absent on the one to decide, and on one that was stopped. */
  readonly decision?: Decision;
  /** sha256 of the patch, when anything was collected. */
  readonly diffHash?: string;
  readonly costUsd: Amount;
  readonly durationMs: number;
}

export interface PolicyFacts {
  /** The worker of the last attempt can go on in its own session. */
  readonly canResume: boolean;
  /** The next rung of the ladder, when there is one. */
  readonly nextWorker?: string;
  /** Repository path of the last attempt's feedback. */
  readonly feedbackAt: string;
  /** `<run>/<ID>/attempt-N` for `apply`, when that attempt changed anything. */
  readonly changeAt?: string;
}

/** The rule of the acceptance gate's FAIL: a probability, so it may ask for a revision but never fail work for good. */
const judgedRule = "acceptance_unmet";

interface Row {
  readonly id: string;
  readonly when: (case_: Case) => boolean;
  readonly make: (case_: Case) => Decision;
}

interface Case {
  readonly last: AttemptOutcome;
  readonly history: readonly AttemptOutcome[];
  readonly limits: Limits;
  readonly facts: PolicyFacts;
  readonly fails: readonly Finding[];
}

export const policyTable = [
  { id: "person-edited", when: ({ last }) => last.report.cause === "person-edited", make: lead("person-edited") },
  { id: "gate-decides", when: decidedByGate, make: gateBroken },
  { id: "stopped", when: ({ last }) => last.report.kind === "cancelled", make: lead("cancelled") },
  { id: "environment", when: ({ last }) => last.report.cause === "environment", make: lead("environment") },
  { id: "models", when: ({ last }) => last.report.cause === "models", make: lead("models") },
  { id: "protocol", when: ({ last }) => last.report.cause === "protocol", make: lead("worker-protocol") },
  { id: "gate-broken", when: ({ last }) => last.verdict.kind === "inconclusive", make: gateBroken },
  { id: "pass", when: ({ last }) => last.verdict.kind === "pass", make: () => ({ kind: "accept" }) },
  {
    id: "judged-again",
    when: (case_) => onlyJudged(case_.fails) && revisions(case_) >= case_.limits.maxRevisions,
    make: judgement,
  },
  { id: "budget", when: (case_) => budgetReached(case_.history, case_.limits) !== undefined, make: budget },
  {
    id: "gave-up-twice",
    when: (case_) => case_.last.report.kind === "gave-up" && (anotherGaveUp(case_) || isLastRung(case_)),
    make: impossible,
  },
  { id: "gave-up", when: ({ last }) => last.report.kind === "gave-up", make: escalate },
  { id: "retry", when: (case_) => spentOnRung(case_.history) < case_.limits.maxAttempts, make: retry },
  { id: "escalate", when: ({ facts }) => facts.nextWorker !== undefined, make: escalate },
  { id: "exhausted", when: () => true, make: exhausted },
] as const satisfies readonly Row[];

export function decide(history: readonly AttemptOutcome[], limits: Limits, facts: PolicyFacts): Decision {
  const last = history.at(-1);
  if (last === undefined) throw new TypeError("there is nothing to decide before the first attempt");
  const case_: Case = { last, history, limits, facts, fails: failsOf(last.verdict) };
  const row: Row | undefined = policyTable.find(({ when }) => when(case_));
  if (row === undefined) throw new TypeError("the last row of the policy table takes everything");
  return row.make(case_);
}

/** Before anything is dispatched: a contract that is not fit blocks, with what to mend. */
export function decideReadiness(findings: readonly Finding[]): Decision | undefined {
  const fails = findings.filter(({ severity }) => severity === "FAIL");
  const first = fails[0];
  if (first === undefined) return undefined;
  const place = findingPlace(first);
  const why = place === "" ? first.message : `${place}: ${first.message}`;
  return { kind: "blocked", why: fails.length === 1 ? why : `${why} (and ${fails.length - 1} more)` };
}

export interface ReachedBudget {
  readonly what: "minutes" | "usd";
  readonly limit: number;
  readonly used: number;
}

/** A cost nobody told counts as nothing: it cannot be held against the work. */
function usedBy(history: readonly AttemptOutcome[]): { readonly minutes: number; readonly usd: number } {
  return {
    minutes: history.reduce((sum, { durationMs }) => sum + durationMs, 0) / 60_000,
    usd: history.reduce((sum, { costUsd }) => sum + (costUsd === "unknown" ? 0 : costUsd), 0),
  };
}

/** Looked at before the next call. */
export function budgetReached(history: readonly AttemptOutcome[], limits: Limits): ReachedBudget | undefined {
  const { minutes, usd } = usedBy(history);
  if (limits.maxMinutes !== undefined && minutes >= limits.maxMinutes)
    return { what: "minutes", limit: limits.maxMinutes, used: minutes };
  if (limits.maxCostUsd !== undefined && usd >= limits.maxCostUsd)
    return { what: "usd", limit: limits.maxCostUsd, used: usd };
  return undefined;
}

/** What the next attempt may use, of limits that hold for all of them together. */
export function leftOf(history: readonly AttemptOutcome[], { maxMinutes, maxCostUsd }: Limits): LeftBudget {
  const { minutes, usd } = usedBy(history);
  return {
    ...(maxMinutes === undefined ? {} : { minutes: maxMinutes - minutes }),
    ...(maxCostUsd === undefined ? {} : { usd: maxCostUsd - usd }),
  };
}

/** Attempts of the current rung that count. */
export function spentOnRung(history: readonly AttemptOutcome[]): number {
  const lastStep = history.findLastIndex(({ decision }) => decision?.kind === "escalate");
  return history.slice(lastStep + 1).filter(isSpent).length;
}

function isSpent({ report, verdict }: AttemptOutcome): boolean {
  if (report.kind === "cancelled" || verdict.kind === "inconclusive") return false;
  return report.cause === undefined || report.cause === "unusable" || report.cause === "refused";
}

/** Above every other cause, but for a person's edit: the row of that one is what keeps the tree from being put back. */
function decidedByGate({ last: { verdict } }: Case): boolean {
  return verdict.kind === "inconclusive" && verdict.decides === true;
}

/** A second worker that read the same contract also found that it cannot be done as written. */
function anotherGaveUp({ last, history }: Case): boolean {
  return history.slice(0, -1).some(({ report, worker }) => report.kind === "gave-up" && worker !== last.worker);
}

function isLastRung({ facts }: Case): boolean {
  return facts.nextWorker === undefined;
}

function failsOf(verdict: Verdict): readonly Finding[] {
  return verdict.kind === "fail" ? verdict.findings.filter(({ severity }) => severity === "FAIL") : [];
}

function onlyJudged(fails: readonly Finding[]): boolean {
  return fails.length > 0 && fails.every(({ rule }) => rule === judgedRule);
}

/** Revisions already asked for on a judgement alone. */
function revisions({ history }: Case): number {
  return history.slice(0, -1).filter(({ verdict }) => onlyJudged(failsOf(verdict))).length;
}

function lead(
  reason: "person-edited" | "cancelled" | "environment" | "models" | "worker-protocol",
): (case_: Case) => Decision {
  const hints = {
    "person-edited": "Nothing of it was overwritten. Look at the files, then: orch resume",
    cancelled: "Go on with: orch resume",
    environment: "Mend that, then run the command again",
    models: "See what there is with: orch model --list. Then: orch do --model ID, or --model auto",
    "worker-protocol": "Look at transcript.jsonl in the attempt's folder, then run the command again",
  } as const;
  return ({ last }) => ({
    kind: "needs-lead",
    reason,
    why: last.report.summary,
    hint: last.report.hint ?? hints[reason],
  });
}

function gateBroken({ last }: Case): Decision {
  const { verdict } = last;
  const why = verdict.kind === "inconclusive" ? verdict.why : "a gate could not run";
  const gates = verdict.kind === "inconclusive" && verdict.broken.length > 0 ? `${verdict.broken.join(", ")}: ` : "";
  return {
    kind: "needs-lead",
    reason: "gate-broken",
    why: `${gates}${why}`,
    hint: verdictHint(verdict) ?? "Mend that, then run the command again",
  };
}

function verdictHint(verdict: Verdict): string | undefined {
  return verdict.kind === "inconclusive" ? verdict.hint : undefined;
}

function judgement({ fails, facts }: Case): Decision {
  const why = `the judge still doubts it: ${fails[0]?.message ?? "an acceptance criterion"}`;
  return {
    kind: "needs-lead",
    reason: "judgement",
    why,
    hint: `Look at the change${orTake(facts, ", then take it")}`,
  };
}

function impossible({ last }: Case): Decision {
  const { summary } = last.report;
  const why = summary.startsWith(last.worker) ? summary : `${last.worker} says that it is blocked: ${summary}`;
  return { kind: "blocked", why };
}

function budget({ history, limits, facts }: Case): Decision {
  const reached = budgetReached(history, limits);
  return overBudget(reached ?? { what: "minutes", limit: 0, used: 0 }, facts);
}

/** Also before a call that would be the first: what other contracts of the run spent counts then. */
export function overBudget(
  reached: ReachedBudget,
  facts: Pick<PolicyFacts, "changeAt">,
): Extract<Decision, { readonly kind: "needs-lead" }> {
  const what = reached.what === "usd" ? `${reached.limit} USD` : `${reached.limit} minutes`;
  return {
    kind: "needs-lead",
    reason: "budget",
    why: `the limit of ${what} is reached`,
    hint: `Raise the limit${orTake(facts)}`,
  };
}

function retry({ last, facts, fails }: Case): Decision {
  return { kind: "retry", sameSession: facts.canResume && last.report.session !== undefined, why: because(fails) };
}

function escalate({ facts, fails }: Case): Decision {
  return { kind: "escalate", to: facts.nextWorker ?? "", why: because(fails) };
}

function exhausted({ history, fails, facts }: Case): Decision {
  const spent = history.filter(isSpent).length;
  return {
    kind: "needs-lead",
    reason: "exhausted",
    why: `${spent === 1 ? "the only attempt" : `all ${spent} attempts`} failed: ${because(fails)}`,
    hint: `Read ${facts.feedbackAt} and mend it by hand or with another model${orTake(facts)}`,
  };
}

/** Nothing is offered that was not kept. */
function orTake({ changeAt }: Pick<PolicyFacts, "changeAt">, words = ", or take the last change"): string {
  return changeAt === undefined ? "" : `${words} with: orch apply ${changeAt}`;
}

function because(fails: readonly Finding[]): string {
  const [first] = fails;
  if (first === undefined) return "the work was not done";
  const rest = fails.length - 1;
  return rest === 0 ? first.message : `${first.message} (and ${rest} more)`;
}
