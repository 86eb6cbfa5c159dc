import { nearMisses } from "../features/names.ts";
import { OrchError } from "../model/error.ts";
import type { RepoContext } from "./context.ts";
import { isModelId } from "./wave-workers.ts";
import { workerIds } from "./workers.ts";

/**
 * `--worker` of a command, looked at before anything else: a word that names nobody is the person's slip, and no trouble of
 * this machine that a run should wait for. Which models a `provider/model` may name only its lane can tell.
 *
 * @throws OrchError `worker.unknown`
 */
export function requireKnownWorker({ config }: Pick<RepoContext, "config">, id: string | undefined): void {
  if (id === undefined || isModelId(id)) return;
  const known = workerIds(config);
  if (known.includes(id)) return;
  const [near] = nearMisses(id, known);
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  throw new OrchError("worker.unknown", `there is no worker ${id}${meant}`, { data: { known: known.join(", ") } });
}
