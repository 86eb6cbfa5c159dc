import { count } from "../base/lines.ts";
import { shellWord } from "../base/shell-word.ts";
import type { ContractOutcome } from "../engine/run-contract.ts";
import type { WaveOutcome } from "../engine/wave.ts";
import { type ContractRow, contractLine, rowsOfRun } from "../events/contract-ledger.ts";
import { usageText } from "../events/words.ts";
import { foldRun } from "../events/reduce.ts";
import type { RunState } from "../events/run-state.ts";
import type { CommandResult } from "../model/command-result.ts";
import type { Contract } from "../model/contract.ts";
import { type ExitCode, exitCodes } from "../model/exit-code.ts";
import { parkingCodes } from "../model/run.ts";
import type { Editor } from "../ports/editor.ts";
import type { RepoContext } from "./context.ts";
import type { RunsContext } from "./run-look.ts";
import type { WaveParts } from "./wave-parts.ts";

/** The result of a command that ran a wave, from the log as it stands; what a person must see is said to the editor, too. */
export async function endWave(
  { run, runDir, runs, editor }: Pick<RepoContext & RunsContext, "run" | "runDir" | "runs" | "editor">,
  wave: WaveOutcome,
  pathOf: (contract: string) => string,
  otherOf?: OtherWorker,
): Promise<CommandResult> {
  const result = waveResult(foldRun(run, await runs.events(runDir)), wave, pathOf, otherOf);
  tellWaiting(editor, result);
  return result;
}

/** A usable worker of the contract's own ladder that was not asked yet. */
export type OtherWorker = (row: ContractRow) => string | undefined;

export function otherRung(parts: Pick<WaveParts, "ladderOf">, contracts: readonly Contract[]): OtherWorker {
  return ({ id, workers }) => {
    // Nobody was asked yet: another one is no way on.
    if (workers.length === 0) return undefined;
    const contract = contracts.find((one) => one.id === id);
    const ladder = contract === undefined ? [] : parts.ladderOf(contract).ladder;
    return ladder.find((worker) => !workers.includes(worker.id))?.id;
  };
}

/** How a wave ended: a compact line for each contract, and what a lead may do now. */
export function waveResult(
  state: RunState,
  wave: WaveOutcome,
  pathOf: (contract: string) => string,
  otherOf: OtherWorker = () => undefined,
): CommandResult {
  const rows = rowsOfRun(state);
  const code = exitOf(wave);
  const text = rows.flatMap((row) => [
    contractLine(row),
    ...waysOn(row, pathOf(row.id), otherOf(row)).map((way) => `    ${way}`),
  ]);
  const parked = wave.outcomes.find(isWaiting);
  return {
    ok: code === 0,
    code,
    summary: summaryOf(rows, state),
    next: nextOf(rows, state.run, pathOf, otherOf),
    data: {
      run: state.run,
      contracts: rows,
      passed: wave.passed,
      failed: wave.failed,
      skipped: wave.skipped,
      // Why contracts are BLOCKED, for hosts that show findings at their place.
      findings: wave.outcomes.filter(({ state: at }) => at === "blocked").flatMap(({ findings }) => findings),
      text: [...text, usageText(state)],
    },
    ...(parked === undefined ? {} : { error: errorOf(parked, state.run) }),
  };
}

/** What only a person can settle weighs most, then a wrong contract, then work that failed. */
export function exitOf(wave: Pick<WaveOutcome, "outcomes" | "failed" | "skipped">): ExitCode {
  const states = wave.outcomes.map(({ state }) => state);
  if (states.includes("needs-lead"))
    return wave.outcomes.every((one) => one.state !== "needs-lead" || isBudget(one))
      ? exitCodes.budget
      : exitCodes.decide;
  if (states.includes("blocked")) return exitCodes.blocked;
  return wave.failed.length + wave.skipped.length > 0 ? exitCodes.failed : exitCodes.ok;
}

function isBudget({ decision }: ContractOutcome): boolean {
  return decision.kind === "needs-lead" && decision.reason === "budget";
}

/** After BLOCKED, NEEDS_LEAD and a ladder that was used up: the three ways on. */
export function waysOn(
  row: Pick<ContractRow, "id" | "phase" | "title">,
  path: string,
  other?: string,
): readonly string[] {
  if (row.phase !== "blocked" && row.phase !== "needs-lead" && row.phase !== "failed") return [];
  const file = shellWord(path);
  return [
    `fix the contract and re-run: orch run --title ${shellWord(row.title)} ${file}`,
    other === undefined
      ? `hand it to another worker (orch doctor lists them): orch dispatch ${file} --worker ID`
      : `hand it to another worker: orch dispatch ${file} --worker ${shellWord(other)}`,
    `take over: orch review ${row.id} --take-over`,
  ];
}

function summaryOf(rows: readonly ContractRow[], { title }: RunState): string {
  const of = (...phases: readonly ContractRow["phase"][]): number =>
    rows.filter(({ phase }) => phases.includes(phase)).length;
  const parts = [
    [of("awaiting-review", "accepted"), "passed"],
    [of("failed"), "failed"],
    [of("blocked"), "blocked"],
    [of("needs-lead"), "for you to decide"],
    [of("skipped", "queued"), "skipped"],
  ] as const;
  const said = parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`);
  return `${title}: ${count(rows.length, "contract")}, ${said.join(", ")}`;
}

function nextOf(
  rows: readonly ContractRow[],
  run: string,
  pathOf: (contract: string) => string,
  otherOf: OtherWorker,
): readonly string[] {
  const reviews = rows.filter(({ phase }) => phase === "awaiting-review").map(({ id }) => `orch review ${id}`);
  const [stuck] = rows.filter((row) => waysOn(row, "").length > 0);
  const way = stuck === undefined ? undefined : wayOn(stuck, pathOf(stuck.id), otherOf(stuck));
  return [...reviews.slice(0, 3), ...(way === undefined ? [] : [way]), `orch status ${run}`];
}

/** Only what can be typed as it stands. */
function wayOn({ id, phase, attempts }: ContractRow, path: string, other: string | undefined): string | undefined {
  if (phase === "blocked" && attempts === 0) return `orch check ${shellWord(path)}`;
  if (other !== undefined) return `orch dispatch ${shellWord(path)} --worker ${shellWord(other)}`;
  return attempts === 0 ? undefined : `orch review ${id}`;
}

/** What a person mends outside of the contract: the run waits for it, and goes on with just these. */
const waitingReasons: ReadonlySet<string> = new Set(["environment", "models", "worker-protocol", "gate-broken"]);

function isWaiting({ decision, code }: ContractOutcome): boolean {
  if (code !== undefined && parkingCodes.has(code)) return true;
  return decision.kind === "needs-lead" && waitingReasons.has(decision.reason);
}

function errorOf({ contract, decision, code }: ContractOutcome, run: string): NonNullable<CommandResult["error"]> {
  const { why = "", hint = "" } = decision.kind === "needs-lead" ? decision : {};
  const message = `${contract} needs you: ${why}`;
  if (code !== undefined && parkingCodes.has(code)) return { code, message, hint };
  const said = hint.replace(/,? then run the command again$/, "");
  const mend = said === "" ? "" : `${said}. `;
  return { code: "contract.needs-lead", message, hint: `${mend}Then go on with: orch resume ${run}` };
}

/** A run that waits has no end to print: its lines are said before it parks. */
export function tellWaiting(editor: Pick<Editor, "notify">, { data, error }: CommandResult): void {
  if (error === undefined || typeof data !== "object" || data === null || !("text" in data)) return;
  for (const line of Array.isArray(data.text) ? data.text : [])
    if (typeof line === "string") editor.notify({ severity: "info", text: line });
}
