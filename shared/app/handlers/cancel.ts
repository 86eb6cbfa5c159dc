import { openRuns } from "../../events/open-runs.ts";
import { plain } from "../../events/words.ts";
import { isOver } from "../../events/standing.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import { sandboxMarker } from "../../model/run.ts";
import type { Handler } from "../context.ts";
import { lookAt, lookAtAll, namedRun, type RunLook, type RunsContext } from "../run-look.ts";

/** A runner that lives says within this that it read the control file. */
const answerMs = 3000;
/** From then on it has this long to end the tree and write the end. */
const unwindMs = 30_000;
const floorMs = 100;

/**
 * Ends a run with its process tree. The runner does it when it answers; else its processes and then the runner itself
 * are ended from here, by the pids and start times in the log. A run without a runner gets one that writes the end.
 */
export const cancel: Handler<RunsContext> = async (context, args, signal) => {
  const look = await chosen(context, args.words[0]);
  if (isOver(look.standing))
    throw new OrchError("run.finished", `Run ${look.run} has ended`, { data: { run: look.run } });
  let forced = false;
  if (look.alive) {
    await ask(context, look);
    forced = !(await goneByItself(context, look, signal));
    if (forced) await endByForce(context, look);
  }
  const after = await writtenEnd(context, look, signal);
  const how = forced ? "its runner did not answer and was ended" : "its processes are ended";
  if (!isOver(after.standing)) {
    return {
      ok: true,
      code: 0,
      summary: `${look.run}: ${how}; it counts as interrupted`,
      next: [`orch resume ${look.run}`, "orch status"],
      data: { run: look.run, standing: after.standing, forced },
    };
  }
  return {
    ok: true,
    code: 0,
    summary: `${look.run} ${after.standing === "cancelled" ? "cancelled" : "had ended"}: ${how}`,
    next: ["orch status"],
    data: { run: look.run, standing: after.standing, forced },
  };
};

async function chosen({ runs }: RunsContext, word: string | undefined): Promise<RunLook> {
  if (word !== undefined) return namedRun(runs, word);
  const looks = await lookAtAll(runs);
  const alive = looks.filter((look) => look.alive);
  const [look, another] = alive;
  if (look === undefined) throw nothingAlive(openRuns(looks));
  if (another !== undefined) {
    throw new OrchError(
      "usage.invalid",
      `Several runs are alive, name one: ${alive.map(({ run }) => run).join(", ")}`,
      { data: { command: "cancel" } },
    );
  }
  return look;
}

/** What waits for a person is ended by name: it may be the only way back to work that is half done. */
function nothingAlive({ open, left }: ReturnType<typeof openRuns<RunLook>>): OrchError {
  const waiting = [...open, ...left];
  const [first] = waiting;
  if (first === undefined) return new OrchError("run.unknown", "No run is alive");
  const named = waiting.map(({ run, standing, state }) => {
    const title = plain(state.title);
    return `${run} (${standing}${title === "" ? "" : `, ${title}`})`;
  });
  return new OrchError("run.unknown", `No run is alive. These wait: ${named.join(", ")}`, {
    data: { waiting: first.run, left: open.length === 0 },
  });
}

async function ask({ runs, ids, clock, editor }: RunsContext, { dir, run }: RunLook): Promise<void> {
  await runs.control(dir, ids.next("control"), {
    v: 1,
    verb: "cancel",
    target: run,
    host: editor.host,
    at: clock.now(),
  });
}

async function goneByItself(context: RunsContext, look: RunLook, signal: AbortSignal): Promise<boolean> {
  const { runs, clock, host } = context;
  const began = clock.tick();
  for (;;) {
    if (!runs.isAlive(look.dir)) return true;
    const waited = clock.tick() - began;
    if (waited > unwindMs || (waited > answerMs && !(await answered(context, look)))) return false;
    await host.changed(look.dir, floorMs, signal);
  }
}

async function answered({ runs }: RunsContext, { dir, state }: RunLook): Promise<boolean> {
  const events = await runs.events(dir);
  return events
    .slice(state.seq)
    .some(
      (parsed) => parsed.kind === "event" && parsed.event.type === "control.accepted" && parsed.event.verb === "cancel",
    );
}

/** Its programs first: once the runner is gone nobody would know them. */
async function endByForce({ runs, process }: RunsContext, look: RunLook): Promise<void> {
  const { state } = await lookAt(runs, look);
  const runner = await runs.runner(look.dir);
  if (runner !== undefined) await process.endIfSame(runner.pid, runner.startTime);
  for (const { pid, startTime } of state.processes) await process.endIfSame(pid, startTime);
  const markers = state.processes.map((row) => row.marker);
  for (const marker of new Set([...markers, sandboxMarker(look.run)])) await process.endLeftovers({ marker });
}

/** The end must be in the log, or every host would offer to resume the run: a runner that finds the control writes it. */
async function writtenEnd(context: RunsContext, look: RunLook, signal: AbortSignal): Promise<RunLook> {
  const { runs, host, clock } = context;
  let now = await lookAt(runs, look);
  if (isOver(now.standing) || now.alive) return now;
  await ask(context, look);
  try {
    await host.resume(look.run, look.dir);
  } catch (error) {
    if (!isOrchError(error) || error.code === "run.foreign") throw error;
  }
  const until = clock.tick() + unwindMs;
  for (now = await lookAt(runs, look); now.alive && clock.tick() < until; now = await lookAt(runs, look)) {
    await host.changed(look.dir, floorMs, signal);
  }
  return now;
}
