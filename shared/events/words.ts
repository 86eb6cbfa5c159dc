// What things of a run are called, in words that every host shows. Text of models and repositories loses its control
// characters here, since a terminal or an editor is what comes next. Each text goes through an injected translation; its
// English is the key, so a host in one language passes nothing. Long because the words are here once: a line, a tree and a
// table must call the same thing by the same name.
import { stripControls } from "../base/lines.ts";
import type { Decision } from "../model/decision.ts";
import type { EventBody } from "../model/event.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import type { Amount } from "../model/usage.ts";
import type { FateMerge, FateReview } from "./contract-fate.ts";
import type { AttemptState, ContractState, GateState, RunState } from "./run-state.ts";
import type { Standing } from "./standing.ts";

/** `t("{0} files", 3)`. What a run's log holds (summaries, reasons, findings) is passed as a value: it is as it was written. */
export type Translate = (english: string, ...values: readonly (string | number)[]) => string;

export interface Words {
  readonly standingText: (standing: Standing) => string;
  /** A contract's phase; the log of an interrupted run still says `running`. */
  readonly phaseText: (contract: Pick<ContractState, "phase">, alive: boolean) => string;
  /** What the gates of a tree without a worker found, all together. */
  readonly judgedText: (contract: Pick<ContractState, "attempts">) => string;
  /** Where work stands that was reviewed or merged. */
  readonly fateText: (fate: FateReview["verb"] | "merged") => string;
  readonly reviewText: (review: FateReview) => string;
  readonly mergeText: (merge: FateMerge) => string;
  readonly attemptLabel: (attempt: number) => string;
  /** How far an attempt is, or what its gates said. */
  readonly attemptText: (attempt: Pick<AttemptState, "phase" | "cutShort" | "verdict">) => string;
  readonly gateText: (gate: Pick<GateState, "status" | "why" | "findings">) => string;
  readonly findingText: (finding: Finding) => string;
  readonly decisionText: (decision: Decision) => string;
  readonly verdictText: (verdict: NonNullable<AttemptState["verdict"]>) => string;
  /** What was used; `unknown` where a lane did not tell, never 0. */
  readonly usageText: (run: Pick<RunState, "usage" | "knownCostUsd" | "modelCalls">) => string;
  readonly money: (usd: number) => string;
  readonly durationText: (ms: number) => string;
  /** Of a run whose work went on without it. */
  readonly leftBehind: (standing: Standing) => string;
  readonly kindText: (kind: "run" | "ask" | "contract" | "attempt" | "gate" | "finding" | "review" | "merge") => string;
  readonly filesText: (files: number) => string;
  readonly parkedText: (why: string) => string;
  readonly damagedText: (run: string, fault: string) => string;
}

export function wordsIn(t: Translate): Words {
  const standings = (): Readonly<Record<Standing, string>> => ({
    running: t("running"),
    waiting: t("waiting"),
    parked: t("parked"),
    interrupted: t("interrupted"),
    ok: t("ok"),
    failed: t("failed"),
    cancelled: t("cancelled"),
  });
  const phases = (): Readonly<Record<ContractState["phase"] | AttemptState["phase"], string>> => ({
    queued: t("queued"),
    running: t("running"),
    accepted: t("accepted"),
    "awaiting-review": t("awaiting-review"),
    failed: t("failed"),
    blocked: t("blocked"),
    "needs-lead": t("needs-lead"),
    cancelled: t("cancelled"),
    skipped: t("skipped"),
    judged: t("judged"),
    working: t("working"),
    judging: t("judging"),
    decided: t("decided"),
  });
  const failures = (n: number): string => (n === 1 ? t("1 failure") : t("{0} failures", n));
  const filesText = (n: number): string => (n === 1 ? t("1 file") : t("{0} files", n));
  const warnings = (n: number): string => (n === 1 ? t("1 warning") : t("{0} warnings", n));

  function counted(fails: number, warns: number): readonly string[] {
    return [...(fails > 0 ? [failures(fails)] : []), ...(warns > 0 ? [warnings(warns)] : [])];
  }

  function foundText(findings: readonly Finding[]): string {
    const fails = findings.filter(({ severity }) => severity === "FAIL").length;
    const found = counted(fails, findings.length - fails);
    return found.length === 0 ? t("nothing found") : found.join(", ");
  }

  function gateText({ status, why, findings }: Pick<GateState, "status" | "why" | "findings">): string {
    if (status === "running") return t("running");
    const reason = plain(why ?? t("no reason given"));
    if (status === "skipped") return t("skipped: {0}", reason);
    return status === "broken" ? t("broken: {0}", reason) : foundText(findings);
  }

  function verdictText({ kind, fails, warns }: NonNullable<AttemptState["verdict"]>): string {
    if (kind === "inconclusive") return t("inconclusive");
    return [kind === "pass" ? t("pass") : t("fail"), ...counted(fails, warns)].join(", ");
  }

  function decisionText(decision: Decision): string {
    switch (decision.kind) {
      case "accept":
        return t("accepted");
      case "retry":
        return t("retry: {0}", plain(decision.why));
      case "escalate":
        return t("escalate to {0}: {1}", plain(decision.to), plain(decision.why));
      case "blocked":
        return t("BLOCKED: {0}", plain(decision.why));
      case "needs-lead":
        return t("NEEDS_LEAD: {0}", plain(decision.why));
    }
  }

  function money(usd: number): string {
    const [whole = "0", part = "00"] = usd.toFixed(usd !== 0 && usd < 0.01 ? 5 : 2).split(".");
    // oxlint-disable-next-line no-template-curly-in-string -- the dollar is one
    return t("${0}.{1}", whole, part);
  }

  function durationText(ms: number): string {
    const seconds = Math.max(0, ms) / 1000;
    if (seconds < 10) {
      const [whole = "0", tenth = "0"] = seconds.toFixed(1).split(".");
      return t("{0}.{1} s", whole, tenth);
    }
    if (seconds < 120) return t("{0} s", Math.round(seconds));
    const minutes = Math.floor(seconds / 60);
    return minutes < 120
      ? t("{0} min {1} s", minutes, Math.round(seconds % 60))
      : t("{0} h {1} min", Math.floor(minutes / 60), minutes % 60);
  }

  function usageText({
    usage,
    knownCostUsd,
    modelCalls,
  }: Pick<RunState, "usage" | "knownCostUsd" | "modelCalls">): string {
    if (usage === undefined) return modelCalls === 0 ? t("no model was asked") : t("tokens and cost unknown");
    const tokensIn = (amount: Amount): string =>
      amount === "unknown" ? t("tokens in unknown") : t("{0} tokens in", amount);
    const tokensOut = (amount: Amount): string =>
      amount === "unknown" ? t("tokens out unknown") : t("{0} tokens out", amount);
    const cost =
      usage.costUsd === "unknown"
        ? knownCostUsd > 0
          ? t("cost unknown, at least {0}", money(knownCostUsd))
          : t("cost unknown")
        : money(usage.costUsd);
    return [tokensIn(usage.input), tokensOut(usage.output), cost].join(", ");
  }

  function reviewText({ verb, reviewer, run, current }: FateReview): string {
    const said = {
      accept: t("accept by {0} in {1}", plain(reviewer), run),
      revise: t("revise by {0} in {1}", plain(reviewer), run),
      "take-over": t("take-over by {0} in {1}", plain(reviewer), run),
    }[verb];
    return current ? said : `${said}, ${t("of an earlier change")}`;
  }

  function mergeText({ run, order, of, commits, paths }: FateMerge): string {
    const where =
      commits.length === 0
        ? t("in the working tree")
        : t("commit {0}", commits.map((one) => one.slice(0, 10)).join(", "));
    const place = of === 1 ? [] : [t("{0} of {1}", order, of)];
    return [where, ...place, filesText(paths.length), t("by {0}", run)].join(", ");
  }

  return {
    standingText: (standing) => standings()[standing],
    phaseText: ({ phase }, alive) => (phase === "running" && !alive ? t("interrupted") : phases()[phase]),
    judgedText({ attempts }) {
      const gates = attempts.flatMap((attempt) => attempt.gates);
      const broken = gates.find(({ status }) => status === "broken");
      return broken === undefined
        ? foundText(gates.flatMap(({ findings }) => findings))
        : `${broken.gate} ${gateText(broken)}`;
    },
    fateText: (fate) =>
      ({ merged: t("merged"), accept: t("accepted"), revise: t("to be revised"), "take-over": t("taken over") })[fate],
    reviewText,
    mergeText,
    attemptLabel: (attempt) => t("attempt {0}", attempt),
    attemptText: ({ phase, cutShort, verdict }) =>
      verdict === undefined ? (cutShort ? t("cut short") : phases()[phase]) : verdictText(verdict),
    gateText,
    findingText(finding) {
      const place = findingPlace(finding);
      return plain(`${finding.severity} ${finding.rule}${place === "" ? "" : ` ${place}`}: ${finding.message}`);
    },
    decisionText,
    verdictText,
    usageText,
    money,
    durationText,
    leftBehind: (standing) => t("{0}, its work went on without it", standings()[standing]),
    kindText: (kind) =>
      ({
        run: t("run"),
        ask: t("decision"),
        contract: t("contract"),
        attempt: t("attempt"),
        gate: t("gate"),
        finding: t("finding"),
        review: t("review"),
        merge: t("merge"),
      })[kind],
    filesText,
    parkedText: (why) => t("Parked: {0}", why),
    damagedText: (run, fault) => t("The log of {0} is damaged: {1}", run, fault),
  };
}

/** The words as they are written, with their values in. */
export const english: Words = wordsIn((text, ...values) =>
  text.replaceAll(/\{(\d+)\}/g, (mark, at) => String(values[Number(at)] ?? mark)),
);
export const {
  decisionText,
  durationText,
  findingText,
  gateText,
  judgedText,
  money,
  phaseText,
  usageText,
  verdictText,
} = english;

export function plain(text: string): string {
  return stripControls(text)
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}

/** How a limit was reached: nobody reads the digits of a clock. */
export function limitText({ what, limit, used }: EventBody<"budget.reached">): string {
  const rounded = Number(used.toFixed(what === "minutes" ? 1 : 4));
  return `limit reached: ${what}, ${rounded} of ${limit}`;
}
