import { foldRun } from "../events/reduce.ts";
import type { RunState } from "../events/run-state.ts";
import { type Standing, standingOf } from "../events/standing.ts";
import { OrchError } from "../model/error.ts";
import type { RunHost } from "../ports/run-host.ts";
import type { RunFolder, RunStore } from "../ports/run-store.ts";
import type { MachineContext } from "./context.ts";

/** What commands about runs may use; they need no repository, since `init` has runs before there is one. */
export interface RunsContext extends MachineContext {
  readonly runs: RunStore;
  readonly host: RunHost;
}

/** A run as it stands now. */
export interface RunLook extends RunFolder {
  readonly state: RunState;
  readonly alive: boolean;
  readonly standing: Standing;
}

export async function lookAt(runs: RunStore, folder: RunFolder): Promise<RunLook> {
  // Asked before reading: what a runner wrote before it went is then surely read.
  const alive = runs.isAlive(folder.dir);
  const folded = foldRun(folder.run, await runs.events(folder.dir));
  const state = folded.seq > 0 ? folded : await fromRequest(runs, folder, folded);
  return { ...folder, state, alive, standing: standingOf(state, alive) };
}

/** Before its first event a run is what was asked for; a request that cannot be read is a fault of this run alone. */
async function fromRequest(runs: RunStore, folder: RunFolder, state: RunState): Promise<RunState> {
  try {
    const request = await runs.request(folder.dir);
    if (request === undefined) return { ...state, faults: [...state.faults, "no request.json"] };
    return {
      ...state,
      command: request.command,
      title: request.command,
      host: request.host,
      startedAt: request.at,
      lastAt: request.at,
    };
  } catch (error) {
    return { ...state, faults: [...state.faults, error instanceof Error ? error.message : String(error)] };
  }
}

/** Newest first; stops where `enough` says so. */
export async function lookAtAll(
  runs: RunStore,
  enough: (looks: readonly RunLook[]) => boolean = () => false,
): Promise<RunLook[]> {
  const looks: RunLook[] = [];
  for (const folder of await runs.list()) {
    looks.push(await lookAt(runs, folder));
    if (enough(looks)) break;
  }
  return looks;
}

/** The run that `word` names: an id, an unmistakable part of one, or a contract of which it is the newest run. */
export async function namedRun(runs: RunStore, word: string): Promise<RunLook> {
  const folder = await runs.find(word);
  if (folder !== undefined) return lookAt(runs, folder);
  const looks = await lookAtAll(runs, (sofar) => sofar.at(-1)?.state.contracts.some(({ id }) => id === word) === true);
  const last = looks.at(-1);
  if (last?.state.contracts.some(({ id }) => id === word) === true) return last;
  throw new OrchError("run.unknown", `No run is called ${word}`, { data: { run: word } });
}
