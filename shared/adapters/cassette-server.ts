import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as z from "zod";
import type { Cassette } from "../model/cassette.ts";

/**
 * Serves a cassette over OpenAI's protocol on the loopback. A reply is given only to the prompt it was written for:
 * role and step must be the same and all its texts must occur in the prompt. Anything else is refused and says why;
 * nothing is ever made up.
 */
export interface CassetteServer extends AsyncDisposable {
  /** With `/v1`: what ORCH_DEMO_URL names. */
  readonly baseUrl: string;
  readonly calls: readonly CassetteCall[];
}

export interface CassetteCall {
  readonly role: string;
  readonly step: number;
  readonly answered: boolean;
}

const Body = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.string() })).min(1),
});
type Step = Cassette["steps"][number];

const maxBodyBytes = 4 * 1024 * 1024;

/** `name`: how the model is called, `invoice` for `demo/invoice`. */
export async function startCassetteServer(cassette: Cassette, name: string): Promise<CassetteServer> {
  const calls: CassetteCall[] = [];
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isOwnHost(request)) return sendError(response, 403, "demo.host", "only this machine is served");
    if (request.method === "GET" && request.url === "/v1/models") {
      return sendJson(response, 200, {
        object: "list",
        data: [{ id: name, object: "model", owned_by: "orch", label: cassette.label }],
      });
    }
    if (request.method !== "POST" || request.url !== "/v1/chat/completions")
      return sendError(response, 404, "demo.path", "no such endpoint");
    const raw = await readBody(request);
    const body = raw === undefined ? undefined : Body.safeParse(parse(raw));
    if (body?.success !== true) return sendError(response, 400, "demo.body", "the request is not a chat completion");
    if (body.data.model !== name)
      return sendError(response, 404, "model_not_found", `the demo has no model ${body.data.model}`);
    const about = { role: header(request, "x-orch-role"), step: Number(header(request, "x-orch-step")) };
    const prompt = body.data.messages.map(({ content }) => content).join("\n");
    const found = findStep(cassette, about, prompt);
    calls.push({ ...about, answered: found.step !== undefined });
    if (found.step === undefined) return sendError(response, 422, "cassette.unknown-prompt", found.why);
    return answer(response, found.step, name, body.data.stream === true);
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The reply for this role, step and prompt, or why there is none. Pure. */
export function findStep(
  cassette: Cassette,
  about: { readonly role: string; readonly step: number },
  prompt: string,
): { readonly step: Step; readonly why?: undefined } | { readonly step?: undefined; readonly why: string } {
  const same = cassette.steps.filter(({ role, step }) => role === about.role && step === about.step);
  const step = same.find(({ match }) => match.every((text) => prompt.includes(text)));
  if (step !== undefined) return { step };
  const known = [...new Set(cassette.steps.map(({ role, step: at }) => `${role} ${at}`))].join(", ");
  if (same.length === 0)
    return {
      why: `the demo has no reply (${cassette.label}) for ${about.role || "no role"}, step ${about.step}; it has: ${known}`,
    };
  const missing = same[0]?.match.find((text) => !prompt.includes(text)) ?? "";
  return {
    why: `the demo's reply (${cassette.label}) for ${about.role}, step ${about.step} was written for another prompt: ${JSON.stringify(missing)} does not occur in this one`,
  };
}

function answer(response: ServerResponse, step: Step, name: string, stream: boolean): void {
  const usage = step.usage && {
    prompt_tokens: step.usage.input,
    completion_tokens: step.usage.output,
    total_tokens: step.usage.input + step.usage.output,
  };
  const base = { id: `demo-${step.role}-${step.step}`, created: 0, model: name };
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", content: step.reply }, finish_reason: "stop" }];
    sendJson(response, 200, { ...base, object: "chat.completion", choices, ...(usage && { usage }) });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (data: unknown): void => void response.write(`data: ${JSON.stringify(data)}\n\n`);
  const chunk = (delta: unknown, finish: string | null): unknown => ({
    ...base,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  send(chunk({ role: "assistant", content: step.reply }, null));
  send(chunk({}, "stop"));
  if (usage) send({ ...base, object: "chat.completion.chunk", choices: [], usage });
  response.end("data: [DONE]\n\n");
}

/** A page in a browser can reach the loopback under a name of its own; such a request names another host. */
function isOwnHost(request: IncomingMessage): boolean {
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  return (host === "127.0.0.1" || host === "localhost") && request.headers.origin === undefined;
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request) {
    if (!(part instanceof Uint8Array)) return undefined;
    bytes += part.byteLength;
    if (bytes > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, { error: { message, type: "invalid_request_error", param: null, code } });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
