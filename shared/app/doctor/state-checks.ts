import { count } from "../../base/lines.ts";
import { type AbsPath, inRoot } from "../../base/paths.ts";
import { openRuns } from "../../events/open-runs.ts";
import { nextCommands } from "../../events/project.ts";
import { isOver } from "../../events/standing.ts";
import type { AnywhereContext } from "../anywhere.ts";
import { planClean } from "../clean-plan.ts";
import { lookAtAll, type RunLook } from "../run-look.ts";
import { type CheckRow, ok } from "./check.ts";

/** Runs that nobody carries on: interrupted ones and those that wait for a person. */
export async function runRows(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { repository, settings } = context;
  if (repository.kind === "none") return [];
  const looks = await lookAtAll(repository.runs);
  const { left } = openRuns(looks);
  const open = looks.filter(({ standing, alive }) => !isOver(standing) && !alive);
  const rows = open.map((look): CheckRow => {
    const { run, standing, state, alive } = look;
    const isLeft = left.includes(look);
    const [next] = nextCommands(state, alive, isLeft);
    return {
      title: "runs",
      state: "warn",
      what: `${run} (${state.command}) is ${standing}${isLeft ? ", and its work went on without it" : ""}`,
      ...(next === undefined ? {} : { next }),
    };
  });
  if (rows.length === 0) rows.push(ok("runs", `${count(looks.length, "run")}, none interrupted or parked`));
  const surplus = removable(looks, context);
  if (surplus > 0) {
    const { keep_runs: keep } = settings.config;
    rows.push({
      title: "runs kept",
      state: "warn",
      what: `${count(surplus, "run")} that nothing needs any more, beyond the ${keep} of keep_runs`,
      next: "orch clean",
    });
  }
  return [...rows, ...leftoverRows(context, looks), ...(await ignoreRow(context))];
}

/** Runs that `clean` would remove. Its worktrees are not asked for: they keep a run longer, and only one of a prepared contract. */
function removable(looks: readonly RunLook[], { settings, clock }: AnywhereContext): number {
  return planClean({
    runs: looks,
    self: "",
    rows: [],
    standing: new Map(),
    slots: [],
    stored: [],
    keepRuns: settings.config.keep_runs,
    now: clock.now(),
    all: false,
    purge: false,
  }).runs.length;
}

/** Programs of runs whose runner is gone. A lock cannot be left over: it goes with its process. */
function leftoverRows({ process }: AnywhereContext, looks: readonly RunLook[]): readonly CheckRow[] {
  const rows = looks.flatMap(({ run, state, alive }): readonly CheckRow[] => {
    if (alive) return [];
    const recorded = state.processes.filter(({ pid, startTime }) => process.isAlive(pid, startTime));
    const markers = [...new Set(state.processes.map(({ marker }) => marker))];
    const pids = new Set([
      ...recorded.map(({ pid }) => pid),
      ...markers.flatMap((marker) => process.withMarker(marker)),
    ]);
    if (pids.size === 0) return [];
    return [
      {
        title: "leftovers",
        state: "warn",
        what: `${count(pids.size, "process", "processes")} of ${run} still ${pids.size === 1 ? "runs" : "run"}: ${[...pids].join(", ")}`,
        next: `orch cancel ${run}`,
        mend: {
          how: "ask",
          what: `End ${count(pids.size, "process", "processes")} that ${run} left behind`,
          async apply() {
            for (const { pid, startTime } of recorded) await process.endIfSame(pid, startTime);
            for (const marker of markers) await process.endLeftovers({ marker });
            return `ended ${[...pids].join(", ")}`;
          },
        },
      },
    ];
  });
  return rows.length > 0 ? rows : [ok("leftovers", "no program of a run is left over")];
}

/** Run folders hold prompts and replies; git must not offer to commit them. */
async function ignoreRow({ repository, files }: AnywhereContext): Promise<readonly CheckRow[]> {
  if (repository.kind === "none") return [];
  const [folder] = repository.runsDirs;
  if (folder === undefined || (await files.stat(folder))?.kind !== "directory") return [];
  const at = inRoot(folder, ".gitignore");
  if ((await files.stat(at)) !== undefined) return [];
  return [
    {
      title: "ignore file",
      state: "warn",
      what: `${at} is missing: git would show run folders as new files`,
      next: "orch doctor --fix",
      mend: {
        how: "safe",
        what: `Write ${at}`,
        async apply() {
          await files.write(at, "*\n");
          return `wrote ${at}`;
        },
      },
    },
  ];
}

/** Folders of calls: removed when the call ends, unless it was killed. A call lasts minutes, so a day is dead for sure. */
const privateFolders = ["short", "pi", "merge", "workers"] as const;
const deadAfterMs = 24 * 60 * 60 * 1000;

export async function privateRow({ files, machine, clock }: AnywhereContext): Promise<readonly CheckRow[]> {
  const dead: AbsPath[] = [];
  for (const name of privateFolders) {
    const folder = inRoot(machine.stateDir, name);
    for (const entry of (await files.list(folder)) ?? []) {
      const at = inRoot(folder, entry.name);
      const stat = await files.stat(at);
      if (stat !== undefined && clock.now() - stat.mtimeMs > deadAfterMs) dead.push(at);
    }
  }
  if (dead.length === 0) return [ok("private folders", `none left over in ${machine.stateDir}`)];
  return [
    {
      title: "private folders",
      state: "warn",
      what: `${count(dead.length, "folder")} of calls that were killed more than a day ago`,
      next: "orch doctor --fix",
      list: dead,
      mend: {
        how: "safe",
        what: `Remove ${count(dead.length, "private folder")}`,
        async apply() {
          for (const at of dead) await files.remove(at);
          return `removed ${count(dead.length, "folder")}`;
        },
      },
    },
  ];
}

/** Who else can write the trust store decides what runs as this user. */
export async function storeRow({ files, machine }: AnywhereContext): Promise<readonly CheckRow[]> {
  if (machine.platform === "win32") return [];
  const open: AbsPath[] = [];
  for (const at of [machine.stateDir, inRoot(machine.stateDir, "trust.json"), machine.configDir]) {
    const stat = await files.stat(at);
    if (stat !== undefined && (stat.mode & 0o022) !== 0) open.push(at);
  }
  if (open.length === 0) return [ok("own files", "nobody else can write Orch's settings and trust store")];
  return [
    {
      title: "own files",
      state: "fail",
      what: `others can write ${open.join(", ")}`,
      next: "orch doctor --fix",
      mend: {
        how: "safe",
        what: "Take the right to write away from others",
        async apply() {
          for (const at of open) {
            const stat = await files.stat(at);
            if (stat !== undefined) await files.chmod(at, stat.mode & ~0o022);
          }
          return `only you can write ${open.join(", ")}`;
        },
      },
    },
  ];
}
