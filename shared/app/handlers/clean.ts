import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { type AbsPath, absPath, dirName, inRoot, type RepoPath } from "../../base/paths.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import type { TrashItem } from "../../ports/trash.ts";
import type { RunWorktrees } from "../../ports/worktrees.ts";
import {
  type CleanPlan,
  inNumbers,
  isEmpty,
  placesText,
  planClean,
  processText,
  purgeText,
  shownRow,
  shownRun,
  whatGoes,
} from "../clean-plan.ts";
import { commandAgain } from "../again.ts";
import { createSlotsOf } from "../open-worktrees.ts";
import { confirm } from "../confirm.ts";
import type { CommandArgs, Handler } from "../context.ts";
import type { WaveContext } from "../contract-wave.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { lookAtAll, type RunLook } from "../run-look.ts";

/**
 * Removes worktrees and old runs; what is in no commit is stored for `restore` first. Nothing of a run that is alive is
 * touched, and no folder that a program works in. The question is asked without the lock, and the answer counts only for
 * what it was given for.
 */
export const clean: Handler<WaveContext> = async (context, args, signal) => {
  const worktrees = context.worktreesOf(context.run);
  const asked = await plan(context, args, worktrees, signal);
  if (args.dryRun || isEmpty(asked)) return await foretold(asked, args, worktrees, signal);
  const confirmed = await confirm(context.editor, args.yes, questionOf(asked), signal);
  if (confirmed === undefined) return { ok: false, code: 130, summary: "Nothing was removed", next: ["orch status"] };
  return await withRepositoryLock(context, "clean", signal, async () => {
    const now = await plan(context, args, worktrees, signal);
    if (namesOf(now).join("\n") !== namesOf(asked).join("\n")) {
      throw new OrchError("tree.changed", "worktrees, runs or stored entries changed while you were asked", {
        data: { paths: namesOf(now) },
      });
    }
    return await carryOut(context, now, worktrees, signal);
  });
};

async function plan(
  context: WaveContext,
  args: CommandArgs,
  worktrees: RunWorktrees,
  signal: AbortSignal,
): Promise<CleanPlan> {
  throwIfAborted(signal);
  const rows = await worktrees.list(signal);
  const standing = new Map<AbsPath, readonly number[]>();
  for (const { folder } of rows) standing.set(folder, context.process.standingIn(folder));
  return planClean({
    runs: await lookAtAll(context.runs),
    self: context.run,
    rows,
    standing,
    slots: await createSlotsOf(context).list(),
    stored: args.purge === true ? await context.trash.list() : [],
    keepRuns: context.config.keep_runs,
    now: context.clock.now(),
    all: args.all === true,
    purge: args.purge === true,
  });
}

/** What the answer was given for. */
function namesOf({ worktrees, runs, places, purge }: CleanPlan): readonly string[] {
  return [
    ...worktrees.map(({ folder, changed }) => `${folder} ${changed.length}`),
    ...runs.map(({ run }) => run),
    ...places.map(({ token }) => token),
    ...purge.map(({ id }) => id),
  ];
}

function questionOf(going: CleanPlan): { readonly title: string; readonly detail: string; readonly yes: string } {
  const parts = [
    ...(going.worktrees.length + going.runs.length === 0
      ? []
      : [`Remove ${whatGoes(going)}; all of it can be restored`]),
    ...(going.places.length === 0 ? [] : [`Give back ${placesText(going)}`]),
    ...(going.purge.length === 0 ? [] : [`Forget ${purgeText(going)} for good`]),
  ];
  return {
    title: `${parts.join(". ")}?`,
    detail: linesOf(going).join("\n"),
    yes: yesOf(going),
  };
}

function yesOf({ worktrees, runs, purge }: CleanPlan): string {
  if (purge.length > 0) return "Remove and forget them";
  return worktrees.length + runs.length > 0 ? "Remove them" : "Give back";
}

const maxNamed = 30;

function linesOf({ worktrees, runs, places, purge, kept }: CleanPlan): readonly string[] {
  const some = (lines: readonly string[]): readonly string[] =>
    lines.length <= maxNamed ? lines : [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`];
  return [
    ...some(
      worktrees.map((row) => {
        const names = row.changed.slice(0, 3).join(", ");
        return `${shownRow(row)}: ${row.changed.length === 0 ? "nothing changed" : `${count(row.changed.length, "changed file")} (${names})`}`;
      }),
    ),
    ...some(runs.map(shownRun)),
    ...places.map(({ contract, number }) => `place ${number} of the machine, held for the worker of ${contract}`),
    ...some(purge.map(({ id, by, what, files }) => `stored ${id}: ${by} of ${what} (${count(files, "file")})`)),
    ...(purge.length === 0 ? [] : [insideText]),
    ...some(kept.map((line) => `stays: ${line}`)),
  ];
}

/** Said whenever the entries are to go. */
const insideText =
  "Stored entries may hold the only copy of uncommitted text, of ignored files such as .env with secrets in them, and of commits on no branch";

async function foretold(
  going: CleanPlan,
  args: CommandArgs,
  worktrees: RunWorktrees,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { dryRun } = args;
  const data = { ...dataOf(going), ...(dryRun ? { dryRun: true } : {}) };
  if (!isEmpty(going)) {
    const parts = [
      ...(inNumbers(going) === "" ? [] : [`remove ${whatGoes(going)}`]),
      ...(going.places.length === 0 ? [] : [`give back ${placesText(going)}`]),
      ...(going.purge.length === 0 ? [] : [`forget ${purgeText(going)}`]),
    ];
    return {
      ok: true,
      code: 0,
      summary: `Would ${parts.join(" and ")}; nothing was changed`,
      next: [commandAgain("clean", [], args)],
      data,
    };
  }
  if (!dryRun) await worktrees.sweep(signal);
  return { ok: true, code: 0, summary: `Nothing to remove${leftText(going)}`, next: nextOf(going), data };
}

function dataOf(going: CleanPlan): Record<string, unknown> {
  return {
    worktrees: going.worktrees.map(({ folder, use, changed }) => ({ folder, ...use, changed })),
    runs: going.runs.map(({ run }) => run),
    open: going.open,
    places: going.places.map(({ contract, number }) => ({ contract, place: number })),
    purged: going.purge.map(({ id }) => id),
    processes: going.processes,
    text: linesOf(going),
  };
}

function leftText({ processes, kept }: CleanPlan): string {
  const pids = processes.flatMap((one) => one.pids);
  if (pids.length > 0) return `; left running: ${processText(pids)}`;
  return kept.length === 0 ? "" : `; ${count(kept.length, "thing")} in use or kept for you`;
}

function nextOf({ processes }: CleanPlan, stored: readonly string[] = []): readonly string[] {
  const [first] = processes.flatMap((one) => one.pids);
  return [
    ...stored.slice(-1).map((id) => `orch restore ${id}`),
    ...(first === undefined ? [] : [`kill ${first}`]),
    "orch status",
  ];
}

async function carryOut(
  context: WaveContext,
  going: CleanPlan,
  worktrees: RunWorktrees,
  signal: AbortSignal,
): Promise<CommandResult> {
  const stored: string[] = [];
  for (const row of going.worktrees) {
    throwIfAborted(signal);
    const { trash } = await worktrees.remove(row, signal);
    if (trash !== undefined) stored.push(trash);
  }
  const slots = createSlotsOf(context);
  for (const { token } of going.places) await slots.release(token);
  const removed: string[] = [];
  for (const look of going.runs) {
    throwIfAborted(signal);
    const item = await removeRun(context, look);
    if (item === undefined) continue;
    stored.push(item.id);
    removed.push(look.run);
  }
  const purged = await context.trash.purge(going.purge.map(({ id }) => id));
  await worktrees.sweep(signal);
  const parts = [
    ...(inNumbers(going) === ""
      ? []
      : [`Removed ${inNumbers({ ...going, runs: going.runs.filter(({ run }) => removed.includes(run)) })}`]),
    ...(going.places.length === 0 ? [] : [`gave back ${placesText(going)}`]),
    ...(stored.length === 0 ? [] : [`stored for restore: ${count(stored.length, "entry", "entries")}`]),
    ...(purged.length === 0
      ? []
      : [`forgot ${count(purged.length, "stored entry", "stored entries")}; git gc --prune=now frees their space`]),
  ];
  const [first = "", ...rest] = parts;
  const summary = `${[first.charAt(0).toUpperCase() + first.slice(1), ...rest].join("; ")}${leftText({ ...going, kept: [] })}`;
  return {
    ok: true,
    code: 0,
    summary,
    next: nextOf(going, stored),
    data: { ...dataOf(going), removed, purged, stored },
  };
}

/** Under the run's own lock, so that nobody resumes it meanwhile; undefined when somebody did. */
async function removeRun(context: WaveContext, look: RunLook): Promise<TrashItem | undefined> {
  const { run, dir } = look;
  const { files, locks, trash, kept, sink, editor, root } = context;
  const taken = locks.try(inRoot(dir, "lock.db"), { run: context.run, host: editor.host, what: "clean" });
  if (taken.kind === "busy") return undefined;
  using _lock = taken.lock;
  const parent = absPath(dirName(dir));
  const what = shownRun(look);
  const here = parent === inRoot(root, ".orch", "runs");
  const item = await trash.store(
    here
      ? { by: "clean", what, keptOf: run, paths: [`.orch/runs/${run}` as RepoPath] }
      : {
          by: "clean",
          what,
          keptOf: run,
          paths: [run as RepoPath],
          from: { folder: parent, under: ".orch/runs" as RepoPath },
        },
  );
  sink.append({ type: "trash.stored", id: item.id, what, entries: item.files, bytes: item.bytes });
  for (const { run: of, contract } of await kept.list()) if (of === run) await kept.drop(of, contract);
  for (const { name, kind } of (await files.list(parent)) ?? []) {
    if (kind !== "symlink") continue;
    const target = await files.readLink(inRoot(parent, name));
    if (target?.startsWith(`${run}/`) === true) await files.remove(inRoot(parent, name));
  }
  await files.remove(dir);
  return item;
}
