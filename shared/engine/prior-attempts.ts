import type { AttemptState, ContractState } from "../events/run-state.ts";
import type { WorkerReport } from "../model/attempt.ts";
import type { Finding } from "../model/finding.ts";
import type { Verdict } from "../model/verdict.ts";
import type { AttemptOutcome } from "./policy.ts";

/**
 * The attempts a log holds, as policy knows them: how a resumed run learns what was tried. An attempt that was cut short
 * counts for nothing but its number.
 */
export function priorAttempts(state: ContractState | undefined): readonly AttemptOutcome[] {
  return (state?.attempts ?? []).map(outcomeOf).toSorted((a, b) => a.attempt - b.attempt);
}

function outcomeOf(state: AttemptState): AttemptOutcome {
  const { attempt, worker, decision, durationMs = 0, usage } = state;
  const diffHash = state.change?.patch?.sha256;
  const about = {
    attempt,
    worker,
    durationMs,
    costUsd: usage?.costUsd ?? "unknown",
    ...(diffHash === undefined ? {} : { diffHash }),
  } as const;
  if (decision === undefined) {
    const summary = "the attempt was cut short";
    return {
      ...about,
      report: { kind: "cancelled", summary },
      verdict: { kind: "inconclusive", broken: [], why: summary, findings: [] },
    };
  }
  return { ...about, report: reportOf(state), verdict: verdictIn(state), decision };
}

const causes: readonly WorkerReport["cause"][] = [
  "environment",
  "models",
  "protocol",
  "unusable",
  "person-edited",
  "refused",
];
const kinds: readonly WorkerReport["kind"][] = ["done", "gave-up", "failed", "timed-out", "cancelled"];

/** `worker.reported` says `kind` or `kind: cause`. */
function reportOf({ reported }: AttemptState): AttemptOutcome["report"] {
  const [said = "", why] = (reported?.outcome ?? "").split(": ");
  const kind = kinds.find((one) => one === said) ?? "failed";
  const cause = causes.find((one) => one === why);
  return { kind, summary: reported?.summary ?? "", ...(cause === undefined ? {} : { cause }) };
}

function verdictIn({ verdict, gates }: AttemptState): Verdict {
  const findings: readonly Finding[] = gates.flatMap((gate) => gate.findings);
  if (verdict?.kind === "pass") return { kind: "pass", warnings: findings };
  if (verdict?.kind === "fail") return { kind: "fail", findings };
  const broken = gates.filter(({ status }) => status === "broken");
  return {
    kind: "inconclusive",
    broken: broken.map(({ gate }) => gate),
    why: broken[0]?.why ?? "nothing was judged",
    findings,
  };
}
