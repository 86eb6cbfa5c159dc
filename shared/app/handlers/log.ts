import { timeline } from "../../events/timeline.ts";
import { OrchError } from "../../model/error.ts";
import type { Handler } from "../context.ts";
import { namedRun, type RunsContext } from "../run-look.ts";

/** `log <run>`: what happened in it, in order, a line each. A contract's id names its newest run. */
export const log: Handler<RunsContext> = async ({ runs }, args) => {
  const [word] = args.words;
  if (word === undefined) throw new OrchError("usage.invalid", "log takes a run", { data: { command: "log" } });
  const { run, dir, standing } = await namedRun(runs, word);
  const lines = timeline(await runs.events(dir));
  return {
    ok: true,
    code: 0,
    summary: `${run} ${standing}, ${dir}`,
    next: [`orch status ${run}`],
    data: { run, dir, lines, text: lines },
  };
};
