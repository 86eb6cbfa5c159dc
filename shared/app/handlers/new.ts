import { count } from "../../base/lines.ts";
import { checkSpec } from "../../features/spec-check.ts";
import { scaffoldFiles } from "../../features/scaffold.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { targetText } from "../../model/target.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { commandAgain } from "../again.ts";
import { keywordCommand } from "../keyword-action.ts";
import { createFeature, type Created } from "../new-feature.ts";
import { isMade, newJournal, undoNew } from "../new-undo.ts";
import { requireModelId } from "../model-id.ts";
import { type NewPlan, planNew } from "../plan-new.ts";
import { promptText } from "../prompt-text.ts";
import { requireFreeIndex } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { tellUntrusted } from "../trust.ts";
import { nextOfSpec } from "../spec-next.ts";
import { draftSpec, type SpecContext, type SpecDraft } from "../spec-draft.ts";
import { reviewText, type SpecReview } from "../spec-review.ts";

/**
 * `new <domain/Feature> "prompt"`: a branch from the clean default branch, spec.md, the slice's files, the registration.
 * The files stay uncommitted on the new branch. Until the last model answered nothing of the checkout has changed.
 */
export const newFeature: Handler<SpecContext> = async (context, args, signal) => {
  requireModelId(args.model);
  const before = await goOn(context, signal);
  if (before !== undefined) return before;
  const request = await promptText(context.files, context.cwd, {
    words: args.words.slice(1),
    ...(args.prompt === undefined ? {} : { prompt: args.prompt }),
  });
  if (args.dryRun) {
    const plan = await planNew(context, args);
    tell(context, plan);
    return planned(plan, args);
  }
  return withRepositoryLock(context, "new", signal, async () => {
    await requireFreeIndex(context.git);
    const plan = await planNew(context, args);
    tellUntrusted(context.editor, await context.trust.state());
    tell(context, plan);
    const wish = {
      feature: plan.feature,
      pack: plan.pack,
      request,
      controller: args.controller,
      neighbours: plan.neighbours,
    };
    const draft = await draftSpec(context, args, wish, signal);
    // A person may have worked on while the model wrote.
    const now = await planNew(context, args);
    const files = [
      { path: now.feature.spec, text: draft.text },
      ...scaffoldFiles(now.pack, now.feature, { controller: args.controller }),
    ];
    const created = await createFeature(
      context,
      { feature: now.feature, plan: now.branch, from: now.from, files },
      signal,
    );
    if (draft.findings.length > 0) context.editor.showFindings(draft.findings);
    return made(now, draft, created);
  });
};

function tell({ editor }: SpecContext, { feature, mentions, near }: NewPlan): void {
  for (const text of mentions) editor.notify({ severity: "info", text });
  if (near.length > 0)
    editor.notify({ severity: "info", text: `${targetText(feature.target)} looks like ${near.join(", ")}` });
}

/** A runner died while it wrote: what it had made whole stands, anything less is taken back and done again. */
async function goOn(context: SpecContext, signal: AbortSignal): Promise<CommandResult | undefined> {
  const journal = await newJournal.read(context);
  if (journal === undefined) return undefined;
  return await withRepositoryLock(context, "new", signal, async () => {
    const target = targetText(journal.target);
    if (await isMade(context, journal)) {
      const { name } = journal.branch;
      const spec = journal.files.find(({ path }) => path === `${journal.dir}/spec.md`);
      const at = { path: spec?.path ?? "", feature: journal.target.name };
      return {
        ok: true,
        code: 0,
        summary: `${target}: made on branch ${name} before the run was interrupted`,
        next: spec === undefined ? ["orch do"] : nextOfSpec(spec.path, checkSpec(spec.text, at)),
        data: { target, dir: journal.dir, branch: name, files: journal.files.map(({ path }) => path) },
      };
    }
    const paths = await undoNew(context, journal);
    if (paths.length > 0) {
      throw new OrchError("tree.changed", `${target} was half made, and edited since: ${paths.join(", ")}`, {
        data: { paths },
      });
    }
    await newJournal.remove(context);
    return undefined;
  });
}

function made(plan: NewPlan, draft: SpecDraft, created: Created): CommandResult {
  const target = targetText(plan.feature.target);
  const review = draft.review === undefined ? "" : `, ${reviewText(draft.review)}`;
  const by =
    draft.by === "template"
      ? `spec.md from the template (${draft.note ?? ""})`
      : `spec.md by ${draft.label ?? draft.by}${draft.note === undefined ? "" : ` (${draft.note})`}${review}`;
  const missing =
    draft.findings.length === 0
      ? ""
      : `; ${count(draft.findings.length, "thing")} to look at in ${plan.feature.spec}: ${draft.findings[0]?.message ?? ""}`;
  return {
    ok: true,
    code: 0,
    summary: `${target}: ${count(created.written.length, "file")} on branch ${created.branch}, ${by}${missing}`,
    next: nextOf(plan, draft),
    data: {
      ...planData(plan),
      branch: created.branch,
      files: created.written,
      kept: created.kept,
      spec: {
        path: plan.feature.spec,
        by: draft.by,
        label: draft.label,
        note: draft.note,
        findings: draft.findings,
        review: draft.review === undefined ? undefined : reviewData(draft.review),
      },
    },
  };
}

/** The text itself is in the tree. */
function reviewData({ kind, rounds, corrections, issues, why }: SpecReview): Omit<SpecReview, "text"> {
  return { kind, rounds, corrections, issues, ...(why === undefined ? {} : { why }) };
}

function planned(plan: NewPlan, args: CommandArgs): CommandResult {
  const files = [
    plan.feature.spec,
    ...scaffoldFiles(plan.pack, plan.feature, { controller: args.controller }).map(({ path }) => path),
  ];
  const target = targetText(plan.feature.target);
  return {
    ok: true,
    code: 0,
    summary: `Would make ${target}: branch ${plan.branch.branch}, ${count(files.length, "file")} in ${plan.feature.dir}, entry in ${plan.feature.registry}; nothing was changed`,
    next: [commandAgain("new", [target, ...args.words.slice(1)], args)],
    data: { ...planData(plan), branch: plan.branch.branch, files, dryRun: true },
  };
}

function planData({ feature, pack, resolved, near }: NewPlan): Record<string, unknown> {
  return {
    target: targetText(feature.target),
    dir: feature.dir,
    registry: feature.registry,
    app: feature.app,
    lang: pack.pack.lang,
    domainBy: resolved.by,
    near,
  };
}

function nextOf({ resolved, feature }: NewPlan, { findings }: SpecDraft): readonly string[] {
  const suggested = keywordCommand(resolved.action, feature);
  return [...nextOfSpec(feature.spec, findings), ...(suggested === undefined ? [] : [suggested])];
}
