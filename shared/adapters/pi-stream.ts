import * as z from "zod";
import { splitJsonl } from "../base/jsonl.ts";
import { type Usage, unknownUsage } from "../model/usage.ts";

/**
 * What `pi --mode json` said. pi exits 0 on every failure of a provider, so the exit code counts for nothing: the last
 * assistant `message_end` and the settling event decide. Pure.
 */
export interface PiReply {
  /** `stop`, `length`, `error`, `aborted`, `toolUse`; undefined when no assistant message ended. */
  readonly stopReason: string | undefined;
  readonly text: string;
  readonly errorMessage: string;
  /** Provider and model that really answered: pi matches names loosely. */
  readonly model: string | undefined;
  readonly usage: Usage;
  /** The run came to its own end: `agent_settled`, or `agent_end` of a pi before 1.0. */
  readonly settled: boolean;
}

const amount = z.number().min(0).optional();
const Message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]).optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  usage: z
    .looseObject({
      input: amount,
      output: amount,
      cacheRead: amount,
      cacheWrite: amount,
      cost: z.looseObject({ total: amount, totalFromProvider: z.boolean().optional() }).optional(),
    })
    .optional(),
  stopReason: z.string().optional(),
  errorMessage: z.string().optional(),
});
const Line = z.looseObject({ type: z.string(), message: Message.optional() });
export type PiMessage = z.infer<typeof Message>;

export function readPiStream(stdout: string): PiReply {
  let last: PiMessage | undefined;
  let settled = false;
  const { lines, tail } = splitJsonl(stdout);
  for (const text of [...lines, tail]) {
    const line = readPiLine(text);
    last = line?.ended ?? last;
    settled ||= line !== undefined && settlesPi(line.type);
  }
  return {
    stopReason: last?.stopReason,
    text: textOfPi(last?.content),
    errorMessage: last?.errorMessage ?? "",
    model: last?.provider !== undefined && last.model !== undefined ? `${last.provider}/${last.model}` : undefined,
    usage: piUsage(last),
    settled,
  };
}

/** Updates are most of the stream; what they say comes again, whole, at the end of the message. */
export function isPiNoise(line: string): boolean {
  return !line.startsWith("{") || line.startsWith('{"type":"message_update"');
}

/** What a line is, and the assistant's message that it ends; undefined for noise and for what is no JSON. */
export function readPiLine(text: string): { readonly type: string; readonly ended?: PiMessage } | undefined {
  if (isPiNoise(text)) return undefined;
  try {
    const line = Line.safeParse(JSON.parse(text)).data;
    if (line === undefined) return undefined;
    const ended = line.type === "message_end" && line.message?.role === "assistant" ? line.message : undefined;
    return { type: line.type, ...(ended === undefined ? {} : { ended }) };
  } catch {
    return undefined;
  }
}

/** `agent_settled`, or `agent_end` of a pi before 1.0. */
export function settlesPi(type: string): boolean {
  return type === "agent_settled" || type === "agent_end";
}

export function textOfPi(content: PiMessage["content"]): string {
  if (content === undefined) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/**
 * pi writes 0 where it knows nothing. No tokens at all means that the provider did not tell; money of 0 is believed
 * when the provider said it or the model's name says that it is free, else the price is not known.
 */
export function piUsage(message: PiMessage | undefined): Usage {
  const usage = message?.usage;
  if (usage === undefined) return unknownUsage;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost } = usage;
  if (input + output + cacheRead + cacheWrite === 0) return unknownUsage;
  const total = cost?.total;
  const free = cost?.totalFromProvider === true || /[:-]free$/.test(message?.model ?? "");
  return {
    input: input + cacheWrite,
    output,
    cacheRead,
    costUsd: total === undefined || (total === 0 && !free) ? "unknown" : total,
  };
}
