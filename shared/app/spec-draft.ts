import { count } from "../base/lines.ts";
import type { AbsPath } from "../base/paths.ts";
import type { LoadedPack } from "../features/packs.ts";
import { checkSpec } from "../features/spec-check.ts";
import { specMessages, type SpecOrder } from "../features/spec-prompt.ts";
import { specFromReply, specFromTemplate, withMissingSections } from "../features/spec-write.ts";
import type { Feature } from "../model/feature.ts";
import type { Finding } from "../model/finding.ts";
import type { Model, OpenedModel } from "../ports/model.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { askForSpec } from "./spec-ask.ts";
import { faultText, modelFaults, reviewSpec, type SpecReview, type SpecReviewContext } from "./spec-review.ts";

/** What commands that write specs use beside the repository; compose.ts wires it. */
export interface SpecContext extends RepoContext, SpecReviewContext {
  /** The folder the command was given in: paths the person types are relative to it. */
  readonly cwd: AbsPath;
  /** The models of this call as one (`--model`, configuration, chain), or why none can be asked. */
  openModel(args: CommandArgs, signal: AbortSignal): Promise<OpenedModel>;
}

export interface SpecWish {
  readonly feature: Feature;
  readonly pack: LoadedPack;
  readonly request: string;
  readonly controller: boolean;
  readonly neighbours: readonly string[];
}

export interface SpecDraft {
  readonly text: string;
  /** A model's id, or `template`. */
  readonly by: string;
  /** What the lane says of itself: `scripted`, `builtin/template`. */
  readonly label?: string;
  /** Why it is the template, or which parts were filled in. */
  readonly note?: string;
  /** What is still wrong with its form. */
  readonly findings: readonly Finding[];
  /** What spec QA said of a model's spec; absent for the template, which nobody has filled in. */
  readonly review?: SpecReview;
}

/**
 * spec.md for a new feature: by a model, checked for structure (what still lacks after a second reply comes from the
 * template), then by spec QA; else the template. Without words there is nothing a model could know, so none is asked. Writes nothing to the tree; prompts and replies go to the run folder.
 */
export async function draftSpec(
  context: SpecContext,
  args: CommandArgs,
  wish: SpecWish,
  signal: AbortSignal,
): Promise<SpecDraft> {
  if (wish.request === "") return fromTemplate(wish, "nothing was said about the feature, so no model was asked");
  const opened = await context.openModel(args, signal);
  if (opened.kind === "unavailable") return fromTemplate(wish, `no model can be asked: ${opened.why}`);
  await context.personas(); // a broken one is refused before anybody is asked
  const draft = await askModel(context, opened.model, wish, signal);
  if (draft.by === "template") return draft;
  const review = await reviewSpec(context, opened.model, { ...wish, spec: draft.text }, signal);
  return { ...draft, text: review.text, findings: check(wish, review.text), review };
}

async function askModel(context: SpecContext, model: Model, wish: SpecWish, signal: AbortSignal): Promise<SpecDraft> {
  const request = context.redact(wish.request);
  const { feature, pack, controller } = wish;
  const order: SpecOrder = {
    target: feature.target,
    language: pack.pack.title,
    request,
    neighbours: wish.neighbours,
    nonce: context.ids.next("marker"),
  };
  const answer = await askForSpec(
    context,
    model,
    {
      role: "spec",
      subject: { target: feature.target, dir: feature.dir, pack: pack.pack, controller, request, files: {} },
      messages: (again) => specMessages(order, again),
      read(reply) {
        const text = specFromReply(reply, feature.target);
        const problems =
          text === undefined
            ? ["there is no spec in the reply: it must begin with a # title"]
            : modelFaults(check(wish, text)).map(faultText);
        return { text, problems };
      },
    },
    signal,
  );
  if (answer.kind === "none") return fromTemplate(wish, answer.why);
  const { text, added } = withMissingSections(answer.text, templateOf(wish), feature.target);
  return {
    text,
    by: answer.by,
    ...(answer.label === undefined ? {} : { label: answer.label }),
    ...(added.length === 0
      ? {}
      : { note: `the model left out ${added.join(", ")}: ${count(added.length, "section")} from the template` }),
    findings: check(wish, text),
  };
}

function fromTemplate(wish: SpecWish, note: string): SpecDraft {
  const text = specFromTemplate(templateOf(wish), wish.feature.target, wish.request);
  return { text, by: "template", note, findings: check(wish, text) };
}

export const templateOf = (wish: Pick<SpecWish, "pack">): string => wish.pack.templates["spec"] ?? plainTemplate;
const check = (wish: SpecWish, text: string): readonly Finding[] =>
  checkSpec(text, { path: wish.feature.spec, feature: wish.feature.target.name });

/** For a pack that ships no template of its own. */
const plainTemplate = `# {{feature}}

## Overview

{{overview}}

## Inputs

None yet.

## Outputs

None yet.

## Rules

1. {{feature}} does what the overview says.

## Errors

None yet.

## Examples

None yet.

## Dependencies

None.
`;
