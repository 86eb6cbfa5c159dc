// Projections of a run: plain data and plain text that every host paints its own way. What things are called is in
// words.ts; a host in another language passes its own words.
import { shellWord } from "../base/shell-word.ts";
import { type ContractFate, type FateMerge, type FateReview, fateOf } from "./contract-fate.ts";
import { isLeftBehind } from "./left-behind.ts";
import { openAsks } from "./open-runs.ts";
import { cutShort } from "./reduce.ts";
import {
  type AttemptState,
  type ContractState,
  type GateState,
  isJudgedOnly,
  type PendingAsk,
  type RunState,
} from "./run-state.ts";
import { isOver, isResumable, type Standing, standingOf } from "./standing.ts";
import { english, plain, type Words } from "./words.ts";

/** One line for a status bar or statusline; empty when there is nothing to watch. */
export function statusLine(state: RunState, alive: boolean): string {
  const standing = standingOf(state, alive);
  if (isOver(standing)) return "";
  const what = plain(state.title === "" ? state.command : state.title);
  const [ask] = openAsks({ state, alive, standing });
  if (ask !== undefined) return `orch: ${what}, asks: ${plain(ask.title)}`;
  if (standing !== "running") return `orch: ${what}, ${standing}`;
  const step = currentStep(state);
  return step === undefined ? `orch: ${what}` : `orch: ${what}, ${step}`;
}

function currentStep(state: RunState): string | undefined {
  const contract = state.contracts.findLast(({ phase }) => phase === "running");
  const attempt = contract?.attempts.at(-1);
  if (contract === undefined || attempt === undefined) return state.note === undefined ? undefined : plain(state.note);
  const of = contract.maxAttempts === undefined ? "" : ` of ${contract.maxAttempts}`;
  const gate = attempt.gates.findLast(({ status }) => status === "running");
  const doing =
    attempt.phase === "working"
      ? `${plain(attempt.model ?? attempt.worker)} works`
      : gate === undefined
        ? attempt.phase
        : `gate ${gate.gate}`;
  if (isJudgedOnly(attempt)) return doing;
  return `attempt ${attempt.attempt}${of}, ${doing}`;
}

// --- tree ----------------------------------------------------------------------------------------------------------

export interface TreeNode {
  /** Stable over updates: `run`, `run/contract`, `run/contract/attempt-N`, `.../gate`, `run/contract/review-N`. */
  readonly id: string;
  readonly kind: "run" | "ask" | "contract" | "attempt" | "gate" | "finding" | "review" | "merge";
  readonly label: string;
  readonly detail: string;
  readonly tone: "idle" | "busy" | "good" | "bad" | "attention";
  readonly children: readonly TreeNode[];
}

/**
 * `runs` are the others that are known, newest first: reviews and merges of this run's work are runs of their own, and a
 * later run may have done what this one waits with.
 */
export function tree(
  state: RunState,
  alive: boolean,
  runs: readonly RunState[] = [],
  words: Words = english,
): TreeNode {
  const standing = standingOf(state, alive);
  const left = isResumable(standing) && !alive && isLeftBehind(state, runs);
  return {
    id: state.run,
    kind: "run",
    label: plain(state.title === "" ? state.command : state.title),
    detail: left ? words.leftBehind(standing) : words.standingText(standing),
    tone: left ? "idle" : runTones[standing],
    children: [
      ...(left ? [] : openAsks({ state, alive, standing })).map((ask): TreeNode => ({
        id: `${state.run}/${ask.id}`,
        kind: "ask",
        label: plain(ask.title),
        detail: ask.id,
        tone: "attention",
        children: [],
      })),
      ...asSeen(state, alive).contracts.map((contract) =>
        contractNode(state.run, contract, { alive, fate: fateOf(state.run, contract, runs), words }),
      ),
    ],
  };
}

const runTones: Readonly<Record<Standing, TreeNode["tone"]>> = {
  running: "busy",
  waiting: "attention",
  parked: "attention",
  interrupted: "attention",
  ok: "good",
  failed: "bad",
  cancelled: "idle",
};

const contractTones: Readonly<Record<ContractState["phase"], TreeNode["tone"]>> = {
  queued: "idle",
  running: "busy",
  accepted: "good",
  "awaiting-review": "attention",
  failed: "bad",
  blocked: "bad",
  "needs-lead": "attention",
  cancelled: "idle",
  skipped: "idle",
  judged: "good",
};

/** Without a runner nothing goes on, whatever the last event began. */
export function asSeen(state: RunState, alive: boolean): RunState {
  return alive ? state : cutShort(state);
}

interface ContractSight {
  readonly alive: boolean;
  readonly fate: ContractFate;
  readonly words: Words;
}

function contractNode(parent: string, contract: ContractState, sight: ContractSight): TreeNode {
  const { alive, fate, words } = sight;
  const id = `${parent}/${contract.id}`;
  const became = contract.phase === "running" ? undefined : becameOf(fate, words);
  return {
    id,
    kind: "contract",
    label: plain(contract.title),
    detail: became?.detail ?? contractDetail(contract, alive, words),
    tone: became?.tone ?? contractTone(contract, alive),
    children: [
      ...contract.readiness.map((gate) => gateNode(id, gate, words)),
      ...contract.attempts.flatMap((attempt) =>
        isJudgedOnly(attempt)
          ? attempt.gates.map((gate) => gateNode(`${id}/attempt-${attempt.attempt}`, gate, words))
          : [attemptNode(id, attempt, words)],
      ),
      ...fate.reviews.map((review, at) => reviewNode(`${id}/review-${at + 1}`, review, words)),
      ...(fate.merge === undefined ? [] : [mergeNode(`${id}/merge`, fate.merge, words)]),
    ],
  };
}

/** Where the work stands now; how its run ended is what it was before. */
function becameOf({ review, merge }: ContractFate, words: Words): Pick<TreeNode, "detail" | "tone"> | undefined {
  if (merge !== undefined) return { detail: words.fateText("merged"), tone: "good" };
  return review === undefined ? undefined : { detail: words.fateText(review.verb), tone: reviewTones[review.verb] };
}

const reviewTones = { accept: "good", revise: "attention", "take-over": "idle" } as const;

function reviewNode(id: string, review: FateReview, words: Words): TreeNode {
  const tone = review.current ? reviewTones[review.verb] : "idle";
  return { id, kind: "review", label: words.kindText("review"), detail: words.reviewText(review), tone, children: [] };
}

function mergeNode(id: string, merge: FateMerge, words: Words): TreeNode {
  const [label, detail] = [words.fateText("merged"), words.mergeText(merge)];
  return { id, kind: "merge", label, detail, tone: "good", children: [] };
}

function contractDetail(contract: ContractState, alive: boolean, words: Words): string {
  const phase = words.phaseText(contract, contract.why !== undefined || alive);
  if (contract.why !== undefined) return `${phase}: ${plain(contract.why)}`;
  return contract.phase === "judged" ? `${phase}: ${words.judgedText(contract)}` : phase;
}

function contractTone(contract: ContractState, alive: boolean): TreeNode["tone"] {
  if (contract.phase === "running" && !alive) return "attention";
  if (contract.phase !== "judged") return contractTones[contract.phase];
  const gates = contract.attempts.flatMap((attempt) => attempt.gates);
  if (gates.some(({ findings }) => findings.some(({ severity }) => severity === "FAIL"))) return "bad";
  return gates.some(({ status }) => status === "broken") ? "attention" : "good";
}

function attemptNode(parent: string, attempt: AttemptState, words: Words): TreeNode {
  const id = `${parent}/attempt-${attempt.attempt}`;
  return {
    id,
    kind: "attempt",
    label: words.attemptLabel(attempt.attempt),
    detail: attemptDetail(attempt, words),
    tone: attemptTone(attempt),
    children: attempt.gates.map((gate) => gateNode(id, gate, words)),
  };
}

function attemptDetail(attempt: AttemptState, words: Words): string {
  const who = plain(attempt.model ?? attempt.worker);
  const then = attempt.decision === undefined ? "" : `, ${words.decisionText(attempt.decision)}`;
  return `${who}: ${words.attemptText(attempt)}${then}`;
}

function attemptTone(attempt: AttemptState): TreeNode["tone"] {
  if (attempt.cutShort) return "idle";
  if (attempt.verdict === undefined) return "busy";
  return attempt.verdict.kind === "pass" ? "good" : attempt.verdict.kind === "fail" ? "bad" : "attention";
}

function gateNode(parent: string, gate: GateState, words: Words): TreeNode {
  const id = `${parent}/${gate.gate}`;
  const fails = gate.findings.filter(({ severity }) => severity === "FAIL").length;
  const tones = {
    running: "busy",
    skipped: "idle",
    broken: "attention",
    ran: fails > 0 ? "bad" : gate.findings.length > 0 ? "attention" : "good",
  } as const;
  return {
    id,
    kind: "gate",
    label: gate.gate,
    detail: words.gateText(gate),
    tone: tones[gate.status],
    children: gate.findings.map((finding, index): TreeNode => ({
      id: `${id}/${index}`,
      kind: "finding",
      label: words.findingText(finding),
      detail: plain(finding.remedy),
      tone: finding.severity === "FAIL" ? "bad" : "attention",
      children: [],
    })),
  };
}

// --- what to type -------------------------------------------------------------------------------------------------

/** How a person answers from a terminal. */
export function replyCommand(ask: Pick<PendingAsk, "id" | "kind" | "choices">): string {
  if (ask.kind === "text") return `orch reply ${shellWord(ask.id)} --text "..."`;
  const choice = ask.choices.length === 1 ? (ask.choices[0]?.id ?? "") : ask.choices.map(({ id }) => id).join("|");
  return `orch reply ${shellWord(ask.id)} --choice ${shellWord(choice)}`;
}

/** Whole commands that fit how the run stands. `left`: its work went on without it. */
export function nextCommands(state: RunState, alive: boolean, left = false): readonly string[] {
  const standing = standingOf(state, alive);
  if (isOver(standing)) return state.result?.next ?? [];
  if (left) return [`orch cancel ${state.run}`];
  const open = openAsks({ state, alive, standing });
  if (open.length > 0) return open.map(replyCommand);
  if (isResumable(standing)) return [`orch resume ${state.run}`, `orch cancel ${state.run}`];
  return [`orch wait ${state.run}`, `orch cancel ${state.run}`];
}
