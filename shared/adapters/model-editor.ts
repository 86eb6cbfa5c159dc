import { raceAbort } from "../base/abort.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import {
  claimStaleMs,
  claimWithinMs,
  CompletionOutcome,
  type CompletionPrompt,
  windowGone,
} from "../model/completion-file.ts";
import { readJson } from "../model/json-text.ts";
import { ReplyFile } from "../model/run-files.ts";
import { unknownUsage } from "../model/usage.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Files } from "../ports/files.ts";
import type { Ids } from "../ports/ids.ts";
import type { Completion, FailureWhy, Model, ModelSource } from "../ports/model.ts";

export interface EditorModelsDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The run whose windows are asked. */
  readonly sink: EventSink;
  readonly runDir: AbsPath;
  /** For tests; model/completion-file.ts has the defaults. */
  readonly claimWithinMs?: number;
  readonly claimStaleMs?: number;
}

const lookMs = 40;

/**
 * `vscode-lm/<vendor>/<id>`: a completion by the editor's own models. The request is an event of the run; a window claims
 * it and drops the whole reply. No claim in time, or a claim that went stale (the window was closed), and the chain goes on.
 */
export function createEditorModels(deps: EditorModelsDeps): ModelSource {
  return {
    open(id) {
      const [, vendor, ...name] = id.split("/");
      if (vendor === undefined || vendor === "" || name.join("/") === "") {
        return Promise.resolve({
          kind: "unavailable",
          why: `${id} names no model of an editor`,
          hint: "An id is vscode-lm/<vendor>/<model>",
        });
      }
      const model: Model = {
        id,
        provider: "vscode-lm",
        lane: "vscode-lm",
        complete: (request, signal) => complete(deps, id, request, signal),
      };
      return Promise.resolve({ kind: "model", model });
    },
  };
}

async function complete(
  deps: EditorModelsDeps,
  model: string,
  request: Parameters<Model["complete"]>[0],
  signal: AbortSignal,
): Promise<Completion> {
  const { clock, files, ids, runDir, sink } = deps;
  const id = `lm-${ids.next("question")}`;
  const claim = inRoot(runDir, "replies", `${id}.claim`);
  const prompt: CompletionPrompt = { v: 1, messages: [...request.messages] };
  const sidecar = await sink.sidecar(`completions/${id}.json`, JSON.stringify(prompt));
  sink.append({ type: "completion.requested", id, model, prompt: sidecar, deadline: clock.now() + request.timeoutMs });
  try {
    return await answer(deps, { id, model, claim, timeoutMs: request.timeoutMs }, signal);
  } finally {
    // The window that serves it notices and stops its model.
    await files.remove(claim);
  }
}

interface Asked {
  readonly id: string;
  readonly model: string;
  readonly claim: AbsPath;
  readonly timeoutMs: number;
}

async function answer(
  deps: EditorModelsDeps,
  { id, model, claim, timeoutMs }: Asked,
  signal: AbortSignal,
): Promise<Completion> {
  const { clock, files, runDir } = deps;
  const began = clock.tick();
  const failed = (why: FailureWhy, detail: string): Completion => ({ kind: "failed", why, model, detail });
  for (;;) {
    const text = await raceAbort(files.readText(inRoot(runDir, "replies", `${id}.json`)), signal);
    if (text !== undefined) return completionOf(model, text);
    const waited = clock.tick() - began;
    if (waited > timeoutMs) return failed("timeout", `no answer within ${Math.round(timeoutMs / 1000)} s`);
    const claimed = await files.stat(claim);
    if (claimed === undefined && waited > (deps.claimWithinMs ?? claimWithinMs)) {
      return failed("unavailable", "no window of VS Code with this folder took the request");
    }
    if (claimed !== undefined && clock.now() - claimed.mtimeMs > (deps.claimStaleMs ?? claimStaleMs)) {
      return failed("unavailable", windowGone);
    }
    await clock.sleep(lookMs, signal);
  }
}

const whys = {
  auth: "auth",
  "rate-limit": "rate-limit",
  "unknown-model": "unknown-model",
  cancelled: "error",
  gone: "unavailable",
  error: "error",
} as const satisfies Readonly<Record<Exclude<CompletionOutcome, "ok">, FailureWhy>>;

function completionOf(model: string, text: string): Completion {
  const read = readJson(text, ReplyFile);
  const outcome = read.kind === "ok" ? CompletionOutcome.safeParse(read.value.choice) : undefined;
  if (read.kind !== "ok" || outcome?.success !== true)
    return { kind: "failed", why: "protocol", model, detail: "the window's reply cannot be read" };
  const said = read.value.text ?? "";
  if (outcome.data === "ok") {
    if (said.trim() === "")
      return { kind: "unusable", why: "empty", model, usage: unknownUsage, detail: "the model answered nothing" };
    return { kind: "ok", text: said, model, usage: unknownUsage };
  }
  return { kind: "failed", why: whys[outcome.data], model, detail: said };
}
