import { initRepository } from "../adapters/git-init.ts";
import type { MachinePlaces } from "../adapters/machine.ts";
import type { AbsPath } from "../base/paths.ts";
import { isOrchError } from "../model/error.ts";
import { stateRunsDir } from "../model/run-place.ts";
import type { Files } from "../ports/files.ts";
import { composeRepository, type Wiring } from "./compose.ts";
import type { InitContext } from "./init-context.ts";
import { existingPart, initFolder } from "./init-place.ts";
import { locateRepository } from "./locate.ts";
import { createRunParts } from "./run-parts.ts";

/** `init` with everything wired: the machine alone, and the way to the repository that it makes or adopts. */
export function composeInit(wiring: Wiring & Required<Pick<Wiring, "run">>): InitContext {
  const { places, env, run } = wiring;
  const { files, process, clock, ids, locks } = createRunParts(env, []);
  return {
    machine: { ...places, env },
    files,
    process,
    clock,
    ids,
    locks,
    editor: wiring.editor,
    cwd: wiring.cwd,
    sink: run.sink,
    run: run.folder.run,
    findRoot: (folder, signal) => rootAround(files, folder, env, signal),
    makeRepository: (folder, signal) => initRepository(folder, { process, env }, signal),
    openRepository: (folder, signal) => composeRepository({ ...wiring, cwd: folder, signal }),
  };
}

/** Where the run folder of an `init` goes: the user's own state, for the repository may be about to be made. */
export async function initRunsDirs(
  order: {
    readonly places: Pick<MachinePlaces, "stateDir">;
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: AbsPath;
    readonly words: readonly string[];
  },
  signal: AbortSignal,
): Promise<readonly AbsPath[]> {
  const { files } = createRunParts(order.env, []);
  const folder = await initFolder(files, order.cwd, order.words[0] ?? "");
  const root = await rootAround(files, folder, order.env, signal);
  return [stateRunsDir(order.places.stateDir, root ?? folder)];
}

async function rootAround(
  files: Files,
  folder: AbsPath,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<AbsPath | undefined> {
  const { there } = await existingPart(files, folder);
  try {
    return await locateRepository(there, env, signal);
  } catch (error) {
    if (isOrchError(error, "git.not-a-repository")) return undefined;
    throw error;
  }
}
