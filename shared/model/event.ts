import * as z from "zod";
import { Decision } from "./decision.ts";
import { Finding } from "./finding.ts";
import { HostName } from "./run-files.ts";
import { schemaIssue } from "./schema-issue.ts";
import { Sidecar } from "./sidecar.ts";
import { Amount, Usage } from "./usage.ts";

/**
 * What happened in a run, in past tense. `events.jsonl` is the truth that every host folds; events never drive control
 * flow. The envelope is `v, run, seq, at, type`; `seq` starts at 1 and has no gaps; `at` is milliseconds since 1970.
 */
export const eventVersion = 1;

const of = { contract: z.string(), attempt: z.number().int().min(1) };
const maybeOf = { contract: z.string().optional(), attempt: z.number().int().min(1).optional() };
const choice = z.object({ id: z.string(), label: z.string() });

export const eventBodies = {
  "run.started": z.object({
    command: z.string(),
    title: z.string(),
    host: HostName,
    version: z.string(),
    pid: z.number().int(),
    contractHash: z.string().optional(),
  }),
  /** The feature that the run is about, as it stands when the run begins: named, or taken from the branch. */
  "target.named": z.object({ feature: z.string() }),
  "run.finished": z.object({ outcome: z.enum(["ok", "failed", "cancelled"]) }),
  /** The run waits for a person; locks and slots are freed. `hint` is the next keystroke. */
  "run.parked": z.object({ why: z.string(), hint: z.string() }),
  "run.resumed": z.object({ host: HostName, pid: z.number().int() }),
  "run.cancelled": z.object({ by: z.string() }),
  "wave.started": z.object({
    contracts: z.array(z.object({ id: z.string(), title: z.string(), after: z.array(z.string()) })),
  }),
  "wave.finished": z.object({ passed: z.array(z.string()), failed: z.array(z.string()), skipped: z.array(z.string()) }),
  "contract.queued": z.object({
    contract: z.string(),
    title: z.string(),
    hash: z.string(),
    maxAttempts: z.number().int(),
    feature: z.string().optional(),
    /** The feature's, on which the run began. */
    branch: z.string().optional(),
  }),
  "contract.skipped": z.object({ contract: z.string(), why: z.string() }),
  "contract.finished": z.object({
    contract: z.string(),
    state: z.enum(["accepted", "awaiting-review", "failed", "blocked", "needs-lead", "cancelled"]),
    why: z.string().optional(),
  }),
  "attempt.started": z.object({ ...of, worker: z.string(), base: z.string() }),
  "attempt.finished": z.object({ ...of, durationMs: z.number() }),
  "worker.reported": z.object({
    ...of,
    outcome: z.string(),
    summary: z.string(),
    model: z.string().optional(),
    durationMs: z.number(),
  }),
  "model.asked": z.object({
    ...maybeOf,
    role: z.string(),
    model: z.string(),
    label: z.string().optional(),
    prompt: Sidecar.optional(),
  }),
  "model.answered": z.object({
    ...maybeOf,
    role: z.string(),
    model: z.string(),
    durationMs: z.number(),
    chars: z.number(),
  }),
  "model.fell-through": z.object({
    ...maybeOf,
    role: z.string(),
    model: z.string(),
    why: z.string(),
    next: z.string().optional(),
  }),
  "model.chosen": z.object({ models: z.array(z.string()), why: z.string() }),
  "change.collected": z.object({
    ...of,
    files: z.array(z.object({ path: z.string(), status: z.string() })),
    added: z.number(),
    removed: z.number(),
    patch: Sidecar.optional(),
  }),
  "gate.started": z.object({ ...maybeOf, gate: z.string() }),
  "gate.finished": z.object({
    ...maybeOf,
    gate: z.string(),
    status: z.enum(["ran", "skipped", "broken"]),
    why: z.string().optional(),
    ms: z.number(),
    findings: z.array(Finding),
    log: Sidecar.optional(),
  }),
  "verdict.reached": z.object({
    ...of,
    verdict: z.enum(["pass", "fail", "inconclusive"]),
    fails: z.number(),
    warns: z.number(),
    report: Sidecar.optional(),
  }),
  "decision.made": z.object({ ...of, decision: Decision, feedback: Sidecar.optional() }),
  /** A convenience: it has a timeout and a stated default. */
  "question.asked": z.object({
    id: z.string(),
    kind: z.enum(["pick", "confirm", "text"]),
    title: z.string(),
    detail: z.string().optional(),
    choices: z.array(choice),
    otherwise: z.string().optional(),
    timeoutMs: z.number(),
  }),
  "question.answered": z.object({
    id: z.string(),
    choice: z.string().optional(),
    text: z.string().optional(),
    by: z.string(),
  }),
  /** A decision (accept, spend, discard, trust) has no timeout. */
  "decision.asked": z.object({
    id: z.string(),
    contract: z.string().optional(),
    title: z.string(),
    detail: z.string().optional(),
    choices: z.array(choice),
  }),
  "decision.answered": z.object({ id: z.string(), choice: z.string(), text: z.string().optional(), by: z.string() }),
  "notice.shown": z.object({
    severity: z.enum(["info", "warning", "error"]),
    text: z.string(),
    hint: z.string().optional(),
  }),
  "diff.shown": z.object({ title: z.string(), path: z.string(), left: Sidecar, right: Sidecar }),
  "location.opened": z.object({ path: z.string(), line: z.number().int().optional() }),
  "review.opened": z.object({ contract: z.string(), diffHash: z.string() }),
  /** Of the work in the run `work`, told in the review's own log. */
  "review.closed": z.object({
    contract: z.string(),
    verb: z.enum(["accept", "revise", "take-over"]),
    reviewer: z.string(),
    diffHash: z.string(),
    work: z.string().optional(),
    /** What a revision asks for, one by one: `path:line: fault`. */
    items: z.array(z.string()).optional(),
    feedback: Sidecar.optional(),
  }),
  /** An accepted change lies in the working tree, unstaged, and its checks are green there. */
  "contract.merged": z.object({
    contract: z.string(),
    title: z.string(),
    /** The run that made it. */
    work: z.string(),
    diffHash: z.string(),
    paths: z.array(z.string()),
  }),
  /** A place for a worker that Orch does not start. It holds a slot until `until`. */
  "contract.prepared": z.object({
    ...of,
    folder: z.string(),
    base: z.string(),
    prompt: Sidecar,
    slot: z.string(),
    until: z.number(),
    /** The run whose worktree it is, where work goes on in an earlier one. */
    worktree: z.string().optional(),
  }),
  /** Project-wide checks over the merged tree. */
  "final.checked": z.object({
    contracts: z.array(z.string()),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), why: z.string().optional() })),
  }),
  /** Before anything is dispatched. A worker whose price nobody knows makes the sum unknown. */
  "wave.estimated": z.object({
    contracts: z.array(z.object({ id: z.string(), worker: z.string(), tokens: z.number(), usd: Amount })),
    usd: Amount,
  }),
  "control.accepted": z.object({ id: z.string(), verb: z.string(), target: z.string() }),
  "control.refused": z.object({ id: z.string(), verb: z.string(), why: z.string() }),
  "process.started": z.object({
    ...maybeOf,
    pid: z.number().int(),
    startTime: z.string(),
    marker: z.string(),
    what: z.string(),
  }),
  "process.ended": z.object({ pid: z.number().int(), how: z.string() }),
  "process.swept": z.object({ pids: z.array(z.number().int()), why: z.string() }),
  "completion.requested": z.object({ id: z.string(), model: z.string(), prompt: Sidecar, deadline: z.number() }),
  "usage.recorded": z.object({ ...maybeOf, model: z.string(), usage: Usage }),
  "budget.reached": z.object({
    ...maybeOf,
    what: z.enum(["minutes", "usd", "attempts"]),
    limit: z.number(),
    used: z.number(),
  }),
  "trash.stored": z.object({ id: z.string(), what: z.string(), entries: z.number(), bytes: z.number() }),
  "commit.made": z.object({ commit: z.string(), branch: z.string(), subject: z.string(), pushed: z.boolean() }),
  "progress.noted": z.object({ text: z.string() }),
  "command.finished": z.object({
    ok: z.boolean(),
    code: z.number().int(),
    summary: z.string(),
    next: z.array(z.string()),
    data: z.unknown().optional(),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string(), at: z.string().optional() }).optional(),
  }),
} as const;

export type EventType = keyof typeof eventBodies;
export type EventBody<T extends EventType> = z.infer<(typeof eventBodies)[T]>;

/** What callers append; the log adds the envelope. */
export type NewEvent = { [T in EventType]: { readonly type: T } & EventBody<T> }[EventType];
export interface Envelope {
  readonly v: number;
  readonly run: string;
  readonly seq: number;
  readonly at: number;
}
export type RunEvent = Envelope & NewEvent;
/** An event of a newer Orch: kept and shown, never dropped. */
export type UnknownEvent = Envelope & {
  readonly type: string;
  readonly unknown: true;
  readonly body: Record<string, unknown>;
};

const EnvelopeSchema = z.looseObject({
  v: z.number(),
  run: z.string(),
  seq: z.number().int().min(1),
  at: z.number(),
  type: z.string(),
});

export type ParsedEvent =
  | { readonly kind: "event"; readonly event: RunEvent }
  | { readonly kind: "unknown"; readonly event: UnknownEvent }
  | { readonly kind: "bad"; readonly why: string };

export function parseEvent(line: string): ParsedEvent {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { kind: "bad", why: "not JSON" };
  }
  const envelope = EnvelopeSchema.safeParse(json);
  if (!envelope.success) return { kind: "bad", why: "no envelope" };
  const { v, run, seq, at, type, ...body } = envelope.data;
  if (v !== eventVersion)
    return { kind: "bad", why: `written by another Orch (event version ${v}, this one reads ${eventVersion})` };
  if (!Object.hasOwn(eventBodies, type))
    return { kind: "unknown", event: { v, run, seq, at, type, unknown: true, body } };
  const parsed = eventBodies[type as EventType].safeParse(body);
  if (!parsed.success) return { kind: "bad", why: `${type}: ${schemaIssue(parsed.error.issues[0], body).message}` };
  return { kind: "event", event: { v, run, seq, at, type, ...(parsed.data as object) } as RunEvent };
}
