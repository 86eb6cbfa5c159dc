import { inRoot } from "../base/paths.ts";
import type { PreparedPlace } from "../events/run-state.ts";
import type { ContractRow } from "../events/contract-ledger.ts";
import type { Ledger } from "./contract-rows.ts";
import type { WaveContext } from "./contract-wave.ts";

/** Where a worker that Orch did not start works, and the run whose worktree that is. */
export interface FoundPlace {
  readonly place: PreparedPlace;
  readonly worktree: string;
}

/** The newest one; a place that was judged already is judged again as it is now. */
export function preparedPlace({ runs }: Ledger, contract: string, self: string): FoundPlace | undefined {
  for (const { run, contracts } of runs) {
    const place = contracts.find(({ id }) => id === contract)?.prepared;
    if (place !== undefined && run !== self) return { place, worktree: place.worktree ?? run };
  }
  return undefined;
}

export interface WorkGoesOn {
  /** The run whose worktree it is. */
  readonly worktree: string;
  /** Its place of the machine, which may be held still. */
  readonly slot: string;
  /** Whether `guard` has judged it since. */
  readonly judged: boolean;
  /** What the guard found in it last. */
  readonly feedback?: string;
}

/**
 * A place that was prepared and did not pass, as long as its worktree is there: the next worker goes on in it. One that
 * nobody has judged yet is no other case: what lies in it would be judged by no `guard` once another place is newer.
 */
export async function goesOnIn(
  context: Pick<WaveContext, "run" | "runs" | "files" | "worktreesOf">,
  ledger: Ledger,
  contract: string,
): Promise<WorkGoesOn | undefined> {
  const row = ledger.rows.find(({ id }) => id === contract);
  if (row === undefined || !(isPrepared(row) || isSentBack(row))) return undefined;
  const found = preparedPlace(ledger, contract, context.run);
  if (found === undefined || !(await context.worktreesOf(found.worktree).holds(contract))) return undefined;
  const folder = await context.runs.find(row.run);
  const text =
    folder === undefined
      ? undefined
      : await context.files.readText(inRoot(folder.dir, contract, `attempt-${row.attempt}`, "feedback.md"));
  const judged = !isPrepared(row);
  return {
    worktree: found.worktree,
    slot: found.place.slot,
    judged,
    ...(text === undefined ? {} : { feedback: text }),
  };
}

function isPrepared({ command, phase, review }: ContractRow): boolean {
  return command === "prepare" && phase === "queued" && review === undefined;
}

function isSentBack({ command, phase, review }: ContractRow): boolean {
  return command === "guard" && review === undefined && (phase === "failed" || phase === "blocked");
}
