import { isOver } from "../../events/standing.ts";
import type { PendingAsk } from "../../events/run-state.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import type { ParsedEvent } from "../../model/event.ts";
import type { ReplyFile } from "../../model/run-files.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { lookAt, lookAtAll, type RunLook, type RunsContext } from "../run-look.ts";

/** A living runner takes a reply within this; else it is about to park and is looked at again. */
const takenMs = 15_000;
const floorMs = 300;

/** Answers a pending question or decision by dropping its reply file; the first stands. Starts a parked run again. */
export const reply: Handler<RunsContext> = async (context, args, signal) => {
  const [id] = args.words;
  if (id === undefined)
    throw new OrchError("usage.invalid", "reply needs the id of what it answers", { data: { command: "reply" } });
  const { look, ask } = await findAsk(context, id);
  const file = replyOf(ask, args, context);
  if (!(await context.runs.reply(look.dir, file)))
    throw new OrchError("reply.taken", `${id} has a reply already`, { data: { id } });
  const restarted = await seeTaken(context, look, id, signal);
  const answer = file.choice ?? "your words";
  return {
    ok: true,
    code: 0,
    summary: `${id} answered with ${answer}${restarted ? `, ${look.run} goes on` : ""}`,
    next: [`orch wait ${look.run}`],
    data: { id, run: look.run, choice: file.choice ?? null, text: file.text ?? null, resumed: restarted },
  };
};

/** Only runs that are not over can be answered. */
async function findAsk(
  { runs }: RunsContext,
  id: string,
): Promise<{ readonly look: RunLook; readonly ask: PendingAsk }> {
  for (const look of await lookAtAll(runs)) {
    const events = await runs.events(look.dir);
    const asked = lastAsk(events, id);
    if (asked === undefined) continue;
    if (isOver(look.standing) || isAnswered(events, id))
      throw new OrchError("reply.taken", `${id} is answered or its run is over`, { data: { id } });
    return { look, ask: asked };
  }
  throw new OrchError("reply.unknown", `Nothing is asked under ${id}`, { data: { id } });
}

/** From the events, not the state: a runner that just began again has forgotten what it will ask in a moment. */
function lastAsk(events: readonly ParsedEvent[], id: string): PendingAsk | undefined {
  for (const parsed of events.toReversed()) {
    if (parsed.kind !== "event") continue;
    const { event } = parsed;
    if (event.type === "decision.asked" && event.id === id) {
      return {
        id,
        weight: "decision",
        kind: event.choices.length === 0 ? "text" : "pick",
        title: event.title,
        choices: event.choices,
        askedAt: event.at,
      };
    }
    if (event.type === "question.asked" && event.id === id) {
      return {
        id,
        weight: "question",
        kind: event.kind,
        title: event.title,
        choices: event.choices,
        askedAt: event.at,
      };
    }
  }
  return undefined;
}

function isAnswered(events: readonly ParsedEvent[], id: string): boolean {
  return events.some((parsed) => {
    return (
      parsed.kind === "event" &&
      (parsed.event.type === "decision.answered" || parsed.event.type === "question.answered") &&
      parsed.event.id === id
    );
  });
}

function replyOf(ask: PendingAsk, args: CommandArgs, { clock, editor, machine }: RunsContext): ReplyFile {
  const choices = ask.choices.map(({ id }) => id);
  if (args.choice !== undefined && !choices.includes(args.choice)) {
    throw new OrchError(
      "usage.invalid",
      `${ask.id} has no choice ${args.choice}: ${choices.length === 0 ? "it wants --text" : choices.join(", ")}`,
      { data: { command: "reply" } },
    );
  }
  if (args.choice === undefined && (args.text === undefined || choices.length > 0)) {
    throw new OrchError(
      "usage.invalid",
      `${ask.id} wants ${choices.length === 0 ? "--text" : `--choice: ${choices.join(", ")}`}`,
      { data: { command: "reply" } },
    );
  }
  const by = machine.env["USER"] ?? machine.env["USERNAME"] ?? editor.host;
  return {
    v: 1,
    id: ask.id,
    by,
    host: editor.host,
    at: clock.now(),
    ...(args.choice === undefined ? {} : { choice: args.choice }),
    ...(args.text === undefined ? {} : { text: args.text }),
  };
}

/** True when a runner was started for it. One that parks at this very moment has not seen the reply: look again. */
async function seeTaken(context: RunsContext, folder: RunLook, id: string, signal: AbortSignal): Promise<boolean> {
  const { runs, host, clock } = context;
  const until = clock.tick() + takenMs;
  while (clock.tick() < until) {
    const look = await lookAt(runs, folder);
    if (isOver(look.standing) || isAnswered(await runs.events(folder.dir), id)) return false;
    if (!look.alive) {
      try {
        await host.resume(folder.run, folder.dir);
        return true;
      } catch (error) {
        // Another host was quicker, or the run took the reply and ended meanwhile.
        if (isOrchError(error, "run.locked") || isOrchError(error, "run.finished")) return false;
        throw error;
      }
    }
    await host.changed(folder.dir, floorMs, signal);
  }
  return false;
}
