import { inRoot } from "../base/paths.ts";
import { isWork } from "../events/contract-ledger.ts";
import type { RepoContext } from "./context.ts";
import { lookAtAll, type RunsContext } from "./run-look.ts";

/** Commands whose runs take contracts up: each makes `.orch/runs/<contract>` lead to its own folder of it. */
const takingUp: ReadonlySet<string> = new Set(["run", "dispatch", "prepare", "guard", "do"]);

/** Lets `.orch/runs/<contract>` lead to the newest work again, for the contracts of runs that came back. */
export async function linkAgain(
  { runs, files }: Pick<RunsContext, "runs"> & Pick<RepoContext, "files">,
  back: ReadonlySet<string>,
): Promise<void> {
  const looks = (await lookAtAll(runs)).filter(({ state }) => takingUp.has(state.command));
  const ids = looks.filter(({ run }) => back.has(run)).flatMap(({ state }) => state.contracts.map(({ id }) => id));
  for (const id of new Set(ids)) {
    const newest = looks.find(({ state }) => state.contracts.some((one) => one.id === id && isWork(one)));
    if (newest === undefined) continue;
    if ((await files.stat(inRoot(newest.dir, id)))?.kind === "directory") await runs.link(id, newest);
  }
}
