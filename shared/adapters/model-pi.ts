import { abortError } from "../base/abort.ts";
import { clip, stripControls } from "../base/lines.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import type { ChatMessage } from "../model/completion.ts";
import type { Files } from "../ports/files.ts";
import type { Ids } from "../ports/ids.ts";
import type { Completion, FailureWhy, Model, ModelRequest } from "../ports/model.ts";
import type { Exit, Output, Process, ProcessSpec } from "../ports/process.ts";
import { failureOf } from "./openai-failure.ts";
import { piEnvironment, withoutValues } from "./pi-environment.ts";
import { createPiHome, type PiHome } from "./pi-home.ts";
import type { PiProgram } from "./pi-probe.ts";
import { type PiReply, readPiStream } from "./pi-stream.ts";

/**
 * One completion by one pi process: no tools, no session, nothing of the repository loaded, an empty folder to stand
 * in. The prompt goes through stdin and the persona through a file, so neither is bounded by the length of a command
 * line. `--offline` stops only what pi fetches at its start (catalogues, updates, tools); providers are asked as ever.
 */
export interface PiModelDeps {
  readonly files: Files;
  readonly process: Process;
  readonly ids: Ids;
  readonly env: Readonly<Record<string, string>>;
  /** Private folders for calls are made below it and removed after each. */
  readonly stateDir: AbsPath;
  readonly pi: PiProgram;
  /** For the sweep of what outlives a call, and for the log. */
  readonly marker?: string;
  readonly onStart?: (pid: number, startTime: string) => void;
}

/** Passed when this pi knows them; the first group every pi that Orch accepts has. */
const needed = ["-p", "--mode", "json", "--no-session", "--no-tools"] as const;
export const wantedFlags = [
  "--no-context-files",
  "--no-extensions",
  "--no-skills",
  "--no-prompt-templates",
  "--no-themes",
  "--no-mcp",
  "--no-approve",
  "--offline",
] as const;

const maxStreamBytes = 48 * 1024 * 1024;
const maxReplyChars = 4 * 1024 * 1024;
/** pi's own clock starts after ours, and its error is worth more than ours. */
const graceMs = 1_000;
const noPersona = "Answer with text only. You have no tools.";

export function createPiModel(deps: PiModelDeps, id: string): Model {
  return {
    id,
    provider: id.split("/")[0] ?? id,
    lane: "pi",
    complete: (request, signal) => complete(deps, id, request, signal),
  };
}

async function complete(
  deps: PiModelDeps,
  id: string,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Completion> {
  signal.throwIfAborted();
  const at = inRoot(deps.stateDir, "pi", deps.ids.next("marker"));
  const { system, prompt } = fold(request.messages);
  await using home = await createPiHome(deps.files, {
    at,
    userDir: deps.pi.userDir,
    timeoutMs: request.timeoutMs,
    systemPrompt: system,
  });
  const done = await deps.process.run(specOf(deps, id, home, request, prompt), signal);
  if (signal.aborted) throw abortError(signal);
  const safe = (text: string): string => oneLine(withoutValues(text, deps.env, deps.pi.variables));
  return judge(id, request, done, safe);
}

function specOf(deps: PiModelDeps, id: string, home: PiHome, request: ModelRequest, prompt: string): ProcessSpec {
  const { pi } = deps;
  return {
    argv: [
      ...pi.argv,
      ...needed,
      ...wantedFlags.filter((flag) => pi.flags.includes(flag)),
      "--system-prompt",
      home.systemPrompt,
      "--model",
      id,
    ],
    cwd: home.work,
    env: piEnvironment(deps.env, { agentDir: home.dir, names: pi.variables }),
    timeoutMs: request.timeoutMs + graceMs,
    maxOutputBytes: maxStreamBytes,
    stdin: prompt,
    ...(deps.marker === undefined ? {} : { marker: deps.marker }),
    ...(deps.onStart === undefined ? {} : { onStart: deps.onStart }),
  };
}

/** pi takes one prompt: what came before it is told as what it was. */
function fold(messages: readonly ChatMessage[]): { readonly system: string; readonly prompt: string } {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const talk = messages.filter(({ role }) => role !== "system");
  const told = talk.map(({ role, content }) => (role === "assistant" ? `Your earlier answer:\n\n${content}` : content));
  return { system: system.length === 0 ? noPersona : system.join("\n\n"), prompt: told.join("\n\n---\n\n") };
}

function judge(id: string, request: ModelRequest, done: Exit & Output, safe: (text: string) => string): Completion {
  const failed = (why: FailureWhy, detail: string, hint?: string): Completion => ({
    kind: "failed",
    why,
    model: id,
    detail: safe(detail),
    ...(hint === undefined ? {} : { hint }),
  });
  switch (done.kind) {
    case "not-started":
      return failed("unavailable", `pi could not be started: ${done.reason}`);
    case "timed-out":
      return failed("timeout", `no whole reply within ${Math.round(request.timeoutMs / 1000)} s`);
    case "too-much-output":
      return failed("protocol", "the reply is larger than Orch reads");
    case "cancelled":
    case "signalled":
      return failed("error", "pi was ended from outside");
    case "exited":
      return judgeReply(id, done.code, readPiStream(decode(done.stdout)), decode(done.stderr), failed);
  }
}

type Fail = (why: FailureWhy, detail: string, hint?: string) => Completion;

function judgeReply(id: string, code: number, reply: PiReply, stderr: string, failed: Fail): Completion {
  const { usage, text } = reply;
  if (reply.stopReason === undefined) return withoutReply(code, stderr, failed);
  if (reply.model !== undefined && !sameModel(id, reply.model))
    return failed("unknown-model", `pi knows no such model and asked ${reply.model} instead`, listHint);
  if (reply.stopReason === "error" || reply.stopReason === "aborted") return withError(id, reply, failed);
  if (text.length > maxReplyChars) return failed("protocol", "the reply is larger than Orch reads");
  if (reply.stopReason === "length")
    return { kind: "unusable", why: "truncated", model: id, usage, detail: "the token limit was reached" };
  if (reply.stopReason === "toolUse")
    return {
      kind: "unusable",
      why: "tool-markup",
      model: id,
      usage,
      detail: "the model called a tool although none was offered",
    };
  if (!reply.settled)
    return { kind: "unusable", why: "truncated", model: id, usage, detail: "pi stopped before its run was settled" };
  if (text.trim() === "") return { kind: "unusable", why: "empty", model: id, usage, detail: "an empty reply" };
  return { kind: "ok", text, model: id, usage };
}

const listHint = "See what pi knows with: pi --list-models";

interface SilentRow {
  readonly says: RegExp;
  readonly why: FailureWhy;
  readonly hint?: string;
}

/** pi ended without asking anybody: what its stderr tells. */
const silent: readonly SilentRow[] = [
  {
    says: /no api key|not authenticated|log ?in|no models available|credential/i,
    why: "auth",
    hint: "Log in with: pi, then /login, or set the provider's key",
  },
  { says: /model .*(?:not found|ambiguous)|unknown (?:model|provider)/i, why: "unknown-model", hint: listHint },
];

function withoutReply(code: number, stderr: string, failed: Fail): Completion {
  const lines = stripControls(stderr)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const words = lines.find((line) => /error/i.test(line)) ?? lines[0] ?? "nothing on stderr";
  const row = silent.find(({ says }) => says.test(stderr));
  return row === undefined
    ? failed("protocol", `pi ended with exit code ${code} and no reply: ${words}`)
    : failed(row.why, words, row.hint);
}

/** `429: {...}`, `401 {...}`, `Stream ended without finish_reason`, `Connection error.` */
function withError(id: string, reply: PiReply, failed: Fail): Completion {
  const said = reply.errorMessage === "" ? "the provider failed without words" : reply.errorMessage;
  const status = /^\s*(?:error:?\s*)?(\d{3})\b/i.exec(said)?.[1];
  const message = messageOf(said);
  if (status !== undefined) {
    const why = failureOf({ status: Number(status), message: said });
    return failed(
      why,
      `${status} ${message}`,
      why === "auth" ? `Log in again with: pi, then /login ${id.split("/")[0] ?? ""}`.trim() : undefined,
    );
  }
  if (/no api key|unauthori[sz]ed|invalid.{0,20}(?:api key|token)|authentication/i.test(said))
    return failed("auth", said, "Log in with: pi, then /login, or set the provider's key");
  if (/timed? ?out|timeout/i.test(said)) return failed("timeout", said);
  if (/without (?:a )?finish|ended (?:early|before)|premature|terminated/i.test(said)) {
    return {
      kind: "unusable",
      why: "truncated",
      model: id,
      usage: reply.usage,
      detail: "the reply stopped before its end",
    };
  }
  if (/connection|fetch failed|network|socket|ECONN|ENOTFOUND/i.test(said)) return failed("network", said);
  return failed("error", said);
}

/** The words inside `429: {"message":"..."}`, or the text itself without its status. */
function messageOf(said: string): string {
  const body = said.replace(/^\s*(?:error:?\s*)?\d{3}\s*:?\s*/i, "");
  const quoted = /"message"\s*:\s*("(?:\\.|[^"\\])*")/.exec(body)?.[1];
  if (quoted === undefined) return body === "" ? "without words" : body;
  try {
    return String(JSON.parse(quoted));
  } catch {
    return body;
  }
}

/** A thinking level after the last colon is pi's own suffix. */
function sameModel(asked: string, answered: string): boolean {
  return (
    asked.toLowerCase() === answered.toLowerCase() ||
    asked.replace(/:(?:off|minimal|low|medium|high|xhigh|max)$/i, "").toLowerCase() === answered.toLowerCase()
  );
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function oneLine(text: string): string {
  return clip(stripControls(text).replace(/\s+/g, " ").trim(), 400);
}
