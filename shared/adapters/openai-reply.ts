import * as z from "zod";
import type { ProviderConfig } from "../model/config.ts";
import { type Amount, type Usage, unknownUsage } from "../model/usage.ts";

/**
 * What of OpenAI's chat protocol is read. Everything is optional: the endpoints agree on little more than the names.
 */
const Text = z.union([
  z.string(),
  z
    .array(z.looseObject({ type: z.string().optional(), text: z.string().optional() }))
    .transform((parts) => parts.map(({ text }) => text ?? "").join("")),
]);
const Message = z.looseObject({
  content: Text.nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
  function_call: z.unknown().optional(),
});
const Tokens = z.looseObject({
  prompt_tokens: z.number().min(0).nullish(),
  completion_tokens: z.number().min(0).nullish(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.number().min(0).nullish() }).nullish(),
  /** DeepSeek's name for the same. */
  prompt_cache_hit_tokens: z.number().min(0).nullish(),
  /** OpenRouter: USD. */
  cost: z.number().min(0).nullish(),
});
const ErrorBody = z.looseObject({
  message: z.string().nullish(),
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
});

/** One streamed chunk, or one whole completion: `delta` and `message` differ in name only. */
export const Piece = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        delta: Message.nullish(),
        message: Message.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: Tokens.nullish(),
  error: z.union([ErrorBody, z.string()]).nullish(),
});
export type Piece = z.infer<typeof Piece>;

/** What the pieces add up to. */
export interface Collected {
  readonly text: string;
  readonly finish: string | undefined;
  readonly refusal: string;
  readonly calledTool: boolean;
  readonly tokens: z.infer<typeof Tokens> | undefined;
  readonly pieces: number;
}

export const nothingYet: Collected = {
  text: "",
  finish: undefined,
  refusal: "",
  calledTool: false,
  tokens: undefined,
  pieces: 0,
};

/** Only the first choice counts: never more than one is asked for. */
export function withPiece(soFar: Collected, piece: Piece): Collected {
  const choice = piece.choices?.find(({ index }) => index === undefined || index === null || index === 0);
  const said = choice?.delta ?? choice?.message;
  return {
    text: soFar.text + (said?.content ?? ""),
    finish: choice?.finish_reason ?? soFar.finish,
    refusal: soFar.refusal + (said?.refusal ?? ""),
    calledTool: soFar.calledTool || (said?.tool_calls?.length ?? 0) > 0 || (said?.function_call ?? null) !== null,
    tokens: piece.usage ?? soFar.tokens,
    pieces: soFar.pieces + 1,
  };
}

/**
 * `input` is without cached tokens. Money: what the endpoint says, else the configured prices of this model times the
 * tokens, else unknown. A part that is not told stays unknown.
 */
export function usageOf(tokens: Collected["tokens"], model: string, prices: ProviderConfig["prices"]): Usage {
  if (tokens === undefined) return unknownUsage;
  const known = (value: number | null | undefined): Amount => value ?? "unknown";
  const cached = tokens.prompt_tokens_details?.cached_tokens ?? tokens.prompt_cache_hit_tokens;
  const prompt = known(tokens.prompt_tokens);
  const usage = {
    input: prompt === "unknown" ? prompt : Math.max(0, prompt - (cached ?? 0)),
    output: known(tokens.completion_tokens),
    cacheRead: prompt === "unknown" ? known(cached) : (cached ?? 0),
  };
  return {
    ...usage,
    costUsd:
      tokens.cost ?? priced(usage, prices !== undefined && Object.hasOwn(prices, model) ? prices[model] : undefined),
  };
}

function priced(
  usage: Omit<Usage, "costUsd">,
  price: NonNullable<ProviderConfig["prices"]>[string] | undefined,
): Amount {
  const { input, output, cacheRead } = usage;
  if (price === undefined || input === "unknown" || output === "unknown" || cacheRead === "unknown") return "unknown";
  return (input * price.input + output * price.output + cacheRead * (price.cacheRead ?? price.input)) / 1e6;
}
