import { count } from "../base/lines.ts";
import type { LoadedPack } from "../features/packs.ts";
import { checkSpec } from "../features/spec-check.ts";
import { droppedRows, namedRowText } from "../features/spec-rows.ts";
import { readSpecQa, sameAmendments, type SpecQaAgain, type SpecQaOrder, specQaMessages } from "../features/spec-qa.ts";
import { noReplyText } from "../model/completion.ts";
import type { Feature } from "../model/feature.ts";
import { type Finding, findingPlace } from "../model/finding.ts";
import type { Model } from "../ports/model.ts";
import { type Persona, personaNamed } from "../prompts/persona.ts";
import type { RepoContext } from "./context.ts";

export interface SpecReviewContext extends Pick<RepoContext, "sink" | "ids" | "config"> {
  /** Takes secrets out of what is sent to a model. */
  redact(text: string): string;
  /** @throws OrchError `persona.invalid` */
  personas(): Promise<ReadonlyMap<string, Persona>>;
}

/** The spec that is to be checked, and what it is for. */
export interface SpecReviewWish {
  readonly feature: Feature;
  readonly pack: LoadedPack;
  /** The person's words. */
  readonly request: string;
  readonly controller: boolean;
  readonly spec: string;
}

/**
 * `valid`: the persona had nothing to change in `text`. `corrected`: the rounds were used up before it said so; `text` is
 * its last correction. `unchecked`: it gave no answer, `why` says how; what stands has passed the structural check alone.
 */
export interface SpecReview {
  readonly kind: "valid" | "corrected" | "unchecked";
  readonly text: string;
  /** Rounds that were asked. */
  readonly rounds: number;
  /** Corrections that were taken into `text`. */
  readonly corrections: number;
  /** Every issue that was named, in order. */
  readonly issues: readonly string[];
  readonly why?: string;
}

const maxRounds = 3;

/**
 * Spec QA: the persona reads a spec that a program has checked for form already, at most three times. A correction is
 * taken when its form is no worse, no amendment is touched and no row goes unsaid; else the spec stands and the faults go
 * into the next round. Writes nothing to the tree; prompts and replies go to the run folder. Rejects only with an AbortError or a
 * refusal (`persona.invalid`).
 */
export async function reviewSpec(
  context: SpecReviewContext,
  model: Model,
  wish: SpecReviewWish,
  signal: AbortSignal,
): Promise<SpecReview> {
  const persona = personaNamed(await context.personas(), "spec_qa_agent").body;
  let text = wish.spec;
  let rounds = 0;
  let corrections = 0;
  let again: SpecQaAgain | undefined;
  let unreadable = false;
  const issues: string[] = [];
  const told = new Set<string>();
  const ended = (kind: SpecReview["kind"], why?: string): SpecReview => {
    const review = { kind, text, rounds, corrections, issues, ...(why === undefined ? {} : { why }) };
    context.sink.append({ type: "progress.noted", text: `spec.md: ${reviewText(review)}` });
    return review;
  };
  if (context.redact(text) !== text) return ended("unchecked", "it holds a secret, which is not sent");
  while (rounds < maxRounds) {
    rounds += 1;
    const order: SpecQaOrder = {
      target: wish.feature.target,
      persona,
      request: context.redact(wish.request),
      spec: text,
      problems: problemsOf(wish, text),
      nonce: context.ids.next("marker"),
    };
    const said = await ask(context, model, { wish, order, again, round: rounds }, signal);
    if (said.kind !== "ok") return ended("unchecked", noReplyText(said));
    const reply = readSpecQa(said.text, wish.feature.target);
    if (reply.kind === "none") {
      // One that slipped in its form is asked once more, one that does so again has no verdict to give.
      if (unreadable || rounds === maxRounds) return ended("unchecked", `${said.model} gave no verdict: ${reply.why}`);
      unreadable = true;
      again = { reply: said.text, what: "unreadable", problems: [reply.why] };
      context.sink.append({ type: "progress.noted", text: `spec.md: no verdict in round ${rounds}, ${reply.why}` });
      continue;
    }
    if (reply.kind === "valid") return ended("valid");
    issues.push(...reply.issues);
    if (reply.spec === text) return ended("unchecked", `${said.model} named issues and changed nothing`);
    const refused = [...whyRefused(wish, text, reply.spec), ...goneRows(text, reply.spec, told)];
    context.sink.append({
      type: "progress.noted",
      text: `spec.md: ${count(reply.issues.length, "issue")} in round ${rounds}, ${refused.length === 0 ? "corrected" : "the correction cannot be taken"}`,
    });
    again = refused.length === 0 ? undefined : { reply: said.text, what: "refused", problems: refused };
    if (again === undefined) {
      text = reply.spec;
      corrections += 1;
    }
  }
  return ended(
    corrections === 0 ? "unchecked" : "corrected",
    corrections === 0 ? "no correction could be taken" : undefined,
  );
}

/** One line for a person: what spec QA made of it. */
export function reviewText({ kind, rounds, corrections, issues, why }: Omit<SpecReview, "text">): string {
  switch (kind) {
    case "valid":
      return corrections === 0
        ? "found valid by spec QA"
        : `found valid by spec QA after ${count(corrections, "correction")}`;
    case "corrected":
      return `corrected by spec QA ${count(corrections, "time")} in ${count(rounds, "round")} and not found valid since; its last issue: ${issues.at(-1) ?? "not named"}`;
    case "unchecked": {
      const before = corrections === 0 ? "" : ` after ${count(corrections, "correction")}`;
      return `not checked by spec QA${before} (${why ?? ""})`;
    }
  }
}

interface Round {
  readonly wish: SpecReviewWish;
  readonly order: SpecQaOrder;
  readonly again: SpecQaAgain | undefined;
  readonly round: number;
}

async function ask(
  { sink, config }: SpecReviewContext,
  model: Model,
  { wish, order, again, round }: Round,
  signal: AbortSignal,
): ReturnType<Model["complete"]> {
  const messages = specQaMessages(order, again);
  const shown = messages.map(({ role, content }) => `[${role}]\n${content}\n`).join("\n");
  await sink.sidecar(`spec/qa-prompt-${round}.md`, shown);
  sink.append({ type: "progress.noted", text: `spec.md: checked by ${model.label ?? model.id}, round ${round}` });
  const { feature, pack, controller } = wish;
  const subject = {
    target: feature.target,
    dir: feature.dir,
    pack: pack.pack,
    controller,
    request: order.request,
    spec: order.spec,
    files: {},
  };
  const said = await model.complete(
    { role: "spec-qa", step: round, messages, timeoutMs: config.models.timeout_s * 1000, subject },
    signal,
  );
  if (said.kind === "ok") await sink.sidecar(`spec/qa-reply-${round}.md`, said.text);
  return said;
}

function whyRefused(wish: SpecReviewWish, before: string, after: string): readonly string[] {
  const known = new Set(findingsOf(wish, before).map(({ message }) => message));
  const worse = findingsOf(wish, after).filter(({ message }) => !known.has(message));
  return [
    ...worse.map(faultText),
    ...(sameAmendments(before, after) ? [] : ["the CONTRACT AMENDMENT blocks were changed: they stay word for word"]),
  ];
}

/** A row that goes is said once: a correction that leaves it out again means it. */
function goneRows(before: string, after: string, told: Set<string>): readonly string[] {
  const silent = droppedRows(before, after)
    .map(namedRowText)
    .filter((row) => !told.has(row));
  for (const row of silent) told.add(row);
  return silent.map(
    (row) => `this row is gone: ${row}; put it back, or leave it out again where an issue asks for that`,
  );
}

const problemsOf = (wish: SpecReviewWish, text: string): readonly string[] => findingsOf(wish, text).map(faultText);

function findingsOf({ feature }: SpecReviewWish, text: string): readonly Finding[] {
  return modelFaults(checkSpec(text, { path: feature.spec, feature: feature.target.name }));
}

/** From a model more is asked than from a person: rules and examples too. */
export function modelFaults(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(
    ({ severity, rule }) => severity === "FAIL" || rule === "spec.rules" || rule === "spec.examples",
  );
}

export function faultText(finding: Finding): string {
  return `${findingPlace(finding)}: ${finding.message}; ${finding.remedy}`;
}
