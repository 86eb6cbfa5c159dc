import type { OpenAI } from "openai";
import { abortError } from "../base/abort.ts";
import { clip, stripControls } from "../base/lines.ts";
import type { ProviderConfig } from "../model/config.ts";
import type { ErrorCode } from "../model/error-table.ts";
import type { Completion, FailureWhy, Lane, Model, ModelRequest } from "../ports/model.ts";
import { failureOf, type HttpTrouble, troubleText } from "./openai-failure.ts";
import { type Collected, nothingYet, Piece, usageOf, withPiece } from "./openai-reply.ts";

/**
 * One completion over any endpoint that speaks OpenAI's chat protocol, streamed so that a reply can be capped and a cut
 * one is noticed. The client's own retries are off: the chain owns them. The key goes into one header and nowhere else.
 */
export interface OpenAiEndpoint {
  /** Full id, e.g. `openrouter/poolside/laguna-s-2.1:free`. */
  readonly id: string;
  /** The name the endpoint knows it by: the id without its provider. */
  readonly remoteName: string;
  readonly baseUrl: string;
  readonly key?: string;
  /** For the hint when the key is refused or missing. */
  readonly keyEnv?: string;
  readonly prices?: ProviderConfig["prices"];
  readonly lane?: Lane;
  readonly label?: string;
  /** More headers for one request; never secrets. */
  readonly headers?: (request: ModelRequest) => Readonly<Record<string, string>>;
  /** The endpoint's own error codes that are refusals of ours. */
  readonly refusals?: readonly ErrorCode[];
  readonly maxReplyChars?: number;
}

const defaultMaxReplyChars = 4 * 1024 * 1024;
/** A chunk carries about 300 bytes around a few characters of text. */
const wireBytesPerChar = 64;

type Failed = Extract<Completion, { readonly kind: "failed" }>;

export function createOpenAiModel(endpoint: OpenAiEndpoint): Model {
  const provider = endpoint.id.split("/")[0] ?? endpoint.id;
  return {
    id: endpoint.id,
    provider,
    lane: endpoint.lane ?? "openai",
    ...(endpoint.label === undefined ? {} : { label: endpoint.label }),
    complete: (request, signal) => complete(endpoint, request, signal),
  };
}

async function complete(endpoint: OpenAiEndpoint, request: ModelRequest, signal: AbortSignal): Promise<Completion> {
  const late = AbortSignal.timeout(Math.max(1, Math.floor(request.timeoutMs)));
  const stop = new AbortController();
  try {
    return await ask(endpoint, request, AbortSignal.any([signal, late, stop.signal]));
  } catch (error) {
    if (signal.aborted) throw abortError(signal);
    if (late.aborted)
      return failed(endpoint, "timeout", `no whole reply within ${Math.round(request.timeoutMs / 1000)} s`);
    const trouble = await readTrouble(error);
    if (trouble === undefined) throw error;
    return troubled(endpoint, trouble);
  } finally {
    stop.abort();
  }
}

async function ask(endpoint: OpenAiEndpoint, request: ModelRequest, signal: AbortSignal): Promise<Completion> {
  const { default: Client } = await import("openai");
  const client = new Client({
    baseURL: endpoint.baseUrl,
    apiKey: endpoint.key ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: request.timeoutMs + 1000,
    logLevel: "off",
    defaultHeaders: endpoint.key === undefined ? { Authorization: null } : {},
  });
  const response = await client.chat.completions
    .create(bodyOf(endpoint, request), { signal, headers: endpoint.headers?.(request) ?? {} })
    .asResponse();
  const kind = (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const maxChars = endpoint.maxReplyChars ?? defaultMaxReplyChars;
  const body = capped(response, maxChars * wireBytesPerChar);
  if (kind === "text/html")
    return failed(endpoint, "protocol", `an HTML page instead of a reply: ${firstWords(await body.text())}`);
  if (kind === "application/json") return finished(endpoint, readWhole(await body.text()), maxChars);
  return finished(endpoint, await readStream(body, client, signal, maxChars), maxChars);
}

function bodyOf(endpoint: OpenAiEndpoint, request: ModelRequest): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    model: endpoint.remoteName,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** The same response, but it breaks with TooLarge after `maxBytes`: an endless line must not fill the memory. */
function capped(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  let seen = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      seen += chunk.byteLength;
      if (seen > maxBytes) out.error(new TooLarge());
      else out.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), { headers: response.headers });
}

class TooLarge extends Error {
  override readonly name = "TooLarge";
}

class Malformed extends Error {
  override readonly name = "Malformed";
}

function readWhole(text: string): Collected {
  if (text.trim() === "") return nothingYet;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Malformed(`a reply that is no JSON: ${firstWords(text)}`);
  }
  return addPiece(nothingYet, json);
}

async function readStream(
  response: Response,
  client: OpenAI,
  signal: AbortSignal,
  maxChars: number,
): Promise<Collected> {
  const { Stream } = await import("openai/core/streaming");
  let soFar = nothingYet;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const item of Stream.fromSSEResponse<unknown>(response, controller, client)) {
      soFar = addPiece(soFar, item);
      if (soFar.text.length > maxChars) throw new TooLarge();
    }
  } catch (error) {
    if (signal.aborted || soFar.pieces === 0 || !isCut(error)) throw error;
    return { ...soFar, finish: undefined };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  signal.throwIfAborted();
  return soFar;
}

function addPiece(soFar: Collected, item: unknown): Collected {
  const piece = Piece.safeParse(item);
  if (!piece.success) throw new Malformed("a reply that is not in the chat protocol's form");
  const { error } = piece.data;
  if (error !== null && error !== undefined) throw new EndpointError(error);
  return withPiece(soFar, piece.data);
}

/** An error object inside a 200 answer. */
class EndpointError extends Error {
  override readonly name = "EndpointError";
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor(error: NonNullable<Piece["error"]>) {
    super(typeof error === "string" ? error : (error.message ?? "an error without words"));
    const code = typeof error === "string" ? undefined : error.code;
    this.status = typeof code === "number" && code >= 400 ? code : 500;
    this.code = typeof code === "string" ? code : undefined;
  }
}

/** The connection ended before the reply did. */
function isCut(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof Error && /terminated|premature|closed|aborted|ECONNRESET/i.test(error.message))
  );
}

function finished(endpoint: OpenAiEndpoint, reply: Collected, maxChars: number): Completion {
  const usage = usageOf(reply.tokens, endpoint.remoteName, endpoint.prices);
  const { id } = endpoint;
  const unusable = (why: "empty" | "tool-markup" | "truncated", detail: string): Completion => ({
    kind: "unusable",
    why,
    model: id,
    usage,
    detail,
  });
  if (reply.text.length > maxChars) throw new TooLarge();
  if (reply.refusal !== "") return failed(endpoint, "refused", `the model refused: ${firstWords(reply.refusal)}`);
  if (reply.finish === "content_filter")
    return failed(endpoint, "refused", "the provider's content filter stopped the reply");
  if (reply.finish === "length" || reply.finish === "max_tokens")
    return unusable("truncated", "the token limit was reached");
  if (reply.calledTool || reply.finish === "tool_calls" || reply.finish === "function_call") {
    return unusable("tool-markup", "the model called a tool although none was offered");
  }
  if (reply.text.trim() === "")
    return unusable("empty", reply.pieces === 0 ? "a 200 answer without a body" : "an empty reply");
  if (reply.finish === undefined) return unusable("truncated", "the reply stopped before its end");
  return {
    kind: "ok",
    text: reply.text,
    model: id,
    usage,
    ...(endpoint.label === undefined ? {} : { label: endpoint.label }),
  };
}

type Trouble = HttpTrouble & { readonly why?: FailureWhy };

/** undefined: not the endpoint's doing, a bug. */
async function readTrouble(error: unknown): Promise<Trouble | undefined> {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof TooLarge)
    return { status: undefined, message: "the reply is larger than Orch reads", why: "protocol" };
  if (error instanceof Malformed) return { status: undefined, message: error.message, why: "protocol" };
  if (error instanceof SyntaxError)
    return { status: undefined, message: "a stream with lines that are no JSON", why: "protocol" };
  if (error instanceof EndpointError)
    return { status: error.status, message: error.message, ...(error.code === undefined ? {} : { code: error.code }) };
  const { APIConnectionError, APIError, OpenAIError } = await import("openai");
  const cause = innermostCode(error.cause);
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    const code: unknown = error.code;
    return {
      // An error inside a 200 stream has no status of its own; some endpoints give it as the code.
      status: error.status ?? (typeof code === "number" && code >= 400 ? code : 500),
      message: error.message,
      ...(typeof code === "string" ? { code } : {}),
    };
  }
  if (!(error instanceof OpenAIError) && cause === undefined && !isCut(error)) return undefined;
  return { status: undefined, message: error.message, ...(cause === undefined ? {} : { cause }) };
}

function innermostCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const own = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return innermostCode(error.cause) ?? own;
}

function troubled(endpoint: OpenAiEndpoint, trouble: Trouble): Failed {
  const refusal = endpoint.refusals?.find((code) => code === trouble.code);
  const why = refusal === undefined ? (trouble.why ?? failureOf(trouble)) : "refused";
  const place = trouble.status === undefined && trouble.why === undefined ? `${endpoint.baseUrl}: ` : "";
  const said = failed(endpoint, why, `${place}${troubleText(trouble)}`);
  return refusal === undefined ? said : { ...said, code: refusal };
}

function failed(endpoint: OpenAiEndpoint, why: FailureWhy, detail: string): Failed {
  const hint = hintOf(endpoint, why);
  return {
    kind: "failed",
    why,
    model: endpoint.id,
    detail: safe(endpoint, detail),
    ...(hint === undefined ? {} : { hint }),
  };
}

function hintOf({ keyEnv, baseUrl }: OpenAiEndpoint, why: FailureWhy): string | undefined {
  if (why === "auth")
    return keyEnv === undefined
      ? `Give ${baseUrl} a key: keyEnv of its entry in models.providers`
      : `Set ${keyEnv} to a key that works`;
  if (why === "network") return `Check that ${baseUrl} can be reached`;
  return undefined;
}

/** One line for a person: no control characters, no key even if the endpoint repeats it, not a page long. */
function safe({ key }: OpenAiEndpoint, detail: string): string {
  const line = stripControls(detail).replace(/\s+/g, " ").trim();
  return clip(key === undefined || key === "" ? line : line.replaceAll(key, "[key]"), 400);
}

function firstWords(text: string): string {
  return clip(
    text
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
    120,
  );
}
