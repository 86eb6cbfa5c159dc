import fs from "node:fs";
import path from "node:path";
import { childrenOf, runnerOf } from "./own-processes.ts";
import { type CliEnd, type CliPlace, type RunningCli, startCli } from "./orch-cli.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { TempRepo } from "./temp-repo.ts";

/** When a runner is killed: at something that can be seen from outside, and a while after it. */
export interface Moment {
  readonly name: string;
  /** True once it has come; asked again and again. */
  come(look: RunnerLook): boolean;
  /** Milliseconds after that. */
  readonly laterMs: number;
}

export interface RunnerLook {
  readonly repo: TempRepo;
  readonly pid: number;
  readonly dir: string;
  /** Whole lines of events.jsonl. */
  readonly events: number;
  /** The branch when the runner started. */
  readonly branch: string;
  readonly tip: string;
}

export interface Killed {
  /** False: the run was over first. */
  readonly killed: boolean;
  readonly run: string;
  readonly dir: string;
  /** What the command line that followed the run said. */
  readonly end: CliEnd;
}

/** A wave on a busy machine takes minutes to reach its last events. */
const deadlineMs = 600_000;

/** What is done at the moment: to the runner, or to the command line that started it. */
export type Strike = (runner: number, cli: RunningCli) => void;

const kill: Strike = (runner) => {
  try {
    process.kill(runner, "SIGKILL");
  } catch {
    // It was quicker.
  }
};

/** Starts the command, kills its runner (nothing else) with SIGKILL at the moment, and waits for the command line. */
export async function killRunner(
  repo: TempRepo,
  place: CliPlace,
  args: readonly string[],
  moment: Moment,
  strike: Strike = kill,
): Promise<Killed> {
  const runs = path.join(repo.root, ".orch", "runs");
  const known = new Set(listed(runs));
  const branch = (await repo.git("symbolic-ref", "--short", "HEAD")).trim();
  const tip = tipOf(repo, branch);
  const cli = startCli(place, ...args);
  let over = false;
  void cli.end.then(() => (over = true));
  const run = await until(
    () => listed(runs).find((name) => name.startsWith("r-") && !known.has(name)),
    () => over,
  );
  const dir = path.join(runs, run ?? "none");
  const pid =
    run === undefined
      ? undefined
      : await until(
          () => runnerOf(dir),
          () => over,
        );
  let killed = false;
  if (pid !== undefined) {
    const tail = new EventCount(path.join(dir, "events.jsonl"));
    const come = await until(
      () => (moment.come({ repo, pid, dir, branch, tip, events: tail.count() }) ? true : undefined),
      () => over,
    );
    if (come === true) {
      const at = performance.now() + moment.laterMs;
      await until(
        () => (performance.now() >= at ? true : undefined),
        () => over,
      );
      killed = !over;
      strike(pid, cli);
    }
  }
  const end = await cli.end;
  // Once it has said its end there was nothing left to interrupt. Looked at after the strike: it may say it in between.
  if (/"type":"command\.finished"/.test(readText(path.join(dir, "events.jsonl")))) killed = false;
  return { killed, run: run ?? "", dir, end };
}

async function until<T>(look: () => T | undefined, over: () => boolean): Promise<T | undefined> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const found = look();
    if (found !== undefined || over()) return found;
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

class EventCount {
  readonly #at: string;
  #bytes = -1;
  #lines = 0;

  constructor(at: string) {
    this.#at = at;
  }

  count(): number {
    const size = fs.statSync(this.#at, { throwIfNoEntry: false })?.size ?? 0;
    if (size === this.#bytes) return this.#lines;
    this.#bytes = size;
    this.#lines = readText(this.#at).split("\n").length - 1;
    return this.#lines;
  }
}

export function readText(at: string): string {
  try {
    return fs.readFileSync(at, "utf8");
  } catch {
    return "";
  }
}

function listed(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

function tipOf(repo: TempRepo, branch: string): string {
  return readText(repo.path(".git", "refs", "heads", ...branch.split("/"))).trim();
}

export const atEvent = (count: number, laterMs: number): Moment => ({
  name: `${laterMs} ms after event ${count}`,
  come: ({ events }) => events >= count,
  laterMs,
});

export const atStart = (laterMs: number): Moment => ({
  name: `${laterMs} ms after its start`,
  come: () => true,
  laterMs,
});

/** A program that the runner started right now. */
export const whileRunning = (program: RegExp, laterMs = 0): Moment => ({
  name: `${laterMs} ms after ${program.source} started`,
  come: ({ pid }) => childrenOf(pid).some(({ command }) => program.test(command)),
  laterMs,
});

export const whenWriting = (laterMs = 0): Moment => ({
  name: `${laterMs} ms after it noted what it is going to write`,
  come: ({ dir }) => listed(dir).some((name) => /"intent":\{"/.test(readText(path.join(dir, name, "workspace.json")))),
  laterMs,
});

export const whenMoved = (laterMs = 0): Moment => ({
  name: `${laterMs} ms after the branch moved`,
  come: ({ repo, branch, tip }) => ![tip, ""].includes(tipOf(repo, branch)),
  laterMs,
});

export const whenSettled = (laterMs = 0): Moment => ({
  name: `${laterMs} ms after the workspace settled`,
  come: ({ dir }) =>
    listed(dir).some((name) => /"phase":"settled"/.test(readText(path.join(dir, name, "workspace.json")))),
  laterMs,
});

/** The remote has the branch. */
export const whenPushed = (branch: string, laterMs = 0): Moment => ({
  name: `${laterMs} ms after ${branch} was on the remote`,
  come: ({ repo }) => fs.existsSync(path.join(repo.remote ?? "", "refs", "heads", ...branch.split("/"))),
  laterMs,
});

/**
 * Kills spread over the whole life of a run of `events` events: every third at a step that matters most, the first of
 * them always, the others by turns, so that few kills a time come to all of them.
 */
export function spread(
  random: SeededRandom,
  kills: number,
  events: number,
  special: readonly Moment[],
): readonly Moment[] {
  const [first, ...others] = special;
  const turn = random.int(0, Math.max(0, others.length - 1));
  return Array.from({ length: kills }, (_, n) => {
    const at = Math.floor(n / 3);
    const chosen = at === 0 ? first : at < special.length ? others[(at - 1 + turn) % others.length] : undefined;
    if (n % 3 === 2 && chosen !== undefined) return chosen;
    if (n % 12 === 0) return atStart(random.int(0, 250));
    const lot = (n + random.next()) / kills;
    return atEvent(1 + Math.floor(lot * events), random.int(0, 60));
  });
}
