import type { WorkerReport } from "../model/attempt.ts";
import type { Observed } from "../model/observed.ts";

/**
 * What was seen around an attempt and during it: the workspace tells what changed outside the diff, the worker's lane
 * what its program left and what had to be ended or refused. Facts of Orch's, none of the worker's words.
 */
export function observedOf(around: Observed | undefined, report: WorkerReport): Observed | undefined {
  const { stray = [], leftovers = 0, denied = [] } = report;
  const ended = leftovers === 0 ? [] : [`${leftovers} of its processes outlived it and ended with it`];
  const refused = denied.map((tool) => `its client refused it ${tool}`);
  if (stray.length + ended.length + refused.length === 0) return around;
  return {
    ...around,
    strayFiles: [...(around?.strayFiles ?? []), ...stray],
    supervision: [...(around?.supervision ?? []), ...ended, ...refused],
  };
}
