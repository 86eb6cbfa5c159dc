import { count } from "../base/lines.ts";
import { type AbsPath, baseName } from "../base/paths.ts";
import { contractLedger, type ContractRow } from "../events/contract-ledger.ts";
import { finalDue } from "../events/final-due.ts";
import { isLeftBehind } from "../events/left-behind.ts";
import type { RunState } from "../events/run-state.ts";
import { isOver } from "../events/standing.ts";
import { plain } from "../events/words.ts";
import { nameSome } from "../features/branches.ts";
import type { SlotState } from "../ports/slots.ts";
import type { TrashItem } from "../ports/trash.ts";
import type { WorktreeRow } from "../ports/worktrees.ts";
import { neededRuns } from "./needed-runs.ts";
import type { RunLook } from "./run-look.ts";

/** What `clean` would do, from what is there: pure, so that the question and the doing agree. */
export interface CleanFacts {
  /** Newest first. */
  readonly runs: readonly RunLook[];
  /** This command's own run. */
  readonly self: string;
  readonly rows: readonly WorktreeRow[];
  /** Programs that work in a worktree, by its folder. */
  readonly standing: ReadonlyMap<AbsPath, readonly number[]>;
  /** The machine's places for workers. */
  readonly slots: readonly SlotState[];
  readonly stored: readonly TrashItem[];
  readonly keepRuns: number;
  readonly now: number;
  readonly all: boolean;
  readonly purge: boolean;
}

export interface CleanPlan {
  readonly worktrees: readonly WorktreeRow[];
  readonly runs: readonly RunLook[];
  /** Work that somebody may count on, and that goes with those runs: `T1 (accepted, not merged)`. */
  readonly open: readonly string[];
  /** Held for workers that Orch did not start; the worktree of such a place stays unless it is named here, too. */
  readonly places: readonly HeldPlace[];
  readonly purge: readonly TrashItem[];
  /** Left, and why: one line each. */
  readonly kept: readonly string[];
  /** Processes left running in worktrees of nobody. */
  readonly processes: readonly { readonly folder: AbsPath; readonly pids: readonly number[] }[];
}

export interface HeldPlace {
  readonly contract: string;
  readonly number: number;
  /** What gives it back. */
  readonly token: string;
}

export function planClean(facts: CleanFacts): CleanPlan {
  const { runs, self, all } = facts;
  const byRun = new Map(runs.map((look) => [look.run, look]));
  const closed = closedWork(runs);
  const states = runs.map(({ state }) => state);
  const ledger = contractLedger(states);
  const goesOn = ({ standing, state }: RunLook): boolean => !isOver(standing) && !isLeftBehind(state, states, ledger);
  const kept: string[] = [];
  const worktrees: WorktreeRow[] = [];
  for (const row of facts.rows) {
    const pids = facts.standing.get(row.folder) ?? [];
    const why = row.use.kind === "used" ? undefined : whyKept(row, facts, { byRun, closed, goesOn, ledger });
    if (row.use.kind === "used") kept.push(`${shownRow(row)} is worked in`);
    else if (pids.length > 0) kept.push(`${shownRow(row)} is where ${processText(pids)} works`);
    else if (why === undefined) worktrees.push(row);
    else kept.push(`${shownRow(row)} ${why}`);
  }
  const old: RunLook[] = [];
  const others = runs.filter(({ run }) => run !== self);
  others.forEach((look, at) => {
    if (!all && at < facts.keepRuns) return;
    if (look.alive || !isOver(look.standing)) {
      if (at >= facts.keepRuns) kept.push(`run ${look.run} is ${look.standing}`);
    } else if (!all && openWork(look, closed, facts)) kept.push(`run ${look.run} awaits a review`);
    else old.push(look);
  });
  const needed = neededRuns(runs, ledger, new Set(old.map(({ run }) => run)), all);
  for (const [run, why] of needed) kept.push(`run ${run} ${why}`);
  const going = old.filter(({ run }) => !needed.has(run));
  const left = [...facts.standing].filter(([folder, pids]) => {
    const row = facts.rows.find((one) => one.folder === folder);
    return pids.length > 0 && row?.use.kind !== "used";
  });
  return {
    worktrees,
    runs: going,
    open: openIn(ledger, states, new Set(going.map(({ run }) => run))),
    places: heldPlaces(facts),
    purge: facts.purge ? facts.stored : [],
    kept,
    processes: left.map(([folder, pids]) => ({ folder, pids })),
  };
}

interface Known {
  readonly byRun: ReadonlyMap<string, RunLook>;
  readonly closed: ReadonlySet<string>;
  readonly goesOn: (look: RunLook) => boolean;
  readonly ledger: readonly ContractRow[];
}

function whyKept(
  { use }: WorktreeRow,
  { all, now, runs }: CleanFacts,
  { byRun, closed, goesOn, ledger }: Known,
): string | undefined {
  if (all) return undefined;
  if (use.kind === "pooled") return "waits for the next contract (clean --all removes it)";
  if (use.kind === "used" || use.run === undefined) return undefined;
  const look = byRun.get(use.run);
  if (look === undefined) return undefined;
  if (goesOn(look)) return `belongs to a run that can go on: orch resume ${look.run}, or orch cancel ${look.run}`;
  const state = look.state.contracts.find(({ id }) => id === use.contract);
  if (isPrepared(use.run, use.contract, runs, now) && !closed.has(`${use.run}/${use.contract}`)) {
    const row = ledger.find(({ id }) => id === use.contract);
    const isJudged = row?.phase === "awaiting-review" && row.review === undefined;
    return isJudged
      ? `awaits a review: orch review ${use.contract}`
      : `is prepared for a worker: orch guard ${use.contract}, or orch clean --all`;
  }
  return state !== undefined && isOpen(look.run, state, closed, now) ? "awaits a review" : undefined;
}

/** `run/contract` whose work was merged or taken over, which the log of another run says, and all that came before it. */
function closedWork(runs: readonly RunLook[]): ReadonlySet<string> {
  const closed = new Set<string>();
  const close = (id: string, work: string): void => {
    closed.add(`${work}/${id}`);
    const at = runs.findIndex(({ run }) => run === work);
    if (at !== -1) for (const { run } of runs.slice(at)) closed.add(`${run}/${id}`);
  };
  for (const { state } of runs) {
    for (const { id, merged, reviews } of state.contracts) {
      if (merged !== undefined) close(id, merged.work);
      for (const { verb, work } of reviews ?? []) if (verb === "take-over" && work !== undefined) close(id, work);
    }
  }
  return closed;
}

/**
 * Whether somebody's worker may have left work in the worktree of that run. Its time limits the place of the machine only:
 * what lies there is judged whenever `guard` is asked, unless the contract was prepared anew elsewhere.
 */
function isPrepared(run: string, contract: string | undefined, runs: readonly RunLook[], now: number): boolean {
  const places = runs.flatMap((look) =>
    look.state.contracts.flatMap(({ id, prepared }) =>
      prepared !== undefined && id === contract ? { in: prepared.worktree ?? look.run, until: prepared.until } : [],
    ),
  );
  return places.some((place, at) => place.in === run && (at === 0 || place.until > now));
}

/** This repository's prepared places, but for those whose worker is seen at work. */
function heldPlaces({ runs, rows, slots, standing }: CleanFacts): readonly HeldPlace[] {
  const busy = (run: string, contract: string): boolean =>
    rows.some(
      ({ folder, use }) =>
        use.kind !== "pooled" &&
        use.run === run &&
        use.contract === contract &&
        (standing.get(folder) ?? []).length > 0,
    );
  return slots.flatMap((slot) => {
    if (slot.kind === "free" || slot.until === undefined || slot.tenant === undefined) return [];
    const { run, contract } = slot.tenant;
    const place = runs.find((look) => look.run === run)?.state.contracts.find(({ id }) => id === contract)?.prepared;
    if (place === undefined || busy(place.worktree ?? run, contract)) return [];
    return [{ contract, number: slot.number, token: place.slot }];
  });
}

function openWork({ run, state }: RunLook, closed: ReadonlySet<string>, { rows, runs, now }: CleanFacts): boolean {
  return state.contracts.some((contract) => {
    if (isOpen(run, contract, closed, now)) return true;
    // Without its run nobody would know what the worktree was prepared for.
    const { id, prepared } = contract;
    const place = prepared?.worktree ?? run;
    const stays = rows.some(({ use }) => use.kind === "leftover" && use.run === place && use.contract === id);
    return prepared !== undefined && stays && !closed.has(`${run}/${id}`) && isPrepared(place, id, runs, now);
  });
}

function isOpen(
  run: string,
  { id, phase, prepared }: RunState["contracts"][number],
  closed: ReadonlySet<string>,
  now: number,
): boolean {
  if (closed.has(`${run}/${id}`)) return false;
  return phase === "awaiting-review" || (prepared !== undefined && prepared.until > now);
}

export function shownRow({ folder, use }: WorktreeRow): string {
  const of = use.kind === "pooled" ? "" : use.contract === undefined ? "" : ` of ${use.contract}`;
  return `worktree ${baseName(folder)}${of}`;
}

export const processText = (pids: readonly number[]): string =>
  `${pids.length === 1 ? "process" : "processes"} ${pids.join(", ")}`;

export function isEmpty({ worktrees, runs, places, purge }: CleanPlan): boolean {
  return [worktrees, runs, places, purge].every((some) => some.length === 0);
}

/** `2 places of prepared workers`. */
export const placesText = ({ places }: CleanPlan): string =>
  count(places.length, "place of a prepared worker", "places of prepared workers");

/** `run r-20261201-054116-2x6d, review T1`: how a person knows it again among others. */
export function shownRun({ run, state }: RunLook): string {
  const ids = state.contracts.map(({ id }) => id);
  const title = state.title === "" ? state.command : state.title;
  return `run ${run}, ${plain(ids.length === 0 ? title : `${state.command} ${nameSome(ids)}`)}`;
}

/** What would be missed first: the newest work of contracts that is not through yet. */
function openIn(
  rows: readonly ContractRow[],
  runs: readonly RunState[],
  going: ReadonlySet<string>,
): readonly string[] {
  const due = new Set(finalDue(rows, runs).map(({ id }) => id));
  return rows.flatMap((row) => {
    const how = going.has(row.run) ? openHow(row, due.has(row.id)) : undefined;
    return how === undefined ? [] : [`${row.id} (${how})`];
  });
}

function openHow({ merged, phase, review, command }: ContractRow, isDue: boolean): string | undefined {
  if (merged) return isDue ? "merged, orch final is due" : undefined;
  if (review?.verb === "take-over") return undefined;
  if (phase === "queued" && command === "prepare") return "prepared";
  if (phase !== "awaiting-review") return undefined;
  if (review === undefined) return "awaits a review";
  return review.verb === "accept" ? "accepted, not merged" : "to be revised";
}

/** With what a person would miss: `2 runs, and with them T1 (accepted, not merged)`. */
export function whatGoes(plan: Pick<CleanPlan, "worktrees" | "runs" | "open">): string {
  return plan.open.length === 0 ? inNumbers(plan) : `${inNumbers(plan)}, and with them ${nameSome(plan.open)}`;
}

/** In numbers: `2 worktrees (5 changed files) and 3 runs`. */
export function inNumbers({ worktrees, runs }: Pick<CleanPlan, "worktrees" | "runs">): string {
  const changed = worktrees.reduce((sum, row) => sum + row.changed.length, 0);
  const parts = [
    ...(worktrees.length === 0 ? [] : [`${count(worktrees.length, "worktree")} (${count(changed, "changed file")})`]),
    ...(runs.length === 0 ? [] : [count(runs.length, "run")]),
  ];
  return parts.join(" and ");
}

export function purgeText({ purge }: CleanPlan): string {
  const files = purge.reduce((sum, item) => sum + item.files, 0);
  const branches = purge.reduce((sum, item) => sum + item.branches.length, 0);
  const many = count(purge.length, "stored entry", "stored entries");
  return `${many} with ${count(files, "file")} and ${count(branches, "branch", "branches")}`;
}
