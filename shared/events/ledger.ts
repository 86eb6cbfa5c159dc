import { count } from "../base/lines.ts";
import { modelText } from "../model/completion.ts";
import type { Usage } from "../model/usage.ts";
import { asSeen, nextCommands, replyCommand } from "./project.ts";
import {
  decisionText,
  durationText,
  gateText,
  judgedText,
  limitText,
  phaseText,
  plain,
  usageText,
  verdictText,
} from "./words.ts";
import { type AttemptState, type ContractState, isJudgedOnly, type RunState } from "./run-state.ts";
import { isOver, type Standing, standingOf } from "./standing.ts";

/** One run as a row of `orch runs` and of the ledger. */
export interface LedgerRow {
  readonly run: string;
  readonly command: string;
  readonly title: string;
  readonly standing: Standing;
  /** Exit code of a run that ended. */
  readonly code?: number;
  readonly host?: string;
  readonly startedAt?: number;
  /** From the first event to the end, or to the last event. */
  readonly elapsedMs: number;
  readonly contracts: number;
  readonly attempts: number;
  readonly modelCalls: number;
  readonly usage?: Usage;
  readonly commits: readonly string[];
  readonly pending: readonly string[];
  readonly summary: string;
}

export function ledgerRow(state: RunState, alive: boolean): LedgerRow {
  return {
    run: state.run,
    command: state.command,
    title: plain(state.title),
    standing: standingOf(state, alive),
    ...(state.result === undefined ? {} : { code: state.result.code }),
    ...(state.host === undefined ? {} : { host: state.host }),
    ...(state.startedAt === undefined ? {} : { startedAt: state.startedAt }),
    elapsedMs: Math.max(0, (state.lastAt ?? 0) - (state.startedAt ?? state.lastAt ?? 0)),
    contracts: state.contracts.length,
    attempts: state.contracts.reduce(
      (sum, { attempts }) => sum + attempts.filter((one) => !isJudgedOnly(one)).length,
      0,
    ),
    modelCalls: state.modelCalls,
    ...(state.usage === undefined ? {} : { usage: state.usage }),
    commits: state.commits.map(({ commit }) => commit),
    pending: state.pending.map(({ id }) => id),
    summary: plain(state.result?.summary ?? state.parked?.why ?? state.note ?? ""),
  };
}

/** A run in lines of text: what it is, how it stands, what it did, what it cost, what to type. */
export function summary(state: RunState, alive: boolean, left = false): readonly string[] {
  const standing = standingOf(state, alive);
  const row = ledgerRow(state, alive);
  const what = row.title === "" ? row.command : row.title;
  return [
    `${state.run}  ${standing}  ${what}`,
    ...(state.result === undefined ? [] : [`  ${plain(state.result.summary)}`]),
    ...(state.result?.error === undefined ? [] : [`  ${plain(state.result.error.hint)}`]),
    ...(state.parked === undefined || state.pending.length > 0
      ? []
      : [`  parked: ${plain(state.parked.why)}`, ...(left ? [] : [`  ${plain(state.parked.hint)}`])]),
    ...(left ? ["  its work went on without it"] : []),
    ...(state.cancelledBy === undefined ? [] : [`  cancelled by ${plain(state.cancelledBy)}`]),
    ...(standing === "interrupted" ? ["  its runner is gone and wrote no end; nothing it had logged is lost"] : []),
    ...state.pending.flatMap((ask) => [
      `  ${ask.weight} ${ask.id}: ${plain(ask.title)}`,
      ...(ask.detail === undefined ? [] : ask.detail.split("\n").map((line) => `    ${plain(line)}`)),
      ...ask.choices.map(({ id, label }) => `    ${id}: ${plain(label)}`),
      ...(isOver(standing) || left ? [] : [`    ${replyCommand(ask)}`]),
    ]),
    ...asSeen(state, alive).contracts.flatMap((contract) => contractLines(contract, alive)),
    ...state.commits.map(
      ({ commit, branch, subject, pushed }) =>
        `  commit ${commit.slice(0, 10)} on ${branch}: ${plain(subject)}${pushed ? ", pushed" : ""}`,
    ),
    ...(state.trash.length === 0 ? [] : [`  stored for restore: ${state.trash.join(", ")}`]),
    ...(state.budget === undefined ? [] : [`  ${limitText(state.budget)}`]),
    `  ${durationText(row.elapsedMs)}, ${count(row.attempts, "attempt")}, ${usageText(state)}`,
    ...(state.unknown === 0 ? [] : [`  ${count(state.unknown, "event")} of a newer Orch`]),
    ...state.faults.map((fault) => `  the log is damaged: ${plain(fault)}`),
    ...nextCommands(state, alive, left).map((command) => `  ${nextText(command)}`),
  ];
}

/** `edit <path>` is for hosts: in a line of text it is words. */
const nextText = (command: string): string => command.replace(/^(?!edit )/, "Next: ").replace(/^edit /, "Edit ");

function contractLines(contract: ContractState, alive: boolean): string[] {
  const said = contract.phase === "judged" ? judgedText(contract) : contract.why;
  const why = said === undefined ? "" : `: ${plain(said)}`;
  return [`  ${contract.id}  ${phaseText(contract, alive)}${why}`, ...contract.attempts.flatMap(attemptLines)];
}

function attemptLines(attempt: AttemptState): string[] {
  const verdict =
    attempt.verdict === undefined ? (attempt.cutShort ? "cut short" : attempt.phase) : verdictText(attempt.verdict);
  const time = attempt.durationMs === undefined ? "" : `, ${durationText(attempt.durationMs)}`;
  return [
    ...(isJudgedOnly(attempt)
      ? []
      : [
          `    attempt ${attempt.attempt} with ${plain(modelText(attempt.model ?? attempt.worker, attempt.label))}: ${verdict}${time}`,
        ]),
    ...attempt.fellThrough.map(({ model, why }) => `      ${plain(model)} gave nothing usable: ${plain(why)}`),
    ...attempt.gates
      .filter(({ status, findings }) => status !== "ran" || findings.length > 0)
      .map((gate) => `      ${gate.gate}: ${gateText(gate)}`),
    ...(attempt.decision === undefined ? [] : [`      ${decisionText(attempt.decision)}`]),
    ...(attempt.feedback === undefined ? [] : [`      feedback: ${attempt.feedback.path}`]),
  ];
}
