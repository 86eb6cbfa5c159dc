import { throwIfAborted } from "../base/abort.ts";
import { count, linesOf } from "../base/lines.ts";
import { globMatcher, repoPath } from "../base/paths.ts";
import type { WorkerReport } from "../model/attempt.ts";
import { type ChatMessage, noReplyText } from "../model/completion.ts";
import { unknownUsage } from "../model/usage.ts";
import type { Clock } from "../ports/clock.ts";
import type { Completion, Model, TriedModel } from "../ports/model.ts";
import type { Worker, WorkerOrder } from "../ports/worker.ts";
import { applyEdits, type Edit, type Extraction, readReply } from "../prompts/extract.ts";

/**
 * One completion as a worker: ask once, take the files out of the reply, write them through the workspace. The model is
 * the chain already, so where nobody replied its models are at fault and no attempt is spent. What the reply says is
 * data: its paths are checked against the contract's scope before anything is written, its concerns are passed on.
 */
export interface CompletionWorkerDeps {
  /** `completion` when absent. */
  readonly id?: string;
  readonly model: Model;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Bytes a file may have to be shown or patched; a larger one is left alone. */
  readonly maxFileBytes?: number;
}

const defaultMaxFileBytes = 2_000_000;

export function createCompletionWorker(deps: CompletionWorkerDeps): Worker {
  return {
    id: deps.id ?? "completion",
    can: { resume: false, supervise: false, write: false },
    run: (order, signal) => work(deps, order, signal),
  };
}

async function work(deps: CompletionWorkerDeps, order: WorkerOrder, signal: AbortSignal): Promise<WorkerReport> {
  const { model, clock } = deps;
  const began = clock.tick();
  const { contract, attempt, messages, subject } = order;
  const said = await model.complete(
    {
      role: "implement",
      step: attempt,
      messages,
      timeoutMs: deps.timeoutMs,
      contract: contract.id,
      attempt,
      ...(subject === undefined ? {} : { subject }),
    },
    signal,
  );
  throwIfAborted(signal);
  const transcript = transcriptOf(messages, said);
  const report = said.kind === "ok" ? await take(deps, order, said, signal) : noReply(said);
  return { ...report, durationMs: clock.tick() - began, transcript };
}

type Told = Omit<WorkerReport, "durationMs" | "transcript">;

const nothing = { claims: [], concerns: [], refused: [], problems: [] } as const;

/**
 * Nothing came, or nothing that could be used. A reply that was cut off or written as a tool call is work that failed:
 * the next attempt can be told what was wrong with it. Errors, timeouts and refused credentials are the models' fault.
 */
function noReply(said: Exclude<Completion, { readonly kind: "ok" }>): Told {
  const usage = said.usage ?? unknownUsage;
  const base = { kind: "failed", ...nothing, usage, model: said.model } as const;
  const tried = said.kind === "failed" ? (said.tried ?? []) : [said];
  const problems = tried.flatMap(problemOf);
  const summary = noReplyText(said);
  if (problems.length > 0) return { ...base, cause: "unusable", problems, summary };
  if (said.kind === "unusable") return { ...base, cause: "models", summary, code: "model.exhausted" };
  return {
    ...base,
    cause: "models",
    summary,
    ...(said.hint === undefined ? {} : { hint: said.hint }),
    ...(said.code === undefined ? {} : { code: said.code }),
  };
}

function problemOf({ model, why, detail }: TriedModel): WorkerReport["problems"] {
  switch (why) {
    case "truncated":
      return [{ kind: "truncation", message: `the reply was cut off: ${detail}`, evidence: model }];
    case "tool-markup":
      return [{ kind: "extraction", message: `the reply is no answer: ${detail}`, evidence: model }];
    case "empty":
    case "auth":
    case "rate-limit":
    case "timeout":
    case "network":
    case "protocol":
    case "unknown-model":
    case "refused":
    case "error":
    case "unavailable":
    case "exhausted":
      return [];
  }
}

async function take(
  deps: CompletionWorkerDeps,
  order: WorkerOrder,
  said: Extract<Completion, { readonly kind: "ok" }>,
  signal: AbortSignal,
): Promise<Told> {
  const { contract, workspace, replyDir, subject } = order;
  const isAllowed = globMatcher(contract.allowed);
  const isProtected = globMatcher(contract.protected);
  const known = knownFiles(order);
  const extraction = readReply(said.text, { dir: replyDir, known, isAllowed, isProtected });
  const current = await currentTexts(extraction.edits, order, deps.maxFileBytes ?? defaultMaxFileBytes, signal);
  const applied = applyEdits(
    extraction.edits.filter(({ path }) => !current.unreadable.has(path)),
    current.texts,
    order.messages.map(({ content }) => content).join("\n"),
  );
  const problems = [...extraction.problems, ...applied.problems, ...current.problems];
  const encoder = new TextEncoder();
  const files = applied.files.flatMap(({ path, text }) => {
    const at = repoPath(path);
    return at === undefined ? [] : [{ path: at, data: text === undefined ? undefined : encoder.encode(text) }];
  });
  const told = {
    // A whole reply also holds what it leaves as it is; that is no claim to have changed it.
    claims: applied.files.filter(({ path, text }) => current.texts.get(path) !== text).map(({ path }) => path),
    concerns: extraction.concerns,
    refused: extraction.refused,
    skipped: extraction.skipped,
    problems,
    model: said.model,
    usage: said.usage,
  };
  // A feature's spec is settled before: there the next attempt is told that files are wanted.
  if (extraction.stopped === true && subject === undefined) {
    const why = (linesOf(extraction.concerns[0] ?? "")[0] ?? "").slice(0, 300);
    return { ...told, kind: "gave-up", problems: [], summary: `${said.model} says it is blocked: ${why}` };
  }
  if (files.length === 0)
    return { ...told, kind: "failed", cause: "unusable", summary: unusableSummary(extraction, problems) };
  const written = await workspace.write(files, signal);
  if (written.kind === "person-edited") {
    const summary = `edited by you meanwhile, so not overwritten: ${written.paths.join(", ")}`;
    return { ...told, claims: [], kind: "failed", cause: "person-edited", summary, code: "tree.changed" };
  }
  const name = subject === undefined ? contract.id : subject.target.name;
  const notes = extraction.notes === undefined ? "" : `: ${linesOf(extraction.notes)[0] ?? ""}`;
  return { ...told, kind: "done", summary: `${said.model} wrote ${count(files.length, "file")} of ${name}${notes}` };
}

/** What the slice holds and what the pack names, so that `schema.py` finds `Schema.py`. */
function knownFiles({ subject, replyDir, contract }: WorkerOrder): string[] {
  const exact = contract.allowed.filter((glob) => !/[*?]/.test(glob));
  if (subject === undefined) return exact;
  const roles = Object.values(subject.pack.roles).filter((name) => name !== undefined);
  const names = [...roles, ...Object.keys(subject.files)];
  return [...new Set([...exact, ...names.map((name) => (replyDir === "" ? name : `${replyDir}/${name}`))])];
}

interface Current {
  readonly texts: ReadonlyMap<string, string>;
  readonly unreadable: ReadonlySet<string>;
  readonly problems: WorkerReport["problems"];
}

/** Texts of the files that are to be changed. One that is no text or too long cannot be patched, nor replaced unseen. */
async function currentTexts(
  edits: readonly Edit[],
  order: WorkerOrder,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Current> {
  const texts = new Map<string, string>();
  const unreadable = new Set<string>();
  const problems: WorkerReport["problems"][number][] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const path of new Set(edits.map((edit) => edit.path))) {
    const at = repoPath(path);
    const bytes = at === undefined ? undefined : await order.workspace.read(at, signal);
    if (bytes === undefined) continue;
    try {
      if (bytes.length > maxBytes) throw new RangeError(`it has ${bytes.length} bytes`);
      texts.set(path, decoder.decode(bytes));
    } catch (error) {
      unreadable.add(path);
      const why = error instanceof RangeError ? error.message : "it is no UTF-8 text";
      problems.push({
        kind: "extraction",
        path,
        message: `the file that is there cannot be replaced: ${why}`,
        evidence: "",
      });
    }
  }
  return { texts, unreadable, problems };
}

function unusableSummary({ refused, skipped }: Extraction, problems: WorkerReport["problems"]): string {
  const [first] = problems;
  if (first !== undefined) return `the reply could not be used: ${first.message}`;
  if (refused.length > 0) return `the reply holds only files outside the scope: ${refused.slice(0, 3).join(", ")}`;
  if (skipped.length > 0) return `the reply holds only protected files: ${skipped.slice(0, 3).join(", ")}`;
  return "the reply holds no file";
}

/** The whole exchange, one JSON line for each message. */
function transcriptOf(messages: readonly ChatMessage[], said: Completion): string {
  const answer =
    said.kind === "ok"
      ? { role: "assistant", model: said.model, content: said.text }
      : { role: "assistant", model: said.model, failed: said.detail };
  return [...messages, answer].map((message) => `${JSON.stringify(message)}\n`).join("");
}
