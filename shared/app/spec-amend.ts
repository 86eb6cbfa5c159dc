import { ignoreFileName, ignoreMatcher } from "../base/ignore.ts";
import { clip, linesOf } from "../base/lines.ts";
import { inRoot } from "../base/paths.ts";
import { type Amended, amended, type Amendment } from "../features/amend.ts";
import { amendMessages, type AmendPlace } from "../features/amend-prompt.ts";
import { checkSpec } from "../features/spec-check.ts";
import { droppedRows, type NamedRow, namedRowText } from "../features/spec-rows.ts";
import { specFromReply, specFromTemplate } from "../features/spec-write.ts";
import type { Finding } from "../model/finding.ts";
import type { Model } from "../ports/model.ts";
import type { CommandArgs } from "./context.ts";
import type { LookedAt } from "./modify-target.ts";
import type { ModifyPlan } from "./plan-modify.ts";
import { askForSpec } from "./spec-ask.ts";
import { type SpecContext, templateOf } from "./spec-draft.ts";
import { faultText, modelFaults } from "./spec-review.ts";

export interface SpecAmendment extends Amended {
  /** A model's id, or `template`: then only the amendment was appended. */
  readonly by: string;
  readonly label?: string;
  /** Why no model amended the body. */
  readonly note?: string;
  /** Rows of the old spec that are gone: told once to the model, which took them out again. */
  readonly dropped: readonly string[];
  readonly findings: readonly Finding[];
}

/** More of a buffer than this would push the spec itself out of the prompt. */
const maxPlaceChars = 20_000;

/**
 * The amended spec.md. Without a model that answers, the amendment alone is appended, and the note says so. Writes
 * nothing to the tree; prompts and replies go to the run folder. Rejects with an AbortError only.
 */
export async function amendSpec(
  context: SpecContext,
  args: CommandArgs,
  wish: {
    readonly plan: ModifyPlan;
    readonly amendment: Amendment;
    readonly looked: LookedAt | undefined;
  },
  signal: AbortSignal,
): Promise<SpecAmendment> {
  const { plan, amendment } = wish;
  const { target } = plan.known.feature;
  const old = plan.spec ?? specFromTemplate(templateOf(plan), target, "");
  const alone = (note: string): SpecAmendment => {
    const text = amended(old, amendment);
    return { ...text, by: "template", note, dropped: [], findings: check(plan, text.text) };
  };
  if (context.redact(old) !== old) return alone("spec.md holds a secret, which is not sent to a model");
  const opened = await context.openModel(args, signal);
  if (opened.kind === "unavailable") return alone(`no model can be asked: ${opened.why}`);
  const place = await placeOf(context, wish.looked);
  const answer = await ask(context, opened.model, { plan, old, amendment, place }, signal);
  if (answer.kind === "none") return alone(answer.why);
  if (answer.problems.length > 0) return alone(`${answer.by} would have damaged the spec: ${answer.problems[0]}`);
  const text = amended(old, amendment, answer.text);
  const dropped = droppedRows(old, text.text);
  return {
    ...text,
    by: answer.by,
    ...(answer.label === undefined ? {} : { label: answer.label }),
    dropped: dropped.map(namedRowText),
    findings: [...dropped.map((row) => droppedFinding(plan, row)), ...check(plan, text.text)],
  };
}

async function ask(
  context: SpecContext,
  model: Model,
  wish: {
    readonly plan: ModifyPlan;
    readonly old: string;
    readonly amendment: Amendment;
    readonly place: AmendPlace | undefined;
  },
  signal: AbortSignal,
): ReturnType<typeof askForSpec> {
  const { plan, old, place } = wish;
  const { feature } = plan.known;
  const request = context.redact(wish.amendment.request);
  const known = new Set(modelFaults(check(plan, old)).map(({ message }) => message));
  const told = new Set<string>();
  const order = {
    target: feature.target,
    language: plan.pack.pack.title,
    request,
    spec: old,
    nonce: context.ids.next("marker"),
    ...(place === undefined ? {} : { place }),
  };
  const { pack, controller } = plan;
  const about = {
    target: feature.target,
    dir: feature.dir,
    pack: pack.pack,
    controller,
    request,
    spec: old,
    files: {},
  };
  return await askForSpec(
    context,
    model,
    {
      role: "amend",
      subject: about,
      messages: (again) => amendMessages(order, again),
      read(reply) {
        const body = specFromReply(reply, feature.target, old);
        if (body === undefined) {
          return { text: undefined, problems: ["there is no spec in the reply: it must begin with a # title"] };
        }
        const whole = amended(old, wish.amendment, body).text;
        // What was wrong before is the person's; what is new is the model's.
        const worse = modelFaults(check(plan, whole)).filter(({ message }) => !known.has(message));
        // A row that goes is said once: a reply that leaves it out again means it, one that drops others does not.
        const dropped = droppedRows(old, whole).map(namedRowText);
        const silent = dropped.filter((row) => !told.has(row));
        for (const row of dropped) told.add(row);
        return { text: body, problems: [...worse.map(faultText), ...silent.map(droppedText)] };
      },
    },
    signal,
  );
}

function droppedText(row: string): string {
  return `a row of the old spec is gone: ${row}; put it back word for word, or leave it out again where the request asks for that`;
}

function droppedFinding(plan: ModifyPlan, row: NamedRow): Finding {
  return {
    rule: "spec.dropped",
    severity: "WARN",
    message: `the amended spec has this no more: ${namedRowText(row)}`,
    path: plan.known.feature.spec,
    evidence: row.text.slice(0, 200),
    remedy: "put it back into the spec if it was not meant to go",
  };
}

/** What the editor shows beyond the file on disk: unsaved text, a selection. `.orchignore` keeps files out of prompts. */
async function placeOf(context: SpecContext, looked: LookedAt | undefined): Promise<AmendPlace | undefined> {
  const { files, root } = context;
  if (looked === undefined || (looked.unsaved === undefined && looked.selection === undefined)) return undefined;
  if (ignoreMatcher(await files.readText(inRoot(root, ignoreFileName)))(looked.path)) return undefined;
  const stat = await files.stat(inRoot(root, looked.path));
  const text = looked.unsaved ?? (stat?.kind === "file" ? await files.readText(inRoot(root, looked.path)) : undefined);
  if (text === undefined || text.includes("\0")) return undefined;
  const { selection } = looked;
  const lines =
    selection === undefined
      ? text
      : linesOf(text)
          .slice(selection.startLine - 1, selection.endLine)
          .join("\n");
  if (lines.trim() === "") return undefined;
  const unsaved = looked.unsaved === undefined ? [] : ["unsaved"];
  const what =
    selection === undefined ? unsaved : [`lines ${selection.startLine}-${selection.endLine}`, "selected", ...unsaved];
  return { path: looked.path, text: context.redact(clip(lines, maxPlaceChars)), what: what.join(", ") };
}

const check = (plan: ModifyPlan, text: string): readonly Finding[] =>
  checkSpec(text, { path: plan.known.feature.spec, feature: plan.known.feature.target.name });
