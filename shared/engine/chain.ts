import { abortError, isAbort, raceAbort, throwIfAborted } from "../base/abort.ts";
import { isOrchError } from "../model/error.ts";
import { addUsage } from "../model/usage.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type {
  Completion,
  FailureWhy,
  Model,
  ModelRequest,
  ModelSource,
  OpenedModel,
  TriedModel,
  UnusableWhy,
} from "../ports/model.ts";
import { unusableReply } from "./unusable-reply.ts";

/**
 * Several models as one. Inside one attempt each is asked once, in order, until one gives something usable; no
 * judgement about the work is made here (that is the ladder's). A refused credential skips that provider's other
 * models. An abort is not a failure: it rejects at once and nobody else is asked.
 */
export interface ChainDeps {
  readonly ids: readonly string[];
  readonly source: ModelSource;
  readonly sink: EventSink;
  readonly clock: Clock;
}

type Said = Exclude<Completion, { readonly kind: "ok" }>;

/** How long a model that was told to stop may take to end its process before the chain goes on without it. */
const settleMs = 5_000;
/** The same after an abort, which must be honoured at once; what is left ends in the background. */
const abortMs = 100;

export function createChain(deps: ChainDeps): Model {
  const first = deps.ids[0];
  if (first === undefined) throw new TypeError("a chain needs at least one model");
  return {
    id: first,
    provider: providerOf(first),
    lane: "chain",
    complete: (request, signal) => askInOrder(deps, request, signal),
  };
}

/** The part of a model id before its first `/`. */
function providerOf(id: string): string {
  const at = id.indexOf("/");
  return at === -1 ? id : id.slice(0, at);
}

async function askInOrder(deps: ChainDeps, request: ModelRequest, signal: AbortSignal): Promise<Completion> {
  const failures: Said[] = [];
  const refusedProviders = new Set<string>();
  const ids = [...new Set(deps.ids)];
  const about = aboutOf(request);
  for (const [index, id] of ids.entries()) {
    throwIfAborted(signal);
    const said: Completion = refusedProviders.has(providerOf(id))
      ? { kind: "failed", why: "auth", model: id, detail: `skipped: ${providerOf(id)} refused its credential` }
      : await askOne(deps, id, request, signal);
    if (said.kind === "ok") return said;
    if (said.kind === "failed" && said.why === "auth") refusedProviders.add(providerOf(id));
    failures.push(said);
    const next = ids[index + 1];
    deps.sink.append({
      type: "model.fell-through",
      ...about,
      model: id,
      why: reasonText(said),
      ...(next === undefined ? {} : { next }),
    });
  }
  return exhausted(failures);
}

async function askOne(deps: ChainDeps, id: string, request: ModelRequest, signal: AbortSignal): Promise<Completion> {
  const { sink, clock } = deps;
  const about = aboutOf(request);
  const opened = await open(deps.source, id, signal);
  if (opened.kind === "unavailable") {
    const { why: detail, hint, code } = opened;
    const told = code === undefined ? {} : { code };
    return { kind: "failed", why: "unavailable", model: id, detail, hint, ...told };
  }
  const { model } = opened;
  sink.append({
    type: "model.asked",
    ...about,
    model: id,
    ...(model.label === undefined ? {} : { label: model.label }),
  });
  const began = clock.tick();
  const said = judged(await bounded(model, request, clock, signal));
  if (said.kind !== "failed")
    sink.append({ type: "usage.recorded", ...placeOf(request), model: said.model, usage: said.usage });
  if (said.kind !== "ok") return said;
  sink.append({
    type: "model.answered",
    ...about,
    model: said.model,
    durationMs: clock.tick() - began,
    chars: said.text.length,
  });
  return said.label === undefined && model.label !== undefined ? { ...said, label: model.label } : said;
}

/** A refusal to open an id is one more reason to go on. */
async function open(source: ModelSource, id: string, signal: AbortSignal): Promise<OpenedModel> {
  try {
    return await source.open(id, signal);
  } catch (error) {
    if (!isOrchError(error)) throw error;
    return { kind: "unavailable", why: error.message, hint: error.hint };
  }
}

/** The text is looked at here, once, for every lane; what the lane knows (finish reason) it has said already. */
function judged(said: Completion): Completion {
  if (said.kind !== "ok") return said;
  const fault = unusableReply(said.text);
  return fault === undefined
    ? said
    : { kind: "unusable", why: fault.why, model: said.model, usage: said.usage, detail: fault.detail };
}

/** A lane bounds itself; one that does not is stopped here, so that no model can hold the attempt. */
async function bounded(model: Model, request: ModelRequest, clock: Clock, signal: AbortSignal): Promise<Completion> {
  const stop = new AbortController();
  const timers = new AbortController();
  const after = (ms: number): Promise<"late"> => clock.sleep(ms, timers.signal).then(() => "late" as const);
  const answer = model.complete(request, AbortSignal.any([signal, stop.signal])).then(
    (said) => ({ said }) as const,
    (error: unknown) => ({ error }) as const,
  );
  try {
    const first = await untilAbort(Promise.race([answer, after(request.timeoutMs)]), signal);
    if (first === "aborted") {
      await Promise.race([answer, after(abortMs)]);
      throw abortError(signal);
    }
    if (first === "late") {
      stop.abort();
      await untilAbort(Promise.race([answer, after(settleMs)]), signal);
      throwIfAborted(signal);
      return {
        kind: "failed",
        why: "timeout",
        model: model.id,
        detail: `no reply within ${Math.round(request.timeoutMs / 1000)} s`,
      };
    }
    if ("said" in first) return first.said;
    throwIfAborted(signal);
    return refusal(first.error, model.id);
  } finally {
    timers.abort();
  }
}

/** The work's value, or "aborted" as soon as the signal says so. */
function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T | "aborted"> {
  return raceAbort(work, signal).catch((error: unknown) => {
    if (signal.aborted) return "aborted";
    throw error;
  });
}

/** A lane's own refusal, or an abort nobody asked for, is one more thing that a model said; anything else is a bug. */
function refusal(error: unknown, model: string): Completion {
  if (isOrchError(error))
    return { kind: "failed", why: "error", model, detail: error.message, hint: error.hint, code: error.code };
  if (isAbort(error))
    return { kind: "failed", why: "error", model, detail: "the request was stopped, and not by a person" };
  throw error;
}

const reasonWords = {
  auth: "credential refused",
  "rate-limit": "rate limit",
  timeout: "timeout",
  network: "network",
  protocol: "protocol",
  "unknown-model": "unknown model",
  refused: "refused",
  error: "error",
  unavailable: "unavailable",
  exhausted: "exhausted",
  empty: "empty reply",
  "tool-markup": "tool-call markup",
  truncated: "truncated",
} as const satisfies Record<FailureWhy | UnusableWhy, string>;

function reasonText({ why, detail }: Pick<TriedModel, "why" | "detail">): string {
  return `${reasonWords[why]}: ${detail}`;
}

/** One model alone keeps its own words and code; of several, what each said and what it cost. */
function exhausted(said: readonly Said[]): Completion {
  const tried = said.map(({ model, why, detail }) => ({ model, why, detail }));
  const only = said.length === 1 ? said[0] : undefined;
  if (only !== undefined) return only.kind === "failed" ? { ...only, tried } : only;
  const replied = said.flatMap((one) => (one.kind === "unusable" ? [one.usage] : []));
  const hint = said.map((one) => (one.kind === "failed" ? one.hint : undefined)).find((text) => text !== undefined);
  return {
    kind: "failed",
    why: "exhausted",
    model: said[0]?.model ?? "none",
    detail: tried.map((one) => `${one.model}: ${reasonText(one)}`).join("; "),
    ...(hint === undefined ? {} : { hint }),
    code: "model.exhausted",
    tried,
    ...(replied.length === 0 ? {} : { usage: replied.reduce(addUsage) }),
  };
}

function placeOf(request: ModelRequest): { readonly contract?: string; readonly attempt?: number } {
  return {
    ...(request.contract === undefined ? {} : { contract: request.contract }),
    ...(request.attempt === undefined ? {} : { attempt: request.attempt }),
  };
}

function aboutOf(request: ModelRequest): {
  readonly role: string;
  readonly contract?: string;
  readonly attempt?: number;
} {
  return { ...placeOf(request), role: request.role };
}
