import { inRoot } from "../base/paths.ts";
import type { MachineContext } from "./context.ts";

const maxKept = 3000;

/** What the lanes offered when a person last asked, for completion alone: nothing is decided by it. */
export async function noteOfferedModels(
  { files, machine }: Pick<MachineContext, "files" | "machine">,
  ids: readonly string[],
): Promise<void> {
  await files.makeDir(machine.cacheDir, { mode: 0o700 });
  const kept = [...new Set(ids)].slice(0, maxKept);
  await files.write(inRoot(machine.cacheDir, offeredModelsFile), `${JSON.stringify(kept)}\n`, { mode: 0o600 });
}

const offeredModelsFile = "offered-models.json";
