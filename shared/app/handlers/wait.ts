import { summary } from "../../events/ledger.ts";
import { openRuns } from "../../events/open-runs.ts";
import { nextCommands, replyCommand } from "../../events/project.ts";
import { plain } from "../../events/words.ts";
import { isOver } from "../../events/standing.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { type ExitCode, exitCodes } from "../../model/exit-code.ts";
import type { Handler } from "../context.ts";
import { lookAt, lookAtAll, namedRun, type RunLook, type RunsContext } from "../run-look.ts";

const floorMs = 1000;

/** Blocks until a decision is pending or the run ends; the newest run that is not over, else the newest. */
export const wait: Handler<RunsContext> = async (context, args, signal) => {
  const { runs, host, clock } = context;
  let look = await chosen(context, args.words[0]);
  const until = args.timeoutS === undefined ? Number.POSITIVE_INFINITY : clock.tick() + args.timeoutS * 1000;
  for (;;) {
    const end = settled(look);
    if (end !== undefined) return end;
    const leftMs = until - clock.tick();
    if (leftMs <= 0) return timedOut(look, args.timeoutS ?? 0);
    await host.changed(look.dir, Math.min(floorMs, leftMs), signal);
    look = await lookAt(runs, look);
  }
};

async function chosen({ runs }: RunsContext, word: string | undefined): Promise<RunLook> {
  if (word !== undefined) return namedRun(runs, word);
  // Newest first, so what was read says whether the work of the last one went on without it.
  const looks = await lookAtAll(
    runs,
    (sofar) => !isOver(sofar.at(-1)?.standing ?? "ok") && openRuns(sofar).open.length > 0,
  );
  const look = openRuns(looks).open[0] ?? looks[0];
  if (look === undefined) throw new OrchError("run.unknown", "There are no runs to wait for");
  return look;
}

/** What to return now, or undefined while the run goes on by itself. */
function settled(look: RunLook): CommandResult | undefined {
  const { state, alive, standing, run } = look;
  const parked = `  parked: ${plain(state.parked?.why ?? "")}`;
  const data = {
    run,
    dir: look.dir,
    standing,
    pending: state.pending,
    // Why it is parked is how this ends.
    text: summary(state, alive).filter((line) => standing !== "parked" || line !== parked),
  };
  const next = nextCommands(state, alive);
  if (state.result !== undefined) {
    const { ok, summary: said, code, error } = state.result;
    return {
      ok,
      code: code as ExitCode,
      summary: plain(said),
      next,
      data: { ...data, result: state.result },
      ...(error === undefined ? {} : { error: plainError(error) }),
    };
  }
  // Its runner is between the last two lines of the log: the result is about to be written.
  if (alive && standing === "cancelled") return undefined;
  if (standing === "cancelled")
    return { ok: false, code: exitCodes.cancelled, summary: `${run} was cancelled`, next, data };
  const decision = state.pending.find(({ weight }) => weight === "decision");
  if (decision !== undefined && standing !== "interrupted") {
    return {
      ok: false,
      code: exitCodes.decide,
      summary: `${decision.id}: ${plain(decision.title)}`,
      next: [replyCommand(decision)],
      data,
    };
  }
  if (standing === "parked")
    return {
      ok: false,
      code: exitCodes.decide,
      summary: `${run} is parked: ${plain(state.parked?.why ?? "")}`,
      next,
      data,
    };
  if (standing === "interrupted")
    return { ok: false, code: exitCodes.decide, summary: `${run} was interrupted: its runner is gone`, next, data };
  return undefined;
}

function plainError(
  error: NonNullable<NonNullable<RunLook["state"]["result"]>["error"]>,
): NonNullable<CommandResult["error"]> {
  const { code, message, hint, at } = error;
  return { code, message, hint, ...(at === undefined ? {} : { at }) };
}

function timedOut({ run, standing, state, alive }: RunLook, seconds: number): CommandResult {
  return {
    ok: false,
    code: exitCodes.failed,
    summary: `${run} still goes on after ${seconds} s`,
    next: nextCommands(state, alive),
    data: { run, standing, pending: state.pending },
  };
}
