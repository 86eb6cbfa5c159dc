import { clip, stripControls } from "../../base/lines.ts";
import type { FailureWhy } from "../../ports/model.ts";
import { failureOf } from "../openai-failure.ts";

interface Row {
  readonly says: RegExp;
  readonly why: FailureWhy;
}

/** For words without a status: what clients say of a provider that failed. The first row decides. */
const rows: readonly Row[] = [
  {
    says: /no api key|not (?:authenticated|logged in)|log ?in\b|authenticat|unauthori[sz]ed|credential|incorrect api key|invalid.{0,20}(?:api key|token)/i,
    why: "auth",
  },
  { says: /rate.?limit|too many requests|quota|overloaded|high demand/i, why: "rate-limit" },
  {
    says: /model .{0,80}(?:not found|does not exist|ambiguous|unknown)|unknown (?:model|provider)/i,
    why: "unknown-model",
  },
  { says: /timed? ?out|timeout/i, why: "timeout" },
  {
    says: /without (?:a )?finish|finish.?reason|disconnected before|ended (?:early|before|without)|premature|terminated|closed before|empty or malformed/i,
    why: "protocol",
  },
  { says: /connection|connect\b|fetch failed|network|socket|ECONN|ENOTFOUND/i, why: "network" },
];

export interface ProviderFailure {
  readonly why: FailureWhy;
  readonly message: string;
}

/** What a client says when its provider failed, with the HTTP status where it tells one. */
export function providerFailure(message: string, status?: number): ProviderFailure {
  const words = oneLine(message);
  const found = status ?? statusIn(words);
  if (found !== undefined && found >= 400) {
    return {
      why: failureOf({ status: found, message: words }),
      message: words.includes(String(found)) ? words : `${found} ${words}`,
    };
  }
  return {
    why: rows.find(({ says }) => says.test(words))?.why ?? "error",
    message: words === "" ? "it failed without words" : words,
  };
}

function statusIn(words: string): number | undefined {
  const found = /(?:^|\bstatus:?\s|\(|error:?\s|\bHTTP\s|"code":\s?)([45]\d\d)\b/i.exec(words)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** `429: {"message":"slow down"}` -> `429 slow down`. */
export function quotedMessage(said: string): string {
  const quoted = /"message"\s*:\s*("(?:\\.|[^"\\])*")/.exec(said)?.[1];
  if (quoted === undefined) return said;
  const status = /^\D{0,24}([45]\d\d)\b/.exec(said)?.[1];
  try {
    const words = String(JSON.parse(quoted));
    return status === undefined || words.includes(status) ? words : `${status} ${words}`;
  } catch {
    return said;
  }
}

export function oneLine(text: string): string {
  return clip(stripControls(text).replace(/\s+/g, " ").trim(), 400);
}
