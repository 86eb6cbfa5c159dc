import { createHash } from "node:crypto";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { replyCommand } from "../events/project.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import type { Finding } from "../model/finding.ts";
import type { ReplyFile, RunRequest } from "../model/run-files.ts";
import type { Clock } from "../ports/clock.ts";
import type { Answer, DiffView, Editor, Notice, Question } from "../ports/editor.ts";
import type { RunLog } from "../ports/run-log.ts";
import { watchFolder } from "./tail.ts";

/** How long a host's person may look at a decision before the run parks and frees what it holds. */
const parkAfterMs = 120_000;
const questionMs = 60_000;
const floorMs = 1000;

export interface FileEditorDeps {
  readonly request: RunRequest;
  readonly run: string;
  readonly dir: AbsPath;
  readonly log: RunLog;
  readonly clock: Clock;
  /** False with --no-input and in CI: nobody is asked. */
  readonly interactive: boolean;
  /** Rejects with `file.invalid` when the file is no reply. */
  readonly readReply: (id: string) => Promise<ReplyFile | undefined>;
  /** Takes a reply that answers nothing out of the way, so that another can stand. */
  readonly discardReply: (id: string) => Promise<void>;
  /** For tests; the defaults are above. */
  readonly parkAfterMs?: number;
  readonly questionMs?: number;
}

/**
 * The Editor port over a run's folder: what is asked becomes an event with an id, the answer is the reply file of that
 * id, from whichever host, the first one. A question takes its stated default after a while. A decision has none: when
 * nobody answers, `ask` rejects with `run.pending`, which unwinds the command, frees its locks and parks the run.
 *
 * Ids are made of what is asked, so that a resumed run, which asks again, meets the reply that was dropped meanwhile.
 * An answer is used once: the same words asked again later are a new question.
 */
export function createFileEditor(deps: FileEditorDeps): Editor {
  const { request, log, interactive } = deps;
  let shown = 0;
  return {
    host: request.host,
    interactive,
    activeFile: () => Promise.resolve(request.activeBuffer),
    ask: (question, signal) => (interactive ? ask(question, deps, signal) : Promise.resolve(undefined)),
    notify(notice: Notice) {
      log.append({
        type: "notice.shown",
        severity: notice.severity,
        text: notice.text,
        ...(notice.hint === undefined ? {} : { hint: notice.hint }),
      });
    },
    progress(text) {
      log.append({ type: "progress.noted", text });
    },
    async showDiff(diff: DiffView) {
      shown += 1;
      const left = await log.sidecar(`shown/${log.history().length}-${shown}.left`, diff.left);
      const right = await log.sidecar(`shown/${log.history().length}-${shown}.right`, diff.right);
      log.append({ type: "diff.shown", title: diff.title, path: diff.path, left, right });
    },
    showFindings(findings: readonly Finding[]) {
      for (const finding of findings) {
        const place =
          finding.path === undefined ? "" : ` ${finding.path}${finding.line === undefined ? "" : `:${finding.line}`}`;
        log.append({
          type: "notice.shown",
          severity: finding.severity === "FAIL" ? "error" : "warning",
          text: `${finding.rule}${place}: ${finding.message}`,
          hint: finding.remedy,
        });
      }
    },
    open(at) {
      log.append({ type: "location.opened", path: at.path, ...(at.line === undefined ? {} : { line: at.line }) });
      return Promise.resolve();
    },
  };
}

async function ask(question: Question, deps: FileEditorDeps, signal: AbortSignal): Promise<Answer | undefined> {
  const { log } = deps;
  const id = idOf(question, log);
  const waiting = await fittingReply(id, question, deps);
  if (waiting !== undefined) return answer(id, question, waiting, log);
  tellAsked(id, question, deps);
  const reply = await waitForReply(id, question, deps, signal);
  if (reply !== undefined) return answer(id, question, reply, log);
  if (question.weight === "question") {
    log.append({
      type: "question.answered",
      id,
      by: "timeout",
      ...(question.otherwise === undefined ? {} : { choice: question.otherwise }),
    });
    return question.otherwise === undefined ? undefined : { choice: question.otherwise, by: "timeout" };
  }
  const data = { id, reply: replyCommand({ ...question, id }), run: deps.run };
  throw new OrchError("run.pending", question.title, { data });
}

/** `q-<hash of what is asked>-<n>`: `n` counts the answers that these words got already. */
function idOf(question: Question, log: RunLog): string {
  const asked = JSON.stringify([
    question.kind,
    question.weight,
    question.title,
    question.detail ?? "",
    question.choices,
  ]);
  const stem = `q-${createHash("sha256").update(asked).digest("hex").slice(0, 8)}`;
  const answered = log.history().filter((parsed) => {
    if (parsed.kind !== "event") return false;
    const { event } = parsed;
    return (
      (event.type === "question.answered" || event.type === "decision.answered") && event.id.startsWith(`${stem}-`)
    );
  });
  return `${stem}-${answered.length + 1}`;
}

function tellAsked(id: string, question: Question, deps: FileEditorDeps): void {
  const { kind, title, detail, choices, otherwise } = question;
  const about = { id, title, choices: [...choices], ...(detail === undefined ? {} : { detail }) };
  if (question.weight === "decision") deps.log.append({ type: "decision.asked", ...about });
  else
    deps.log.append({
      type: "question.asked",
      ...about,
      kind,
      timeoutMs: deps.questionMs ?? questionMs,
      ...(otherwise === undefined ? {} : { otherwise }),
    });
}

/** undefined when nobody answered in time. */
async function waitForReply(
  id: string,
  question: Question,
  deps: FileEditorDeps,
  signal: AbortSignal,
): Promise<ReplyFile | undefined> {
  const limitMs = question.weight === "question" ? (deps.questionMs ?? questionMs) : (deps.parkAfterMs ?? parkAfterMs);
  const until = deps.clock.tick() + limitMs;
  using changes = watchFolder(inRoot(deps.dir, "replies"));
  for (;;) {
    const reply = await fittingReply(id, question, deps);
    if (reply !== undefined) return reply;
    const leftMs = until - deps.clock.tick();
    if (leftMs <= 0) return undefined;
    await changes.next(Math.min(floorMs, leftMs), signal);
  }
}

/** A reply that is broken, or names no choice of the question, is told of and taken out of the way. */
async function fittingReply(id: string, question: Question, deps: FileEditorDeps): Promise<ReplyFile | undefined> {
  let why: string;
  try {
    const reply = await deps.readReply(id);
    if (reply === undefined || fits(reply, question)) return reply;
    why = `its choices are ${question.choices.map((choice) => choice.id).join(", ")}`;
  } catch (error) {
    if (!isOrchError(error)) throw error;
    why = error.message;
  }
  await deps.discardReply(id);
  deps.log.append({ type: "control.refused", id, verb: "reply", why });
  return undefined;
}

/** A dismissal (no choice, no text) fits a question only: a decision waits for one of its choices. */
function fits(reply: ReplyFile, question: Question): boolean {
  if (reply.choice !== undefined) return question.choices.some(({ id }) => id === reply.choice);
  if (question.weight === "decision") return question.kind === "text" && reply.text !== undefined;
  return true;
}

function answer(id: string, question: Question, reply: ReplyFile, log: RunLog): Answer | undefined {
  const text = reply.text === undefined ? {} : { text: reply.text };
  const choice = reply.choice === undefined ? {} : { choice: reply.choice };
  if (question.weight === "decision")
    log.append({ type: "decision.answered", id, choice: reply.choice ?? "text", by: reply.by, ...text });
  else log.append({ type: "question.answered", id, by: reply.by, ...choice, ...text });
  return reply.choice === undefined && reply.text === undefined ? undefined : { by: reply.by, ...choice, ...text };
}
