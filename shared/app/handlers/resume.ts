import { openRuns } from "../../events/open-runs.ts";
import { isOver, isResumable } from "../../events/standing.ts";
import { OrchError } from "../../model/error.ts";
import type { Handler } from "../context.ts";
import { lookAtAll, namedRun, type RunLook, type RunsContext } from "../run-look.ts";

/** Starts a runner for an interrupted or parked run. Returns once it holds the run; the host follows `data.run`. */
export const resume: Handler<RunsContext> = async (context, args) => {
  const look = await chosen(context, args.words[0]);
  if (isOver(look.standing))
    throw new OrchError("run.finished", `Run ${look.run} has ended`, { data: { run: look.run } });
  if (look.alive)
    throw new OrchError("run.locked", `Run ${look.run} has a runner already`, { data: { run: look.run } });
  await refuseLeftBehind(context, look);
  await context.host.resume(look.run, look.dir);
  return {
    ok: true,
    code: 0,
    summary: `${look.run} goes on`,
    next: [`orch wait ${look.run}`, `orch status ${look.run}`],
    // What is already in the log was seen before, by whoever watched it then.
    data: { run: look.run, dir: look.dir, seen: look.state.seq },
  };
};

/** Going on would ask a worker again for what is merged, or look for a branch that is gone: it only costs. */
async function refuseLeftBehind({ runs }: RunsContext, { run, state }: RunLook): Promise<void> {
  const since = await lookAtAll(runs, (seen) => seen.at(-1)?.run === run);
  if (!openRuns(since).left.some((other) => other.run === run)) return;
  const what = state.feature ?? state.contracts.map(({ id }) => id).join(", ");
  throw new OrchError("run.left-behind", `${what} went on without run ${run}`, { data: { run } });
}

async function chosen({ runs }: RunsContext, word: string | undefined): Promise<RunLook> {
  if (word !== undefined) return namedRun(runs, word);
  const looks = await lookAtAll(runs);
  const look = openRuns(looks).open.find(({ standing }) => isResumable(standing));
  if (look === undefined) throw new OrchError("run.unknown", "No run is interrupted or parked");
  return look;
}
