// Folds events into a RunState. Pure, total and synchronous: any event after any other gives a state, also an attempt
// of a contract that was never queued. The state table is in model/run.ts. Long because `reducers` names every type of
// event: a new one does not compile until it says what it changes.
import type { EventBody, EventType, ParsedEvent, RunEvent } from "../model/event.ts";
import { addUsage, type Usage } from "../model/usage.ts";
import {
  type AttemptState,
  type ContractState,
  emptyRun,
  type GateState,
  isJudgedOnly,
  keptNotices,
  type PendingAsk,
  type RunState,
} from "./run-state.ts";

export function reduceRun(state: RunState, parsed: ParsedEvent): RunState {
  if (parsed.kind === "bad") return { ...state, faults: [...state.faults, parsed.why] };
  const { event } = parsed;
  if (event.seq <= state.seq) return state; // read twice
  const gap = event.seq !== state.seq + 1 ? [`event ${event.seq} follows event ${state.seq}`] : [];
  const faults = gap.length > 0 ? [...state.faults, ...gap] : state.faults;
  const next: RunState = { ...state, run: event.run, seq: event.seq, lastAt: event.at, faults };
  if (parsed.kind === "unknown") return { ...next, unknown: state.unknown + 1 };
  return apply(next, parsed.event);
}

export function foldRun(run: string, events: Iterable<ParsedEvent>): RunState {
  let state = emptyRun(run);
  for (const event of events) state = reduceRun(state, event);
  return state;
}

type Reducer<T extends EventType> = (state: RunState, body: EventBody<T>, at: number, seq: number) => RunState;

function apply(state: RunState, event: RunEvent): RunState {
  const reduce = reducers[event.type] as Reducer<EventType>;
  return reduce(state, event, event.at, event.seq);
}

const same = (state: RunState): RunState => state;

const reviewPhases = { accept: "accepted", revise: "needs-lead", "take-over": "cancelled" } as const;

const reducers: { readonly [T in EventType]: Reducer<T> } = {
  "run.started": (state, { command, title, host, version, pid }, at) => ({
    ...state,
    command,
    title,
    host,
    version,
    pid,
    startedAt: state.startedAt ?? at,
    phase: "running",
  }),
  "target.named": (state, { feature }) => ({ ...state, feature }),
  "run.finished": (state, { outcome }) => ({ ...state, phase: outcome === "cancelled" ? "cancelled" : "finished" }),
  "run.parked": (state, { why, hint }) => ({ ...cutShort(state), phase: "parked", parked: { why, hint } }),
  "run.resumed": (state, { host, pid }) => {
    const { parked: _answered, ...rest } = cutShort(state);
    // Who asked is gone: what still matters is asked again under the same id.
    return { ...rest, phase: "running", host, pid, pending: [], processes: [] };
  },
  "run.cancelled": (state, { by }) => ({
    ...cancelContracts(cutShort(state)),
    phase: "cancelled",
    cancelledBy: by,
    pending: [],
  }),
  "wave.started": (state, { contracts }) =>
    contracts.reduce((sum, { id, title }) => onContract(sum, id, (contract) => ({ ...contract, title })), state),
  "wave.finished": same,
  "contract.queued": (state, { contract, title, hash, maxAttempts, feature, branch }) =>
    onContract(state, contract, (known) => ({
      ...known,
      title,
      hash,
      maxAttempts,
      ...(feature === undefined ? {} : { feature }),
      ...(branch === undefined ? {} : { branch }),
    })),
  "contract.skipped": (state, { contract, why }) =>
    onContract(state, contract, (known) => ({ ...known, phase: "skipped", why })),
  "contract.finished": (state, { contract, state: phase, why }) =>
    onContract(state, contract, (known) => ({ ...withoutWhy(known), phase, ...(why === undefined ? {} : { why }) })),
  "attempt.started": (state, { contract, attempt, worker }, at) =>
    onContract(state, contract, (known) => ({
      ...withoutWhy(known),
      phase: "running",
      attempts: [...known.attempts.filter((other) => other.attempt !== attempt), freshAttempt(attempt, worker, at)],
    })),
  "attempt.finished": (state, { contract, attempt, durationMs }) =>
    onAttempt(state, contract, attempt, (known) => ({ ...known, phase: "decided", cutShort: false, durationMs })),
  "worker.reported": (state, { contract, attempt, outcome, summary, model }) =>
    onAttempt(state, contract, attempt, (known) => ({
      ...known,
      phase: "judging",
      reported: { outcome, summary },
      ...(model === undefined ? {} : { model }),
    })),
  "model.asked": (state, { contract, attempt, model, label, role }) => ({
    ...onAttempt(state, contract, attempt, (known) => ({ ...known, model, ...(label === undefined ? {} : { label }) })),
    modelCalls: state.modelCalls + 1,
    note: `asking ${model} for ${role}`,
  }),
  "model.answered": same,
  "model.fell-through": (state, { contract, attempt, model, why }) =>
    onAttempt(state, contract, attempt, (known) => ({ ...known, fellThrough: [...known.fellThrough, { model, why }] })),
  "model.chosen": (state, { models }) => ({ ...state, models }),
  "change.collected": (state, { contract, attempt, files, added, removed, patch }) =>
    onAttempt(state, contract, attempt, (known) => ({
      ...known,
      change: { files: files.length, added, removed, ...(patch === undefined ? {} : { patch }) },
    })),
  "gate.started": (state, { contract, attempt, gate }) =>
    onGate(state, contract, attempt, { gate, status: "running", findings: [] }),
  "gate.finished": (state, { contract, attempt, gate, status, why, ms, findings, log }) =>
    onGate(state, contract, attempt, {
      gate,
      status,
      ms,
      findings,
      ...(why === undefined ? {} : { why }),
      ...(log === undefined ? {} : { log }),
    }),
  "verdict.reached": (state, { contract, attempt, verdict, fails, warns }) =>
    onAttempt(state, contract, attempt, (known) => ({
      ...known,
      phase: "judging",
      verdict: { kind: verdict, fails, warns },
    })),
  "decision.made": (state, { contract, attempt, decision, feedback }) =>
    onAttempt(state, contract, attempt, (known) => ({
      ...known,
      phase: "decided",
      cutShort: false,
      decision,
      ...(feedback === undefined ? {} : { feedback }),
    })),
  "question.asked": (state, { id, kind, title, detail, choices, otherwise, timeoutMs }, at) =>
    asked(state, {
      id,
      weight: "question",
      kind,
      title,
      choices,
      timeoutMs,
      askedAt: at,
      ...(detail === undefined ? {} : { detail }),
      ...(otherwise === undefined ? {} : { otherwise }),
    }),
  "question.answered": (state, { id }) => answered(state, id),
  "decision.asked": (state, { id, contract, title, detail, choices }, at) =>
    asked(state, {
      id,
      weight: "decision",
      kind: "pick",
      title,
      choices,
      askedAt: at,
      ...(contract === undefined ? {} : { contract }),
      ...(detail === undefined ? {} : { detail }),
    }),
  "decision.answered": (state, { id }) => answered(state, id),
  "notice.shown": (state, notice, _at, seq) => ({
    ...state,
    notices: [
      ...state.notices.slice(1 - keptNotices),
      {
        seq,
        severity: notice.severity,
        text: notice.text,
        ...(notice.hint === undefined ? {} : { hint: notice.hint }),
      },
    ],
  }),
  "diff.shown": same,
  "location.opened": same,
  "review.opened": (state, { contract }) => onContract(state, contract, (known) => ({ ...known, review: "open" })),
  "review.closed": (state, { contract, verb, reviewer, diffHash, work, items }) =>
    onContract(state, contract, (known) => ({
      ...known,
      review: verb,
      reviews: [
        ...(known.reviews ?? []),
        {
          verb,
          reviewer,
          diffHash,
          ...(work === undefined ? {} : { work }),
          ...(items === undefined ? {} : { items }),
        },
      ],
      // A review's own log holds no work: how it ended is all there is to say.
      ...(known.attempts.length > 0 ? {} : { phase: reviewPhases[verb], why: `${verb} by ${reviewer}` }),
    })),
  "contract.merged": (state, { contract, title, work, diffHash, paths }) =>
    onContract(state, contract, (known) => ({
      ...known,
      title,
      phase: "accepted",
      why: "merged into the working tree",
      merged: { work, diffHash, paths },
    })),
  "contract.prepared": (state, { contract, attempt, folder, base, prompt, slot, until, worktree }) =>
    onContract(state, contract, (known) => ({
      ...known,
      why: `prepared in ${folder}`,
      prepared: {
        attempt,
        folder,
        base,
        prompt,
        slot,
        until,
        ...(worktree === undefined ? {} : { worktree }),
      },
    })),
  "final.checked": (state, { contracts, checks }) => ({ ...state, final: { contracts, checks } }),
  "wave.estimated": (state, { contracts, usd }) => ({ ...state, estimate: { contracts, usd } }),
  "control.accepted": same,
  "control.refused": same,
  "process.started": (state, process) => ({ ...state, processes: [...state.processes, plainProcess(process)] }),
  "process.ended": (state, { pid }) => ({
    ...state,
    processes: state.processes.filter((process) => process.pid !== pid),
  }),
  "process.swept": (state, { pids }) => ({
    ...state,
    processes: state.processes.filter((process) => !pids.includes(process.pid)),
  }),
  "completion.requested": same,
  "usage.recorded": (state, { contract, attempt, usage }) => ({
    ...onAttempt(state, contract, attempt, (known) => ({ ...known, usage: plus(known.usage, usage) })),
    usage: plus(state.usage, usage),
    knownCostUsd: state.knownCostUsd + (usage.costUsd === "unknown" ? 0 : usage.costUsd),
  }),
  "budget.reached": (state, budget) => ({
    ...state,
    budget: { what: budget.what, limit: budget.limit, used: budget.used },
  }),
  "trash.stored": (state, { id }) => ({ ...state, trash: [...state.trash, id] }),
  "commit.made": (state, { commit, branch, subject, pushed }) => ({
    ...state,
    commits: [...state.commits, { commit, branch, subject, pushed }],
  }),
  "progress.noted": (state, { text }) => ({ ...state, note: text }),
  "command.finished": (state, result) => ({
    ...endJudging(cutShort(state)),
    phase: state.phase === "cancelled" ? "cancelled" : "finished",
    pending: [],
    processes: [],
    result: plainResult(result),
  }),
};

// --- steps ---------------------------------------------------------------------------------------------------------

function onContract(state: RunState, id: string, change: (contract: ContractState) => ContractState): RunState {
  const at = state.contracts.findIndex((contract) => contract.id === id);
  const known = state.contracts[at] ?? { id, title: id, phase: "queued", attempts: [], readiness: [] };
  const changed = change(known);
  return { ...state, contracts: at === -1 ? [...state.contracts, changed] : state.contracts.with(at, changed) };
}

/** What kept it from going on before it went on says nothing about how it stands now. */
function withoutWhy({ why: _before, ...contract }: ContractState): ContractState {
  return contract;
}

function onAttempt(
  state: RunState,
  contract: string | undefined,
  attempt: number | undefined,
  change: (attempt: AttemptState) => AttemptState,
): RunState {
  if (contract === undefined || attempt === undefined) return state;
  return onContract(state, contract, (known) => {
    const at = known.attempts.findIndex((other) => other.attempt === attempt);
    const changed = change(known.attempts[at] ?? freshAttempt(attempt, "", state.lastAt ?? 0));
    return { ...known, attempts: at === -1 ? [...known.attempts, changed] : known.attempts.with(at, changed) };
  });
}

function onGate(state: RunState, contract: string | undefined, attempt: number | undefined, gate: GateState): RunState {
  if (contract === undefined) return state;
  if (attempt === undefined)
    return onContract(state, contract, (known) => ({ ...known, readiness: withGate(known.readiness, gate) }));
  const isNew = state.contracts.every(({ id }) => id !== contract);
  const judging = onAttempt(state, contract, attempt, (known) => ({
    ...known,
    phase: "judging",
    gates: withGate(known.gates, gate),
  }));
  // Never queued, so no worker will come: the gates themselves are the work.
  return isNew ? onContract(judging, contract, (known) => ({ ...known, phase: "running" })) : judging;
}

function withGate(gates: readonly GateState[], gate: GateState): readonly GateState[] {
  const at = gates.findLastIndex((other) => other.gate === gate.gate);
  return at === -1 ? [...gates, gate] : gates.with(at, gate);
}

function freshAttempt(attempt: number, worker: string, startedAt: number): AttemptState {
  return { attempt, worker, phase: "working", cutShort: false, startedAt, fellThrough: [], gates: [] };
}

/** No runner works on these any more: what was not decided never will be by this attempt. */
export function cutShort(state: RunState): RunState {
  if (
    state.contracts.every((contract) => contract.attempts.every((attempt) => !isUndecided(attempt) || attempt.cutShort))
  )
    return state;
  const contracts = state.contracts.map((contract) => ({
    ...contract,
    attempts: contract.attempts.map((attempt) => (isUndecided(attempt) ? { ...attempt, cutShort: true } : attempt)),
  }));
  return { ...state, contracts };
}

function isUndecided(attempt: AttemptState): boolean {
  return attempt.phase !== "decided" && !isJudgedOnly(attempt);
}

function endJudging(state: RunState): RunState {
  const contracts = state.contracts.map((contract): ContractState =>
    contract.phase === "running" && contract.attempts.length > 0 && contract.attempts.every(isJudgedOnly)
      ? { ...contract, phase: "judged" }
      : contract,
  );
  return { ...state, contracts };
}

function cancelContracts(state: RunState): RunState {
  const contracts = state.contracts.map((contract): ContractState =>
    contract.phase === "queued" || contract.phase === "running" ? { ...contract, phase: "cancelled" } : contract,
  );
  return { ...state, contracts };
}

function asked(state: RunState, ask: PendingAsk): RunState {
  return { ...state, pending: [...state.pending.filter((other) => other.id !== ask.id), ask] };
}

function answered(state: RunState, id: string): RunState {
  return { ...state, pending: state.pending.filter((ask) => ask.id !== id) };
}

function plus(sum: Usage | undefined, usage: Usage): Usage {
  return sum === undefined ? usage : addUsage(sum, usage);
}

// Events carry their envelope; what is kept of them does not.
function plainProcess({
  pid,
  startTime,
  marker,
  what,
  contract,
  attempt,
}: EventBody<"process.started">): EventBody<"process.started"> {
  return {
    pid,
    startTime,
    marker,
    what,
    ...(contract === undefined ? {} : { contract }),
    ...(attempt === undefined ? {} : { attempt }),
  };
}

function plainResult({
  ok,
  code,
  summary,
  next,
  data,
  error,
}: EventBody<"command.finished">): EventBody<"command.finished"> {
  return {
    ok,
    code,
    summary,
    next,
    ...(data === undefined ? {} : { data }),
    ...(error === undefined ? {} : { error }),
  };
}
