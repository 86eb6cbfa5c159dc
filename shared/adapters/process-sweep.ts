import fs from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessSweep } from "../ports/process.ts";
import type { ProcessRow, ProcessTable, Tool } from "./process-table.ts";

/** Name under which a spec's marker is carried in a program's environment. */
export const markerName = "ORCH_ATTEMPT";

/** Name under which every git of a run carries the run's id. */
export const runName = "ORCH_RUN";

const termMs = 500;
const pollMs = 10;
/** A program that forks while it is ended can have a child we did not list: look again, but not for ever. */
const rounds = 5;

/**
 * Ends what is left. It never ends this process, one of its ancestors, another user's process, or (by folder alone) a
 * program of a terminal: a person's shell may stand in the folder too. The folder this process works in is never swept.
 */
export function createProcessSweep(table: ProcessTable, tool: Tool): ProcessSweep {
  return {
    endLeftovers: ({ marker, folder }) =>
      endMatching(table, tool, { entry: marker === undefined ? undefined : `${markerName}=${marker}`, folder }),
    async endIfSame(pid, startTime) {
      if (table.startTimeOf(pid) !== startTime || pid === process.pid) return false;
      const group = groupOf(table, pid);
      kill(group, "SIGTERM", table.platform, tool);
      for (let waited = 0; waited < termMs && isGroupAlive(table, group, pid); waited += pollMs) await delay(pollMs);
      if (isGroupAlive(table, group, pid)) kill(group, "SIGKILL", table.platform, tool);
      await gone(table, [pid]);
      return true;
    },
    ofRun(run, folder) {
      const real = realPath(folder);
      const rows = endable(table.rows());
      const here = new Set(table.workingIn(rows, real));
      return table.withEnvironment(
        rows.filter(({ pid }) => here.has(pid)),
        `${runName}=${run}`,
      );
    },
    standingIn: (folder) => table.workingIn(endable(table.rows()), realPath(folder)),
    withMarker: (marker) => table.withEnvironment(endable(table.rows()), `${markerName}=${marker}`),
    isAlive: (pid, startTime) => table.startTimeOf(pid) === startTime,
    startTimeOf: (pid) => table.startTimeOf(pid),
  };
}

/**
 * Ends, again and again until nothing is found, what carries `entry` in its environment or stands in `folder`. Nothing is
 * found twice before that counts: one that ends while it is looked at can have a child born after the look.
 */
export async function endMatching(
  table: ProcessTable,
  tool: Tool,
  what: { readonly entry: string | undefined; readonly folder?: string | undefined },
): Promise<readonly number[]> {
  const folder = what.folder === undefined ? undefined : worktreeOf(what.folder);
  const ended = new Set<number>();
  let empty = 0;
  for (let round = 0; round < rounds; round += 1) {
    const rows = endable(table.rows());
    const found = new Set<number>();
    if (what.entry !== undefined) for (const pid of table.withEnvironment(rows, what.entry)) found.add(pid);
    if (folder !== undefined) {
      for (const pid of table.workingIn(
        rows.filter((row) => !row.terminal),
        folder,
      ))
        found.add(pid);
    }
    if (found.size === 0) {
      empty += 1;
      if (empty === 2) break;
      await delay(pollMs);
      continue;
    }
    empty = 0;
    for (const pid of found) {
      kill(pid, "SIGKILL", table.platform, tool);
      ended.add(pid);
    }
    await gone(table, [...found]);
  }
  return [...ended].toSorted((a, b) => a - b);
}

/** Programs that carry `entry` in their environment and still run. */
export function carriersOf(table: ProcessTable, entry: string): readonly number[] {
  return table.withEnvironment(endable(table.rows()), entry);
}

/** Members of a process group that still run. */
export function groupMembers(table: ProcessTable, group: number): number[] {
  if (table.platform === "win32" || !answers(-group)) return [];
  return table.rows().flatMap((row) => (row.group === group && !row.zombie ? [row.pid] : []));
}

/** Ends a pid, or a group when `pid` is negative. What is gone already is fine. */
export function kill(pid: number, signal: NodeJS.Signals, platform: ProcessTable["platform"], tool: Tool): void {
  if (platform === "win32") {
    tool(["taskkill", "/pid", String(Math.abs(pid)), "/T", "/F"]);
    return;
  }
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile, or not ours to end: the next look at the table decides.
  }
}

function endable(rows: readonly ProcessRow[]): ProcessRow[] {
  const parents = new Map(rows.map((row) => [row.pid, row.parent]));
  const spared = new Set<number>();
  for (
    let pid: number | undefined = process.pid;
    pid !== undefined && pid > 0 && !spared.has(pid);
    pid = parents.get(pid)
  ) {
    spared.add(pid);
  }
  return rows.filter((row) => row.mine && !row.zombie && !spared.has(row.pid));
}

/** The group to signal, as a negative number, when `pid` leads one; else only the process. */
function groupOf(table: ProcessTable, pid: number): number {
  if (table.platform === "win32") return pid;
  return table.rows().some((row) => row.pid === pid && row.group === pid) ? -pid : pid;
}

function isGroupAlive(table: ProcessTable, group: number, pid: number): boolean {
  return group < 0 ? groupMembers(table, -group).length > 0 : table.startTimeOf(pid) !== undefined;
}

async function gone(table: ProcessTable, pids: readonly number[]): Promise<void> {
  for (let waited = 0; waited < 1000 && pids.some((pid) => table.startTimeOf(pid) !== undefined); waited += pollMs) {
    await delay(pollMs);
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * The real path to sweep, or undefined when this process stands in it: that is no worker's folder but the checkout,
 * where a person's editors and watchers stand too.
 */
function worktreeOf(folder: string): string | undefined {
  const real = realPath(folder);
  const here = realPath(process.cwd());
  return here === real || here.startsWith(real.endsWith("/") ? real : `${real}/`) ? undefined : real;
}

function realPath(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    return path; // removed already: a process may still stand in it
  }
}
