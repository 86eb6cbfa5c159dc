import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import type { CommandResult } from "../../model/command-result.ts";
import type { Confirmed } from "../../model/confirmed.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import { targetText } from "../../model/target.ts";
import type { TrashItem } from "../../ports/trash.ts";
import { commandAgain } from "../again.ts";
import { confirm } from "../confirm.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { type DeletePlan, deleteQuestion, planDelete, sameDeletePlan } from "../delete-plan.ts";
import { type Branches, clearSlice, commitRemoval, deleteBranches, removeEmptyParents } from "../delete-steps.ts";
import type { HereContext } from "../known-feature.ts";
import { askNearMiss } from "../near-miss.ts";
import { type BackStep, putBack } from "../put-back.ts";
import { withRepositoryLock } from "../repository-lock.ts";

/**
 * `delete [Feature]`: the slice, its entry and its local branches go. Everything is stored for `restore` before the
 * first thing is removed; what main had goes with one commit of exactly that. Nothing is pushed. When a step fails
 * before the branches, everything is put back.
 */
export const deleteFeature: Handler<HereContext> = async (context, given, signal) => {
  const look = (one: CommandArgs): Promise<DeletePlan> => planDelete(context, one, signal);
  const { args, found: asked } = await askNearMiss(context.editor, given, signal, look);
  const { title, detail } = deleteQuestion(asked);
  if (args.dryRun) return foretold(asked, title, args);
  const confirmed = await confirm(context.editor, args.yes, { title, detail, yes: "Delete it" }, signal);
  if (confirmed === undefined) return { ok: false, code: 130, summary: "Nothing was changed", next: ["orch scan"] };
  return await withRepositoryLock(context, "delete", signal, async () => {
    const now = await look(args);
    if (!sameDeletePlan(asked, now)) {
      throw new OrchError("tree.changed", "the feature or its files changed while you were asked", {
        data: { paths: now.loose },
      });
    }
    throwIfAborted(signal);
    return await carryOut(context, now, confirmed);
  });
};

async function carryOut(context: HereContext, plan: DeletePlan, confirmed: Confirmed): Promise<CommandResult> {
  const { feature, branches, isRegistered } = plan.known;
  const what = targetText(feature.target);
  const entry = { file: feature.registry, feature: feature.target.name, domain: feature.target.domain };
  const item = await context.trash.store({
    by: "delete",
    what,
    paths: plan.paths,
    branches: branches.map(({ name }) => name),
    ...(isRegistered || plan.heldEntry ? { registry: entry } : {}),
  });
  context.sink.append({ type: "trash.stored", id: item.id, what, entries: item.files, bytes: item.bytes });
  const back: BackStep[] = [];
  let commit: string | undefined;
  try {
    await clearSlice(context, plan, { id: item.id, confirmed, back });
    commit = await commitRemoval(context, plan, { confirmed, back });
  } catch (error) {
    const whole = await putBack(context.editor, back);
    if (whole || !isOrchError(error)) throw error;
    throw new OrchError(error.code, `${error.message}. What was removed is stored: orch restore ${item.id}`, {
      data: error.data,
      cause: error,
    });
  }
  await removeEmptyParents(context, feature.dir);
  return done(plan, item, commit, await deleteBranches(context, plan));
}

function done(plan: DeletePlan, item: TrashItem, commit: string | undefined, branches: Branches): CommandResult {
  const { feature, defaultBranch } = plan.known;
  const target = targetText(feature.target);
  const { deleted } = branches;
  const parts = [
    count(plan.files, "file"),
    ...(deleted.length === 0 ? [] : [`the ${deleted.length === 1 ? "branch" : "branches"} ${deleted.join(", ")}`]),
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 10)} on ${defaultBranch}, not pushed`]),
  ];
  const notes = [...branches.notes, ...(plan.here ? [`Now on ${defaultBranch}`] : [])];
  const summary = [`Deleted ${target}: ${parts.join(", ")}`, ...notes, `Bring it back with: orch restore ${item.id}`];
  return {
    ok: true,
    code: 0,
    summary: summary.join(". "),
    next: ["orch scan", 'orch new domain/Feature "what it does"', `orch restore ${item.id}`],
    data: {
      feature: target,
      dir: feature.dir,
      trash: item.id,
      files: plan.files,
      uncommitted: plan.loose,
      commit: commit ?? null,
      pushed: false,
      branches: deleted,
      notes,
    },
  };
}

function foretold(plan: DeletePlan, title: string, args: CommandArgs): CommandResult {
  const { feature, branches, defaultBranch, isRegistered } = plan.known;
  const target = targetText(feature.target);
  const commits = plan.held.length > 0 || plan.heldEntry;
  const steps = [
    "store it for restore",
    ...(plan.here ? [`switch to ${defaultBranch}`] : []),
    `remove ${feature.dir}`,
    ...(isRegistered || plan.heldEntry ? [`take ${feature.target.name} out of ${feature.registry}`] : []),
    ...(commits ? [`commit that on ${defaultBranch}, not pushed`] : []),
    ...branches.map(({ name }) => `delete ${name} here`),
  ];
  return {
    ok: true,
    code: 0,
    summary: `${title.replace(/^Delete/, "Would delete").replace(/\?$/, "")}. It would ${steps.join(", then ")}; nothing was changed`,
    next: [commandAgain("delete", [target], args)],
    data: { dryRun: true, feature: target, dir: feature.dir, files: plan.files, uncommitted: plan.loose, steps },
  };
}
