import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Call, type Failure, type Script, ScriptRunner, type Step } from "./script.ts";
import { anthropic } from "./wires/anthropic.ts";
import { gemini } from "./wires/gemini.ts";
import { openAiChat } from "./wires/openai-chat.ts";
import { openAiResponses } from "./wires/openai-responses.ts";
import type { Body, ServerEvent, Wire } from "./wires/wire.ts";

const wires: readonly Wire[] = [openAiChat, openAiResponses, anthropic, gemini];

/**
 * A model server on the loopback that answers from a script in the protocols that real clients speak, failures included.
 * It holds no secrets: of a key it only remembers that one came.
 */
export interface ScriptedModelServer extends AsyncDisposable {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly port: number;
  readonly calls: Call[];
  /** Resolves when the server has received that many calls. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startScriptedModelServer(script: Script, port = 0): Promise<ScriptedModelServer> {
  const runner = new ScriptRunner(script);
  const calls: Call[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    void handle(request, response, runner, (call) => {
      calls.push(call);
      for (const wake of waiting) wake();
    }).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, errorBody(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as AddressInfo).port;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    baseUrl: `http://127.0.0.1:${bound}/v1`,
    port: bound,
    calls,
    received: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (calls.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  runner: ScriptRunner,
  log: (call: Call) => void,
): Promise<void> {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const raw = await readBody(request);
  if (request.method === "GET" && path.endsWith("/models")) {
    sendJson(response, 200, {
      object: "list",
      data: runner.models.map((id) => ({ id, object: "model", owned_by: "scripted" })),
      // codex wants the key; an empty list leaves its own catalogue.
      models: [],
    });
    return;
  }
  if (request.method === "GET" && path.endsWith("/api/tags")) {
    sendJson(response, 200, { models: runner.models.map((name) => ({ name })) });
    return;
  }
  if (path.endsWith("/count_tokens") || path.endsWith(":countTokens")) {
    sendJson(response, 200, { input_tokens: 1000, totalTokens: 1000 });
    return;
  }
  const wire = request.method === "POST" ? wires.find((one) => one.owns(path)) : undefined;
  if (wire === undefined) {
    sendJson(response, 404, errorBody(`no such endpoint: ${path}`));
    return;
  }
  const call = readCall(wire, JSON.parse(raw) as Body, request, path);
  const step = runner.next(call);
  call.answeredBy = step?.name ?? "no step matches";
  log(call);
  if (step === undefined) sendJson(response, 418, wire.error(418, "scripted server: no step matches this call", null));
  else {
    await step.after?.();
    answer(response, wire, step, call);
  }
}

function answer(response: ServerResponse, wire: Wire, step: Step, call: Call): void {
  if (step.fail) {
    fail(response, wire, step.fail, call);
    return;
  }
  const reply = step.reply ?? {};
  if (!call.stream || reply.whole === true) {
    sendJson(response, 200, wire.whole(reply, call));
    return;
  }
  startStream(response);
  for (const one of wire.events(reply, call)) response.write(written(one));
  response.end(wire.terminator);
}

function fail(response: ServerResponse, wire: Wire, failure: Failure, call: Call): void {
  switch (failure.kind) {
    case "status": {
      const headers =
        failure.retryAfterSeconds === undefined ? {} : { "retry-after": String(failure.retryAfterSeconds) };
      const message = failure.message ?? `scripted HTTP ${failure.status}`;
      sendJson(response, failure.status, wire.error(failure.status, message, failure.code ?? null), headers);
      return;
    }
    case "empty-body":
      response.writeHead(200, { "content-type": call.stream ? "text/event-stream" : "application/json" });
      response.end();
      return;
    case "hang":
      return;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "html":
      response.writeHead(200, { "content-type": "text/html" });
      response.end(failure.body ?? "<html><body>502 the proxy says hello</body></html>");
      return;
    case "garbage":
      startStream(response);
      response.end("data: {not json\n\n");
      return;
    case "stream-error":
      startStream(response);
      response.end(written({ data: { error: { message: failure.message, code: failure.code } } }));
      return;
    case "truncate":
    case "stall":
    case "break":
      if (!call.stream) {
        // Half a body, as a proxy that gave up sends it.
        const body = JSON.stringify(wire.whole({ text: failure.text }, call));
        response.writeHead(200, { "content-type": "application/json" });
        response.write(body.slice(0, body.length / 2));
      } else {
        startStream(response);
        for (const one of upToTheMiddle(wire.events({ text: failure.text, pieces: 4 }, call)))
          response.write(written(one));
      }
      if (failure.kind === "truncate") response.end();
      if (failure.kind === "break") setImmediate(() => response.socket?.resetAndDestroy());
      return;
  }
}

/** The text's first pieces, never a finish marker. */
function upToTheMiddle(events: readonly ServerEvent[]): readonly ServerEvent[] {
  return events.slice(0, Math.max(2, Math.ceil(events.length / 2) - 1));
}

function readCall(wire: Wire, body: Body, request: IncomingMessage, path: string): Call {
  const { authorization, "x-api-key": apiKey, "x-goog-api-key": googleKey, ...headers } = request.headers;
  const talk = wire.read(body, path);
  return {
    wire: wire.name,
    stream: wire.isStream(body, path),
    ...talk,
    offersTools: talk.tools.length > 0,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    authorized: authorization !== undefined || apiKey !== undefined || googleKey !== undefined,
    answeredBy: "",
  };
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

function written({ event, data }: ServerEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function errorBody(message: string, code: string | null = null): unknown {
  return { error: { message, type: "server_error", param: null, code } };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
